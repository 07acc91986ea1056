"""Move labels to the device and dtype of the features."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from partlearn._array_api import is_numpy, like, numpy_dtype, to_numpy
from partlearn.candidates._evidence import Evidence

FLOATS = (np.float64, np.float32)


def move_labels(labels: Evidence, X: Any) -> tuple[Any, Any]:
    """Return candidates and initial confidences on the device of `X`.

    Parameters
    ----------
    labels : Evidence of shape (n_samples, n_classes)
        Checked labels, in the memory of the host.
    X : array or object with ``dtype``
        Array whose device and precision the result gets.

    Returns
    -------
    S, F : array of shape (n_samples, n_classes)
        Candidates, boolean in NumPy and numbers elsewhere, and confidences.
    """
    S, F = labels.candidates, labels.first_confidence(numpy_dtype(X))
    return (S, F) if is_numpy(X) else (like(S, X, X.dtype), like(F, X))


def move_evidence(labels: Evidence, X: Any) -> tuple[Any, Any, Callable[[Any], Any]]:
    """Return evidence and confidences on the device of `X`, in double precision.

    Parameters
    ----------
    labels : Evidence of shape (n_samples, n_classes)
        Checked labels, in the memory of the host.
    X : array
        Array whose device the result gets.

    Returns
    -------
    L, F : array of shape (n_samples, n_classes)
        Weights, boolean in NumPy where they are all equal, and first confidences.
    update : callable
        Gives the evidence again, see :meth:`Evidence.updated`.
    """
    L, F = labels.weights, np.asarray(labels.confidence(), dtype=np.float64)
    if is_numpy(X):
        return L, F, labels.updated

    def moved(weights: Any) -> Any:
        return like(np.asarray(weights, dtype=np.float64), X)

    first = moved(L)

    def update(M: Any) -> Any:
        if type(labels) is Evidence:  # which stays as it is
            return first
        return moved(labels.updated(to_numpy(M)))

    return first, like(F, X), update


def one_label_each(y: Any) -> bool:
    """Whether `y` holds one plain label per row, not sets or a matrix.

    Parameters
    ----------
    y : candidate labels
        Labels that :func:`check_candidates` accepts, not an iterator.

    Returns
    -------
    plain : bool
        True for 1-D labels and for a single column of them.
    """
    if isinstance(y, Evidence):
        return False
    y = to_numpy(y)
    if not sp.issparse(y) and not isinstance(y, (list, tuple)):
        y = np.asarray(y)
    if getattr(y, "ndim", 1) == 2:
        if y.shape[1] > 1:
            return False
        y = y.ravel()
    return not isinstance(y[0], (set, frozenset, list, tuple, np.ndarray))
