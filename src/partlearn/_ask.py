"""Choose rows to label by the expected gain from their true label."""

# SPDX-License-Identifier: BSD-3-Clause

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from partlearn._arguments import check_one_per_row
from partlearn._extras import import_optional
from partlearn._math.neighbors import self_neighbors
from partlearn._typing import Array, Indices
from partlearn.candidates import bag_codes
from partlearn.tables import TagDisambiguation

_N_NEIGHBORS = 10
# Share of a neighbor's doubt that an answer settles where both have the same
# confidences. Chosen on wine, vehicle and vowel, which the guide does not measure.
_SETTLED = 0.05
_CERTAIN = 1e-9  # expected gain below which a row is not asked
_LEAST_POWER = 0.01  # of confidences, when their mean is brought down
_POSSIBLE = 0.01  # confidence below which a label is not offered to the annotator


@dataclass(frozen=True)
class Questions:
    """Rows to label, the most helpful first; each array has one entry per row.

    Attributes
    ----------
    rows : ndarray of int, shape (n_questions,)
        Places of the rows in the result of :func:`disambiguate`.
    index : ndarray of shape (n_questions,)
        Names of the rows, as corrections use them.
    guess : ndarray of shape (n_questions,)
        Most likely labels.
    confidence : ndarray of shape (n_questions,)
        Confidence in these.
    choices : list of lists
        Labels that remain possible, the most likely first.
    gain : ndarray of shape (n_questions,)
        Expected number of labels that each answer puts right: its own, and those of
        similar rows.
    expected_right : ndarray of shape (n_questions,)
        Expected share of right labels among all rows after each answer.
    expected_right_now, low_now : float
        The same before any answer, and the lower end of its range:
        ``Disambiguation.expected_right``.
    bag : ndarray of shape (n_questions,) or None
        Bag of each row, where there are bags: the rows of a bag follow each other.
    n_votes : ndarray of int, shape (n_questions,), or None
        Number of votes that each row has, where the labels came from votes; 0 where
        nobody has voted.
    """

    rows: Indices
    index: NDArray[Any]
    guess: NDArray[Any]
    confidence: Array
    choices: list[list[Any]]
    gain: Array
    expected_right: Array
    expected_right_now: float
    low_now: float
    bag: NDArray[Any] | None = None
    n_votes: Indices | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def worth_asking(self, rate: float = 0.1, *, cautious: bool = False) -> int:
        """Count the questions to ask before stopping.

        Parameters
        ----------
        rate : float, default=0.1
            Least expected number of labels that an answer puts right.
        cautious : bool, default=False
            Whether the share of wrong labels, and with it all gains, is taken at the
            lower end of the range of the expected share: the most questions that may
            be worth it.

        Returns
        -------
        n_questions : int
            Questions before the first one with a smaller gain; of bags, before the
            first bag with a smaller mean.
        """
        gain = self.gain
        if cautious:
            gain = (
                gain * (1 - self.low_now) / max(1 - self.expected_right_now, _CERTAIN)
            )
        if self.bag is not None and len(self):
            code = bag_codes(self.bag, len(self))
            gain = (np.bincount(code, gain) / np.bincount(code))[code]
        low = np.flatnonzero(gain < rate)
        return int(low[0]) if low.size else len(self)

    def to_frame(self) -> Any:
        """Return one line per question as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            Columns row, guess, confidence, choices (lists), gain and expected_right,
            bag where there are bags, and n_votes where there are votes.
        """
        pandas = import_optional("pandas", "data frames")
        left_out = ("rows", "index", "expected_right_now", "low_now")
        columns = {
            name: values
            for name, values in vars(self).items()
            if name not in left_out and values is not None
        }
        return pandas.DataFrame({"row": self.index, **columns})


def rank_rows(
    found: Any,
    *,
    budget: float | None = None,
    cost: ArrayLike | None = None,
    accuracy: float = 1.0,
) -> Indices:
    """Rank rows by the expected gain from their true label.

    Parameters
    ----------
    found : Disambiguation or TagDisambiguation
        Result of :func:`disambiguate`. Rows with tags are ranked by their most striking
        tag to strike or to add, without `cost` and `accuracy`. Rows of bags are ranked
        bag by bag, since a person looks at a whole bag at once.
    budget : float, default=None
        Number of rows to return, or the total cost of these where `cost` is given. All
        rows that an answer can help by default.
    cost : array-like of shape (n_samples,), default=None
        Cost of asking each row; positive. One each by default.
    accuracy : float, default=1.0
        Accuracy of the answers: 1 for an expert who is always right, less for one more
        vote of an annotator.

    Returns
    -------
    rows : ndarray of int
        Row numbers, best first.

    See Also
    --------
    plan_questions : The same with what to ask and the expected gain.

    Examples
    --------
    >>> from partlearn import disambiguate, rank_rows
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [0.6]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"b"}, {"b"}, {"b"}, {"a", "b"}]
    >>> rank_rows(disambiguate(X, y, "plknn"), budget=3)
    array([6])
    """
    if isinstance(found, TagDisambiguation):
        if cost is not None or accuracy != 1:
            raise ValueError(
                "Rows with tags are ranked without `cost` and `accuracy`; leave them "
                "out."
            )
        _check_budget(budget)
        return found.review_order()[: None if budget is None else int(budget)]
    return plan_questions(found, budget=budget, cost=cost, accuracy=accuracy).rows


