"""Block D: directions of the scores in which held-out scores carry signal."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

from partlearn._array_api import (
    at_least,
    descending,
    diagonal_added,
    eigh,
    namespace,
    where_true,
)
from partlearn._math.crossfit._scores import LeaveOneOut, targets
from partlearn._math.linalg import fix_signs
from partlearn._typing import Array

MASS_FLOOR = 1e-9  # mass of a label that no row believes in
_LEAST_SCATTER = 1e-12  # of the scores' variance, where classes have none
_EPS = 1e-2  # ridge of the within-class scatter, as a share of its mean eigenvalue


@dataclass(frozen=True)
class Embedding:
    """Scores of the training rows and their discriminants, for some confidences.

    ``weights`` (r, p) maps ``U diag(s)`` to the in-sample embedding, ``score_weights``
    (r, q) to the in-sample scores; ``held_out`` (m, p) and ``scores`` (m, q) are the
    cross-fitted ones, ``values`` (p,) the held-out signal.
    """

    weights: Array
    score_weights: Array
    held_out: Array
    scores: Array
    values: Array
    ridge: float


def class_means(Z: Array, F: Array) -> Array:
    """Mean of the rows of `Z` weighted by their confidence in each label, (q, p)."""
    mass = at_least(namespace(F).sum(F, axis=0), MASS_FLOOR)
    return (F.T @ Z) / mass[:, None]


def within_scatter(Z: Array, F: Array) -> Array:
    """Scatter of the rows of `Z` around the means of their labels, (p, p)."""
    xp = namespace(Z, F)
    e = Z - xp.mean(Z, axis=0)
    means = class_means(e, F)
    return (e.T @ e - (means.T * xp.sum(F, axis=0)) @ means) / Z.shape[0]


def rotation(Y: Array, F: Array, held_out: Array, second: Array) -> tuple[Array, Array]:
    """Block D: directions of the score space in which held-out scores carry signal.

    Source: CRISP, block D.

    Parameters
    ----------
    Y : ndarray of shape (m, q)
        Targets.
    F : ndarray of shape (m, q)
        Confidences.
    held_out : ndarray of shape (m, q)
        Cross-fitted scores.
    second : ndarray of shape (q, q)
        Second moments ``E'E / m`` of the in-sample scores.

    Returns
    -------
    R : ndarray of shape (q, p)
        Directions, most signal first; the within-class variance along each is one.
    values : ndarray of shape (p,)
        Signal along each direction.

    Notes
    -----
    The signal is the *signed* product of targets and held-out scores. Without signal, a
    held-out score is a small negative multiple of the row's own target: the product is
    negative and the direction is dropped. Squared held-out scores do not show this.
    Discriminant analysis of them would choose exactly these directions, since the
    within-class scatter is tiny there.
    """
    m, q = Y.shape
    C = Y.T @ held_out
    C = (C + C.T) / (2 * m)
    size, basis = eigh((second + second.T) / 2)
    if size[-1] <= 0:
        raise ValueError("No direction of the data depends on the labels.")
    Q = where_true(basis, size > 1e-8 * size[-1], axis=1)
    W = Q.T @ within_scatter(held_out, F) @ Q
    W = (W + W.T) / 2
    xp = namespace(W)
    mean = float(_EPS * xp.linalg.trace(W) / W.shape[0])
    # Classes of one row each have no scatter: their own is then in units of the scores.
    W = diagonal_added(W, max(mean, _LEAST_SCATTER * float(size[-1])))
    values, vectors = descending(*eigh(Q.T @ C @ Q, W))
    kept = int(xp.count_nonzero(values > 1e-6 * values[0])) if values[0] > 0 else 1
    kept = min(kept, q - 1)
    return fix_signs(Q @ vectors[:, :kept]), values[:kept]


def embed(model: LeaveOneOut, F: Array, ridge: float | None = None) -> Embedding:
    """Run blocks A to D for given confidences.

    Without a ridge, that of the smallest held-out error in the grid is taken.
    """
    Y = targets(F)
    C = model.project(Y)
    if ridge is None:
        ridge = model.choose_ridge(Y, C)
    f = model.shrinkage(ridge)[1:, None]
    shrunk = f * C[1:, :]
    scores = model.held_out(Y, C, ridge)
    R, values = rotation(Y, F, scores, shrunk.T @ shrunk / F.shape[0])
    s = model.basis.s[:, None]
    return Embedding(shrunk @ R / s, shrunk / s, scores @ R, scores, values, ridge)
