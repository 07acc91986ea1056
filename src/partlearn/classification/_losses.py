"""Losses of scores under candidate labels: mean over the rows, gradient in the scores.

Every loss takes scores ``G`` (m, q) and non-negative weights of the labels, zero for
all labels that are no candidates.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable

import numpy as np
from scipy.special import log_softmax, logsumexp

from partlearn._typing import Array, Indices

BatchLoss = Callable[[Array, Indices], tuple[float, Array]]


def relative(F: Array) -> Array:
    """Confidences relative to the row's largest: equal ones become a 0/1 set.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.classification._losses import relative
    >>> relative(np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]]))
    array([[1.  , 1.  , 0.  ],
           [0.25, 1.  , 0.  ]])
    """
    return F / F.max(axis=1, keepdims=True)


def posterior(G: Array, L: Array) -> Array:
    """``p_j L_j`` scaled to sum to one, with p the softmax of the scores.

    Source: PRODEN, update of the confidences.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.classification._losses import posterior
    >>> posterior(np.log([[0.2, 0.6, 0.2]]), np.array([[1.0, 1.0, 0.0]]))
    array([[0.25, 0.75, 0.  ]])
    """
    with np.errstate(divide="ignore"):
        inside = G + np.log(L)
    return np.exp(inside - logsumexp(inside, axis=1, keepdims=True))


def candidate_loss(G: Array, L: Array) -> tuple[float, Array]:
    """CC: ``-log sum_j L_j p_j``, the likelihood of the candidate set.

    Source: CC, loss of the classifier-consistent method.

    Its gradient is the softmax less the softmax restricted to the candidates.
    """
    log_p = log_softmax(G, axis=1)
    value = -logsumexp(log_p, b=L, axis=1).mean()
    return float(value), (np.exp(log_p) - posterior(G, L)) / len(G)


def cross_entropy(G: Array, F: Array) -> tuple[float, Array]:
    """PRODEN: ``-sum_j F_j log p_j`` with confidences F whose rows sum to one.

    Source: PRODEN, loss.
    """
    log_p = log_softmax(G, axis=1)
    return float(-(F * log_p).sum() / len(G)), (np.exp(log_p) - F) / len(G)


def candidate_batches(F: Array) -> BatchLoss:
    """CC's loss of some rows, by their indices."""
    L = relative(F)
    return lambda G, index: candidate_loss(G, L[index])


def renewing_batches(F: Array) -> BatchLoss:
    """PRODEN's loss of some rows, whose confidences are then renewed in place."""
    inside = (F > 0).astype(np.float64)

    def loss(G: Array, index: Indices) -> tuple[float, Array]:
        outcome = cross_entropy(G, F[index])
        F[index] = posterior(G, inside[index])
        return outcome

    return loss


def average_hinge(G: Array, F: Array) -> tuple[float, Array]:
    """CLPL: ``psi(sum_j F_j g_j) + sum_{F_j = 0} psi(-g_j)``, psi the squared hinge.

    Source: CLPL, convex loss.

    F has equal weights on the candidates; the mean candidate score is to be above one,
    the score of every other label below minus one.
    """
    inside = np.maximum(1 - (F * G).sum(axis=1), 0)
    outside = np.where(F > 0, 0.0, np.maximum(1 + G, 0))
    value = (inside**2).sum() + (outside**2).sum()
    return float(value / len(G)), 2 * (outside - inside[:, None] * F) / len(G)
