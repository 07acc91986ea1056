"""WPLDR's step for the confidences: convex-concave steps on the candidate simplices.

Only candidates may hold confidence, and there are few of them in a row. The step
therefore works on rows padded to the largest candidate set, with the quadratic form
``A'A`` restricted to pairs of rows that share a candidate.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import padded_candidates
from partlearn.simplex import minimize_on_simplex, power_iteration

# Restricting the form pays while a row has fewer than this share of all classes.
_FEW = 0.25


def confidence_step(
    F: Array,
    S: Mask,
    Z: Array,
    A: Any,
    beta: float,
    *,
    max_iter: int = 10,
    tol: float = 1e-4,
) -> Array:
    """Raise the objective of WPLDR over the confidences.

    Source: WPLDR, Eq. (11) and (12).

    The dependence is convex in F, so its tangent G = K F bounds it from below; each
    step maximises ``<F, G> - beta/2 ||A F||^2`` over the candidate simplices.

    Parameters
    ----------
    F : ndarray of shape (m, q)
        Confidences to start from.
    S : ndarray of bool, shape (m, q)
        Candidates.
    Z : ndarray of shape (m, r)
        Projected rows; they are centred here.
    A : csr_array of shape (m, m)
        ``I - W`` for the neighbour graph W.
    beta : float
        Weight of the graph.
    max_iter : int, default=10
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop when no confidence changes by more than `tol`.

    Returns
    -------
    F : ndarray of shape (m, q)
        New confidences.
    """
    Z = Z - Z.mean(axis=0)
    place, filled = padded_candidates(S)
    if beta > 0:
        At = sp.csr_array(A.T)
        # The same for every column of F, so that one column is enough to measure it.
        norm = power_iteration(lambda v: At @ (A @ v), (len(F), 1))
        quadratic = _quadratic(A, At, S, place, filled)
    for _ in range(max_iter):
        G = np.take_along_axis(Z @ (Z.T @ F), place, axis=1)
        start = np.take_along_axis(F, place, axis=1) * filled
        if beta == 0:
            new = _best_only(G, filled)
        else:
            new = _proximal(start, filled, G, quadratic, beta, norm)
        change = np.abs(new - start).max()
        F = np.zeros_like(F)
        rows, slots = np.nonzero(filled)
        F[rows, place[rows, slots]] = new[rows, slots]
        if change < tol:
            break
    return F


def _best_only(G: Array, filled: Mask) -> NDArray[Any]:
    """Without the graph the step is linear: all confidence on one candidate."""
    new = np.zeros_like(G)
    new[np.arange(len(G)), np.where(filled, G, -np.inf).argmax(axis=1)] = 1.0
    return new


def _proximal(
    start: Array,
    filled: Mask,
    G: Array,
    quadratic: Callable[[NDArray[Any]], NDArray[Any]],
    beta: float,
    norm: float,
) -> Array:
    def gradient(F: NDArray[Any]) -> NDArray[Any]:
        return beta * quadratic(F) - G

    return minimize_on_simplex(gradient, start, filled, 1.02 * beta * norm)[0]


def _quadratic(
    A: Any, At: Any, S: Mask, place: Indices, filled: Mask
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """``F -> A'A F`` for padded rows, whichever way costs less."""
    if S.mean() < _FEW:
        H = restricted_quadratic(A, S)

        def restricted(F: NDArray[Any]) -> NDArray[Any]:
            out = np.zeros_like(F)
            out[filled] = H @ F[filled]
            return out

        return restricted

    def full(F: NDArray[Any]) -> NDArray[Any]:
        dense = np.zeros(S.shape)
        np.put_along_axis(dense, place, F * filled, axis=1)
        return np.take_along_axis(At @ (A @ dense), place, axis=1)

    return full


def restricted_quadratic(A: Any, S: Mask) -> Any:
    """``A'A`` for every class, kept where the class is a candidate.

    Parameters
    ----------
    A : csr_array of shape (m, m)
        Left factor of the form.
    S : ndarray of bool, shape (m, q)
        Candidates.

    Returns
    -------
    H : csr_array of shape (n, n)
        n candidates in all, row by row; ``x' H x = ||A F||^2`` for ``F[S] = x``.
    """
    rows, columns = np.nonzero(S)
    Ac = sp.csc_array(A)
    blocks = []
    order = np.argsort(columns, kind="stable")  # candidates by class, then by row
    for j in range(S.shape[1]):
        part = Ac[:, rows[columns == j]]
        blocks.append(sp.csr_array(part.T) @ sp.csr_array(part))
    H = sp.block_diag(blocks, format="coo")
    return sp.coo_array(
        (H.data, (order[H.coords[0]], order[H.coords[1]])), shape=H.shape
    ).tocsr()