def plan_questions(
    found: Any,
    *,
    budget: float | None = None,
    cost: ArrayLike | None = None,
    accuracy: float = 1.0,
) -> Questions:
    r"""Choose rows to label and estimate the gain.

    Parameters
    ----------
    found : Disambiguation
        Result of :func:`disambiguate`.
    budget, cost, accuracy
        As for :func:`rank_rows`.

    Returns
    -------
    questions : Questions
        Rows, the labels that remain possible, and expected gains.

    Notes
    -----
    Without an answer the label of row :math:`i` is right with probability :math:`\max_j
    F_{ij}`, the confidence. An answer of accuracy :math:`a`, whose errors fall on the
    other labels alike, raises this by :math:`u_i = \sum_v \max_j F_{ij} p(v | j) -
    \max_j F_{ij}`; for a true answer :math:`u_i = 1 - \max_j F_{ij}`. It also settles a
    twentieth of :math:`u_j` of each of the 10 nearest rows :math:`j`, times the overlap
    :math:`\sum_k \min(F_{ik}, F_{jk})` of their confidences. The row of the largest
    total gain per cost comes first; then :math:`u_i = 0`, the :math:`u_j` of its
    neighbors fall, and the next row is chosen. So a row that settles others comes
    early, and of similar rows only some are chosen.

    Where there are bags, the rows of a bag follow each other, and the bag of the
    largest gain per cost comes first. A row of a bag is left out where only one label
    remains possible. Budgets are in rows: a bag that exceeds what is left of the budget
    is left out.

    Confidences whose mean is above the expected share of right labels
    (``Disambiguation.expected_right``), as of votes, are raised to the power that
    brings it down to this share. The gains are as accurate as these confidences. Where
    they are too high, the true gain is larger.

    Examples
    --------
    >>> from partlearn import disambiguate, plan_questions
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [0.6]]
    >>> y = [{"a"}, {"a"}, {"a"}, {"b"}, {"b"}, {"b"}, {"a", "b"}]
    >>> questions = plan_questions(disambiguate(X, y, "plknn"))
    >>> questions.choices
    [['a', 'b']]
    """
    now, low, _ = found.expected_right
    F = flattened(np.asarray(found.label_confidence, dtype=np.float64), now)
    price = _checked_cost(cost, len(F))
    _check_budget(budget)
    if not 1 / F.shape[1] < accuracy <= 1:
        raise ValueError(
            f"`accuracy` must be above {1 / F.shape[1]:.3g}, a random answer, and at "
            f"most 1; got {accuracy}."
        )
    limit = float("inf") if budget is None else float(budget)
    own = answer_gain(F, accuracy)
    W = _influence(found.space(), F)
    if found.bags is None:
        chosen = list(greedy_order(own, W, price, limit))
    else:
        open_rows = (F >= _POSSIBLE).sum(axis=1) > 1
        codes = bag_codes(found.bags, len(F))
        own = np.where(open_rows, own, 0.0)
        chosen = list(greedy_order(own, W, price, float("inf")))
        chosen = whole_bags(chosen, codes, price, limit)
    rows = np.array([row for row, _ in chosen], dtype=np.intp)
    gain = np.array([value for _, value in chosen], dtype=np.float64)
    choices = []
    for row in rows:
        order = np.argsort(-F[row], kind="stable")
        some = [j for j in order if F[row, j] >= _POSSIBLE]
        choices.append(found.classes[some].tolist())
    return Questions(
        rows=rows,
        index=found.index[rows],
        guess=found.label[rows],
        confidence=found.confidence[rows],
        choices=choices,
        gain=gain,
        expected_right=np.minimum(now + np.cumsum(gain) / len(F), 1.0),
        expected_right_now=now,
        low_now=low,
        bag=None if found.bags is None else np.asarray(found.bags)[rows],
        n_votes=None if found.n_votes is None else found.n_votes[rows],
    )


def whole_bags(
    chosen: list[tuple[int, float]], codes: Indices, cost: Array, budget: float
) -> list[tuple[int, float]]:
    """Order rows by bags, the bag of the largest gain per cost first.

    Parameters
    ----------
    chosen : list of (row, gain)
        Rows in their own order.
    codes : ndarray of int, shape (n_samples,)
        Bag of each row.
    cost : ndarray of shape (n_samples,)
        Cost of each row.
    budget : float
        Total cost at most.

    Returns
    -------
    ordered : list of (row, gain)
        Rows of a bag follow each other, in the order in which they were.
    """
    bags: dict[int, list[tuple[int, float]]] = {}
    for row, gain in chosen:
        bags.setdefault(int(codes[row]), []).append((row, gain))

    def price(members: list[tuple[int, float]]) -> float:
        return float(sum(cost[row] for row, _ in members))

    def rate(members: list[tuple[int, float]]) -> float:
        return sum(gain for _, gain in members) / price(members)

    ordered = []
    for members in sorted(bags.values(), key=rate, reverse=True):
        if price(members) <= budget:
            budget -= price(members)
            ordered += members
    return ordered


