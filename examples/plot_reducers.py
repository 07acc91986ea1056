"""
What does each reducer see in ambiguous digits?
===============================================

Eight reducers learn from images of handwritten digits whose labels are sets: the true
digit and two false ones. Each finds its own directions; the first two are drawn. Color
and mark are the most likely label, opacity is the confidence: what is pale is
undecided.
"""

# %%
# Labels that are sets of three, one of them true.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from partlearn.candidates import make_candidates
from partlearn.decomposition import (
    CENDA,
    CRISP,
    DELIN,
    PLDA,
    SDLPP,
    WPLDR,
    KernelCRISP,
    TunedPCA,
)
from partlearn.inspection import EmbeddingDisplay

X, y = load_digits(n_class=6, return_X_y=True)
X, y = StandardScaler().fit_transform(X[::3]), y[::3]
candidates = make_candidates(y, n_false=2, random_state=0)

# %%
# Published reducers
# ------------------
# All settings are the defaults. The share of right labels is that of the training rows:
# how well a reducer tells the true candidate from the others.

figure, axes = plt.subplots(2, 3, figsize=(12, 8), layout="constrained")
published = [CENDA(), DELIN(), PLDA(), WPLDR(), SDLPP(), TunedPCA(random_state=0)]
for reducer, ax in zip(published, axes.flat, strict=True):
    reducer.fit(X, candidates)
    EmbeddingDisplay.from_estimator(reducer, X, ax=ax)
    right = (reducer.label_confidence_.argmax(axis=1) == y).mean()
    ax.set_title(f"{type(reducer).__name__}: {right:.0%} of the labels right")

# %%
# Cross-fitted reducers
# ---------------------
# CRISP and KernelCRISP judge each row by regressions that never saw it.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for reducer, ax in zip([CRISP(), KernelCRISP()], axes, strict=True):
    reducer.fit(X, candidates)
    EmbeddingDisplay.from_estimator(reducer, X, ax=ax)
    right = (reducer.label_confidence_.argmax(axis=1) == y).mean()
    ax.set_title(f"{type(reducer).__name__}: {right:.0%} of the labels right")
plt.show()

# %%
# Six classes need five directions: what overlaps here may be apart in the third.
