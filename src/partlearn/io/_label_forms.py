"""Infer whether label columns hold votes of raters, weights or marks."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partlearn._arguments import argument
from partlearn._typing import Array, Mask
from partlearn.candidates import Evidence, Votes
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._frame import find_grouping, numbers_in
from partlearn.io._options import FORMS, Form

YES = frozenset(
    (
        *("1", "yes", "y", "true", "t", "x", "on", "+", "✓", "✔", "☑", "✅"),
        *("ja", "oui", "si", "sí", "sì", "sim", "tak", "ano", "kyllä", "evet", "igen"),
        *("да", "так", "نعم", "כן", "हाँ", "是", "はい", "예", "có"),
    )
)
NO = frozenset(
    (
        *("", "0", "no", "n", "false", "f", "-1", "off", "-", "✗", "✘", "☐", "❌"),
        *("nein", "nee", "nej", "nei", "non", "não", "nie", "ne", "ei", "nem"),
        *("hay\u0131r", "không", "нет", "ні", "لا", "לא"),
        *("नहीं", "否", "いいえ", "아니요"),
    )
)
_AGREE = 0.2  # agreement of columns beyond chance from which they may be raters
_ROUNDED = 0.02  # by how much shares may miss their sum
# What makes the opposite of a word, as in impossible; not the fe- of female.
_NEGATIONS = frozenset(
    ("un", "im", "in", "ir", "il", "dis", "non", "no", "not", "nicht")
)
_NEVER = 10  # rows from which it is odd that raters never agree
_SHOWN = 6  # labels that a sentence names


def _advice() -> str:
    return (
        f"Name the columns with {argument('raters')}, {argument('weights')} or "
        f"{argument('marks')} instead of {argument('labels')}."
    )


class LabelColumns(NamedTuple):
    """Names of label columns and, if the caller gave it, their form.

    Attributes
    ----------
    names : list of str
        The columns.
    form : {"raters", "weights", "marks"} or None
        A column of raters holds the labels that one annotator gave. A column of weights
        or marks is named after a label. None infers the form from the cells.
    """

    names: list[str]
    form: Form | None = None


def label_choice(labels: Any = None, **given: Any) -> Any:
    """Return the labels given by one of several alternative arguments.

    Parameters
    ----------
    labels : object, default=None
        Labels, or names of their columns.
    **given : str or list of str
        Names of columns by form; None where not given.

    Returns
    -------
    labels : object
        `labels` as they are, or :class:`LabelColumns`.

    Examples
    --------
    >>> from partlearn.io import label_choice
    >>> label_choice(raters=["ann", "bob"])
    LabelColumns(names=['ann', 'bob'], form='raters')
    """
    named = {word: value for word, value in given.items() if value is not None}
    if len(named) + (labels is not None) > 1:
        words = [*(["labels"] if labels is not None else []), *named]
        raise ValueError(
            f"Labels were given as {' and '.join(map(argument, words))}; give them "
            "once."
        )
    for form in FORMS:
        if form in named:
            value = named[form]
            names = (
                [n.strip() for n in value.split(",")]
                if isinstance(value, str)
                else value
            )
            return LabelColumns(list(names), form)
    return labels


class Cells(NamedTuple):
    """Cells of a label column: distinct texts, and a code per row (-1: missing)."""

    codes: NDArray[Any]
    values: list[str]

    @property
    def first_rows(self) -> list[int]:
        """First row of each distinct text."""
        rows = np.zeros(len(self.values), dtype=np.intp)
        known = np.flatnonzero(self.codes >= 0)
        codes, places = np.unique(self.codes[known], return_index=True)
        rows[codes] = known[places]
        return list(rows.tolist())


def numbers_of(texts: Collection[str]) -> Array:
    """Return the numbers in cells of text, written as in features or in percent.

    Examples
    --------
    >>> from partlearn.io._label_forms import numbers_of
    >>> numbers_of(["1,5", "70%", "cat"]), numbers_of(["1,234", "950"])
    (array([1.5, 0.7, nan]), array([1234.,  950.]))
    """
    words = [text.strip() for text in texts]
    # Flags are numbers among features, and labels here.
    bare = ["" if word.isalpha() else word.rstrip("% ") for word in words]
    scale = np.where([word.endswith("%") for word in words], 0.01, 1.0)
    return numbers_in(np.array(bare, dtype=object), find_grouping(bare)) * scale


def find_form(columns: Mapping[str, Cells], *, single: bool = True) -> Form:
    """Infer the form of label columns from their cells.

    Parameters
    ----------
    columns : mapping of str to Cells
        Cells of two columns or more.
    single : bool, default=True
        Whether one label of each row is true, so that weights are shares of it.

    Returns
    -------
    form : {"raters", "weights", "marks"}
        Text means raters. Yes and no, or 0 and 1, are marks if every row has one.
        Fractions are weights, and so are integers with the same sum in every row. Other
        integers are labels given by raters if the columns agree more often than by
        chance.

    Raises
    ------
    AmbiguousDataError
        If two forms are likely.
    """
    names = list(columns)
    words = {n: {v.strip().lower() for v in c.values} for n, c in columns.items()}
    if all(texts <= YES | NO for texts in words.values()):
        return _binary(columns)
    numeric = {n: not np.isnan(numbers_of(texts)).any() for n, texts in words.items()}
    if not all(numeric.values()):
        odd = [n for n in names if words[n] and numeric[n]]
        if odd:
            text = next(n for n in names if not numeric[n])
            raise AmbiguousDataError(
                f"column {odd[0]!r} holds numbers, while column {text!r} holds text",
                advice=_advice(),
            )
        if single:
            _refuse_two_readings(columns, words)
        return "raters"
    return _numeric(numbers(columns), single)


def _refuse_two_readings(
    columns: Mapping[str, Cells], words: Mapping[str, set[str]]
) -> None:
    """Raise where columns of text may be something else than labels of raters."""
    texts = sorted(set().union(*words.values()), key=len)
    opposite = len(texts) == 2 and texts[1].endswith(texts[0])
    if opposite and texts[1].removesuffix(texts[0]).strip("-_ ") in _NEGATIONS:
        raise AmbiguousDataError(
            f"several label columns hold {texts[0]!r} and {texts[1]!r} only: they may "
            "be marks of labels, or votes of raters",
            advice=f"Write 1 and 0 into marks, or name the columns with "
            f"{argument('raters')}.",
        )
    # Two raters who never agree are rarer than the candidates of a row, side by side.
    places = {text: k for k, text in enumerate(texts)}
    codes = np.column_stack(
        [
            np.array([*(places[v.strip().lower()] for v in c.values), -1])[c.codes]
            for c in columns.values()
        ]
    )
    ordered = np.sort(codes, axis=1)
    known = (ordered >= 0).sum(axis=1) > 1
    same = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if known.sum() >= _NEVER and not same.any():
        raise AmbiguousDataError(
            "these label columns never hold the same label in a row: they may be the "
            "candidates of a row, side by side",
            advice="Join candidates into one column such as cat|dog, or name the "
            f"columns with {argument('raters')}.",
        )


def _binary(columns: Mapping[str, Cells]) -> Form:
    marked, missing = _marked(columns)
    silent = np.flatnonzero(~marked.any(axis=1) & ~missing.any(axis=1))
    if silent.size:
        raise AmbiguousDataError(
            f"columns {', '.join(map(repr, list(columns)[:3]))} hold yes and no only, "
            f"and {silent.size} rows hold no everywhere (the first is row {silent[0]}):"
            " they may be marks of labels, or votes of raters",
            advice=f"Name them with {argument('marks')} or {argument('raters')} "
            f"instead of {argument('labels')}.",
        )
    return "marks"


def _numeric(N: Array, single: bool) -> Form:
    known = ~np.isnan(N)
    total = np.nansum(N, axis=1)[known.any(axis=1)]
    fractions = bool((N[known] != np.round(N[known])).any())
    if (N[known] < 0).any():
        if fractions:
            raise AmbiguousDataError(
                "several label columns hold negative numbers, which cannot be weights",
                advice="Convert scores to weights, such as probabilities.",
            )
        return "raters"
    level = 100.0 if len(total) and np.median(total) > 10 else 1.0
    shares = len(total) > 0 and bool((abs(total / level - 1) <= _ROUNDED).all())
    same = len(total) > 1 and bool((total == total[0]).all()) and known.all()
    agree = _agreement(N)
    ranks = np.arange(1.0, N.shape[1] + 1)
    if single and len(N) > 1 and (np.sort(N, axis=1) == ranks).all():
        raise AmbiguousDataError(
            "several label columns hold each rank from 1 once in every row: the label "
            "of rank 1 may be the best or the worst",
            advice="Convert ranks to weights, of which the largest is the best.",
        )
    if shares and not (agree > _AGREE):
        return "weights"
    if fractions:
        if agree > _AGREE and len(np.unique(N[known])) <= 20:
            raise AmbiguousDataError(
                "several label columns hold the same few numbers: they may be weights "
                "of labels, or labels that raters gave",
                advice=_advice(),
            )
        if single and not (_is_steady(total) or (N[known] <= 1).all()):
            raise AmbiguousDataError(
                "several label columns hold numbers with another sum in every row, "
                f"from {total.min():.3g} to {total.max():.3g}: they may be distances, "
                "scores or votes",
                advice=f"If a larger number is a more likely label, name them with "
                f"{argument('weights')}.",
            )
        return "weights"
    if same and agree <= _AGREE:
        return "weights"
    if agree > _AGREE and not same:
        return "raters"
    raise AmbiguousDataError(
        "several label columns hold whole numbers: they may be labels that raters "
        "gave, or counts of labels",
        advice=_advice(),
    )


def _is_steady(total: Array) -> bool:
    """Whether the numbers of all rows that have any have about the same sum."""
    total = total[total > 0]
    middle = np.median(total) if len(total) else 0.0
    return bool((abs(total - middle) <= _ROUNDED * middle).all())


def _agreement(N: Array) -> float:
    """Return the agreement of columns beyond chance (Fleiss' kappa), 0 if undefined."""
    values, codes = np.unique(N[~np.isnan(N)], return_inverse=True)
    rows = np.nonzero(~np.isnan(N))[0]
    counts = np.zeros((len(N), len(values)))
    np.add.at(counts, (rows, codes.reshape(-1)), 1)
    n = counts.sum(axis=1)
    counts, n = counts[n > 1], n[n > 1]
    if not len(n):
        return 0.0
    observed = ((counts * (counts - 1)).sum(axis=1) / (n * (n - 1))).mean()
    expected = float(((counts.sum(axis=0) / n.sum()) ** 2).sum())
    return 0.0 if expected >= 1 else float((observed - expected) / (1 - expected))


def numbers(columns: Mapping[str, Cells]) -> Array:
    """Return columns as a matrix of numbers, NaN for missing cells.

    Raises
    ------
    DataFormatError
        If a cell is not a number; the message names the cell.
    """
    parts = []
    every = numbers_of([text for column in columns.values() for text in column.values])
    start = 0
    for name, (codes, values) in columns.items():
        read = np.append(every[start : start + len(values)], np.nan)
        start += len(values)
        odd = np.flatnonzero(np.isnan(read[:-1]))
        if odd.size:
            raise DataFormatError(
                f"weights are numbers; found {str(values[odd[0]])[:40]!r}",
                where=f"row {int((codes == odd[0]).argmax())} of column {name!r}",
            )
        parts.append(read[codes])
    return np.column_stack(parts)


def marks(columns: Mapping[str, Cells]) -> Mask:
    """Return columns as a boolean matrix of marks, False for missing cells."""
    return _marked(columns)[0]


def _marked(columns: Mapping[str, Cells]) -> tuple[Mask, Mask]:
    marked, missing = [], []
    for name, (codes, values) in columns.items():
        words = [value.strip().lower().removesuffix(".0") for value in values]
        odd = [k for k, word in enumerate(words) if word not in YES | NO]
        if odd:
            raise DataFormatError(
                f"marks are 0 and 1, or yes and no; found {values[odd[0]]!r}",
                where=f"row {int((codes == odd[0]).argmax())} of column {name!r}",
                advice=f"Pass labels of raters with {argument('raters')}, and numbers "
                f"with {argument('weights')}.",
            )
        marked.append(np.array([*(word in YES for word in words), False])[codes])
        missing.append(codes < 0)
    return np.column_stack(marked), np.column_stack(missing)


def in_words(evidence: Evidence, form: Form | None, n_columns: int) -> str:
    """Describe how label columns were read: ``3 raters, 2 labels: 0, 1``."""
    labels = [str(c) for c in evidence.classes.tolist()]
    shown = ", ".join(labels[:_SHOWN]) + (", ..." if len(labels) > _SHOWN else "")
    if isinstance(evidence, Votes) or form == "raters":
        lists = "" if isinstance(evidence, Votes) else " who list several labels each"
        what = f"{n_columns} raters{lists}"
    elif form is None:
        several = bool((evidence.candidates.sum(axis=1) > 1).any())
        what = "sets of labels" if several else "one label per row"
        what = "weights of labels" if evidence.weighted else what
    else:
        what = f"{form} of {n_columns} labels"
    return f"{what}, {len(labels)} labels: {shown}"
