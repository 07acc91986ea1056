"""
What is a list of labels worth?
===============================

A page has several digits, and somebody wrote down which digits are on it, not where.
Each digit has the whole list as its candidates. But every label of the list belongs to
some digit of the page: rows that share a list are a bag. The same classifier reads the
pages without this rule and with it.
"""

# %%
# Pages of six digits
# -------------------
# 120 pages, with noise as in a poor scan; one list in five also names a digit that is
# not there.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from partlearn import disambiguate
from partlearn.candidates import make_bags

digits = load_digits()
rng = np.random.RandomState(0)
rows = rng.permutation(len(digits.target))[:720]
truth = digits.target[rows]
X = (digits.data[rows] + rng.normal(0, 4, (720, 64))).clip(0, 16)
lists, pages = make_bags(truth, size=6, stray=0.04, random_state=0)

alone = disambiguate(X, lists)
shared = disambiguate(X, lists, bags=pages)
right = {"each digit alone": alone, "lists shared": shared}
for name, result in right.items():
    print(f"{name}: {(result.label == truth).mean():.1%} of the labels are right")

# %%
# Pages that the rule puts right
# ------------------------------
# Wrong labels in red. A digit that looks like another one gets the label that nobody
# else on the page has.

gain = (shared.label == truth).astype(int) - (alone.label == truth)
best = np.argsort(-np.bincount(pages, weights=gain), kind="stable")[:3]
figure, axes = plt.subplots(3, 6, figsize=(8, 5.4), layout="constrained")
for page, line in zip(best, axes, strict=True):
    members = np.flatnonzero(pages == page)
    listed = ", ".join(map(str, np.flatnonzero(lists[members[0]])))
    line[0].set_title(f"on the list: {listed}", loc="left", fontsize=10)
    for i, ax in zip(members, line, strict=True):
        ax.imshow(X[i].reshape(8, 8), cmap="gray_r")
        wrong = [r.label[i] != truth[i] for r in (alone, shared)]
        text = f"{alone.label[i]} → {shared.label[i]}"
        ax.set_xlabel(text, color="tab:red" if wrong[1] else "black")
        ax.set(xticks=[], yticks=[])
        for spine in ax.spines.values():
            spine.set_color("tab:red" if wrong[0] else "0.8")
figure.supxlabel("without the rule → with it; a red frame: wrong without it")

# %%
# More rows on a page
# -------------------
# Lists grow with the page. Each digit alone knows less and less; the rule holds longer.

sizes = (2, 4, 6, 8)
shares = {name: [] for name in right}
for size in sizes:
    lists, pages = make_bags(truth, size=size, random_state=0)
    for name, bags in zip(shares, (None, pages), strict=True):
        result = disambiguate(X, lists, bags=bags)
        shares[name].append((result.label == truth).mean())
figure, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
for (name, values), marker in zip(shares.items(), "os", strict=True):
    ax.plot(sizes, values, marker=marker, label=name)
ax.set(xlabel="digits on a page", ylabel="labels that are right", xticks=sizes)
ax.legend()
plt.show()
