"""PML-FSLA's factors: update rules as pure functions of arrays.

Letters are the paper's: ``X (n, d)`` features, ``L, P (n, k)``, ``Q (d, k)``,
``R (k, l)``, ``T (n, l)`` labels that vanish outside the candidates, and weights
``a, b, g``. The objective is

    |X - L Q'|² + a |T - P R|² + b |L - P|² + g sum_i |(Q R)_i|.

Nothing of size ``n d`` or ``d d`` is formed: products are taken through ``k x k``
matrices, and residuals are never written down.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from partlearn._math.simplex import project_simplex
from partlearn._sizes import SIZES, spans
from partlearn._typing import Array, Mask
from partlearn.multilabel.feature_selection._base import EPS

_DENSE = 0.1  # share of candidates above which dense products are faster


class Weights(NamedTuple):
    """Weights of the label fit, the alignment, the row-sparsity and the anchor."""

    a: float
    b: float
    g: float
    mu: float


class FSLAFactors(NamedTuple):
    """Latent factors, and the labels on the support."""

    Q: Array
    L: Array
    P: Array
    R: Array
    T: Array


class Support:
    """The candidate entries; numbers on them are kept dense or as a flat vector.

    Parameters
    ----------
    C : ndarray of bool, shape (n, l)
        Candidates.
    dense : bool or None, default=None
        Whether numbers are kept as a matrix; by default where candidates are many.
    """

    def __init__(self, C: Mask, dense: bool | None = None) -> None:
        self.C = C
        self.dense = bool(C.mean() > _DENSE) if dense is None else dense
        self.rows, self.columns = np.nonzero(C)
        self._indptr = np.concatenate([[0], np.cumsum(C.sum(axis=1))])
        self._scratch: Array = np.empty((len(C), 0))
        self.ones: Array = (
            C.astype(np.float64) if self.dense else np.ones(len(self.rows))
        )

    def scratch(self, k: int) -> Array:
        """An (n, k) array to write over, the same one in every sweep."""
        if self._scratch.shape[1] != k:
            self._scratch = np.empty((len(self.C), k))
        return self._scratch

    def product(self, P: Array, R: Array) -> Array:
        """``P R`` on the support."""
        if self.dense:
            return (P @ R) * self.ones
        values = np.empty(len(self.rows))
        Rt = np.ascontiguousarray(R.T)
        for block in spans(len(values), SIZES.fsla_block // max(1, P.shape[1])):
            values[block] = np.einsum(
                "ij,ij->i",
                np.take(P, self.rows[block], axis=0),
                np.take(Rt, self.columns[block], axis=0),
            )
        return values

    def matrix(self, values: Array) -> Any:
        """Numbers on the support as an (n, l) matrix to multiply with."""
        if self.dense:
            return values
        return sp.csr_array(
            (values, self.columns, self._indptr), shape=self.C.shape, copy=False
        )

    def toarray(self, values: Array) -> Array:
        """Numbers on the support as a dense (n, l) matrix."""
        if self.dense:
            return values
        full = np.zeros(self.C.shape)
        full[self.rows, self.columns] = values
        return full

    def flatten(self, full: Array) -> Array:
        """Numbers on the support, from a dense (n, l) matrix."""
        return full * self.ones if self.dense else full[self.rows, self.columns]

    def shares(self, values: Array) -> Array:
        """Divide every row by its sum; rows that sum to zero stay zero."""
        if self.dense:
            total = values.sum(axis=1, keepdims=True)
        else:
            total = np.bincount(self.rows, values, len(self.C))[self.rows]
        return np.divide(values, total, out=np.zeros_like(values), where=total > 0)


LABEL_STEPS = ("anchor", "simplex", "normalize", "fixed", "paper")


def label_step(step: str, PR: Array, support: Support, mu: float) -> Array:
    """Labels that follow from ``P R``, both on the support."""
    if step == "anchor":  # minimizer of |T - PR|² + mu |T - C|² on the support
        return (PR + mu * support.ones) / (1 + mu)
    if step == "simplex":
        full = support.toarray(PR).copy()
        some = support.C.any(axis=1)
        full[some] = project_simplex(full[some], support.C[some])
        return support.flatten(full)
    if step == "normalize":
        return support.shares(PR)
    # The paper prints T * (P R) / T: the candidates are forgotten.
    return support.ones if step == "fixed" else PR


def _squared_row_norms(Q: Array, RRt: Array) -> Array:
    """``|(Q R)_i|²`` through the k x k matrix ``R R'``; no term is negative."""
    return np.asarray(np.einsum("ik,ik->i", Q @ RRt, Q))


