"""Find label columns in a table and turn the table into matrices."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, gen_batches

from partlearn._arguments import argument
from partlearn.candidates import Evidence, from_weights, is_missing_text
from partlearn.io._bunch import (
    as_dtype,
    make_bunch,
    named_bags,
    read_matrix,
    sort_names,
)
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._frame import Columns, as_text, exact_numbers, row_count
from partlearn.io._label_columns import (
    BAG_MARK,
    CANDIDATE_MARK,
    TRUTH_MARK,
    LabelSets,
    all_names,
    is_marked,
    label_cells,
    label_matrix,
    looks_like_sets,
    parse_sets,
    read_forms,
    silent_rows,
)
from partlearn.io._label_forms import Cells, numbers_of
from partlearn.io._options import Budget, Form, ReadOptions, check_names, names_of
from partlearn.io._table import arrow_errors

# Names without case, spaces and dashes.
_CANDIDATES = r"candidate(label|set)?s?|partiallabels?|partialtarget"
_TRUTH = r"truth|truelabel|groundtruth"
_UNCLEAR = r"labels?|target|class|y"  # true labels in some files, features in others
_WIDE = 100
_BLOCK_ROWS = 8192
# A matrix and the names of its columns, of columns of any kind.
Encode = Callable[[Columns], tuple[Any, list[str]]]


def _is_called(name: str, names: str) -> bool:
    return re.fullmatch(names, re.sub("[-_ ]", "", name), re.IGNORECASE) is not None


def is_label_name(name: str) -> bool:
    """Whether a column of this name may be taken for labels."""
    return _is_called(name, f"{_CANDIDATES}|{_TRUTH}|{_UNCLEAR}")


def candidate_columns(names: Iterable[str]) -> list[str]:
    """Return the columns that are named like candidate sets.

    Parameters
    ----------
    names : iterable of str
        Names of all columns.

    Returns
    -------
    columns : list of str
        Names such as ``candidates`` or ``Partial Label``; or one column per label, such
        as ``candidate:cat``, as :func:`write` names them.

    Examples
    --------
    >>> from partlearn.io import candidate_columns
    >>> candidate_columns(["weight", "Candidate_Labels"])
    ['Candidate_Labels']
    """
    names = list(names)
    marked = [name for name in names if name.startswith(CANDIDATE_MARK)]
    return marked or [name for name in names if _is_called(name, _CANDIDATES)]


def bag_columns(names: Iterable[str]) -> list[str]:
    """Return the columns that are named like bags, such as ``bag:id``."""
    return [name for name in names if name.startswith(BAG_MARK)]


def find_truth(
    free: Iterable[str],
    cells: Callable[[str], NDArray[Any]],
    classes: Callable[[], Collection[str]],
) -> list[str]:
    """Return the columns of true labels, found by name and by their cells.

    Parameters
    ----------
    free : iterable of str
        Names of columns.
    cells : callable
        Returns the cells of a column.
    classes : callable
        Returns the labels of the candidate sets.

    Returns
    -------
    columns : list of str
        None, one, or one per label, such as ``truth:cat``. A column called ``truth`` or
        alike always counts. A column such as ``label`` or ``y`` counts if all of its
        cells are labels, and is a feature if none is.

    Raises
    ------
    AmbiguousDataError
        If there are several such columns, or one holds labels and other values.
    """
    free = list(free)
    if marked := [name for name in free if name.startswith(TRUTH_MARK)]:
        return marked
    found = [name for name in free if _is_called(name, _TRUTH)]
    for name in free:
        if not _is_called(name, _UNCLEAR):
            continue
        known = set(classes())
        values = label_cells(cells(name)).values
        held = {value.strip() for value in values if not is_missing_text(value)}
        if odd := sorted(held - known):
            if held & known:
                raise AmbiguousDataError(
                    f"column {name!r} may hold true labels or a feature; {odd[0]!r} in "
                    "it is never a candidate",
                    advice=f"Name it with {argument('truth')}, leave it out with "
                    f"{argument('ignore')}, or rename it if it is a feature.",
                )
        elif held:
            found.append(name)
    return _one_of(found, "truth")


def bunch_of(
    table: Columns,
    options: ReadOptions,
    budget: Budget,
    *,
    note: dict[str, Any] | None = None,
    format: str = "data frame",
    encode: Encode | None = None,
) -> Bunch:
    """Turn a table into a data matrix and label matrices.

    Parameters
    ----------
    table : dict of str to ndarray
        All columns.
    options : ReadOptions
        Names and form of the label columns.
    budget : Budget
        Limits on the matrices.
    note : dict, default=None
        Note that :func:`write` stored in the file: ``task``, ``target_names``,
        ``dtype`` and ``sparse``.
    format : str, default="data frame"
        Name of the source, for errors and the description.
    encode : callable, default=None
        As for :func:`read`.

    Returns
    -------
    bunch : Bunch
        As from :func:`read`.
    """
    meta = note or {}
    if len(table) == 1 and format == "csv":
        raise DataFormatError(
            f"there is one column only, {next(iter(table))[:40]!r}",
            advice="Columns are separated by commas, tabs or semicolons.",
        )
    _given(table, options.ignore, "ignore")
    bags = _given(table, options.bags, "bags")
    bags = bags or _one_of(bag_columns(table), "bags", "the bags")
    hidden = {*options.ignore, *bags}
    cells = _Table({k: v for k, v in table.items() if k not in hidden})
    with arrow_errors("the table") if meta else nullcontext():  # which may be damaged
        bunch = _assemble(cells, options.completed(meta), budget, format, meta, encode)
    if encode is not None and any(cells.numbers(n) is None for n in cells.features):
        bunch.columns = {k: v for k, v in table.items() if k not in options.ignore}
    if bags:
        bunch.bags = named_bags([as_text(name) for name in table[bags[0]].tolist()])
        bunch.variables["bags"] = bags[0]
    return bunch


class _Table:
    """Columns of a table, with numeric columns parsed once."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.features: list[str] = []
        self._numbers: dict[str, NDArray[Any] | None] = {}

    def __len__(self) -> int:
        return row_count(self.columns)

    def numbers(self, name: str) -> NDArray[Any] | None:
        """Return the numbers of a column, or None if a cell is something else."""
        if name not in self._numbers:
            self._numbers[name] = exact_numbers(self.columns[name])
        return self._numbers[name]

    def text(self, name: str) -> Cells:
        """Return the cells of a column as label text."""
        return label_cells(self.columns[name])

    def is_measured(self, name: str) -> bool:
        """Whether a column holds fractions, so that it cannot hold class numbers."""
        numbers = self.numbers(name)
        if numbers is None or numbers.dtype.kind != "f":
            return False
        return bool((np.isfinite(numbers) & (numbers != np.round(numbers))).any())