def flattened(F: Array, mean: float) -> Array:
    """Raise confidences to a power, so that their maxima have a given mean.

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Confidences; rows sum to one.
    mean : float
        Wanted mean of the largest confidence of each row.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        Rows sum to one; as given where the mean is lower already. Where even a power of
        one percent leaves it higher, because rows are certain, that power.
    """

    def at(power: float) -> Array:
        with np.errstate(divide="ignore"):
            log = power * np.log(F)
        raised = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def excess(power: float) -> float:
        return float(at(power).max(axis=1).mean()) - mean

    if F.max(axis=1).mean() <= mean + _CERTAIN:
        return F
    if excess(_LEAST_POWER) >= 0:
        return at(_LEAST_POWER)
    return at(brentq(excess, _LEAST_POWER, 1.0, xtol=1e-6))


def answer_gain(F: Array, accuracy: float) -> Array:
    """Return the expected rise of the largest confidence of each row by an answer.

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Confidences.
    accuracy : float
        Accuracy of the answer; its errors fall on all other labels alike.

    Returns
    -------
    gain : ndarray of shape (n_samples,)
        Not negative.
    """
    m, q = F.shape
    if q < 2:
        return np.zeros(m)
    wrong = (1 - accuracy) / (q - 1)
    ordered = np.sort(F, axis=1)
    first, second = ordered[:, -1:], ordered[:, -2:-1]
    # Largest confidence among the other labels: of equal largest ones, the same.
    other = np.where((first == F) & (second < first), second, first)
    after = np.maximum(accuracy * F, wrong * other).sum(axis=1)
    return np.maximum(after - first[:, 0], 0.0)


def _influence(space: Any, F: Array) -> sp.csr_array:
    """Return the share of a row's gain that the answer for another row brings."""
    m = len(F)
    k = min(_N_NEIGHBORS, m - 1)
    if k < 1:
        return sp.csr_array((m, m))
    near = np.asarray(self_neighbors(space, k))
    share = np.empty(near.shape)
    for place in range(k):  # nothing of shape (m, k, q)
        share[:, place] = np.minimum(F, F[near[:, place]]).sum(axis=1)
    rows = np.repeat(np.arange(m), k)
    W = sp.csr_array((_SETTLED * share.ravel(), (rows, near.ravel())), (m, m))
    return sp.csr_array(W.maximum(W.T))


def greedy_order(
    own: Array, W: sp.csr_array, cost: Array, budget: float
) -> Iterator[tuple[int, float]]:
    """Choose rows one by one by the remaining gain per cost.

    Parameters
    ----------
    own : ndarray of shape (n_samples,)
        Gain of each row for itself.
    W : sparse array of shape (n_samples, n_samples)
        Share of a row's gain that the answer of another row brings; symmetric.
    cost : ndarray of shape (n_samples,)
        Cost of each row.
    budget : float
        Total cost at most.

    Yields
    ------
    row : int
        Chosen row, the first of equal ones.
    gain : float
        Its gain when it is chosen.
    """
    left = own.copy()
    total = left + W @ left
    # Gains only fall, so that an entry that is still right is the largest.
    heap = [(-total[i] / cost[i], i, total[i]) for i in np.flatnonzero(own > _CERTAIN)]
    heapq.heapify(heap)
    while heap:
        _, i, gain = heapq.heappop(heap)
        if cost[i] > budget or left[i] <= _CERTAIN:
            continue
        if gain != total[i]:
            heapq.heappush(heap, (-total[i] / cost[i], i, total[i]))
            continue
        yield int(i), float(gain)
        budget -= cost[i]
        settled = np.append(W.indices[W.indptr[i] : W.indptr[i + 1]], i)
        share = np.append(W.data[W.indptr[i] : W.indptr[i + 1]], 1.0)
        drop = left[settled] * share
        left[settled] -= drop
        total[settled] -= drop
        for j, fall in zip(settled.tolist(), drop.tolist(), strict=True):
            part = slice(W.indptr[j], W.indptr[j + 1])
            total[W.indices[part]] -= W.data[part] * fall


def _check_budget(budget: float | None) -> None:
    if budget is not None and not budget > 0:
        raise ValueError(f"`budget` must be positive; got {budget}.")


def _checked_cost(cost: ArrayLike | None, m: int) -> Array:
    if cost is None:
        return np.ones(m)
    price = np.asarray(cost, dtype=np.float64)
    check_one_per_row("cost", price.shape, m)
    bad = np.flatnonzero(~(np.isfinite(price) & (price > 0)))
    if bad.size:
        raise ValueError(f"`cost` must be positive; row {bad[0]} has {price[bad[0]]}.")
    return price
