"""Block E: experts on each row's label, none of which is told the row's own label."""

# SPDX-License-Identifier: BSD-3-Clause

from partlearn._array_api import at_least, namespace, softmax
from partlearn._typing import Array, Indices
from partlearn.crossfit._embedding import MASS_FLOOR, class_means
from partlearn.graphs import vote

_LEAST = 1e-3  # what a regression's estimate of a confidence is clipped at


def unit_rows(Z: Array) -> Array:
    """Scale rows to length one; zero rows stay zero."""
    xp = namespace(Z)
    norm = xp.linalg.vector_norm(Z, axis=1, keepdims=True)
    return Z / xp.where(norm > 0, norm, 1.0)


def smooth(P: Array) -> Array:
    """Keep a hundredth of the belief for all labels alike, so that none is excluded."""
    return 0.99 * P + 0.01 / P.shape[1]


def rank_vote(F: Array, neighbors: Indices) -> Array:
    """Experts 1, 2 and 4: confidences of the neighbours, the nearest weighing most.

    Source: CRISP, block E.
    """
    V = vote(F, neighbors, "rank")
    total = namespace(V).sum(V, axis=1, keepdims=True)
    return smooth(V / total)


def label_share(F: Array) -> Array:
    """Share of each label among the confidences, (q,); positive for all labels."""
    mass = namespace(F).sum(F, axis=0)
    return at_least(mass, MASS_FLOOR) / F.shape[0]


def gaussian_expert(Z: Array, F: Array) -> Array:
    """Expert 3: posterior of round classes of variance one.

    Source: CRISP, block E.

    A row is taken out of the mean of each label before it is compared with it:
    ``z - mean_without = (z - mean) n / (n - own)``.
    """
    xp = namespace(Z, F)
    mass = xp.sum(F, axis=0)
    D = _squared_distances(Z, class_means(Z, F))
    D *= xp.square(mass / at_least(mass - F, 0.5))
    return _posterior(D, label_share(F))


def gaussian_belief(Z: Array, means: Array, share: Array) -> Array:
    """Expert 3 for new rows: no row has to be taken out of the means.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        New rows, embedded.
    means : ndarray of shape (q, p)
        Class means of the held-out embedding of the training rows.
    share : ndarray of shape (q,)
        Share of each label.

    Returns
    -------
    P : ndarray of shape (n, q)
        Smoothed posterior.
    """
    return _posterior(_squared_distances(Z, means), share)


def _squared_distances(Z: Array, means: Array) -> Array:
    xp = namespace(Z, means)
    D = (
        xp.sum(xp.square(Z), axis=1)[:, None]
        - 2 * Z @ means.T
        + xp.sum(xp.square(means), axis=1)
    )
    return at_least(D, 0.0, overwrite=True)


def _posterior(D: Array, share: Array) -> Array:
    return smooth(softmax(namespace(D).log(share) - D / 2))


def regression_belief(scores: Array, share: Array) -> Array:
    """Expert of the regression itself: scores, scaled back, estimate confidences.

    Source: CRISPClassifier, expert of the regression.

    Parameters
    ----------
    scores : ndarray of shape (n, q)
        Held-out scores of training rows, or scores of new rows.
    share : ndarray of shape (q,)
        Share of each label.

    Returns
    -------
    P : ndarray of shape (n, q)
        ``scores sqrt(share) + share``, clipped below, normalised and smoothed.
    """
    xp = namespace(scores, share)
    P = at_least(scores * xp.sqrt(share) + share, _LEAST)
    return smooth(P / xp.sum(P, axis=1, keepdims=True))
