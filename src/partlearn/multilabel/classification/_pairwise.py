"""Linear classifiers between pairs of labels, and between a label and none."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from partlearn._typing import Array, Indices, Mask
from partlearn.linalg import squared_hinge

_CHUNK = 200  # classifiers a worker trains at a time
_BLOCK = 1 << 22  # votes computed at a time
_TIE = 1e-9  # a score this near to the border is a tie: the solver is not more exact


class Pairs(NamedTuple):
    """Classifiers that prefer label ``first`` where their score is positive.

    Attributes
    ----------
    first, second : ndarray of int, shape (p,)
        The labels; a ``second`` of -1 is the virtual label.
    coef : ndarray of shape (p, d)
        Coefficients.
    intercept : ndarray of shape (p,)
        Intercepts.
    accuracy : ndarray of shape (p,)
        Share of training rows on the right side; a tie counts half.
    """

    first: Indices
    second: Indices
    coef: Array
    intercept: Array
    accuracy: Array


def pairs_of(l: int, *, real: bool, virtual: bool) -> Indices:  # noqa: E741
    """Pairs ``j < m`` of labels, and each label against the virtual one, (p, 2)."""
    kinds = []
    if real:
        kinds.append(np.column_stack(np.triu_indices(l, 1)))
    if virtual:
        kinds.append(np.column_stack([np.arange(l), np.full(l, -1)]))
    return np.concatenate(kinds)


def fit_pairs(
    X: Any,
    E: Mask,
    N: Mask,
    wanted: Indices,
    *,
    C: float = 1.0,
    n_jobs: int | None = None,
) -> Pairs:
    """Train a support vector machine for each pair that has rows on both sides.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Rows.
    E : ndarray of bool, shape (n, l)
        Credible labels.
    N : ndarray of bool, shape (n, l)
        Labels that are no candidates. What is neither is left out.
    wanted : ndarray of int, shape (p, 2)
        Pairs to train, from `pairs_of`.
    C : float, default=1.0
        Weight of the loss.
    n_jobs : int, default=None
        Workers; the result does not depend on it.

    Returns
    -------
    pairs : Pairs
        Those for which both labels have rows.
    """
    # Sizes of both sides by two products, so that empty pairs cost nothing.
    j, m = wanted.T
    meets = E.T.astype(np.float32) @ N.astype(np.float32)  # exact up to 2**24 rows
    up = np.where(m < 0, E.sum(axis=0)[j], meets[j, m])
    down = np.where(m < 0, N.sum(axis=0)[j], meets[m, j])
    wanted = wanted[(up > 0) & (down > 0)]
    chunks = [wanted[i : i + _CHUNK] for i in range(0, len(wanted), _CHUNK)]
    if len(chunks) > 1:
        fits = Parallel(n_jobs=n_jobs)(
            delayed(_fit_some)(X, E, N, chunk, C) for chunk in chunks
        )
    else:  # not worth a worker
        fits = [_fit_some(X, E, N, wanted, C)]
    coef, intercept, accuracy = map(np.concatenate, zip(*fits, strict=True))
    return Pairs(wanted[:, 0], wanted[:, 1], coef, intercept, accuracy)


def _fit_some(
    X: Any, E: Mask, N: Mask, pairs: Indices, C: float
) -> tuple[Array, Array, Array]:
    coef = np.empty((len(pairs), X.shape[1]))
    intercept, accuracy = np.empty(len(pairs)), np.empty(len(pairs))
    for p, (j, m) in enumerate(pairs):
        up = E[:, j] & N[:, m] if m >= 0 else E[:, j]
        down = E[:, m] & N[:, j] if m >= 0 else N[:, j]
        rows = np.flatnonzero(up | down)
        y = np.where(up[rows], 1.0, -1.0)
        A = X[rows]
        coef[p], intercept[p] = squared_hinge(A, y, C)
        h = votes(np.asarray(A @ coef[p]).ravel() + intercept[p])
        accuracy[p] = np.mean(np.where(y > 0, h, 1 - h))
    return coef, intercept, accuracy


def votes(f: Array) -> Array:
    """1 for the first label, 0 for the second, 1/2 on the border."""
    return np.where(np.abs(f) <= _TIE, 0.5, f > 0)


def vote_blocks(X: Any, pairs: Pairs) -> Iterator[tuple[slice, Array]]:
    """Votes of all classifiers, (rows, p), by blocks of rows."""
    step = max(1, _BLOCK // max(1, len(pairs.first)))
    for start in range(0, X.shape[0], step):
        block = slice(start, start + step)
        f = np.asarray(X[block] @ pairs.coef.T, dtype=np.float64) + pairs.intercept
        yield block, votes(f)
