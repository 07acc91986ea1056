"""Contents of the label report."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import Evidence, bag_codes, restrict_confidence
from partlearn.inspection._confidence import candidate_confusion
from partlearn.inspection._reasons import Reasons
from partlearn.metrics import (
    Dependence,
    candidate_dependence,
    cautious_share,
)

SETTLED = 0.9  # confidence from which a label counts as settled
OPEN = 0.2  # lead over the second label below which a row is open
_APART = 0.1  # largest doubt between labels that are told apart
_ALIKE = 0.6  # smallest doubt between labels that are hardly told apart
_PAIRS = 30
_FIRST = 20  # rows to review that the page shows at first
_DRAWS = 5  # draws of other values per column, in explanations of the first rows
_DECIDED = 20  # columns that the page names
_WORTH_SHOWING = 0.05  # least confidence of a shown label that is no candidate
_LONG = re.compile(r"-?\d{1,5}\.\d{5,}")  # numbers to round


class RowStates(NamedTuple):
    """Masks of rows with several candidates that are settled, leaning or open."""

    several: Mask
    settled: Mask
    leaning: Mask
    open: Mask

    def counts(self) -> dict[str, int]:
        """Number of rows in each mask."""
        return {name: int(mask.sum()) for name, mask in self._asdict().items()}


def row_states(several: Mask, confidence: Array, margin: Array) -> RowStates:
    """Classify rows as settled, leaning or open.

    Parameters
    ----------
    several : ndarray of bool, shape (n_rows,)
        Rows with several candidates; the others have no state.
    confidence, margin : ndarray of shape (n_rows,)
        Confidence in the most likely label, and its lead over the second.

    Returns
    -------
    states : RowStates
        Settled rows have a confidence of at least `SETTLED`; of the others, those whose
        label leads by less than `OPEN` are open, and the rest leans.
    """
    settled = several & (confidence >= SETTLED)
    undecided = several & ~settled & (margin < OPEN)
    return RowStates(several, settled, several & ~settled & ~undecided, undecided)


@dataclass(frozen=True)
class LabelPair:
    """Two labels that share candidate sets."""

    first: str
    second: str
    n_rows: int
    doubt: float

    @property
    def verdict(self) -> str:
        """Whether the labels are told apart, in words."""
        if self.doubt <= _APART:
            return "told apart"
        return "hardly told apart" if self.doubt >= _ALIKE else "partly told apart"


@dataclass(frozen=True)
class ReviewBag:
    """A bag to review: the labels of its list, and the rows of each label."""

    name: str
    taken: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class ReviewRow:
    """A row to review, with the confidences of its candidates and its contents.

    `given` are its labels if they may be wrong; `why` explains its label.
    """

    position: int
    name: str
    confidences: list[tuple[str, float]]
    contents: list[tuple[str, str]]
    image: Any
    bag: ReviewBag | None = None
    given: str = ""
    why: Reasons | None = None


@dataclass(frozen=True)
class LabelReport:
    """Contents of the page of labels.

    Attributes
    ----------
    title : str
        Title of the page.
    result : Disambiguation
        The labels, and how sure they are.
    classes : list of str
        Names of the labels.
    names : list of str
        Names of the rows.
    label, set_index : ndarray of int, shape (n_rows,)
        Column of the most likely label, and index of the candidate set in `sets`.
    before : ndarray of shape (n_rows,)
        One divided by the number of candidates.
    sets : list of list of int
        Distinct candidate sets, as columns.
    pairs : list of LabelPair
        Labels that share sets, the most doubtful first.
    never_together : int
        Number of pairs of labels that share no set.
    review : list of ReviewRow
        Rows that are not settled, the least certain first. With bags: all rows of bags
        with such a row, bag by bag.
    calibration : CalibrationBins or None
        Confidence and share of right labels, if the truth is known.
    right : tuple of float or None
        Share of right labels among all rows, among ambiguous ones, and by chance among
        those.
    annotators : list of (name, votes, accuracy)
        Annotators, if the labels came from votes.
    together : list of (label, label, lift)
        Pairs of labels that are candidates together more often than independent false
        labels would be.
    n_errors : int
        Number of rows whose labels are probably wrong.
    decided : list of (name, share)
        Most important columns, largest share first; empty if the method does not rank
        columns.
    """

    title: str
    result: Any
    classes: list[str]
    names: list[str]
    label: Indices
    set_index: Indices
    before: Array
    sets: list[list[int]]
    pairs: list[LabelPair]
    never_together: int
    review: list[ReviewRow]
    calibration: Any
    right: tuple[float, float, float] | None
    annotators: list[tuple[str, int, float]]
    together: list[tuple[Any, Any, float]]
    n_errors: int
    decided: list[tuple[str, float]]

    @property
    def in_bags(self) -> bool:
        """Whether rows to review are grouped by bag."""
        return bool(self.review) and self.review[0].bag is not None

    @property
    def n_shown(self) -> int:
        """Number of rows to review that the page shows at first, in whole bags."""
        rows = self.review
        for i in range(_FIRST, len(rows)):
            if rows[i].bag is None or rows[i].bag is not rows[i - 1].bag:
                return i
        return len(rows)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.label)

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows with several candidates, and of each state."""
        r = self.result
        return row_states(self.before < 1, r.confidence, r.margin).counts()

    @property
    def n_single(self) -> int:
        """Number of doubtful rows with one candidate; votes may be wrong."""
        unsure = self.result.confidence < SETTLED
        return int(((self.before == 1) & unsure).sum())