def _half_inverse(squares: Array) -> Array:
    """``D_ii = 1 / (2 sqrt(|(QR)_i|² + eps))``."""
    return 0.5 / np.sqrt(squares + EPS)


def _times(F: Array, up: Array, down: Array) -> Array:
    """``F * up / (down + eps)``, written over `up`."""
    up *= F
    down += EPS
    up /= down
    return up


def _aligned(
    F: Array, up: Array, other: Array, b: float, K: Array, work: Array
) -> Array:
    """``F * (up + b other) / (F K + eps)``, written over `up`; `work` is scratch.

    These arrays are the large ones; allocating them costs more than filling them.
    """
    np.multiply(other, b, out=work)
    up += work
    np.matmul(F, K, out=work)
    return _times(F, up, work)


def derived_sweep(
    X: Any, support: Support, f: FSLAFactors, w: Weights, step: str, xx: float
) -> tuple[FSLAFactors, float]:
    """One sweep L, Q, P, R, T of updates that never raise the objective.

    Source: PMLFSLA, updates derived from the objective, in the order of Algorithm 1.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Features, not negative.
    support : Support
        Candidates.
    f : FSLAFactors
        Current factors.
    w : Weights
        Weights of the terms.
    step : {"anchor", "simplex", "normalize", "fixed", "paper"}
        How labels follow from ``P R``.
    xx : float
        ``|X|²``.

    Returns
    -------
    f : FSLAFactors
        New factors.
    objective : float
        Value after the sweep, the anchor included.
    """
    Q, L, P, R, T = f
    a, b, g, mu = w
    eye = b * np.eye(Q.shape[1])
    work = support.scratch(L.shape[1])
    L = _aligned(L, X @ Q, P, b, Q.T @ Q + eye, work)
    XtL, LtL, RRt = X.T @ L, L.T @ L, R @ R.T
    QRRt = Q @ RRt
    D = _half_inverse(np.einsum("ik,ik->i", QRRt, Q))[:, None]
    Q = _times(Q, XtL.copy(), Q @ LtL + g * D * QRRt)
    M = support.matrix(T)
    up = M @ R.T
    up *= a
    P = _aligned(P, up, L, b, a * RRt + eye, work)
    # Q has moved, so the weights of the penalty are computed again.
    D = _half_inverse(_squared_row_norms(Q, RRt))[:, None]
    PtP = P.T @ P
    R = _times(R, a * (M.T @ P).T, (a * PtP + g * (Q.T @ (D * Q))) @ R)
    PR = support.product(P, R)
    T = label_step(step, PR, support, mu)

    RRt = R @ R.T
    value = max(float(xx - 2 * np.vdot(XtL, Q) + np.vdot(LtL, Q.T @ Q)), 0.0)
    labels = np.vdot(T, T) - 2 * np.vdot(T, PR) + np.vdot(PtP, RRt)
    value += a * max(float(labels), 0.0)
    np.subtract(L, P, out=work)
    value += b * float(np.vdot(work, work))
    value += g * float(np.sqrt(_squared_row_norms(Q, RRt)).sum())
    if step == "anchor":
        value += a * mu * float(np.sum((T - support.ones) ** 2))
    return FSLAFactors(Q, L, P, R, T), float(value)


