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

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from partlearn.candidates import make_candidates
from partlearn.classification import CRISPClassifier

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
models = {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name, geometries in settings.items():
        # Without votes of neighbours the geometries themselves show.
        models[name] = CRISPClassifier(geometries, votes=False).fit(X, candidates)

# %%
# Where each of them would put new rows: colour is the most likely class, its depth the
# probability. Ambiguous training rows are crosses.

horizontal, vertical = np.meshgrid(
    np.linspace(-1.6, 2.6, 160), np.linspace(-1.1, 2.2, 140)
)
grid = np.column_stack([horizontal.ravel(), vertical.ravel()])
colours = np.array([[0.85, 0.37, 0.01], [0.46, 0.44, 0.70], [0.11, 0.62, 0.47]])
figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
for (name, model), axis in zip(models.items(), axes.flat, strict=True):
    P = model.predict_proba(grid)
    image = 1 - (1 - colours[P.argmax(axis=1)]) * 0.6 * P.max(axis=1)[:, None]
    extent = (-1.6, 2.6, -1.1, 2.2)
    axis.imshow(
        image.reshape(140, 160, 3), origin="lower", extent=extent, aspect="auto"
    )
    for mark, rows in (("o", ~ambiguous), ("x", ambiguous)):
        axis.scatter(*X[rows].T, c=colours[y[rows]], marker=mark, s=12, linewidths=0.8)
    right = (model.label_confidence_.argmax(axis=1) == y).mean()
    axis.set(title=f"{name}: {right:.1%} of the rows right", xticks=[], yticks=[])
figure.suptitle("New rows by geometry; crosses have a false candidate")
plt.show()

# %%
# The experts that the pool trusts most, of both kinds in each geometry.

weights = models["all three, pooled"].expert_weights_["log_linear"]
for expert, weight in sorted(weights.items(), key=lambda item: -item[1]):
    print(f"{weight:5.2f}  {expert}")

# %%
# The line cannot part the moons. Both kernels can, and the pool, which has seen nothing
# but candidate sets, gives its weight to their experts.
