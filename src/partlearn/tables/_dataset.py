"""Read any source as one data set: rows, labels, true labels and names."""

# SPDX-License-Identifier: BSD-3-Clause

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from partlearn._arguments import argument
from partlearn.candidates import Evidence, Tags, bag_runs
from partlearn.io import (
    AmbiguousDataError,
    Budget,
    Columns,
    DataFormatError,
    LabelColumns,
    ReadOptions,
    bag_columns,
    bunch_of,
    check_names,
    columns_of,
    find_truth,
    format_of,
    is_table,
    load_columns,
    located,
    open_tables,
    read,
    read_noted,
    tag_columns,
    take_rows,
    with_truth,
)
from partlearn.tables._column_kinds import as_names
from partlearn.tables._deciding import warn_of_columns
from partlearn.tables._encoder import TableEncoder
from partlearn.tables._labels import (
    label_columns,
    named_columns,
    read_labels,
    true_labels,
)
from partlearn.tables._tags import refuse_several, tags_of

_TASKS = ("single", "tags", "pll", "pml", "multiclass", "multilabel")


class TableFiles(Mapping[str, NDArray[Any]]):
    """Columns of several Parquet files, each read when it is first used."""

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        self.rows = open_tables(paths)
        self._read = cache(lambda name: load_columns(paths, [name])[name])

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in list(self):
            raise KeyError(name)
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows.names or ())

    def __len__(self) -> int:
        return len(self.rows.names or ())


