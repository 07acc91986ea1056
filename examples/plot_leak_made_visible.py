"""
Does a projection show structure, or repeat the labels it was given?
====================================================================

With more features than rows, some direction of the data agrees with any labels
whatsoever. A reducer that is judged on the rows it was fitted on finds that direction,
shows clean clusters, and lets every row confirm its own candidate set.
:class:`~partlearn.decomposition.CRISP` judges each row by regressions that were fitted
without it. The pictures show the same rows twice: as the fitted projection places them,
and as projections that never saw them do.
"""

# %%
# First data without any structure: 200 rows of noise in 500 columns, and labels drawn
# at random. To see the projection alone, labels are certain here: each candidate set
# holds one label, so that there is nothing to disambiguate.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from partlearn.decomposition import CRISP
from partlearn.inspection import EmbeddingDisplay

rng = np.random.RandomState(0)
noise = rng.standard_normal((200, 500))
random_labels = rng.randint(5, size=200)

# %%
# Then 200 images of handwritten digits 0 to 4, with as many columns of noise beside the
# 64 pixels that there are again more columns than rows.

X, y = load_digits(n_class=5, return_X_y=True)
digits, labels = np.hstack([X[:200], rng.standard_normal((200, 436))]), y[:200]

# %%
# Left: the rows in the fitted projection, marked by their label. Right: the same rows,
# each placed by regressions that were fitted without it.

figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
shares = {}
for row, (name, data, truth) in zip(
    axes,
    [("noise", noise, random_labels), ("digits and noise", digits, labels)],
    strict=True,
):
    reducer = CRISP(background="none").fit(data, truth)
    pair = {"in-sample": reducer.transform(data), "cross-fitted": reducer.cross_fitted_}
    for ax, (kind, Z) in zip(row, pair.items(), strict=True):
        graph = NearestNeighbors(n_neighbors=1).fit(Z)
        nearest = graph.kneighbors(return_distance=False)[:, 0]
        shares[name, kind] = (truth[nearest] == truth).mean()
        EmbeddingDisplay.from_predictions(Z, truth, ax=ax)
        ax.set_title(f"{name}: {kind}")
plt.show()

# %%
# How often does the nearest neighbor of a row have the same label? In-sample this is
# most of the time even on noise, so the number is useless. Cross-fitted it is at the
# level of chance on noise, one in five, and high on digits.

for (name, kind), share in shares.items():
    print(f"{name:18s} {kind:13s} {share:.2f}")

# %%
# Candidate sets make the leak worse: neighbors of a row in the left picture vote on
# its confidences, and they were placed there by the very set that is to be judged.
