"""
Which words tell the topics apart?
==================================

Documents about five topics were tagged by people who were not sure: each document comes
with three possible topics, one of which is right. SAUTE selects words straight
from the sparse word counts; nothing becomes dense.
"""

# %%
# A small library
# ---------------
# Five topics with eight words each, two of which are always used together, and 360
# words that say nothing. Counts are kept sparse.
import numpy as np
import scipy.sparse as sp

from partlearn.candidates import make_candidates

rng = np.random.RandomState(0)
topics = ["garden", "kitchen", "music", "sea", "snow"]
y = rng.randint(5, size=600)
own = rng.poisson(0.9, size=(600, 40)) * (np.arange(40) // 8 == y[:, None])
own[:, 1::8] = own[:, 0::8]  # in every topic the second word comes with the first
noise = rng.poisson(0.06, size=(600, 360))
X = sp.csr_array(np.column_stack([own, noise]).astype(float))
names = [f"{t}-{i}" for t in topics for i in range(8)] + [
    f"word-{i}" for i in range(360)
]
candidates = make_candidates(y, n_false=2, random_state=0)
print(f"{X.nnz} of {X.shape[0]} x {X.shape[1]} counts are not zero")

# %%
# Select twenty words
# -------------------
# Of the words that always come together, SAUTE takes one: the other one would be fully
# redundant. Maximum relevance takes both.
from partlearn.feature_selection import SAUTE, MaxRelevance, RandomSelection

saute = SAUTE(20).fit(X, candidates)
relevant = MaxRelevance(20).fit(X, candidates)
print("SAUTE:       ", " ".join(names[f] for f in saute.selected_[:8]))
print("MaxRelevance:", " ".join(names[f] for f in relevant.selected_[:8]))
for name, selector in [("SAUTE", saute), ("MaxRelevance", relevant)]:
    chosen = set(selector.selected_)
    twins = sum({8 * t, 8 * t + 1} <= chosen for t in range(5))
    topical = sum(f < 40 for f in chosen)
    print(f"{name}: {topical} of 20 words belong to a topic; pairs of twins: {twins}")

# %%
# The path
# --------
# What each word says about the topic, and how much of it was said before.
import matplotlib.pyplot as plt

from partlearn.inspection import SelectionPathDisplay

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for selector, ax in zip([saute, relevant], axes, strict=True):
    SelectionPathDisplay.from_estimator(selector, ax=ax)
    ax.set_title(type(selector).__name__)

# %%
# Accuracy by number of words
# ---------------------------
# Each selector beside random words; everything is fitted on the training rows of each
# fold. Forty words say something about a topic. SAUTE and MaxRelevance settle the
# labels anew in every iteration by rows that are near in the words chosen so far: asked
# for eighty, half of them noise, they would lose their way, and say so by a
# ``ConvergenceWarning``.

from partlearn.classification import PLKNN
from partlearn.feature_selection import (
    CRISPSelector,
    MaxJointEntropy,
    selection_curve,
)

sizes = [5, 10, 20, 40]
curves = {
    type(s).__name__: selection_curve(s, PLKNN(), X, candidates, y, sizes=sizes, cv=3)
    for s in (
        SAUTE(),
        MaxRelevance(),
        CRISPSelector(),
        MaxJointEntropy(),
        RandomSelection(random_state=0),
    )
}
figure, axes = plt.subplots(
    2, 2, figsize=(10, 7), sharex=True, sharey=True, layout="constrained"
)
random = curves.pop("RandomSelection")
for (name, curve), ax in zip(curves.items(), axes.flat, strict=True):
    SelectionPathDisplay.from_predictions({name: curve, "random": random}, ax=ax)
plt.show()
