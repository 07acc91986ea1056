"""Synthetic data with known informative features."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from partlearn._arguments import argument
from partlearn.candidates import make_candidates


def make_partial_classification(
    n_samples: int = 200,
    *,
    n_features: int = 20,
    n_informative: int = 4,
    n_redundant: int = 4,
    n_classes: int = 5,
    n_false: int = 1,
    class_sep: float = 2.0,
    noise: float = 0.1,
    shuffle: bool = True,
    random_state: Any = None,
) -> Bunch:
    """Make partial-label data with known informative features.

    Each class is a Gaussian cloud around its own center in the space of the informative
    features; no two centers are closer than `class_sep`. A redundant feature is a
    linear combination of the informative ones with a little noise. The other features
    are noise. Selectors can be compared with the informative features.

    Parameters
    ----------
    n_samples : int, default=200
        Rows; classes are of (nearly) equal size.
    n_features : int, default=20
        Columns in all.
    n_informative : int, default=4
        Features that carry the class.
    n_redundant : int, default=4
        Linear combinations of the informative features.
    n_classes : int, default=5
        Classes.
    n_false : int, default=1
        False labels in every candidate set.
    class_sep : float, default=2.0
        Minimum distance between two centers, in standard deviations of a cloud.
    noise : float, default=0.1
        Standard deviation of the noise of redundant features, relative to the
        feature itself.
    shuffle : bool, default=True
        Mix rows and columns; without it, columns are informative, redundant, noise.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data``, ``candidates``, ``truth``, ``feature_names``, ``target_names``,
        ``task``, ``DESCR``, and the answer: ``informative``, ``redundant``, ``noise``
        (sorted column numbers) and ``centers``.

    Examples
    --------
    >>> from partlearn.datasets import make_partial_classification
    >>> bunch = make_partial_classification(50, shuffle=False, random_state=0)
    >>> bunch.data.shape, bunch.informative
    ((50, 20), array([0, 1, 2, 3]))
    >>> bool(bunch.candidates[range(50), bunch.truth].all())
    True
    """
    n_noise = n_features - n_informative - n_redundant
    if n_informative < 1 or n_redundant < 0 or n_noise < 0:
        raise ValueError(
            f"{argument('n_informative')} ({n_informative}, at least 1) and "
            f"{argument('n_redundant')} "
            f"({n_redundant}) must fit into {argument('n_features')} ({n_features})."
        )
    if n_classes < 2 or n_samples < n_classes:
        raise ValueError(
            "At least two classes and one row per class are needed; got "
            f"{n_classes} classes and {n_samples} rows."
        )
    rng = check_random_state(random_state)
    centers = _centers(rng, n_classes, n_informative, class_sep)
    truth = np.arange(n_samples) % n_classes
    informative = centers[truth] + rng.standard_normal((n_samples, n_informative))
    mixing = rng.standard_normal((n_informative, n_redundant))
    redundant = informative @ mixing
    redundant += noise * redundant.std(axis=0) * rng.standard_normal(redundant.shape)
    X = np.hstack([informative, redundant, rng.standard_normal((n_samples, n_noise))])
    kinds = np.repeat([0, 1, 2], [n_informative, n_redundant, n_noise])
    if shuffle:
        rows, columns = rng.permutation(n_samples), rng.permutation(n_features)
        X, truth, kinds = X[rows][:, columns], truth[rows], kinds[columns]
    X = np.ascontiguousarray(X)
    return Bunch(
        data=X,
        candidates=make_candidates(truth, n_false, random_state=rng),
        truth=truth,
        feature_names=[f"x{j}" for j in range(n_features)],
        target_names=[f"c{k}" for k in range(n_classes)],
        task="pll",
        informative=np.flatnonzero(kinds == 0),
        redundant=np.flatnonzero(kinds == 1),
        noise=np.flatnonzero(kinds == 2),
        centers=centers,
        DESCR=f"Synthetic: {n_informative} informative, {n_redundant} redundant and "
        f"{n_noise} noise features, {n_false} false labels per row.",
    )


def _centers(
    rng: np.random.RandomState, n_classes: int, dim: int, separation: float
) -> Any:
    """Draw centers, scaled so that the closest two are `separation` apart."""
    centers = rng.standard_normal((n_classes, dim))
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    closest = gaps[np.triu_indices(n_classes, 1)].min()
    return centers * (separation / max(closest, np.finfo(float).tiny))