def expected_share(result: Any) -> tuple[float, float, float]:
    """Expected share of right labels, with a range.

    Parameters
    ----------
    result : Disambiguation
        What :func:`partlearn.disambiguate` returns.

    Returns
    -------
    expected, low, high : float
        See ``Disambiguation.expected_right``.
    """
    if result.quality is not None:
        q = result.quality
        return q.accuracy, q.low, q.high
    S, F, c = result.candidates, result.label_confidence, result.confidence
    partners = _dependence(result).partners
    cautious = cautious_share(c, S, F.argmax(axis=1), partners)
    n, mean, agree = len(c), float(c.mean()), result.halves_agree
    spread = 2 * float((c * (1 - c)).sum()) ** 0.5 / n
    low, high = min(mean, float(cautious.mean())) - spread, mean + spread
    factor = result.overconfidence
    if factor is not None and factor > 1:
        f = restrict_confidence(F ** (1 / factor), S)[np.arange(n), F.argmax(axis=1)]
        low = min(low, float(f.mean()) - 2 * float((f * (1 - f)).sum()) ** 0.5 / n)
    if agree is not None:
        low = min(low, agree - 2 * (agree * (1 - agree) / n) ** 0.5)
        mean = (mean + min(agree, mean)) / 2
    return mean, max(low, 0.0), min(high, 1.0)


def label_report(
    result: Any,
    *,
    rows: Any = None,
    truth: ArrayLike | None = None,
    images: Sequence[Any] | None = None,
    n_review: int = 100,
    title: str = "Label report",
) -> LabelReport:
    """Collect the contents of a label report.

    Parameters
    ----------
    result : Disambiguation
        Result of :func:`partlearn.disambiguate`.
    rows : data frame or mapping of str to sequence, default=None
        Contents of the rows, shown beside those to review.
    truth : array-like of shape (n_samples,), default=None
        True labels; None or NaN where they are not known.
    images : sequence, default=None
        A picture per row: the path of a local image file, or a 2-D array of gray
        values, larger ones darker.
    n_review : int, default=100
        Number of rows to review.
    title : str, default="Label report"
        Title of the page.

    Returns
    -------
    report : LabelReport
        Contents of the page.
    """
    S: Mask = result.candidates
    F: Array = result.label_confidence
    classes = [str(name) for name in result.classes]
    sizes = S.sum(axis=1)
    sets, set_index = np.unique(S, axis=0, return_inverse=True)
    calibration = right = None
    if truth is not None:
        calibration = result.calibration(truth)
        accuracy, _, *among_ambiguous = result.agreement(truth)
        right = (accuracy, *np.nan_to_num(among_ambiguous, nan=1.0).tolist())
    columns = row_columns(rows, len(S))
    if images is not None and len(images) != len(S):
        raise ValueError(f"`images` must hold {len(S)} pictures; got {len(images)}.")
    names = [str(name) for name in result.index]
    code = {name: j for j, name in enumerate(result.classes)}
    label = np.array([code[name] for name in result.label], dtype=np.intp)
    dependence = _dependence(result)
    pairs, never = _pairs(F, S, classes)
    order = np.lexsort((result.margin, result.confidence))  # the least certain first
    shown = S | (F >= _WORTH_SHOWING)  # votes may all be for a wrong label
    unsure = order[result.confidence[order] < SETTLED]
    if result.miss_rate is not None:  # labels that may be wrong, and then the others
        order = np.argsort(-result.wrong, kind="stable")
        suspect = order[result.wrong[order] > 1 - SETTLED]
        unsure = np.concatenate([suspect, np.setdiff1d(unsure, suspect)])
    reviewed: list[tuple[int, ReviewBag | None]]
    if result.bags is None:
        reviewed = [(int(i), None) for i in unsure[:n_review]]
    else:
        reviewed = _by_bag(result, unsure, n_review, names)
    explained = np.array([i for i, _ in reviewed[:_FIRST]], dtype=np.intp)
    reasons = (
        result.reasons(result, explained, n_draws=_DRAWS) if explained.size else []
    )
    return LabelReport(
        title=title,
        result=result,
        classes=classes,
        names=names,
        label=label,
        set_index=set_index.ravel(),
        before=1 / sizes,
        sets=[np.flatnonzero(row).tolist() for row in sets],
        pairs=pairs,
        never_together=never,
        review=[
            ReviewRow(
                int(i),
                names[i],
                [
                    (classes[j], float(F[i, j]))
                    for j in np.argsort(-F[i], kind="stable")
                    if shown[i, j]
                ],
                [(name, cell_text(values[i])) for name, values in columns],
                None if images is None else images[i],
                bag,
                _given(result, i),
                why,
            )
            for (i, bag), why in zip_longest(reviewed, reasons)
        ],
        calibration=calibration,
        right=right,
        annotators=_annotators(result.annotators),
        together=dependence.pairs,
        n_errors=0 if result.miss_rate is None else len(result.label_errors()),
        decided=list(result.column_importances.items())[:_DECIDED],
    )


