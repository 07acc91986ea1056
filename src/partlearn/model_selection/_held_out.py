"""Choice of the size of a model on held-out rows, without the truth.

Each held-out row is labeled by its nearest training rows; the label counts as a hit
when it is one of the row's candidates. A label drawn at random hits a large set easily,
so a row should count 1/|S_i|.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._math.graphs import vote
from partlearn._math.neighbors import query_neighbors
from partlearn._typing import Array, Mask

_TIE = 1e-12  # votes that differ by this share are level


def held_out_hits(
    spaces: Iterable[tuple[Any, Any]], F: NDArray[Any], S: Mask, n_neighbors: int = 10
) -> Array:
    """Score held-out rows by whether their neighbors name one of their candidates.

    Parameters
    ----------
    spaces : iterable of pairs of arrays
        Training rows (m, p) and held-out rows (n, p), for every model to compare.
    F : ndarray of shape (m, q)
        Confidences of the training rows.
    S : ndarray of bool, shape (n, q)
        Candidates of the held-out rows.
    n_neighbors : int, default=10
        Neighbors that classify a held-out row.

    Returns
    -------
    hits : ndarray of shape (n_models, n)
        One row per model: 1 if the most frequent label is a candidate, otherwise 0; for
        a tie, the share of candidates among the tied labels.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.model_selection import held_out_hits
    >>> Z, Q = np.array([[0.0], [5.0]]), np.array([[1.0], [2.0]])
    >>> held_out_hits([(Z, Q)], np.eye(2), np.array([[1, 0], [0, 1]], bool), 1)
    array([[1., 0.]])
    """
    hits = []
    for Z, Q in spaces:
        V = vote(F, query_neighbors(Z, Q, n_neighbors)[1])
        named = V.max(axis=1, keepdims=True) * (1 - _TIE) <= V
        hits.append((named & S).sum(axis=1) / named.sum(axis=1))
    return np.array(hits)


def one_standard_error_rule(
    scores: NDArray[Any], weight: Array, *, n_errors: float = 1.0
) -> int:
    """Choose the smallest model that is not clearly worse than the best one.

    Parameters
    ----------
    scores : ndarray of shape (n_models, n_rows)
        Scores on the same held-out rows, smallest model first.
    weight : ndarray of shape (n_rows,)
        Weights of the held-out rows.
    n_errors : float, default=1.0
        Standard errors of the paired difference that may be lost for a smaller model.

    Returns
    -------
    int
        Row of `scores`: the first whose mean is within `n_errors` standard errors of
        the largest.

    References
    ----------
    Leo Breiman, Jerome Friedman, Richard Olshen and Charles Stone. Classification and
    Regression Trees. Wadsworth, 1984, section 3.4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.model_selection import one_standard_error_rule
    >>> scores = np.array([[0, 0, 0, 0], [1, 1, 0, 1], [1, 1, 1, 1]])
    >>> one_standard_error_rule(scores, np.ones(4))
    2
    >>> one_standard_error_rule(scores, np.ones(4), n_errors=2)
    1
    """
    weight = weight / weight.sum()
    best = scores[np.argmax(scores @ weight)]
    difference = best - scores.astype(np.float64)
    loss = difference @ weight
    error = np.sqrt((difference - loss[:, None]) ** 2 @ weight**2)
    return int(np.argmax(loss <= n_errors * error))
