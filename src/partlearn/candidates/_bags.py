"""Bags: rows that share one list of labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Hashable
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from partlearn._arguments import argument, check_choice, check_one_per_row
from partlearn._array_api import like, to_numpy
from partlearn._math.bags import BagLayout
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates._evidence import Evidence
from partlearn.candidates._generate import _probability, _true_codes
from partlearn.candidates._messages import as_column, is_missing, warn_caller
from partlearn.candidates._votes import Votes

Rule = Literal["cover", "distinct", "match"]

_FIRST_STRAY = 0.03
_STRAYS = 1e-4, 0.5  # an estimated rate stays between these
_ESTIMATES = 3  # of the stray rate in one iteration of a classifier
_MAX_ESTIMATES = 50  # where nothing else iterates
_NEIGHBORS = 20  # pairs of neighboring rows that are enough to notice bags
_NOTICED = 0.5  # share of them with equal sets from which bags are likely
_TIMES = 3  # how much more often than in random order sets must be equal
_TOL = 0.01  # relative change of the stray rate at which it has converged


def bag_codes(bags: Any, m: int) -> Indices:
    """Number the bags of all rows; a row without a bag is a bag of its own.

    Parameters
    ----------
    bags : array-like of shape (m,)
        Name or number of the bag of each row. None, NaN and empty text mean that the
        row shares its list with no other row.
    m : int
        Number of rows.

    Returns
    -------
    codes : ndarray of int, shape (m,)
        From zero, in the order in which bags appear.

    Examples
    --------
    >>> from partlearn.candidates import bag_codes
    >>> bag_codes(["p7", "p7", None, "p2", "p7"], 5)
    array([0, 0, 1, 2, 0])
    """
    return named_codes(bags, m, "bags")[0]


def named_codes(names: Any, m: int, what: str) -> tuple[Indices, Mask]:
    """Number the names in a column; a row without a name gets a number of its own.

    Parameters
    ----------
    names : array-like of shape (m,)
        Names or numbers. None, NaN and empty text are no names.
    m : int
        Number of rows.
    what : str
        Argument that errors are about.

    Returns
    -------
    codes : ndarray of int, shape (m,)
        From zero, in the order in which names appear.
    named : ndarray of bool, shape (m,)
        Whether each row has a name.
    """
    array = np.asarray(names) if hasattr(names, "dtype") else None
    if array is not None and array.ndim == 1 and array.dtype.kind in "iub":
        check_one_per_row(what, array.shape, m)
        _, first, inverse = np.unique(array, return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.intp)
        place[np.argsort(first)] = np.arange(len(first))
        return place[inverse.reshape(-1)], np.ones(m, dtype=bool)
    values = as_column(names, what)
    check_one_per_row(what, (len(values),), m)
    numbers: dict[Any, int] = {}
    texts = {value for value in values if isinstance(value, str)}
    codes, named = np.empty(m, dtype=np.intp), np.ones(m, dtype=bool)
    for i, value in enumerate(values):
        if isinstance(value, (list, dict, set)) or not isinstance(value, Hashable):
            raise TypeError(
                f"{argument(what)} must be one column; row {i} has {value!r}."
            )
        text = value.strip() if isinstance(value, str) else value
        named[i] = not (is_missing(value) or text == "")
        if named[i] and isinstance(value, Real) and str(value) in texts:
            raise ValueError(
                f"{argument(what)} names {value} as a number (row {i}) and as text; "
                "write it alike in all rows."
            )
        key = value if named[i] else (named_codes, i)  # equal to no value of a user
        codes[i] = numbers.setdefault(key, len(numbers))
    return codes, named


def bag_runs(candidates: Any) -> Indices:
    """Number the runs of neighboring rows with equal candidate sets.

    Parameters
    ----------
    candidates : array-like or sparse matrix of shape (n_samples, n_classes)
        Candidates, in the order in which the rows were collected.

    Returns
    -------
    codes : ndarray of int, shape (n_samples,)
        From zero; rows of one run have one number.

    Examples
    --------
    >>> from partlearn.candidates import bag_runs
    >>> bag_runs([[1, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 0]])
    array([0, 0, 1, 2])
    """
    S = _mask(candidates)
    new = (S[1:] != S[:-1]).any(axis=1)
    return np.concatenate([np.zeros(min(len(S), 1), dtype=np.intp), np.cumsum(new)])


class EqualNeighbors(NamedTuple):
    """Counts of neighboring rows with equal candidate sets.

    Attributes
    ----------
    n_pairs : int
        Pairs of neighboring rows, both with several candidates.
    share : float
        Share of these pairs with equal sets.
    expected : float
        The same share for rows in random order.
    n_runs : int
        Runs of two rows or more with equal sets of several candidates.
    n_rows : int
        Rows in these runs.
    """

    n_pairs: int
    share: float
    expected: float
    n_runs: int
    n_rows: int

    @property
    def bags_likely(self) -> bool:
        """Whether equal sets are so frequent that rows probably come in bags."""
        often = self.share >= max(_NOTICED, _TIMES * self.expected)
        return self.n_pairs >= _NEIGHBORS and often

    def __str__(self) -> str:
        return (
            f"{self.share:.0%} of neighboring rows with several candidates have the "
            f"same set; in random order {self.expected:.0%} would. There are "
            f"{self.n_runs} runs of such rows, {self.n_rows} rows in all"
        )


def equal_neighbors(candidates: Any) -> EqualNeighbors:
    """Count neighboring rows with equal sets, which suggest that rows come in bags.

    Parameters
    ----------
    candidates : array-like or sparse matrix of shape (n_samples, n_classes)
        Candidates, in the order in which the rows were collected.

    Returns
    -------
    counts : EqualNeighbors
        Share of neighboring rows with equal sets, beside random order.

    Examples
    --------
    >>> from partlearn.candidates import equal_neighbors, make_bags
    >>> S, bags = make_bags([0, 1, 2, 3, 4, 5] * 10, size=3, random_state=0)
    >>> equal_neighbors(S[bags.argsort()]).bags_likely
    True
    >>> equal_neighbors(S).bags_likely
    False
    """
    S = _mask(candidates)
    several = S.sum(axis=1) > 1
    pairs = several[1:] & several[:-1]
    n_pairs = int(pairs.sum())
    if not n_pairs:
        return EqualNeighbors(0, 0.0, 0.0, 0, 0)
    equal = pairs & (S[1:] == S[:-1]).all(axis=1)
    inside = np.concatenate([[False], equal]) | np.concatenate([equal, [False]])
    packed = np.packbits(S[several], axis=1)
    counts = np.unique(packed, axis=0, return_counts=True)[1].astype(float)
    n = counts.sum()
    expected = float((counts * (counts - 1)).sum() / (n * (n - 1)))
    n_rows = int(inside.sum())
    n_equal = int(equal.sum())
    return EqualNeighbors(
        n_pairs, n_equal / n_pairs, expected, n_rows - n_equal, n_rows
    )


class BagRule:
    """Rule of the bags, applied once per iteration of a classifier.

    Parameters
    ----------
    bags : array-like of shape (n_samples,)
        Bag of each row; see :func:`bag_codes`.
    candidates : array-like or sparse matrix of shape (n_samples, n_classes)
        Candidates. The list of a bag is the union of its rows' candidates.
    rule : {"cover", "distinct", "match"}, default="cover"
        How often a label of the list occurs in the bag: at least once, at most once,
        or exactly once.
    stray : float or "auto", default="auto"
        Chance that a label of no row of the bag is on the list, such as the name of a
        person outside the picture. "auto" estimates it, three times in each call, from
        .03.

    Attributes
    ----------
    stray_ : float
        The rate of the next call.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import BagRule
    >>> bag = BagRule([0, 0], np.ones((2, 2)), stray=0.0)
    >>> bag(np.array([[0.9, 0.1], [0.6, 0.4]])).round(2)
    array([[0.86, 0.14],
           [0.14, 0.86]])
    """

    def __init__(
        self,
        bags: Any,
        candidates: Any,
        *,
        rule: Rule = "cover",
        stray: float | Literal["auto"] = "auto",
    ) -> None:
        check_choice("rule", rule, get_args(Rule))
        valid = isinstance(stray, Real) and not isinstance(stray, bool)
        if stray != "auto" and not (valid and 0 <= stray <= 1):
            raise ValueError(
                f'`stray` must be "auto" or a number between 0 and 1; got {stray!r}.'
            )
        S = _mask(candidates)
        self.rule: Rule = rule
        self.auto = stray == "auto" and rule != "distinct"
        self.stray_ = _FIRST_STRAY if stray == "auto" else float(stray)
        self.codes, self._named = named_codes(bags, len(S), "bags")
        self.layout = BagLayout(self.codes, S, self._named)
        self._warned = False

    @classmethod
    def of(cls, estimator: Any, bags: Any, labels: Evidence) -> Self | None:
        """Return the bag rule set by the parameters of an estimator.

        Parameters
        ----------
        estimator : estimator
            With parameters ``bag_rule`` and ``stray_rate``.
        bags : array-like of shape (n_samples,) or None
            Bags; None for no rule.
        labels : Evidence of shape (n_samples, n_classes)
            Labels of the rows. The list of a bag holds those that were listed. Votes by
            which an annotator gives a row several labels are refused: they are read as
            answers to the question which single label is right.

        Returns
        -------
        rule : BagRule or None
            The rule.
        """
        if bags is None:
            return None
        if isinstance(labels, Votes) and labels.several:
            raise ValueError(
                f"{argument('bags')} cannot be combined with votes in which an "
                "annotator gives a row several labels, since each vote is for one true "
                "label. Pass the share of annotators that listed each label to "
                "from_weights; for a table, write each annotator's list into a column "
                "of its own."
            )
        return cls(
            bags, labels.listed, rule=estimator.bag_rule, stray=estimator.stray_rate
        )

    def among(self, rows: Indices) -> "BagRule":
        """Return the same rule for some rows."""
        names = self.codes[rows].astype(object)
        names[~self._named[rows]] = None
        stray: Any = "auto" if self.auto else self.stray_
        S = self.layout.candidates[rows]
        part = BagRule(names, S, rule=self.rule, stray=stray)
        part._warned = True  # `self` warns, by the numbers of its own rows
        return part

    @property
    def shared(self) -> bool:
        """Whether any two rows are in one bag."""
        return bool((self.layout.sizes > 1).any())

    @property
    def rate(self) -> float | None:
        """Stray rate of the next call, or None if the rule does not use it."""
        return None if self.rule == "distinct" else self.stray_

    def __call__(self, P: Any) -> Any:
        """Return the confidences given the bags.

        Parameters
        ----------
        P : array of shape (n_samples, n_classes)
            Confidences without the bags. Labels outside a list may have some; they
            are subject to no rule.

        Returns
        -------
        F : array of shape (n_samples, n_classes)
            Of the type of `P`; rows sum to one.
        """
        F = self._apply(np.asarray(to_numpy(P)), _ESTIMATES, 0.0)
        return like(F, P)

    def settle(self, P: Array) -> Array:
        """Return the confidences given the bags, with a converged stray rate.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_classes)
            Confidences without the bags.

        Returns
        -------
        F : ndarray of shape (n_samples, n_classes)
            Rows sum to one.
        """
        return self._apply(P, _MAX_ESTIMATES, _TOL)

    def _apply(self, P: Array, n_estimates: int, tol: float) -> Array:
        for _ in range(n_estimates if self.auto else 1):
            before = self.stray_
            share = self.layout.apply(P, self.rule, before)
            if self.auto:
                self.stray_ = float(np.clip(share.stray, *_STRAYS))
            if abs(self.stray_ - before) <= tol * before:
                break
        if share.impossible.size and not self._warned:
            self._warned = True
            row = int(np.argmax(self.codes == share.impossible[0]))
            warn_caller(
                f'The rule "{self.rule}" gives each label of a bag to one row, but '
                f"{share.impossible.size} bags have more rows than labels, such as the "
                f"bag of row {row}. Their confidences stay as they are; use "
                'the rule "cover".'
            )
        return share.F.astype(P.dtype if P.dtype.kind == "f" else float, copy=False)


def bag_confidence(
    confidence: ArrayLike,
    bags: ArrayLike,
    candidates: Any,
    *,
    rule: Rule = "cover",
    stray: float | Literal["auto"] = "auto",
) -> Array:
    """Share the labels of a list among the rows of its bag.

    A photograph with several faces and a caption with several names: each face has the
    names as candidates, and each name belongs to at least one face. This computes the
    confidences given the lists from confidences of single rows.

    Parameters
    ----------
    confidence : array-like of shape (n_samples, n_classes)
        Confidence in each label of each row, for instance ``predict_proba``; scaled so
        that rows sum to one. Labels outside the list of a bag may have some; they are
        subject to no rule.
    bags : array-like of shape (n_samples,)
        Bag of each row: numbers or names. A row without one (None, NaN, empty text) is
        a bag of its own.
    candidates : array-like or sparse matrix of shape (n_samples, n_classes)
        Candidates of the rows. The list of a bag is the union of its rows' candidates.
    rule : {"cover", "distinct", "match"}, default="cover"
        How often a label of the list occurs in the bag:

        * "cover": at least once;
        * "distinct": at most once;
        * "match": exactly once.
    stray : float or "auto", default="auto"
        Chance that a label of no row of the bag is on the list, such as the name of a
        person outside the picture. "auto" estimates it. The rule "distinct" does not
        use it.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        Confidences given the bags; rows sum to one.

    See Also
    --------
    make_bags : Make bags from true labels.

    Notes
    -----
    "cover" takes ten sweeps of belief propagation, linear in rows times labels of the
    lists. "distinct" and "match" are exact for lists of up to 12 labels, by a pass over
    subsets of the list, and take the sweeps beyond that. A bag of one row keeps its
    confidences. So does a bag with more rows than labels under "distinct" and "match",
    with a warning: no assignment gives each row a label of its own. A candidate without
    confidence is treated as one of confidence 1e-12.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import bag_confidence
    >>> faces = np.array([[0.9, 0.1], [0.6, 0.4]])  # both look like Ann
    >>> caption = np.ones((2, 2), dtype=bool)  # Ann and Bob
    >>> bag_confidence(faces, ["p1", "p1"], caption, rule="match").round(2)
    array([[0.86, 0.14],
           [0.14, 0.86]])
    """
    S = _mask(candidates)
    P = np.asarray(confidence)
    if P.shape != S.shape:
        raise ValueError(
            f"`confidence` has shape {P.shape} and `candidates` {S.shape}; they must "
            "be the same."
        )
    if P.dtype.kind not in "fiub" or not (np.isfinite(P) & (P >= 0)).all():
        raise ValueError("`confidence` must hold finite numbers that are not negative.")
    return BagRule(bags, S, rule=rule, stray=stray).settle(P)


def _mask(candidates: Any) -> Mask:
    """Convert candidates to a boolean matrix."""
    S = candidates.toarray() if sp.issparse(candidates) else np.asarray(candidates)
    if S.ndim != 2:
        expected = "a matrix of shape (n_samples, n_classes)"
        raise ValueError(f"`candidates` must be {expected}; got shape {S.shape}.")
    return S if S.dtype == bool else S > 0


def make_bags(
    y: ArrayLike, *, size: int = 4, stray: float = 0.0, random_state: Any = None
) -> tuple[Mask, NDArray[np.intp]]:
    """Make bags of rows that share one list of labels from true labels.

    Rows are drawn into bags at random. The list of a bag holds the labels of its rows,
    and each other label with probability `stray`; it is the candidate set of each of
    its rows.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        True labels.
    size : int, default=4
        Rows in a bag; the last bag has those that are left.
    stray : float, default=0.0
        Probability that a label which no row of the bag has is on the list.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Returns
    -------
    candidates : ndarray of bool, shape (n_samples, n_classes)
        Candidates; columns follow the sorted classes of `y`.
    bags : ndarray of int, shape (n_samples,)
        Bag of each row.

    See Also
    --------
    bag_confidence : Confidences given the bags.

    Examples
    --------
    >>> from partlearn.candidates import make_bags
    >>> candidates, bags = make_bags(["a", "b", "c", "b"], size=2, random_state=0)
    >>> bags
    array([1, 1, 0, 0])
    >>> candidates.astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 1, 1],
           [0, 1, 1]])
    """
    classes, codes = _true_codes(y, "Bags")
    if not isinstance(size, Integral) or size < 1:
        raise ValueError(f"`size` must be an integer of at least 1; got {size}.")
    _probability("stray", stray)
    rng = check_random_state(random_state)
    bags = np.empty(len(codes), dtype=np.intp)
    bags[rng.permutation(len(codes))] = np.arange(len(codes)) // size
    lists = rng.uniform(size=(bags.max() + 1, len(classes))) < stray
    lists[bags, codes] = True
    return lists[bags], bags
