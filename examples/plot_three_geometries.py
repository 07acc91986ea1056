"""
What do three geometries see in the same ambiguous rows?
========================================================

CRISPClassifier scores rows in three geometries: linear, with a Gaussian and with a
Laplacian kernel. Its pool of experts is told by candidate sets, not by true labels,
which of them to trust. Here two classes are arcs and the third lies around a line; half
of the rows could be either of two classes.
"""

# %%
# Two moons and a stripe. Every other row has a false candidate beside the true label.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from partlearn.candidates import make_candidates
from partlearn.classification import CRISPClassifier
from partlearn.inspection import EmbeddingDisplay

rng = np.random.RandomState(0)
X, y = make_moons(300, noise=0.12, random_state=0)
stripe = np.column_stack([rng.uniform(-1, 2, 150), rng.normal(1.6, 0.12, 150)])
X, y = np.vstack([X, stripe]), np.append(y, np.full(150, 2))
candidates = np.eye(3, dtype=bool)[y]
ambiguous = np.arange(len(y)) % 2 == 0
candidates[ambiguous] = make_candidates(y[ambiguous], n_false=1, random_state=0)

# %%
# One classifier for each geometry, and one with all of them.

settings = {
    "linear": ("linear",),
    "Gaussian kernel": ("rbf",),
    "Laplacian kernel": ("laplacian",),
    "all three, pooled": ("linear", "rbf", "laplacian"),
}
models = {
    # Without votes of neighbors the geometries themselves show.
    name: CRISPClassifier(geometries, use_neighbors=False).fit(X, candidates)
    for name, geometries in settings.items()
}

# %%
# Where each of them would put new rows on a grid: color and mark are the most likely
# class, opacity the probability. Pale borders are where it is not sure.

horizontal, vertical = np.meshgrid(
    np.linspace(-1.6, 2.6, 60), np.linspace(-1.1, 2.2, 50)
)
grid = np.column_stack([horizontal.ravel(), vertical.ravel()])
figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
for (name, model), ax in zip(models.items(), axes.flat, strict=True):
    P = model.predict_proba(grid)
    EmbeddingDisplay.from_predictions(
        grid, model.classes_[P.argmax(axis=1)], 2 * P.max(axis=1) - 1, ax=ax
    )
    right = (model.label_confidence_.argmax(axis=1) == y).mean()
    ax.set(title=f"{name}: {right:.1%} of the rows right", xlabel="", ylabel="")
plt.show()

# %%
# The experts that the pool trusts most, of both kinds in each geometry.

weights = models["all three, pooled"].expert_weights_["log_linear"]
for expert, weight in sorted(weights.items(), key=lambda item: -item[1]):
    print(f"{weight:5.2f}  {expert}")

# %%
# The line cannot part the moons. Both kernels can, and the pool, which has seen nothing
# but candidate sets, gives its weight to their experts.
