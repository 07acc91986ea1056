"""Labelling confidences: where they start and how neighbours refine them.

A confidence matrix ``F`` has the shape of the candidate matrix ``S``, is zero outside
it, and its rows sum to one.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import namespace
from partlearn._typing import Mask

__all__ = ["refine", "uniform_confidence"]


def uniform_confidence(S: Mask, dtype: Any = np.float64) -> NDArray[np.floating[Any]]:
    """Spread one unit of belief evenly over the candidates of each row.

    Parameters
    ----------
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidate matrix; no row may be empty.
    dtype : dtype, default=float64
        Type of the result.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        ``S / S.sum(axis=1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import uniform_confidence
    >>> uniform_confidence(np.array([[True, True, False]]))
    array([[0.5, 0.5, 0. ]])
    """
    F = S.astype(dtype)
    F /= F.sum(axis=1, keepdims=True)
    return F


def refine(
    F: NDArray[Any], V: NDArray[Any], S: NDArray[Any], own: float = 1.0
) -> NDArray[np.floating[Any]]:
    """Mix own confidence with votes, inside the candidate set.

    Source: CENDA, Eq. (13).
    Source: SAUTE, Eq. (14).

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Current confidences.
    V : ndarray of shape (n_samples, n_classes)
        Votes, see :func:`partlearn.graphs.vote`.
    S : ndarray of shape (n_samples, n_classes)
        Candidate matrix, or evidence, which weighs the mixture.
    own : float, default=1.0
        Weight of the row's own confidence beside the votes.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        ``(own * F + V)`` masked by `S`, rows scaled to sum to one. A row without any
        mass keeps its confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import refine
    >>> S = np.array([[True, True, False]])
    >>> refine(np.array([[0.5, 0.5, 0.0]]), np.array([[1.0, 0.0, 9.0]]), S)
    array([[0.75, 0.25, 0.  ]])
    """
    xp = namespace(F, V, S)
    N = own * F + V
    N *= S
    mass = xp.sum(N, axis=1, keepdims=True)
    silent = mass <= 0
    if not bool(xp.any(silent)):
        N /= mass
        return N
    return xp.where(silent, F, N / xp.where(silent, xp.ones_like(mass), mass))
