"""Confidence of candidates by granular balls, the published stage of LDFS-PML."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from partlearn._arguments import check_choice
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import check_candidates

_SEED = 123  # of 2-means, as in the release
_PURE = 0.99999999  # purity above which two balls become one
_ROUNDING = 1e-9  # relative, of a distance at the border of a ball


class _Ball(NamedTuple):
    """Rows of a ball, and the number of all rows that lie in it."""

    members: Indices
    center: Array
    radius: float
    size: int
    purity: float


def granular_ball_confidence(
    X: Any, y: Any, *, cover: Literal["closed", "release"] = "closed"
) -> Array:
    """Confidence of each candidate, by balls of rows that share a label.

    One label at a time, the rows are split by 2-means until each ball holds only rows
    with the label or only rows without it; balls with the label are merged if they stay
    pure. A candidate has confidence 1 in the large balls, and lower confidence farther
    away from them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; every column is brought to [0, 1] first.
    y : candidate labels
        A binary matrix of shape (n_samples, n_classes) or a sequence of candidate sets;
        rows may be without any.
    cover : {"closed", "release"}, default="closed"
        Rows that a ball covers. "closed": its members, and rows as near as the farthest
        of them. "release": as the released program computes it, where rounding decides
        whether the farthest member is covered.

    Returns
    -------
    confidence : ndarray of shape (n_samples, n_classes)
        Zero outside of the candidates; rows sum to one, or to zero.

    Notes
    -----
    This is the first stage of LDFS-PML [1]_. Its second stage ranks features, and
    neither the program nor the abstract defines it. 2-means starts once, by k-means++
    with the seed of the release; another version of scikit-learn may draw other
    centers. Splits take O(n^2 d) operations for each label; a merge looks at all pairs
    of balls and keeps a matrix of them.

    References
    ----------
    .. [1] Xu, Qian, Cai, Shu, Huang, Cheung and Ding, LDFS-PML, ICPR 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import Tags
    >>> from partlearn.multilabel import (
    ...     CRISPMultiLabelClassifier,
    ...     add_noise_labels,
    ...     granular_ball_confidence,
    ... )
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> listed = add_noise_labels(X[:, :2] > 0, 1, random_state=0)
    >>> confidence = granular_ball_confidence(X, listed)
    >>> bool((confidence[~listed] == 0).all())
    True
    >>> tags = Tags(confidence, ["live", "rock"])
    >>> CRISPMultiLabelClassifier().fit(X, tags).classes_.tolist()
    ['live', 'rock']
    """
    check_choice("cover", cover, ("closed", "release"))
    X = check_array(X, dtype=np.float64)
    _, S = check_candidates(y, empty="keep")
    if len(S) != len(X):
        raise ValueError(f"`X` has {len(X)} rows, `y` has {len(S)}; pass as many.")
    raw = raw_confidence(_unit(X), S, cover)
    total = raw.sum(axis=1, keepdims=True)
    return np.divide(raw, total, out=np.zeros_like(raw), where=total > 0)


def _unit(X: Array) -> Array:
    """Columns in [0, 1], by the formula of the release; constant ones are 0."""
    low = X.min(axis=0)
    spread = X.max(axis=0) - low
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    return X * scale + (-low * scale)


def raw_confidence(X: Array, S: Mask, cover: str) -> Array:
    """Compute confidences of candidates before the normalization of rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows, every column in [0, 1].
    S : ndarray of bool, shape (n, l)
        Candidates.
    cover : {"closed", "release"}
        Rows that a ball covers.

    Returns
    -------
    raw : ndarray of shape (n, l)
        Between 0 and 1; zero outside of the candidates.
    """
    raw = np.zeros(S.shape)
    for j in np.flatnonzero(S.any(axis=0)):
        big = large_balls(pure_balls(X, S[:, j], cover), X, S[:, j], cover)
        if big:
            centers = np.stack([ball.center for ball in big])
            nearest = cdist(X, centers, "sqeuclidean").min(axis=1)
            nearest[np.concatenate([ball.members for ball in big])] = 0.0
            raw[:, j] = np.where(S[:, j], np.exp(-nearest), 0.0)
    return raw


def _ball(X: Array, y: Mask, members: Indices, cover: str) -> _Ball:
    """Ball around the mean of its members, and the rows that it covers."""
    center = X[members].mean(axis=0)
    apart = np.sqrt(((X[members] - center) ** 2).sum(axis=1))
    radius = float(apart.max())
    distance = cdist(X, center[None])[:, 0]
    covered = distance <= radius * (1 + _ROUNDING * (cover == "closed"))
    if cover == "closed":
        covered[members] = True
    size = int(covered.sum())
    purity = float(y[covered].mean()) if size else 0.0
    return _Ball(members, center, radius, size, purity)


def pure_balls(X: Array, y: Mask, cover: str) -> list[_Ball]:
    """Split all rows until balls are pure; keep those in which most have the label.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    y : ndarray of bool, shape (n,)
        Rows that list the label.
    cover : {"closed", "release"}
        Rows that a ball covers.

    Returns
    -------
    balls : list of _Ball
        In the order of the splits.
    """
    balls, i = [_ball(X, y, np.arange(len(X)), cover)], 0
    while i < len(balls):
        members = balls[i].members
        if not 0 < balls[i].purity < 1 or len(members) == 1:
            i += 1
            continue
        with warnings.catch_warnings():  # equal rows make one cluster
            warnings.simplefilter("ignore", ConvergenceWarning)
            halves = KMeans(2, n_init=1, random_state=_SEED).fit(X[members]).labels_
        first, second = members[halves == 0], members[halves == 1]
        if not (len(first) and len(second)):
            first, second = members[:1], members[1:]
        balls[i] = _ball(X, y, first, cover)
        balls.append(_ball(X, y, second, cover))
    return [ball for ball in balls if ball.purity > 0.5]


def large_balls(balls: list[_Ball], X: Array, y: Mask, cover: str) -> list[_Ball]:
    """Merge balls that overlap while they stay pure, and keep the large ones.

    The first possible pair of the list is merged, and the new ball is appended. Other
    pairs are not tried again.

    Parameters
    ----------
    balls : list of _Ball
        Pure balls.
    X, y, cover
        As for `pure_balls`.

    Returns
    -------
    big : list of _Ball
        Balls of three rows or more; of two, or of one, where there are hardly any.
    """
    if not balls:
        return []
    known = list(balls)
    center = np.stack([ball.center for ball in known])
    radius = np.array([ball.radius for ball in known])
    size = np.array([ball.size for ball in known])
    alive = np.full(len(known), True)
    open_ = size[:, None] > size
    open_ &= cdist(center, center) < radius[:, None] + radius
    while open_.any():
        i, j = np.unravel_index(open_.argmax(), open_.shape)
        open_[i, j] = False
        members = np.concatenate([known[i].members, known[j].members])
        new = _ball(X, y, members, cover)
        if new.purity <= _PURE:
            continue
        for gone in (i, j):
            alive[gone], open_[gone], open_[:, gone] = False, False, False
        near = cdist(center, new.center[None])[:, 0] < radius + new.radius
        open_ = np.pad(open_, (0, 1))
        open_[:-1, -1] = alive & near & (size > new.size)
        open_[-1, :-1] = alive & near & (new.size > size)
        known.append(new)
        center = np.vstack([center, new.center])
        radius, size = np.append(radius, new.radius), np.append(size, new.size)
        alive = np.append(alive, True)
    left = [ball for ball, there in zip(known, alive, strict=True) if there]
    least = 3 if sum(ball.size >= 3 for ball in left) > 2 else 2
    big = [ball for ball in left if ball.size >= least]
    return big or left