def _assemble(
    table: _Table,
    options: ReadOptions,
    budget: Budget,
    format: str,
    meta: dict[str, Any],
    encode: Encode | None,
) -> Bunch:
    columns = table.columns
    own = "target_names" in meta

    @cache
    def read_role(role: str, *chosen: str) -> _Labels:
        form = options.form if role == "labels" and not own else "marks"
        return _read_labels(table, chosen, role, options, budget, form)

    candidates = [c for c in columns if c.startswith(CANDIDATE_MARK)]
    truth = [c for c in columns if c.startswith(TRUTH_MARK)]
    if not own:
        candidates, truth = _label_columns(table, options, read_role)
    parts = {
        "candidates": read_role("labels", *candidates) if candidates else None,
        "truth": read_role("truth", *truth) if truth else None,
    }
    known = [part for part in parts.values() if part is not None]
    fixed = [part.names for part in known if part.fixed]
    if any(names != fixed[0] for names in fixed):
        raise DataFormatError(
            "the candidate and the truth columns name different classes"
        )
    occurring = [name for part in known if not part.fixed for name in part.names]
    names = meta.get("target_names") or (fixed or [sort_names([*set(occurring)])])[0]
    odd = sorted({name for part in known for name in part.names} - set(names))
    if odd:
        raise DataFormatError(f"the classes of this table do not include {odd[0]!r}")
    budget.matrix(len(table), len(names), 8, "the label matrix")
    matrices = {
        role: None if part is None else part.aligned(names) > 0
        for role, part in parts.items()
    }
    evidence = parts["candidates"] and parts["candidates"].evidence_of(names)
    features = [name for name in columns if name not in {*candidates, *truth}]
    dropped = next((c for c in features if c in ("", "__index_level_0__")), None)
    features = [name for name in features if name != dropped]
    table.features = features
    X, titles = _features(table, features, budget, options.sparse is True, encode)
    sources = {"candidates": ", ".join(candidates[:3]), "truth": ", ".join(truth[:3])}
    used = {role: shown for role, shown in sources.items() if shown}
    roles = ", ".join(f"{role} from {shown!r}" for role, shown in used.items())
    note = "" if dropped is None else f" Column {dropped!r} was taken as row numbers."
    return make_bunch(
        as_dtype(X, meta.get("dtype")),
        matrices["candidates"],
        matrices["truth"],
        options,
        budget,
        target_names=list(names),
        feature_names=titles if meta.get("feature_names", True) else None,
        descr=f"Read from a {format} table: {roles}.{note}",
        key_argument=f"{argument('labels')} (candidate sets) or {argument('truth')}",
        variables=used,
        **({} if evidence is None else {"evidence": evidence}),
    )


