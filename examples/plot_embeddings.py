"""
What do the published reducers see in ambiguous digits?
=======================================================

Four reducers learn from images of handwritten digits whose labels are sets: the true
digit and two false ones. Each finds its own directions; the first two are drawn, a row
in the colour and with the number of its most confident candidate. Opacity shows the
confidence: what is pale is undecided. Directions come from one half of the rows and
are drawn for that half, since only training rows have confidences.
"""

# %%
# Labels that are sets of three, one of them true.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from partlearn.candidates import make_candidates
from partlearn.decomposition import CENDA, DELIN, PLDA, WPLDR

X, y = load_digits(n_class=6, return_X_y=True)
X, y = X[::2], y[::2]
candidates = make_candidates(y, n_false=2, random_state=0)

# %%
# Twenty rounds are enough for a picture. A larger `beta` keeps WPLDR from deciding at
# once.

reducers = [
    CENDA(max_iter=20),
    DELIN(max_iter=20),
    PLDA(max_iter=20),
    WPLDR(beta=1.0, max_iter=10),
]
for reducer in reducers:
    reducer.fit(X, candidates)

# %%
# Rows, drawn as digits, in the first two directions.

figure, axes = plt.subplots(2, 2, figsize=(9, 9), layout="constrained")
colours = plt.get_cmap("Dark2")
for reducer, axis in zip(reducers, axes.flat, strict=True):
    Z = reducer.transform(X)[:, :2]
    F = reducer.label_confidence_
    likely, sure = F.argmax(axis=1), F.max(axis=1)
    axis.scatter(*Z.T, s=0)  # sets the limits; the digits are the marks
    for (a, b), digit, confidence in zip(Z, likely, sure, strict=True):
        axis.text(a, b, digit, color=colours(digit), alpha=confidence, fontsize=7)
    right = (likely == y).mean()
    name = type(reducer).__name__
    axis.set(title=f"{name}: {right:.0%} of the rows right", xticks=[], yticks=[])
figure.suptitle("Digits 0 to 5, three candidates each: opacity is confidence")
plt.show()

# %%
# CENDA and WPLDR look for dependence and keep the spread of the data; DELIN and PLDA
# are discriminant analyses and pull classes together. Six classes need five directions:
# what overlaps here may be apart in the third.