def paper_sweep(
    X: Any, support: Support, f: FSLAFactors, w: Weights, step: str, xx: float
) -> tuple[FSLAFactors, float]:
    """One sweep as printed, products that do not conform repaired.

    Source: PMLFSLA, updates as printed.

    The penalty enters without its weights D, which makes it a ridge, and the alignment
    counts double in the numerator of P, which lets the factors grow without bound. See
    :func:`derived_sweep` for the parameters.
    """
    Q, L, P, R, T = f
    a, b, g, mu = w
    L = L * (X @ Q + b * P) / (L @ (Q.T @ Q) + b * L + EPS)
    XtL, LtL, RRt = X.T @ L, L.T @ L, R @ R.T
    Q = Q * XtL / (Q @ (LtL + g * RRt) + EPS)
    M = support.matrix(T)
    P = P * (a * (M @ R.T) + 2 * b * L) / (a * (P @ RRt) + b * P + EPS)
    PtP = P.T @ P
    R = R * (a * (M.T @ P).T) / ((a * PtP + g * (Q.T @ Q)) @ R + EPS)
    PR = support.product(P, R)
    T = label_step(step, PR, support, mu)
    RRt = R @ R.T
    value = xx - 2 * np.vdot(XtL, Q) + np.vdot(LtL, Q.T @ Q)
    value += a * (np.vdot(T, T) - 2 * np.vdot(T, PR) + np.vdot(PtP, RRt))
    value += b * np.sum((L - P) ** 2)
    value += g * float(np.sqrt(_squared_row_norms(Q, RRt)).sum())
    if step == "anchor":
        value += a * mu * float(np.sum((T - support.ones) ** 2))
    return FSLAFactors(Q, L, P, R, T), float(value)


def code_sweep(
    X: Any, support: Support, f: FSLAFactors, w: Weights, step: str, xx: float
) -> tuple[FSLAFactors, float]:
    """One sweep Q, L, T, P, R as in the authors' program, its value included.

    Source: PMLFSLA, updates of the authors' program.

    The weights D and the product ``W = Q R`` are those of the start of the sweep, also
    where R is updated; labels are normalized rows of ``P R``; the weight ``a`` is
    missing where the program misses it. The value is the program's too: it takes the
    penalty ``g Tr(W' D W)`` at the start of the sweep, half of the true one.
    """
    Q, L, P, R, _ = f
    a, b, g, _ = w
    W = Q @ R
    squares = np.einsum("ij,ij->i", W, W)
    D = _half_inverse(squares)[:, None]
    Q = Q * (X.T @ L) / (Q @ (L.T @ L) + g * D * (W @ R.T) + EPS)
    QtQ, XQ = Q.T @ Q, X @ Q
    L = L * (XQ + b * P) / (L @ QtQ + b * L + EPS)
    T = support.shares(support.product(P, R))
    M = support.matrix(T)
    P = P * (a * (M @ R.T) + b * L) / (P @ (R @ R.T) + b * P + EPS)
    PtP = P.T @ P
    R = R * (M.T @ P).T / (PtP @ R + g * (Q.T @ (D * W)) + EPS)
    PR = support.product(P, R)
    value = xx - 2 * np.vdot(XQ, L) + np.vdot(L.T @ L, QtQ)
    value += a * (np.vdot(T, T) - 2 * np.vdot(T, PR) + np.vdot(PtP, R @ R.T))
    value += b * np.sum((L - P) ** 2) + g * np.sum(D.ravel() * squares)
    return FSLAFactors(Q, L, P, R, T), float(value)


FSLASweep = Callable[
    [Any, Support, FSLAFactors, Weights, str, float], tuple[FSLAFactors, float]
]
SWEEPS: dict[str, FSLASweep] = {
    "derived": derived_sweep,
    "paper": paper_sweep,
    "code": code_sweep,
}
