"""Any table as one data set: encoded rows, labels, true labels and names."""

# SPDX-License-Identifier: BSD-3-Clause

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array
from partlearn.candidates import Evidence
from partlearn.io import (
    LabelColumns,
    columns_of,
    read_columns,
    take_rows,
    truth_columns,
)
from partlearn.tables._column_kinds import as_names, check_names
from partlearn.tables._deciding import warn_deciding
from partlearn.tables._encoder import TableEncoder
from partlearn.tables._labels import label_columns, read_labels, true_labels


@dataclass(frozen=True)
class Dataset:
    """A table that methods can be fitted on.

    Attributes
    ----------
    rows : ndarray of shape (n_samples, n_features)
        Encoded features of the rows that have labels.
    evidence : Evidence
        Their labels; ``evidence.rows`` are their places in the table.
    truth : ndarray of objects, shape (n_samples,), or None
        True labels as text, None where one is missing; None without such a column.
    names : list of str
        Names of the features.
    ids : ndarray of shape (n_samples,)
        Names of the rows: the column `id`, or row numbers.
    encoder : TableEncoder
        The fitted encoder.
    """

    rows: Array
    evidence: Evidence
    truth: NDArray[Any] | None
    names: list[str]
    ids: NDArray[Any]
    encoder: TableEncoder


def dataset_of(
    source: Any,
    labels: Any = None,
    truth: str | None = None,
    *,
    roles: Mapping[str, Any] | None = None,
    sep: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    r"""Make a data set of a table: a file, a data frame or columns.

    Parameters
    ----------
    source : path-like, data frame, Arrow table or mapping of columns
        The table.
    labels : str, list of str, LabelColumns or labels, default=None
        As for :func:`partlearn.disambiguate`; by default the column whose name says so.
    truth : str, default=None
        Column of true labels; by default the only one whose name says so.
    roles : mapping of str to names of columns, default=None
        Arguments of :class:`TableEncoder`: number, category, date, text, id, ignore.
    sep : str, default=None
        What separates labels.
    encoding : str, default=None
        Encoding of a file of text.

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
    if isinstance(source, (str, os.PathLike)):
        columns = read_columns(source, encoding=encoding)
    else:
        columns = columns_of(source)
    chosen = dict(roles or {})
    hidden = as_names(chosen.pop("ignore", ()))
    if labels is None or isinstance(labels, str):
        labels = LabelColumns(label_columns(labels, columns))
    evidence, names = read_labels(columns, labels, sep)
    if truth is None:
        free = [name for name in columns if name not in {*hidden, *names}]
        telling = truth_columns(free)
        truth = telling[0] if len(telling) == 1 else None
    else:
        check_names([truth], columns, "truth")
    table = take_rows(columns, evidence.rows)
    encoder = TableEncoder(**chosen, ignore=[*hidden, *names, *as_names(truth)])
    rows = encoder.fit_transform(dict(table))
    warn_deciding(table, encoder.kinds_, evidence.candidates)
    ids = as_names(chosen.get("id"))
    return Dataset(
        rows=rows,
        evidence=evidence,
        truth=None if truth is None else true_labels(table[truth]),
        names=encoder.get_feature_names_out().tolist(),
        ids=table[ids[0]] if ids else np.asarray(evidence.rows),
        encoder=encoder,
    )