class _Labels(NamedTuple):
    """Candidates or truth of a table."""

    names: list[str]
    matrix: NDArray[Any]  # weights, or boolean
    fixed: bool  # whether columns name the classes, also those that never occur
    evidence: Evidence | None = None

    def aligned(self, names: list[str]) -> NDArray[Any]:
        """Return the matrix with one column per class in `names`."""
        matrix = np.zeros((len(self.matrix), len(names)), dtype=self.matrix.dtype)
        place = {name: j for j, name in enumerate(names)}
        matrix[:, [place[name] for name in self.names]] = self.matrix
        return matrix

    def evidence_of(self, names: list[str]) -> Evidence | None:
        """Return weights or votes, or None for plain sets."""
        if self.matrix.dtype == bool:
            return self.evidence
        return from_weights(self.aligned(names), classes=names, empty="all")


def _read_labels(
    table: _Table,
    chosen: Sequence[str],
    role: str,
    options: ReadOptions,
    budget: Budget,
    form: Form | None,
) -> _Labels:
    """Read one column of sets, or several columns of labels."""
    if len(chosen) > 1 or is_marked(chosen[0]):
        cells = {name: table.text(name) for name in chosen}
        budget.matrix(len(table), len(chosen), 8, "the label matrix")
        read, form = read_forms(cells, form, empty="all", sep=options.sep)
        listed = read.candidates & ~silent_rows(cells, form)[:, None]
        names = [str(c) for c in read.classes.tolist()]
        return _Labels(names, listed, True, None if form == "marks" else read)
    column, where = table.text(chosen[0]), f"column {chosen[0]!r}"
    split = role == "labels" or _splits_truth(column, options)
    sets = parse_sets(column, options.sep, where, split=split)
    names = all_names(sets)
    _check_header(chosen[0], table.columns, names)
    if role == "truth":
        _check_truth(column, sets, options.task, where)
    weighted = any(weight != 1 for labels in sets for weight in labels.values())
    dtype = np.float64 if weighted else np.bool_
    return _Labels(names, label_matrix(column, sets, names, budget, dtype), False)


def _splits_truth(column: Cells, options: ReadOptions) -> bool:
    """Whether to split cells of true labels; a comma alone may belong to a label."""
    if options.sep is not None or options.task not in ("pll", "multiclass"):
        return True
    return any(mark in value for value in column.values for mark in "|;[")


def _check_header(name: str, columns: Columns, labels: list[str]) -> None:
    """Raise if the first line holds numbers and a label instead of column names."""
    own = {part.strip() for part in re.split(r"[|;,]", name)}
    others = numbers_of([column for column in columns if column != name])
    if own <= set(labels) and not np.isnan(others).any():
        raise DataFormatError(
            f"the first line holds numbers and the label {name!r} instead of names",
            advice="Add a line with the names of the columns.",
        )


def _check_truth(column: Cells, sets: LabelSets, task: str | None, where: str) -> None:
    """Raise if a row lacks its single true label."""
    sizes = np.asarray([*(len(s) for s in sets), 0])[column.codes]
    if task in ("pml", "multilabel") or sizes.max() > 1 or sizes.min() == 1:
        return
    rows = np.flatnonzero(sizes == 0)
    raise DataFormatError(
        f"{len(rows)} rows have no true label, the first is row {rows[0]}",
        where=where,
        advice=f"Leave out these rows, or the column with {argument('ignore')}. If "
        f"rows may have no label, pass {argument('task', 'multilabel')} or "
        f"{argument('task', 'pml')}.",
    )


def _given(
    columns: Columns, value: str | int | Sequence[str] | None, role: str
) -> list[str]:
    if value is None:
        return []
    if isinstance(value, int):
        raise AmbiguousDataError(
            "columns of a table are chosen by name", advice=f"Correct {argument(role)}."
        )
    return check_names(names_of(value, columns), columns, role)


