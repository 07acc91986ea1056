"""Ways to write the same data that no estimator may tell apart."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn.utils._order import assert_close

__all__ = ["assert_stable", "coarse"]


def _same_data(X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Other layouts of memory, and entries that differ in their last digit."""
    yield np.asfortranarray(X)
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    yield wide[:, ::2]
    signs = np.random.default_rng(0).choice([-1, 0, 1], X.shape)
    yield X * (1 + np.finfo(np.float64).eps * signs)


def assert_stable(
    output: Callable[[NDArray[Any]], NDArray[Any]], X: NDArray[Any]
) -> None:
    """What is learnt from data does not hang on how they are written.

    Parameters
    ----------
    output : callable
        Fits on some rows and returns what is to be the same.
    X : ndarray of shape (n_samples, n_features)
        Rows without ties between distances.
    """
    plain = output(X)
    for same in _same_data(X):
        assert_close(output(same), plain, exactly=True)


def coarse(X: NDArray[Any]) -> NDArray[Any]:
    """Round to seven values, so that rows are equal and many distances the same."""
    low = X.min(axis=0)
    step = (X.max(axis=0) - low) / 6
    return low + step * np.round((X - low) / np.where(step > 0, step, 1))
