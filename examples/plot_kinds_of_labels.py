"""
What does each kind of label become?
====================================

Sets, weights, "not this one", a coarse category, an interval, votes of annotators: all
of them are evidence about one true label. The same rows get each kind, made from the
truth; gray is what the labels alone say, blue what they say together with the features.
"""

# %%
# Wines of three kinds, and a helper that learns from any labels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from partlearn import disambiguate
from partlearn.candidates import (
    from_annotators,
    from_complementary,
    from_hierarchy,
    from_intervals,
    from_log_probabilities,
    from_text,
    from_votes,
    from_weights,
)
from partlearn.inspection import CandidateConfusionDisplay, ConfidenceDisplay

X, codes = load_wine(return_X_y=True)
names = np.array(["barolo", "grignolino", "barbera"])
truth = names[codes]
rng = np.random.RandomState(0)
other = names[(codes + rng.randint(1, 3, len(codes))) % 3]  # a wrong label of each row


def show(title, labels, ax):
    result = disambiguate(X, labels)
    ConfidenceDisplay.from_predictions(result.label_confidence, labels, ax=ax)
    right = (result.label == truth).mean()
    ax.set_title(f"{title}: {right:.0%} right")
    return result


# %%
# What people write down
# ----------------------
# A column of text; weights; a label that is certainly wrong.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
texts = [f"{a}|{b}" for a, b in zip(truth, other, strict=True)]
sets = from_text(texts)
from_sets = show("sets", sets, axes[0])
weights = np.where(names == truth[:, None], 0.5, 0.0) + 0.4 * (names == other[:, None])
show("weights", from_weights(weights, classes=names), axes[1])
show("not this one", from_complementary(other, classes=names), axes[2])

# %%
# What people know
# ----------------
# Only the region, where two of the three wines come from one; only a range of an
# ordered label.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
parents = {"barolo": "Langhe", "barbera": "Langhe", "grignolino": "Monferrato"}
coarse = np.where(rng.rand(len(truth)) < 0.7, [parents[name] for name in truth], truth)
regions = from_hierarchy(coarse, parents=parents)
from_regions = show("a coarse category", regions, axes[0])
low = np.maximum(codes - rng.randint(0, 2, len(codes)), 0)
high = np.minimum(codes + rng.randint(0, 2, len(codes)), 2)
intervals = np.column_stack([names[low], names[high]])
show("an interval", from_intervals(intervals, classes=names), axes[1])

# %%
# What several people say
# -----------------------
# One column per annotator, or a long table of votes. How good each of them is, is
# estimated.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
skills = {"Ada": 0.9, "Ben": 0.7, "Cleo": 0.4}
table = {
    name: np.where(rng.rand(len(truth)) < skill, truth, other)
    for name, skill in skills.items()
}
crowd = show("annotators", from_annotators(table), axes[0])
rows, who = np.nonzero(rng.rand(len(truth), 3) < 0.6)  # not everybody sees every row
given = np.array(list(table.values())).T[rows, who]
people = np.array(list(table))[who]
votes = from_votes(rows, people, given, n_rows=len(truth), empty="all")
show("votes", votes, axes[1])
estimate = crowd.annotators
for name, accuracy in zip(estimate.name, estimate.accuracy, strict=True):
    print(
        f"{name}: {accuracy:.2f} of the votes right by estimate, {skills[name]} drawn"
    )

# %%
# What a language model says
# --------------------------
# Log-probabilities of the labels, in which the model is right for two rows of three.

figure, ax = plt.subplots(figsize=(4.5, 3.6), layout="constrained")
said = np.where(rng.rand(len(truth)) < 0.67, truth, other)
logs = np.log(np.where(names == said[:, None], 0.7, 0.15))
show("log-probabilities", from_log_probabilities(logs, classes=names), ax)

# %%
# Which labels remain confused
# ----------------------------
# How much doubt is left between two labels that are both possible, over the rows in
# which they are; the numbers count these rows. All thirteen measurements tell the three
# wines apart; ash and its alkalinity alone hardly tell barbera from grignolino.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
few = disambiguate(X[:, 2:4], sets)
for name, result, ax in zip(
    ["all thirteen measurements", "ash and its alkalinity"],
    [from_sets, few],
    axes,
    strict=True,
):
    CandidateConfusionDisplay.from_predictions(result.label_confidence, sets, ax=ax)
    ax.set_title(name)
plt.show()