def _given(result: Any, row: int) -> str:
    """Given labels of a row if they are probably wrong."""
    if result.miss_rate is None or result.label[row] in (
        named := result.classes[result.candidates[row]]
    ):
        return ""
    return ", ".join(map(str, named))


def _by_bag(
    result: Any, unsure: Indices, n_review: int, names: list[str]
) -> list[tuple[int, ReviewBag | None]]:
    """Rows of the bags that have the least certain rows."""
    codes = bag_codes(result.bags, len(names))
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max(initial=-1) + 2))
    reviewed: list[tuple[int, ReviewBag | None]] = []
    for b in dict.fromkeys(codes[unsure].tolist()):
        if len(reviewed) >= n_review:
            break
        rows = order[starts[b] : starts[b + 1]]
        listed = result.classes[result.candidates[rows].any(axis=0)]
        taken = [
            (str(label), [names[i] for i in rows if result.label[i] == label])
            for label in listed
        ]
        name = result.bags[rows[0]]
        bag = ReviewBag("none" if name is None else str(name), taken)
        reviewed += [(int(i), bag) for i in rows]
    return reviewed


def label_summary(result: Any) -> dict[str, Any]:
    """Count settled, leaning and open rows, and give the range of right labels.

    Parameters
    ----------
    result : Disambiguation
        Result of :func:`partlearn.disambiguate`.

    Returns
    -------
    summary : dict
        See :meth:`partlearn.Disambiguation.summary`.
    """
    S, c = result.candidates, result.confidence
    several = S.sum(axis=1) > 1
    dependence = _dependence(result)
    return {
        **row_states(several, c, result.margin).counts(),
        "expected_right": result.expected_right[1:],
        "halves_agree": result.halves_agree,
        "together": [list(pair) for pair in dependence.pairs],
        "tested": dependence.tested,
    }


def _dependence(result: Any) -> Dependence:
    """Labels that share sets too often, unless votes or bags separate them."""
    found = candidate_dependence(
        Evidence(result.candidates, result.classes), result.label_confidence
    )
    if not found.tested and not (result.annotators is result.bags is None):
        return Dependence([], np.zeros_like(found.partners))
    return found


def _annotators(annotators: Any) -> list[tuple[str, int, float]]:
    """Name, votes and accuracy of each annotator, the least accurate first."""
    if annotators is None:
        return []
    known = zip(annotators.name, annotators.n_votes, annotators.accuracy, strict=True)
    told = [(str(name), int(votes), float(accuracy)) for name, votes, accuracy in known]
    return sorted(told, key=itemgetter(2))


def cell_text(value: Any) -> str:
    """Text of a cell: numbers are rounded, missing values named."""
    same = value == value  # neither True nor False of pandas' NA
    if value is None or not isinstance(same, bool | np.bool_) or not same:
        return "missing"
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    text = str(value)
    return f"{float(text):.6g}" if _LONG.fullmatch(text) else text


def row_columns(rows: Any, n_rows: int) -> list[tuple[str, Any]]:
    """Convert contents of rows to names and columns."""
    if rows is None:
        return []
    if not isinstance(rows, Mapping) and not hasattr(rows, "columns"):
        raise TypeError(
            "`rows` must be a data frame or a mapping of names to columns; got "
            f"{type(rows).__name__}."
        )
    # By place where there are items: names of pandas need not be distinct.
    named = hasattr(rows, "items")
    items = rows.items() if named else ((name, rows[name]) for name in rows.columns)
    columns = [(str(name), np.asarray(values)) for name, values in items]
    for name, values in columns:
        if len(values) != n_rows:
            raise ValueError(
                f"`rows` must have {n_rows} rows; column {name!r} has {len(values)}."
            )
    return columns


def _pairs(F: Array, S: Mask, classes: list[str]) -> tuple[list[LabelPair], int]:
    """Pairs of labels with the largest total doubt, and number of disjoint pairs."""
    together, doubt = candidate_confusion(F, S)
    above = np.triu_indices(len(classes), 1)
    confidence = (F * S).T @ S  # in the one label, over the rows that have both
    mass = ((confidence + confidence.T) * doubt)[above]
    order = np.argsort(-mass, kind="stable")[:_PAIRS]
    pairs = [
        LabelPair(classes[i], classes[j], int(together[i, j]), float(doubt[i, j]))
        for i, j in zip(above[0][order], above[1][order], strict=True)
        if together[i, j]
    ]
    return pairs, int((together[above] == 0).sum())
