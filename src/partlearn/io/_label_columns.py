"""Read label columns: one of sets, or several of votes, weights or marks."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from partlearn._arguments import argument
from partlearn._typing import Array, Mask
from partlearn.candidates import (
    Evidence,
    from_annotators,
    from_weights,
    is_missing_text,
    parse_label_cells,
    warn_alike_labels,
    warn_caller,
    warn_missing_labels,
)
from partlearn.io._bunch import as_whole, sort_names
from partlearn.io._errors import DataFormatError, located
from partlearn.io._label_forms import (
    Cells,
    find_form,
    in_words,
    marks,
    numbers,
    numbers_of,
)
from partlearn.io._options import Budget, Form, Limits, names_of

CANDIDATE_MARK, TRUTH_MARK, BAG_MARK = "candidate:", "truth:", "bag:"
_MOST_FRACTIONS = 20  # different numbers with fractions that may be labels
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+(\.0+)?")
_WHOLE_FLOAT = re.compile(r"[-+]?[0-9]+\.0+")
_WHOLE_END = re.compile(r"\.0+$")
_TAGS = re.compile(r"(^|[-_ ])(tag|keyword|topic|genre)s?$", re.IGNORECASE)
_SEVERAL = re.compile(r"[|;,]|^\s*[\[{(].*[\])}]\s*$")


LabelSets = list[dict[str, float]]


def label_evidence(
    columns: Mapping[str, NDArray[Any]],
    labels: Sequence[str],
    *,
    sep: str | None = None,
    form: Form | None = None,
    empty: Literal["drop", "all"] = "drop",
    known: Sequence[str] = (),
) -> Evidence:
    """Read the label columns of a table that is in memory.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of numbers, or of objects that are text or None.
    labels : sequence of str
        One column of sets of labels; or several of marks (0 and 1, yes and no), of the
        labels that raters gave, or of weights.
    sep : str, default=None
        Separator of labels; ``|``, ``;`` and ``,`` are recognized. With ``"none"`` each
        cell is one label.
    form : {"raters", "weights", "marks"}, default=None
        Form of several columns. By default it is inferred from the cells, with an error
        if two forms are likely.
    empty : {"drop", "all"}, default="drop"
        Whether rows without labels are left out, or every label is possible for them.
    known : sequence of str, default=()
        Labels of a model that the rows are new to. The cells may then hold fewer than
        two labels.

    Returns
    -------
    evidence : Evidence
        Labels for `fit`. ``rows`` holds the rows with labels, and ``read_as`` describes
        how the columns were read.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.io import label_evidence
    >>> table = {"kind": np.array(["cat|dog", "dog", None], dtype=object)}
    >>> label_evidence(table, ["kind"]).counts()
    {'cat': 1, 'dog': 2}
    """
    chosen = list(labels)
    cells = {name: label_cells(columns[name]) for name in chosen}
    if len(chosen) > 1 or is_marked(chosen[0]) or form is not None:
        evidence, form = read_forms(cells, form, empty=empty, sep=sep)
    else:
        column = cells[chosen[0]]
        _refuse_measured(column, chosen[0])
        sets = parse_sets(column, sep, f"column {chosen[0]!r}")
        names = sort_names(list({*all_names(sets), *known}))
        _check_two(names, chosen)
        _warn_of_tags(chosen[0], column.values, sets)
        matrix = label_matrix(column, sets, names)
        evidence = from_weights(matrix, classes=names, empty=empty)
    classes = [str(c) for c in evidence.classes.tolist()]
    if not known:
        _check_two(classes, chosen)
    warn_alike_labels(classes)
    evidence.read_as = in_words(evidence, form, len(chosen))
    return evidence


def _check_two(names: list[str], chosen: list[str]) -> None:
    if len(names) < 2:
        shown = f"only one label, {names[0]!r}," if names else "no label at all"
        raise DataFormatError(
            f"there is {shown} in {', '.join(map(repr, chosen))}",
            advice="At least two labels are needed to learn from.",
        )


def _warn_of_tags(name: str, texts: list[str], sets: LabelSets) -> None:
    """Warn if the column name or empty lists suggest tags instead of candidates.

    A row without any true label has tags, not candidates.
    """
    called = _TAGS.search(name) is not None
    if any(len(labels) > 1 for labels in sets) and (called or "[]" in texts):
        warn_caller(
            f"Column {name!r} was read as sets with one true label each. If several "
            f"labels may be true, pass {argument('task', 'tags')}."
        )


def _refuse_measured(column: Cells, name: str) -> None:
    """Raise if a column holds measurements instead of labels."""
    if len(column.values) <= _MOST_FRACTIONS:
        return
    values = numbers_of(column.values)
    if np.isfinite(values).all() and (values != np.round(values)).any():
        raise DataFormatError(
            f"column {name!r} holds {len(values)} different numbers with fractions, "
            "which are not labels",
            advice="Name another column, or turn the numbers into classes.",
        )


def label_cells(values: NDArray[Any]) -> Cells:
    """Return the cells of a label column as text.

    A label has one text in every format: 1.0 is 1 where all are whole, flags are
    ``false`` and ``true``, and dates have a time only where one is not midnight.
    """
    kind = values.dtype.kind
    if kind == "b":
        return Cells(values.astype(np.int64), ["false", "true"])
    if kind == "M":
        days = values.astype("datetime64[D]")
        whole = bool((np.isnat(values) | (days == values)).all())
        values = (days if whole else values.astype("datetime64[s]")).astype(object)
    missing = np.asarray([v is None or v != v for v in values], dtype=bool)
    if kind in "MO":
        return _spelled(_coded([str(v) for v in values[~missing]], missing))
    return _coded(as_whole(values[~missing]).tolist(), missing)


def spell_labels(texts: Sequence[str | None]) -> list[str | None]:
    """Return labels spelled as label columns are read; None if missing.

    Parameters
    ----------
    texts : sequence of str or None
        Labels to compare with a label column, such as true labels.

    Returns
    -------
    labels : list of str or None
        One for each.

    Examples
    --------
    >>> from partlearn.io import spell_labels
    >>> spell_labels(["1.0", "2.0", "NA"])
    ['1', '2', None]
    """
    missing = np.array([is_missing_text(text) for text in texts], dtype=bool)
    kept = [str(text).strip() for text, m in zip(texts, missing, strict=True) if not m]
    column = _spelled(_coded(kept, missing))
    return np.array([*column.values, None], dtype=object)[column.codes].tolist()


def _spelled(column: Cells) -> Cells:
    if not column.values:
        return column
    words = [value.strip() for value in column.values]
    if all(word.lower() in ("true", "false", "") for word in words):
        return _renamed(column, [word.lower() for word in words])
    filled = [word for word in words if not is_missing_text(word)]
    if any(map(_WHOLE_FLOAT.fullmatch, filled)) and all(
        map(_WHOLE_NUMBER.fullmatch, filled)
    ):
        return _renamed(column, [_WHOLE_END.sub("", word) for word in words])
    return column


def _renamed(column: Cells, words: list[str]) -> Cells:
    place = {word: code for code, word in enumerate(dict.fromkeys(words))}
    new = np.array([*(place[word] for word in words), -1])
    return Cells(new[column.codes], list(place))


def _coded(kept: list[Any], missing: Mask) -> Cells:
    # Not np.unique: an array of text takes for every cell what the longest one needs.
    distinct = sorted(set(kept))
    place = {value: code for code, value in enumerate(distinct)}
    codes = np.full(len(missing), -1, dtype=np.int64)
    codes[~missing] = [place[value] for value in kept]
    return Cells(codes, [str(value) for value in distinct])


# One column of sets ---------------------------------------------------------------


def looks_like_sets(column: Cells) -> bool:
    """Whether some value looks like a set of several labels."""
    return any(_SEVERAL.search(value) for value in column.values)


def parse_sets(
    column: Cells, sep: str | None, where: str, *, split: bool = True
) -> LabelSets:
    """Return the labels of each distinct value, with their weights.

    Without `split`, text is never split.
    """
    sep = {"\\n": "\n", "\\t": "\t"}.get(sep or "", sep)
    never = not split or sep == "none"
    with located(where):
        return parse_label_cells(
            column.values,
            sep=None if never else (sep or "auto"),
            rows=column.first_rows,
        )


def label_matrix(
    column: Cells,
    sets: LabelSets,
    names: list[str],
    budget: Budget | None = None,
    dtype: Any = np.float64,
) -> NDArray[Any]:
    """Return the label matrix of a column; each distinct set is coded once."""
    budget = budget or Budget(Limits(), 0)
    q, size = len(names), np.dtype(dtype).itemsize
    budget.matrix(len(column.codes), q, size, "the label matrix")
    budget.matrix(len(sets) + 1, q, size, "the table of distinct sets of labels")
    place = {name: j for j, name in enumerate(names)}
    distinct = np.zeros((len(sets) + 1, q), dtype=dtype)  # the last row: no value
    for i, labels in enumerate(sets):
        distinct[i, [place[name] for name in labels]] = list(labels.values())
    return distinct[column.codes]


def all_names(*parts: LabelSets) -> list[str]:
    """Return all labels that occur, sorted."""
    return sort_names(list({name for sets in parts for row in sets for name in row}))


# Several columns ------------------------------------------------------------------


def read_forms(
    columns: dict[str, Cells],
    form: Form | None,
    empty: Literal["drop", "all"],
    sep: str | None = None,
) -> tuple[Evidence, Form]:
    """Read several label columns; return the labels and the form of the columns."""
    cells = {name: present_cells(column) for name, column in columns.items()}
    marked = any(map(is_marked, columns))
    with located(f"columns {', '.join(map(repr, list(columns)[:3]))}"):
        form = form or ("marks" if marked else find_form(cells))
        if form == "raters":
            return _rater_labels(cells, sep, empty), form
        names = list(map(unmarked, columns))
        table: NDArray[Any] = (
            marks(cells) if form == "marks" else np.nan_to_num(numbers(cells))
        )
        return from_weights(table, classes=names, empty=empty), form


def _rater_labels(
    cells: dict[str, Cells], sep: str | None, empty: Literal["drop", "all"]
) -> Evidence:
    """Return votes, or shares of raters per label if raters list several labels."""
    sets = {n: parse_sets(c, sep, f"column {n!r}") for n, c in cells.items()}
    parsed = [labels for rater in sets.values() for labels in rater]
    if all(len(labels) == 1 for labels in parsed):
        texts = {}
        for name, column in cells.items():
            single = [next(iter(labels)) for labels in sets[name]]
            texts[name] = np.array([*single, None], dtype=object)[column.codes]
        return from_annotators(texts, empty=empty)
    if any(weight != 1 for labels in parsed for weight in labels.values()):
        raise DataFormatError(
            "raters give labels with weights",
            advice="Write one label, or several without weights, into a cell.",
        )
    names = all_names(*sets.values())
    listed = sum_labels([(cells[name], sets[name]) for name in cells], names)
    seen = sum((column.codes[:, None] >= 0).astype(int) for column in cells.values())
    return from_weights(listed / np.maximum(seen, 1), classes=names, empty=empty)


def sum_labels(raters: list[tuple[Cells, LabelSets]], names: list[str]) -> Array:
    """Count the raters who listed each label of each row."""
    listed = np.zeros((len(raters[0][0].codes), len(names)))
    for column, sets in raters:
        listed += label_matrix(column, sets, names)
    return listed


def present_cells(column: Cells) -> Cells:
    """Return cells with words for missing values (``NA``, ``?``) removed."""
    missing = [is_missing_text(value) for value in column.values]
    warn_missing_labels(v for v, m in zip(column.values, missing, strict=True) if m)
    kept = [value for value, m in zip(column.values, missing, strict=True) if not m]
    place = np.cumsum(~np.array([*missing, False])) - 1
    place[np.flatnonzero([*missing, True])] = -1
    return Cells(place[column.codes], kept)


def with_truth(
    columns: Mapping[str, NDArray[Any]], truth: str | None = None
) -> dict[str, NDArray[Any]]:
    """Join columns of marks for true labels into one column of labels.

    Parameters
    ----------
    columns : mapping of str to ndarray
        All columns of a table.
    truth : str, default=None
        Names of columns of marks, separated by commas; by default ``truth:cat``,
        ``truth:dog`` and so on.

    Returns
    -------
    columns : dict of str to ndarray
        With one column instead of the marks, called `truth` or ``truth``.
    """
    name, marked = "truth", [n for n in columns if n.startswith(TRUTH_MARK)]
    if truth is not None and len(names_of(truth, columns)) > 1:
        name, marked = truth, names_of(truth, columns)
    if not marked or name in columns or not set(marked) <= set(columns):
        return dict(columns)
    labels = list(map(unmarked, marked))
    rows = marks({n: present_cells(label_cells(columns[n])) for n in marked})
    lists = [[labels[j] for j in np.flatnonzero(row)] for row in rows]
    several = bool((rows.sum(axis=1) > 1).any())
    texts = [json.dumps(own) if several else next(iter(own), None) for own in lists]
    others = {n: column for n, column in columns.items() if n not in marked}
    return {**others, name: np.array(texts, dtype=object)}


def silent_rows(columns: Mapping[str, Cells], form: Form) -> Mask:
    """Return a mask of the rows without any label."""
    cells = {name: present_cells(column) for name, column in columns.items()}
    if form == "raters":
        said: Mask = np.stack([codes >= 0 for codes, _ in cells.values()], axis=1)
    else:
        said = marks(cells) if form == "marks" else numbers(cells) > 0
    return np.asarray(~said.any(axis=1), dtype=bool)


def is_marked(name: str) -> bool:
    return name.startswith((CANDIDATE_MARK, TRUTH_MARK))


def unmarked(name: str) -> str:
    """Return the class of a column such as ``candidate:cat``."""
    return name.partition(":")[2] if is_marked(name) else name
