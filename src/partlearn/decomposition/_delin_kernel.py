"""Kernel DELIN: discriminants in the space of a kernel."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.metrics.pairwise import pairwise_kernels

from partlearn._typing import Array, Mask
from partlearn.decomposition._scatter import inverse

KERNELS = ("linear", "rbf", "poly", "sigmoid", "cosine", "laplacian")
_RIDGE = 1e-6  # of the mean diagonal of the within-class scatter


def gram(A: Any, B: Any, kernel: str | Callable[..., Any]) -> Array:
    """Kernel matrix of the rows of `A` and of `B`, in double precision."""
    K = kernel(A, B) if callable(kernel) else pairwise_kernels(A, B, metric=kernel)
    K = np.asarray(K, dtype=np.float64)
    if K.shape != (A.shape[0], B.shape[0]):
        raise ValueError(
            "`kernel` must return one row per row of its first argument and one column "
            f"per row of its second, here {(A.shape[0], B.shape[0])}; got {K.shape}."
        )
    return K


class KernelSpace:
    """Discriminants of the columns k_i of a kernel matrix, for any confidences.

    With class means M_j and mean m*, between = sum_j (M_j - m*)(M_j - m*)' and
    within = T - Q Q', where T is the scatter of the columns about m* (no labels in it,
    decomposed once) and Q has the columns sqrt(n_j) (M_j - m*). The ridge enters T's
    eigenvalues, so that within^-1 needs a solve of size q only.
    """

    def __init__(self, K: Array) -> None:
        self.K = K
        centred = K - K.mean(axis=1, keepdims=True)
        t, self._V = scipy.linalg.eigh(centred @ centred.T, check_finite=False)
        self._t = np.maximum(t, 0.0)
        self._coordinates = self._V.T @ centred  # columns k_i - m*

    def solve(self, F: Array) -> None:
        """Find the directions; sets ``values`` (lambda) and ``shares``."""
        n = F.sum(axis=0)
        C = (self._coordinates @ F) * inverse(n)  # M_j - m*
        Q = C * np.sqrt(n)
        m = len(self._t)
        ridge = _RIDGE * max(self._t.sum() - np.vdot(Q, Q), self._t.sum() * 1e-12) / m
        if ridge == 0:  # all rows alike
            self.values = self.shares = np.zeros(len(n))
            self._A = np.zeros((m, len(n)))
            return
        D = (self._t + ridge)[:, None]
        inner = np.eye(len(n)) - Q.T @ (Q / D)
        WC = C / D + (Q / D) @ scipy.linalg.solve(inner, Q.T @ (C / D), assume_a="pos")
        G = C.T @ WC
        values, u = scipy.linalg.eigh((G + G.T) / 2, check_finite=False)
        self.values = np.clip(values[::-1], 0.0, None)
        self.shares = self.values / (1 + self.values)
        roots = np.sqrt(np.where(self.values > 0, self.values, 1.0))
        self._A = WC @ (u[:, ::-1] / roots)

    def directions(self, r: int) -> Array:
        """Coefficients of the training rows, (m, r)."""
        return self._V @ self._A[:, :r]

    def embedding(self, r: int) -> Array:
        """Training rows along the first `r` directions."""
        return self.K @ self.directions(r)


def kernel_update(
    F: Array,
    votes: Callable[[NDArray[Any], Literal["rank", "uniform"]], NDArray[Any]],
    k: int,
    S: Mask,
    rng: np.random.RandomState,
) -> Array:
    """Give the best supported candidate a share by its holders among the neighbours.

    Source: DELIN, update of the confidences, kernel form.

    Parameters and result are those of the linear method's update; here a label has
    support from each neighbour that has it as candidate, whatever its confidence.
    """
    V = votes(F, "rank") * S
    most = V.max(axis=1, keepdims=True)
    top = (most * (1 - 1e-12) <= V) & S
    rows = np.arange(len(S))
    best = one_of(top, rng).argmax(axis=1)
    holders = votes(S.astype(np.float64), "uniform")[rows, best]
    share = (holders / (k + k // 2))[:, None]
    size = S.sum(axis=1, keepdims=True)
    new = S * (1 - share) / np.maximum(size - 1, 1)
    new[rows, best] = share[:, 0]
    return np.where(size > 1, new, S)


def one_of(tied: Mask, rng: np.random.RandomState) -> Mask:
    """Keep one label of each row's `tied` ones, at random.

    One number is drawn per row, tied or not, so that the choice in a row does not hang
    on what happens in others.
    """
    draw = np.floor(rng.random_sample((len(tied), 1)) * tied.sum(axis=1, keepdims=True))
    return tied & (np.cumsum(tied, axis=1) == draw + 1)
