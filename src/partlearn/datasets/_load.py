"""Data sets of scikit-learn with synthetic candidate sets."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.datasets
from sklearn.utils import Bunch

from partlearn.candidates import make_candidates


def _partial(
    loader: Callable[[], Any], n_false: int, random_state: Any, return_X_y: bool
) -> Any:
    source = loader()
    S = make_candidates(source.target, n_false, random_state=random_state)
    if return_X_y:
        return source.data, S
    return Bunch(
        data=source.data,
        candidates=S,
        truth=source.target.astype(np.int64),
        feature_names=[str(name) for name in source.feature_names],
        target_names=[str(name) for name in source.target_names],
        task="pll",
        DESCR=f"{n_false} false labels per row, drawn uniformly.\n\n{source.DESCR}",
    )


def load_breast_cancer_partial(
    n_false: int = 0, *, random_state: Any = 0, return_X_y: bool = False
) -> Any:
    """Load the breast cancer data (569 x 30, 2 classes) with candidate sets.

    Parameters
    ----------
    n_false : int, default=0
        False labels in every candidate set; with two classes, one false label
        leaves nothing to learn from.
    random_state : int, RandomState instance or None, default=0
        Seed of the false labels.
    return_X_y : bool, default=False
        Return ``(data, candidates)`` instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data``, ``candidates``, ``truth``, ``feature_names``, ``target_names``,
        ``task``, ``DESCR``.

    Examples
    --------
    >>> from partlearn.datasets import load_breast_cancer_partial
    >>> bunch = load_breast_cancer_partial()
    >>> bunch.data.shape, bunch.candidates.shape
    ((569, 30), (569, 2))
    """
    return _partial(
        sklearn.datasets.load_breast_cancer, n_false, random_state, return_X_y
    )


def load_digits_partial(
    n_false: int = 1, *, random_state: Any = 0, return_X_y: bool = False
) -> Any:
    """Load the digits (1797 x 64, 10 classes) with candidate sets.

    Parameters
    ----------
    n_false : int, default=1
        False labels in every candidate set.
    random_state : int, RandomState instance or None, default=0
        Seed of the false labels.
    return_X_y : bool, default=False
        Return ``(data, candidates)`` instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data``, ``candidates``, ``truth``, ``feature_names``, ``target_names``,
        ``task``, ``DESCR``.

    Examples
    --------
    >>> from partlearn.datasets import load_digits_partial
    >>> bunch = load_digits_partial()
    >>> bunch.data.shape, bunch.candidates.shape
    ((1797, 64), (1797, 10))
    """
    return _partial(sklearn.datasets.load_digits, n_false, random_state, return_X_y)


def load_iris_partial(
    n_false: int = 1, *, random_state: Any = 0, return_X_y: bool = False
) -> Any:
    """Load the iris data (150 x 4, 3 classes) with candidate sets.

    Parameters
    ----------
    n_false : int, default=1
        False labels in every candidate set.
    random_state : int, RandomState instance or None, default=0
        Seed of the false labels.
    return_X_y : bool, default=False
        Return ``(data, candidates)`` instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data``, ``candidates``, ``truth``, ``feature_names``, ``target_names``,
        ``task``, ``DESCR``.

    Examples
    --------
    >>> from partlearn.datasets import load_iris_partial
    >>> bunch = load_iris_partial()
    >>> bunch.data.shape, bunch.candidates.shape
    ((150, 4), (150, 3))
    """
    return _partial(sklearn.datasets.load_iris, n_false, random_state, return_X_y)


def load_wine_partial(
    n_false: int = 1, *, random_state: Any = 0, return_X_y: bool = False
) -> Any:
    """Load the wine data (178 x 13, 3 classes) with candidate sets.

    Parameters
    ----------
    n_false : int, default=1
        False labels in every candidate set.
    random_state : int, RandomState instance or None, default=0
        Seed of the false labels.
    return_X_y : bool, default=False
        Return ``(data, candidates)`` instead of a Bunch.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data``, ``candidates``, ``truth``, ``feature_names``, ``target_names``,
        ``task``, ``DESCR``.

    Examples
    --------
    >>> from partlearn.datasets import load_wine_partial
    >>> bunch = load_wine_partial()
    >>> bunch.data.shape, bunch.candidates.shape
    ((178, 13), (178, 3))
    """
    return _partial(sklearn.datasets.load_wine, n_false, random_state, return_X_y)