def _label_columns(
    table: _Table,
    options: ReadOptions,
    read_role: Callable[..., _Labels],
) -> tuple[list[str], list[str]]:
    columns = table.columns
    candidates = _given(columns, options.labels, "labels")
    truth = _given(columns, options.truth, "truth")
    free = [c for c in columns if c not in {*candidates, *truth}]
    candidates = candidates or _one_of(candidate_columns(free), "labels")
    if candidates and not truth:
        free = [c for c in free if c not in candidates]
        classes = read_role("labels", *candidates).names
        truth = find_truth(free, columns.__getitem__, lambda: classes)
    elif not truth:
        named = [c for c in free if not table.is_measured(c) and is_label_name(c)]
        truth = [c for c in free if c.startswith(TRUTH_MARK)]
        truth = truth or _one_of(named, "truth")
    truth = [c for c in truth if c not in candidates]
    if options.task in ("multiclass", "multilabel") and not truth:
        candidates, truth = [], candidates
    if not candidates and not truth:
        text = [c for c in free if table.numbers(c) is None]
        if len(text) != 1:
            count = len(text) or "no"
            raise AmbiguousDataError(
                f"no label column was recognized: {count} columns hold text",
                advice=f"Name it with {argument('labels')} (candidate sets) or "
                f"{argument('truth')}.",
            )
        single = options.task in ("multiclass", "multilabel")
        several = looks_like_sets(table.text(text[0])) and not single
        return (text, []) if several else ([], text)
    unclear = not candidates and options.truth is None and options.task is None
    if unclear and looks_like_sets(table.text(truth[0])) and not is_marked(truth[0]):
        raise AmbiguousDataError(
            f"column {truth[0]!r} holds sets of labels, which may be candidates of one "
            "unknown label or several relevant labels",
            advice=f"Pass {argument('task')} (pll, pml or multilabel), or name a "
            "column of "
            f"candidates with {argument('labels')}.",
        )
    if not candidates and options.task in ("pll", "pml"):
        return truth, []
    return candidates, truth


def _one_of(found: list[str], role: str, what: str = "the labels") -> list[str]:
    """Return the columns found; raise if several could have the role."""
    if len(found) > 1 and not is_marked(found[0]):
        raise AmbiguousDataError(
            f"columns {', '.join(map(repr, found))} could all be {what}",
            advice=f"Choose with {argument(role)}.",
        )
    return found


def _features(
    table: _Table,
    names: list[str],
    budget: Budget,
    sparse: bool,
    encode: Encode | None,
) -> tuple[Any, list[str]]:
    """Return the data matrix and the names of its columns."""
    if not names:
        raise DataFormatError("the table has no feature columns")
    text = [name for name in names if table.numbers(name) is None]
    if text and encode is not None:
        return encode({name: table.columns[name] for name in names})
    if text:
        cell, row = _first_text(table.columns[text[0]])
        raise AmbiguousDataError(
            f"columns {', '.join(map(repr, text[:5]))} hold text or dates, not numbers "
            f"({cell!r} in row {row} of {text[0]!r})",
            advice=f"Leave them out with {argument('ignore')}, name the label columns "
            f"with {argument('labels')} "
            f"and {argument('truth')}, or encode the table with TableEncoder.",
        )
    numeric = [column for n in names if (column := table.numbers(n)) is not None]
    dtype = np.result_type(*{column.dtype for column in numeric})
    rows = len(numeric[0])
    budget.matrix(rows, len(numeric), dtype.itemsize, "the data matrix")
    if len(numeric) < _WIDE and not sparse:
        X = np.empty((rows, len(numeric)), dtype=dtype)
        for part in gen_batches(rows, _BLOCK_ROWS):  # so that lines stay in the cache
            for j, column in enumerate(numeric):
                X[part, j] = column[part]
        return X, names

    def load(part: slice) -> NDArray[Any]:
        return np.stack(numeric[part])

    return read_matrix(load, len(numeric), rows, dtype).T, names


def _first_text(column: NDArray[Any]) -> tuple[str, int]:
    """Return the first cell that is not a number, and its row."""
    for row, cell in enumerate(column.tolist()):
        missing = is_missing_text(cell if cell is None else str(cell))
        if not missing and exact_numbers(column[row : row + 1]) is None:
            return str(cell)[:40], row
    return str(column[0])[:40], 0