@dataclass
class Dataset:
    """Table or matrix with labels.

    Labels are read and rows are encoded when they are first used.

    Attributes
    ----------
    X : mapping of str to ndarray, or matrix
        Columns of a table, or a matrix.
    labels : object
        Labels as the caller gave them: names of columns, votes, a boolean matrix, or
        None.
    given_truth : str, ndarray or None
        Named column of true labels; for a matrix, codes of the labels.
    ignored : list of str
        Columns to leave out.
    roles : dict
        Arguments of :class:`TableEncoder`.
    sep : str or None
        Separator of labels.
    task : {"single", "tags"}
        Whether one label of a row is true, or any number of them.
    bags : object
        Bags of the rows, as functions of the library take them.
    bunch : Bunch or None
        What :func:`partlearn.io.read` returned, if it is a matrix.
    path : Path or None
        The file.
    table : dict of str to ndarray
        Columns of a table as they were read.
    note : dict
        Note that :func:`partlearn.io.write` stored in a table.
    given : dict
        Arguments of :func:`partlearn.io.read` as the caller gave them.
    """

    X: Any
    labels: Any = None
    given_truth: Any = None
    ignored: list[str] = field(default_factory=list)
    roles: dict[str, Any] = field(default_factory=dict)
    sep: str | None = None
    task: Literal["single", "tags"] = "single"
    bags: Any = None
    bunch: Bunch | None = None
    path: Path | None = None
    table: Columns = field(default_factory=dict)
    note: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows, with and without labels."""
        if self.bunch is not None:
            return int(self.X.shape[0])
        if isinstance(self.X, TableFiles):
            return len(self.X.rows)
        return len(next(iter(self.X.values())))

    @cached_property
    def y(self) -> Any:
        """Labels, in a form that functions of the library take."""
        if self.bunch is not None:
            return _matrix_labels(self.bunch, self.path)
        if isinstance(self.labels, LabelColumns):
            check_names(self.labels.names, self.X, self.labels.form or "labels")
            return self.labels
        if self.labels is None and self.task == "tags" and "tags" in self.X:
            return LabelColumns(["tags"])
        if self.labels is None or isinstance(self.labels, str):
            return LabelColumns(label_columns(self.labels, self.X))
        names = named_columns(self.X, self.labels)
        return self.labels if names is None else LabelColumns(names)

    @cached_property
    def evidence(self) -> Any:
        """Evidence or Tags of the labeled rows."""
        if self.bunch is not None:
            return self.y
        reading = tags_of if self.task == "tags" else read_labels
        return reading(self.X, self.y, self.sep)[0]

    @property
    def label_names(self) -> list[str]:
        """Columns of the labels."""
        return self.y.names if isinstance(self.y, LabelColumns) else []

    @property
    def truth_column(self) -> Any:
        """Column of true labels, named or found, or None; for a matrix, the codes."""
        if self.bunch is not None:
            return self.given_truth
        return next(iter(self._truth_names), None)

    @cached_property
    def _truth_names(self) -> list[str]:
        if self.given_truth is not None:
            return [self.given_truth]
        taken = {name for names in self.roles.values() for name in as_names(names)}
        named = {*self.ignored, *_names_in(self.labels), *taken, str(self.bags)}
        free = [name for name in self.X if name not in named]

        def classes() -> list[str]:
            try:
                return list(map(str, self.evidence.classes.tolist()))
            except ValueError:  # which whoever needs the labels is told
                return []

        return find_truth(free, self.X.__getitem__, classes)

    @property
    def hidden(self) -> list[str]:
        """Columns besides the labels that are not features."""
        beside = [*self._truth_names, *bag_columns(self.X)]
        return list(dict.fromkeys([*self.ignored, *beside]))

    def new_encoder(self) -> TableEncoder | None:
        """Return an unfitted encoder of the table, or None for a matrix."""
        if self.bunch is not None:
            return None
        return TableEncoder(**self.roles, ignore=self.hidden)

    @cached_property
    def _encoded(self) -> tuple[Any, TableEncoder | None]:
        encoder = self.new_encoder()
        if encoder is None:
            return self.X, None
        encoder.set_params(ignore=[*self.hidden, *self.label_names])
        table = take_rows(self.X, self.evidence.rows)
        rows = encoder.fit_transform(dict(table))
        warn_of_columns(table, encoder.kinds_, self.evidence.candidates)
        return rows, encoder

    @property
    def rows(self) -> Any:
        """Features of the labeled rows, (n_samples, n_features)."""
        return self._encoded[0]

    @property
    def encoder(self) -> Any:
        """Fitted encoder of a table; None for a matrix."""
        return self._encoded[1]

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        if self.bunch is not None:
            return feature_names(self.bunch)
        return list(self.encoder.get_feature_names_out().tolist())

    @property
    def ids(self) -> NDArray[Any]:
        """Names of the labeled rows: the column `id`, or row numbers."""
        if ids := as_names(self.roles.get("id")):
            return np.asarray(self.X[ids[0]][self.evidence.rows])
        return np.asarray(self.evidence.rows)

    @property
    def truth(self) -> NDArray[Any] | None:
        """True labels of the labeled rows; None if missing."""
        return self.true_labels(self.evidence.rows)

    def true_labels(self, rows: Any = slice(None)) -> NDArray[Any] | None:
        """Return true labels of some rows as text, or None if none is known."""
        if self.bunch is not None:
            truth = self.bunch.truth
            if truth is None or truth.ndim != 1:
                return None
            return np.asarray(self.bunch.target_names)[truth][rows]
        if self.truth_column is None:
            return None
        refuse_several(self.X[self.truth_column], f"column {self.truth_column!r}")
        values = true_labels(self.X[self.truth_column][rows])
        return values if any(value is not None for value in values) else None

    def true_tags(self) -> Tags | None:
        """Return true tags of the rows that have any."""
        if self.truth_column is None:
            return None
        return tag_columns(self.X, [self.truth_column], sep=self.sep)[0]

    def to_bunch(self) -> Bunch:
        """Return all rows as arrays, as :func:`partlearn.io.read` does.

        Returns
        -------
        bunch : Bunch
            Columns that are not numbers are encoded; ``columns`` is then the table.
        """
        bunch = self.bunch
        if bunch is None:
            kind = "data frame" if self.path is None else format_of(self.path, None)
            size = 0 if self.path is None else self.path.stat().st_size
            with located(path=self.path):
                bunch = bunch_of(
                    self.table,
                    ReadOptions.of(**self.given),
                    Budget.of_table(size),
                    note=self.note,
                    format=kind,
                    encode=self._encode,
                )
        runs = isinstance(self.bags, str) and self.bags == "runs"
        if runs and bunch.candidates is not None:
            bunch.bags = bag_runs(bunch.candidates)
        return bunch

    def _encode(self, columns: Columns) -> tuple[Any, list[str]]:
        """Return the matrix and the names of the features."""
        roles: dict[str, Any] = {
            role: [name for name in as_names(names) if name in columns]
            for role, names in self.roles.items()
        }
        encoder = TableEncoder(**roles)
        X = encoder.fit_transform(columns)
        return X, list(encoder.get_feature_names_out().tolist())

    def contents(self, rows: Any = slice(None)) -> Columns | None:
        """Return columns of some rows to show beside labels; None for sparse data."""
        if self.bunch is None:
            named = {*self.label_names, *as_names(self.roles.get("id"))}
            return take_rows({n: c for n, c in self.X.items() if n not in named}, rows)
        if sparse.issparse(self.X):
            return None
        return dict(zip(feature_names(self.bunch), self.X[rows].T, strict=True))


def dataset_of(
    source: Any,
    labels: Any = None,
    truth: str | None = None,
    *,
    roles: Mapping[str, Any] | None = None,
    sep: str | None = None,
    encoding: str | None = None,
    task: str | None = None,
    bags: Any = None,
) -> Dataset:
    r"""Make a data set of a file, a data frame or columns.

    Parameters
    ----------
    source : path-like, list of path-like, data frame, Arrow table or mapping of columns
        A table, or a file with a matrix: MATLAB, npz, ARFF or LIBSVM. Several Parquet
        files are a table whose columns are read when they are first used, and whose
        rows come in blocks.
    labels : str, list of str, LabelColumns or labels, default=None
        As for :func:`partlearn.disambiguate`; by default a column with a name such as
        ``candidates``.
    truth : str, default=None
        Column of true labels; by default the only one with a name such as ``truth``.
    roles : mapping of str to names of columns, default=None
        Arguments of :class:`TableEncoder`: number, category, date, text, id, ignore.
    sep : str, default=None
        Separator of labels.
    encoding : str, default=None
        Encoding of a file of text.
    task : {"single", "tags", "pll", "pml", "multiclass", "multilabel"}, default=None
        Whether one label of a row is true or any number of them; the last four as for
        :func:`partlearn.io.read`.
    bags : object, default=None
        Bags of the rows, as for :func:`partlearn.disambiguate`; "bags" stands for the
        bags in a NumPy archive.

    Returns
    -------
    data : Dataset
        Rows that have labels. The encoding does not use labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from partlearn.tables import dataset_of
    >>> text = "size,coat,kind\n4,soft,cat|dog\n30,rough,dog\n5,soft,cat\n9,soft,\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pets.csv")
    ...     _ = path.write_text(text)
    ...     pets = dataset_of(path, "kind")
    >>> pets.rows.shape, pets.evidence.counts(), pets.ids.tolist()
    ((3, 3), {'cat': 2, 'dog': 2}, [0, 1, 2])
    """
    if task is not None and task not in _TASKS:
        words = ", ".join(_TASKS)
        raise ValueError(f"{argument('task')} must be one of {words}; got {task!r}.")
    chosen = dict(roles or {})
    hidden = as_names(chosen.pop("ignore", ()))
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    given: dict[str, Any] = {
        "labels": labels,
        "truth": truth,
        "sep": sep,
        "task": None if task == "single" else task,
        "ignore": hidden,
    }
    if path is not None and not is_table(path):
        _refuse_for_matrix(path, chosen, bags)
        if task == "tags":
            raise ValueError(
                f"{argument('task', 'tags')} is for tables; {path.name} is a matrix of "
                "numbers."
            )
        bunch = read(path, **given)
        if bags == "bags":
            if bunch.get("bags") is None:
                raise ValueError(
                    f"the file holds no bags; use {argument('bags')} with runs."
                )
            bags = bunch.bags
        return Dataset(
            bunch.data,
            bunch.candidates,
            bunch.truth,
            hidden,
            sep=sep,
            bags=bags,
            bunch=bunch,
            path=path,
        )
    table: Any
    note: dict[str, Any] = {}
    if isinstance(source, list) and isinstance((source or [0])[0], (str, os.PathLike)):
        table = TableFiles(source)
    elif path is not None:
        table, note = read_noted(path, encoding)
    else:
        table = columns_of(source)
    columns = table if isinstance(table, TableFiles) else with_truth(table, truth)
    check_names(hidden, columns, "ignore")
    free_bags = [name for name in bag_columns(columns) if name not in hidden]
    tags = task in ("tags", "pml", "multilabel")
    given["bags"] = bags if isinstance(bags, str) and bags != "runs" else None
    if bags is None and len(free_bags) == 1 and not tags:
        bags = free_bags[0]
    return Dataset(
        columns,
        labels,
        check_truth(columns, _names_in(labels), truth),
        hidden,
        chosen,
        sep,
        "tags" if tags else "single",
        bags,
        path=path,
        table=table,
        note=note,
        given=given,
    )


def _names_in(labels: Any) -> list[str]:
    """Return the columns that `labels` names; none if it holds the labels."""
    if isinstance(labels, str):
        return [labels, *map(str.strip, labels.split(","))]
    named = labels.names if isinstance(labels, LabelColumns) else labels
    return named if isinstance(named, list) else []


def check_truth(
    columns: Iterable[str], labels: list[str], truth: str | None
) -> str | None:
    """Check the name of a column of true labels."""
    if truth is not None:
        check_names([truth], columns, "truth")
    if truth in labels:
        raise ValueError(
            f"{argument('truth')}: column {truth!r} holds the labels to learn from; "
            "name another "
            f"one, or leave out {argument('truth')}."
        )
    return truth


def _refuse_for_matrix(path: Path, roles: Mapping[str, Any], bags: Any) -> None:
    """Raise if an argument does not apply to a matrix."""
    if said := next((name for name, value in roles.items() if value), None):
        raise ValueError(
            f"{argument(said)} is for tables; {path.name} is a matrix of numbers. "
            "Leave it out."
        )
    if bags not in (None, "runs", "bags"):
        raise ValueError(
            f"{argument('bags')}: {path.name} is a matrix of numbers without a column "
            f"{bags!r}; use runs, bags for the bags of a NumPy archive, or leave it "
            "out."
        )


def feature_names(bunch: Bunch) -> list[str]:
    """Return the names of the features of a matrix, or their numbers."""
    if bunch.feature_names is not None:
        return list(bunch.feature_names)
    return [f"x{j}" for j in range(bunch.data.shape[1])]


def _matrix_labels(bunch: Bunch, path: Path | None) -> Evidence:
    """Return labels by name for `fit`: sets, or the weights or votes of the file.

    Unusable sets raise here, since estimators cannot name rows and labels of the file.
    """
    S, names = bunch.candidates, bunch.target_names
    if S is None:
        # One label per row is a set of one.
        if bunch.truth is None or bunch.truth.ndim != 1:
            advice = f"Name their column with {argument('labels')}."
            if path is not None and format_of(path, None) in ("arff", "libsvm"):
                advice = (
                    "If its labels are candidates, use what `partlearn data convert "
                    f"{path.name} {path.stem}.npz --task pll` writes."
                )
            raise AmbiguousDataError(
                "the file has no candidate sets", path=path, advice=advice
            )
        S = bunch.truth[:, None] == np.arange(len(names))
    empty = np.flatnonzero(~S.any(axis=1))
    if empty.size:
        raise DataFormatError(
            f"{empty.size} of {len(S)} rows have no candidate label, the first is row "
            f"{empty[0]}",
            path=path,
            advice="Leave them out, or give them every label that is possible.",
        )
    if len(names) == 1:
        raise DataFormatError(
            f"there is only one label, {names[0]!r}",
            path=path,
            advice="Add rows of another label.",
        )
    evidence = bunch.get("evidence")
    return Evidence(S, names) if evidence is None else evidence
