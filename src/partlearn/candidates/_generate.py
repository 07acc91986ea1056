"""Generate candidate sets and votes from true labels."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from partlearn._arguments import argument
from partlearn._sizes import SIZES
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates._dawid_skene import VoteTable
from partlearn.candidates._validation import check_candidates
from partlearn.candidates._votes import Votes


def _true_codes(y: Any, what: str = "Candidate sets") -> tuple[NDArray[Any], Indices]:
    """Return the sorted classes of 1-D labels, and the code of each label."""
    classes, S = check_candidates(y)
    if (S.sum(axis=1) != 1).any():
        raise ValueError(
            f"{what} are made from true labels: one label per row is needed."
        )
    if len(classes) < 2:
        raise ValueError(f"At least two classes are needed; got {len(classes)}.")
    return classes, S.argmax(axis=1)


def _probability(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must lie between 0 and 1; got {value}.")
    return value


def make_candidates(
    y: ArrayLike, n_false: int = 1, *, random_state: Any = None
) -> Mask:
    """Add a fixed number of false labels to every true one.

    For each row, `n_false` distinct labels are drawn uniformly, without replacement,
    from the wrong ones. This is the controlled protocol (``r`` = 1, 2, 3) of the
    partial-label literature.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    n_false : int, default=1
        Number of false candidates per row, at most the number of classes minus one.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidates; columns follow the sorted classes of `y`.

    Examples
    --------
    >>> from partlearn.candidates import make_candidates
    >>> S = make_candidates(["a", "b", "c", "d"], n_false=2, random_state=0)
    >>> S.sum(axis=1), S.diagonal()
    (array([3, 3, 3, 3]), array([ True,  True,  True,  True]))
    """
    classes, codes = _true_codes(y)
    q = len(classes)
    if not 0 <= n_false <= q - 1:
        raise ValueError(
            f"{argument('n_false')} must be between 0 and {q - 1}; got {n_false}."
        )
    rng = check_random_state(random_state)
    S = np.zeros((len(codes), q), dtype=bool)
    step = max(1, SIZES.key_block // q)
    for start in range(0, len(codes), step):
        block = codes[start : start + step]
        keys = rng.uniform(size=(len(block), q))
        keys[np.arange(len(block)), block] = -1.0  # the truth always comes first
        chosen = np.argpartition(keys, n_false, axis=1)[:, : n_false + 1]
        np.put_along_axis(S[start : start + step], chosen, True, axis=1)
    return S


def flip_candidates(
    y: ArrayLike,
    p: float = 0.1,
    *,
    at_least_one: bool = False,
    random_state: Any = None,
) -> Mask:
    """Make each wrong label a candidate with probability `p`, independently.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    p : float, default=0.1
        Flipping probability.
    at_least_one : bool, default=False
        Give a row in which nothing flipped one false label drawn uniformly, so that
        every row is ambiguous.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidates; columns follow the sorted classes of `y`.

    Examples
    --------
    >>> from partlearn.candidates import flip_candidates
    >>> S = flip_candidates([0, 1, 2], p=0.0, at_least_one=True, random_state=0)
    >>> S.sum(axis=1)
    array([2, 2, 2])
    """
    classes, codes = _true_codes(y)
    q = len(classes)
    _probability("p", p)
    rng = check_random_state(random_state)
    S = rng.uniform(size=(len(codes), q)) < p
    S[np.arange(len(codes)), codes] = True
    if at_least_one:
        alone = np.flatnonzero(S.sum(axis=1) == 1)
        S[alone, (codes[alone] + rng.randint(1, q, size=len(alone))) % q] = True
    return S


def cooccurring_candidates(
    y: ArrayLike,
    eps: float = 0.5,
    *,
    share: float = 1.0,
    partners: ArrayLike | None = None,
    random_state: Any = None,
) -> Mask:
    """Add one false label, with probability `eps` the partner of the true one.

    Every class has one partner class. In an ambiguous row the partner is added with
    probability `eps`, and otherwise one of the other wrong labels, drawn uniformly.
    With ``eps=1`` a class and its partner can hardly be distinguished.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    eps : float, default=0.5
        Probability that the false label is the partner.
    share : float, default=1.0
        Share of rows that are made ambiguous.
    partners : array-like of int, shape (n_classes,), default=None
        Column of each class's partner. By default the classes are drawn into one
        random cycle.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidates; columns follow the sorted classes of `y`.

    Examples
    --------
    >>> from partlearn.candidates import cooccurring_candidates
    >>> S = cooccurring_candidates([0, 1, 2], eps=1.0, partners=[1, 2, 0])
    >>> S.astype(int)
    array([[1, 1, 0],
           [0, 1, 1],
           [1, 0, 1]])
    """
    classes, codes = _true_codes(y)
    q = len(classes)
    _probability("eps", eps)
    _probability("share", share)
    rng = check_random_state(random_state)
    if partners is None:
        cycle = rng.permutation(q)
        mate = np.empty(q, dtype=np.intp)
        mate[cycle] = np.roll(cycle, -1)
    else:
        mate = np.asarray(partners, dtype=np.intp)
        valid = mate.shape == (q,) and ((mate >= 0) & (mate < q)).all()
        if not valid or (mate == np.arange(q)).any():
            raise ValueError(f"`partners` must be {q} columns, each of another class.")
    false = mate[codes]
    if q > 2:
        free = rng.uniform(size=len(codes)) >= eps
        draw = rng.randint(0, q - 2, size=len(codes))
        low, high = np.minimum(codes, false), np.maximum(codes, false)
        draw += draw >= low  # skip the truth and the partner
        draw += draw >= high
        false = np.where(free, draw, false)
    ambiguous = rng.uniform(size=len(codes)) < share
    S = np.zeros((len(codes), q), dtype=bool)
    S[np.arange(len(codes)), codes] = True
    S[np.flatnonzero(ambiguous), false[ambiguous]] = True
    return S


def instance_candidates(
    X: ArrayLike,
    y: ArrayLike,
    *,
    estimator: Any = None,
    rate: float = 1.0,
    cv: int = 5,
    random_state: Any = None,
) -> Mask:
    """Add the false labels that a classifier confuses with the true one.

    A wrong label ``j`` of row ``i`` becomes a candidate with probability
    ``rate * p_ij / max_{k wrong} p_ik``, where ``p`` are out-of-fold class
    probabilities of `estimator`. Hard rows get the labels that resemble them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        True labels.
    estimator : classifier with ``predict_proba``, default=None
        By default a standardized logistic regression; sparse columns are only scaled.
    rate : float, default=1.0
        Scales all probabilities; at 1 the likeliest wrong label is always a candidate.
    cv : int, default=5
        Folds of the out-of-fold prediction; classes with fewer members lower it.
    random_state : int, RandomState or None, default=None
        Seed of folds and draw.

    Returns
    -------
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidates; columns follow the sorted classes of `y`.

    Notes
    -----
    The reference uses a network trained on all rows. Here the probabilities are
    out-of-fold, since a classifier that memorizes its training rows confuses nothing.

    References
    ----------
    N. Xu, C. Qiao, X. Geng, M.-L. Zhang (2021). Instance-dependent partial label
    learning. Advances in Neural Information Processing Systems, 34.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partlearn.candidates import instance_candidates
    >>> X, y = load_iris(return_X_y=True)
    >>> S = instance_candidates(X, y, random_state=0)
    >>> bool(S[range(150), y].all()), bool((S.sum(axis=1) >= 2).all())
    (True, True)
    """
    _, codes = _true_codes(y)
    _probability("rate", rate)
    rng = check_random_state(random_state)
    if estimator is None:
        scaler = StandardScaler(with_mean=not sp.issparse(X))
        estimator = make_pipeline(scaler, LogisticRegression(max_iter=1000))
    smallest = int(np.bincount(codes).min())
    if smallest < 2:
        raise ValueError(f"A class needs two rows; the smallest class has {smallest}.")
    folds = StratifiedKFold(
        min(cv, smallest), shuffle=True, random_state=rng.randint(2**31 - 1)
    )
    P = cross_val_predict(clone(estimator), X, codes, cv=folds, method="predict_proba")
    truth = np.arange(len(codes)), codes
    P[truth] = 0.0
    top = P.max(axis=1, keepdims=True)
    P = np.divide(P, top, out=np.zeros_like(P), where=top > 0)
    S = rng.uniform(size=P.shape) < rate * P
    S[truth] = True
    return np.asarray(S)


def make_votes(
    y: ArrayLike,
    n_annotators: int = 5,
    *,
    accuracy: ArrayLike = 0.7,
    confusion: ArrayLike | None = None,
    coverage: ArrayLike = 1.0,
    random_state: Any = None,
) -> Votes:
    """Draw votes of annotators with known accuracy on rows with known truth.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    n_annotators : int, default=5
        Number of annotators.
    accuracy : float or array-like of shape (n_annotators,), default=0.7
        Probability of a right vote; wrong labels are voted for alike.
    confusion : array-like, default=None
        Probability of each vote (columns) by true class (rows), of shape (n_classes,
        n_classes) for all annotators or (n_annotators, n_classes, n_classes). Takes the
        place of `accuracy`. Classes are sorted.
    coverage : float or array-like of shape (n_annotators,), default=1.0
        Probability that an annotator votes on a row. A row without votes gets the vote
        of one annotator, drawn in proportion to these probabilities.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    votes : Votes
        Of annotators 0, 1, 2 ..., as :func:`from_votes` reads them.

    See Also
    --------
    aggregate_votes : Labels and the skill of annotators, from votes.
    instance_candidates : Candidate sets by the confusion of a classifier.

    Examples
    --------
    >>> from partlearn.candidates import aggregate_votes, make_votes
    >>> votes = make_votes(["a", "b"] * 200, accuracy=[0.9, 0.8, 0.6], random_state=0,
    ...                    n_annotators=3)
    >>> votes
    Votes(400 rows, 2 classes, 1200 votes of 3 annotators)
    >>> aggregate_votes(votes).annotators.accuracy.argmax()
    np.int64(0)
    """
    classes, truth = _true_codes(y, "Votes")
    q = len(classes)
    if n_annotators < 1:
        raise ValueError(f"`n_annotators` must be at least 1; got {n_annotators}.")
    rng = check_random_state(random_state)
    P = _confusions(accuracy, confusion, n_annotators, q)
    share = _per_annotator("coverage", coverage, n_annotators)
    if not share.any():
        raise ValueError("`coverage` must be above 0 for at least one annotator.")
    seen = rng.uniform(size=(len(truth), n_annotators)) < share
    alone = np.flatnonzero(~seen.any(axis=1))
    seen[alone, rng.choice(n_annotators, size=len(alone), p=share / share.sum())] = True
    row, annotator = np.nonzero(seen)
    steps = P[annotator, truth[row]].cumsum(axis=1)
    steps[:, -1] = 1.0  # sums fall short of one by rounding
    label = (rng.uniform(size=(len(row), 1)) >= steps).sum(axis=1)
    table = VoteTable(row, annotator, label, len(truth), n_annotators, q)
    return Votes(table, classes, np.arange(n_annotators))


def _per_annotator(name: str, value: ArrayLike, n: int) -> Array:
    values = np.asarray(value, dtype=np.float64)
    if values.shape not in ((), (n,)):
        raise ValueError(
            f"`{name}` must be one number or {n}, one per annotator; got shape "
            f"{values.shape}."
        )
    values = np.broadcast_to(values, n)
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        raise ValueError(
            f"`{name}` must lie between 0 and 1; annotator {bad[0]} has "
            f"{values[bad[0]]}."
        )
    return values


def _confusions(
    accuracy: ArrayLike, confusion: ArrayLike | None, n: int, q: int
) -> Array:
    """Return vote probabilities by annotator and true class."""
    if confusion is None:
        right = _per_annotator("accuracy", accuracy, n)[:, None, None]
        return np.where(np.eye(q, dtype=bool), right, (1 - right) / (q - 1))
    P = np.asarray(confusion, dtype=np.float64)
    if P.shape not in ((q, q), (n, q, q)):
        raise ValueError(
            f"`confusion` must have shape {(q, q)} or {(n, q, q)}; got {P.shape}."
        )
    P = np.broadcast_to(P, (n, q, q))
    bad = np.argwhere(~((P >= 0).all(axis=2) & np.isclose(P.sum(axis=2), 1)))
    if bad.size:
        who, label = bad[0]
        raise ValueError(
            "Rows of `confusion` must be probabilities that sum to one; those of "
            f"annotator {who} for class {label} are {P[who, label].tolist()}."
        )
    return P
