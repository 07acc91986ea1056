"""Write data sets to files."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from partlearn._typing import Mask
from partlearn.candidates import Evidence, Votes
from partlearn.io._arrow import csv, ipc, pa, parquet
from partlearn.io._bunch import named_bags, sort_names
from partlearn.io._columns import is_label_name
from partlearn.io._errors import DataFormatError, located
from partlearn.io._files import atomic_write, format_of
from partlearn.io._label_columns import BAG_MARK, CANDIDATE_MARK, TRUTH_MARK
from partlearn.io._npz import check_fit, evidence_arrays, weight_texts
from partlearn.io._options import TASKS
from partlearn.io._table import META_KEY
from partlearn.io._table_writer import neutral

_FORMATS = ("npz", "parquet", "arrow", "csv", "mat")
_BLOCK_ROWS = 4096
_RESERVED = (CANDIDATE_MARK, TRUTH_MARK, BAG_MARK, "__index_level_")


def write(
    bunch: Any,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    safe_csv: bool = False,
) -> Path:
    """Write a data set to a file that :func:`read` reads.

    Parameters
    ----------
    bunch : :class:`~sklearn.utils.Bunch` or mapping
        ``data`` and at least one of ``candidates``, ``evidence`` and ``truth``; further
        ``feature_names``, ``target_names``, ``task`` and ``bags``, as :func:`read`
        returns them.
    path : path-like
        The file; it is replaced if it exists, and only once the new one is complete.
    format : {"npz", "parquet", "arrow", "csv", "mat"}, default=None
        By default given by the file extension.
    safe_csv : bool, default=False
        In CSV, put a quotation mark before text that a spreadsheet would take for a
        formula.

    Returns
    -------
    path : Path
        The file that was written.

    Notes
    -----
    npz, Parquet, Arrow and MATLAB keep values, types, names and sparsity. CSV keeps
    values and names; whole numbers come back as int64 and the others as float64. In
    CSV, classes that never occur, or names which contain a separator, are kept by
    writing one column per class instead of one column of sets. Weights are kept by npz
    and, as ``cat:0.7|dog:0.3``, by CSV; votes by npz alone. Bags are kept by all: in
    tables as a column ``bag:id``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from partlearn.datasets import load_iris_partial
    >>> from partlearn.io import read, write
    >>> iris = load_iris_partial()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = read(write(iris, pathlib.Path(folder, "iris.npz")))
    >>> bool((again.candidates == iris.candidates).all())
    True
    """
    target = Path(path)
    with located(path=target):
        kind = format_of(target, format)
    if target.suffix == ".gz" or kind not in _FORMATS:
        raise DataFormatError(
            f"files are written as {', '.join(_FORMATS)}; got {target.name!r}"
        )
    parts = _Parts(bunch)
    _check_evidence(parts, kind)
    with atomic_write(target) as file:
        if kind == "npz":
            _write_npz(file, parts)
        elif kind == "mat":
            _write_mat(file, parts)
        else:
            delimiter = "," if target.suffix == ".csv" else "\t"
            _write_table(file, parts, kind, delimiter, safe_csv)
    return target


class _Parts:
    """Validated parts of a Bunch."""

    def __init__(self, bunch: Any) -> None:
        X = bunch["data"]
        self.X: Any = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
        if self.X.ndim != 2 or self.X.dtype.kind not in "biuf":
            raise DataFormatError("`data` must be a matrix of numbers")
        if not self.X.shape[0] or not self.X.shape[1]:
            raise DataFormatError("`data` has no rows or no columns")
        self.evidence = bunch.get("evidence")
        given = bunch.get("candidates")
        if given is None and isinstance(self.evidence, Evidence):
            given = self.evidence.candidates
            bunch = {"target_names": list(self.evidence.classes), "task": "pll"} | bunch
        self.candidates = _maybe(given, bool)
        self.truth = _maybe(bunch.get("truth"), None)
        labels = [p for p in (self.candidates, self.truth) if p is not None]
        if not labels:
            raise DataFormatError("`candidates` or `truth` is needed")
        if any(len(p) != self.X.shape[0] for p in labels):
            raise DataFormatError("data and labels have different numbers of rows")
        widths = [p.shape[1] for p in labels if p.ndim == 2]
        names = bunch.get("target_names")
        if names is None:
            assert self.truth is not None
            q = widths[0] if widths else int(self.truth.max()) + 1
            names = [str(j) for j in range(q)]
        self.names = [str(n) for n in names]
        if len(set(self.names)) != len(self.names):
            raise DataFormatError("`target_names` must be distinct")
        if any(w != len(self.names) for w in widths):
            raise DataFormatError("the label matrices and `target_names` disagree")
        if self.truth is not None and self.truth.ndim == 1:
            low, high = self.truth.min(initial=0), self.truth.max(initial=0)
            if self.truth.dtype.kind not in "iu" or low < 0 or high >= len(self.names):
                raise DataFormatError("`truth` must number the `target_names` from 0")
        if self.evidence is not None:
            check_fit(self.evidence, self.X.shape[0], self.names)
            if not self.evidence.weighted:  # the sets say it all
                self.evidence = None
        self.bags = bunch.get("bags")
        if self.bags is not None:
            if np.shape(self.bags) != (self.X.shape[0],):
                raise DataFormatError("`bags` must name the bag of each row")
            self.bags = named_bags(self.bags)
        features = bunch.get("feature_names")
        self.features = None if features is None else [str(f) for f in features]
        self.task = bunch.get("task")
        if self.task not in TASKS:
            raise DataFormatError(f"`task` must be one of {', '.join(TASKS)}")
        self.descr = str(bunch.get("DESCR", ""))

    def truth_matrix(self) -> Mask | None:
        if self.truth is None or self.truth.ndim == 2:
            return self.truth
        return np.asarray(self.truth[:, None] == np.arange(len(self.names)))


def _check_evidence(parts: _Parts, kind: str) -> None:
    """Raise if a format cannot hold the weights or votes."""
    if parts.evidence is None or kind == "npz":
        return
    form = "votes" if isinstance(parts.evidence, Votes) else "weights"
    if kind == "csv" and form == "weights":
        if _sets_fit(parts) and not any(":" in name for name in parts.names):
            return
        kind = "CSV with these names of classes"
    raise DataFormatError(
        f"{kind} cannot hold {form}",
        advice="Write npz, or leave `evidence` out to keep the candidates only.",
    )


def _maybe(value: Any, dtype: Any) -> NDArray[Any] | None:
    return None if value is None else np.asarray(value, dtype=dtype)


def _write_npz(file: BinaryIO, parts: _Parts) -> None:
    arrays: dict[str, Any] = {}
    if sp.issparse(parts.X):
        for part in ("data", "indices", "indptr", "shape"):
            arrays[f"X_{part}"] = np.asarray(getattr(parts.X, part))
    else:
        arrays["X"] = parts.X
    if parts.candidates is not None:
        arrays["S"] = parts.candidates
    if parts.truth is not None:
        arrays["y" if parts.truth.ndim == 1 else "Y"] = parts.truth
    arrays["label_names"] = np.asarray(parts.names, dtype=np.str_)
    if parts.features is not None:
        arrays["feature_names"] = np.asarray(parts.features, dtype=np.str_)
    meta = {"task": parts.task, "sparse": bool(sp.issparse(parts.X))}
    if parts.evidence is not None:
        arrays |= evidence_arrays(parts.evidence)
        meta["evidence"] = True
    if parts.bags is not None:
        arrays["bags"] = parts.bags
    arrays["meta"] = np.asarray(json.dumps(meta | {"note": parts.descr}))
    # All are numbers or strings; NumPy 2.0 would store `allow_pickle` as one more.
    np.savez_compressed(file, **arrays)


def _write_mat(file: BinaryIO, parts: _Parts) -> None:
    """Write data m x d and labels q x m, the schema of palm.seu.edu.cn."""
    out: dict[str, Any] = {"data": parts.X, "partlearn_task": parts.task}
    if parts.candidates is not None:
        out["partial_target"] = parts.candidates.T.astype(np.uint8)
    matrix = parts.truth_matrix()
    if matrix is not None:
        out["target"] = matrix.T.astype(np.uint8)
    out["target_names"] = np.asarray(parts.names, dtype=object)
    if parts.features is not None:
        out["feature_names"] = np.asarray(parts.features, dtype=object)
    if sp.issparse(parts.X) and parts.X.dtype != bool:
        values = parts.X.data
        whole = values.dtype.kind in "iu" and values.dtype.itemsize == 8
        if whole and ((values > 2**53) | (values < -(2**53))).any():
            raise DataFormatError("MATLAB keeps sparse values as doubles only")
        out["data"] = parts.X.astype(np.float64)
    elif parts.X.dtype == np.float16:
        out["data"] = parts.X.astype(np.float32)
    if parts.bags is not None:
        out["bags"] = parts.bags.astype(object)
    out["partlearn_dtype"] = parts.X.dtype.str
    out["partlearn_sparse"] = float(sp.issparse(parts.X))
    scipy.io.savemat(file, out, do_compression=True, oned_as="column")


def _sets_fit(parts: _Parts) -> bool:
    """Whether one column of sets preserves the classes."""
    if any(n != n.strip() or not n or set(n) & set("|;,\"'\n\r") for n in parts.names):
        return False
    occurring = np.zeros(len(parts.names), dtype=bool)
    for matrix in (parts.candidates, parts.truth_matrix()):
        if matrix is not None:
            occurring |= matrix.any(axis=0)
    return bool(occurring.all()) and sort_names(parts.names) == parts.names


def _texts(matrix: Mask, names: list[str]) -> list[str]:
    return ["|".join(names[j] for j in np.flatnonzero(row)) for row in matrix]


def _batches(parts: _Parts, as_sets: bool | None, safe: bool) -> Iterator[Any]:
    """Yield Arrow batches of rows; `as_sets` is None if a note is stored.

    With `safe`, text that looks like a formula is quoted.
    """
    features = parts.features or [f"x{j}" for j in range(parts.X.shape[1])]
    odd = [n for n in features if n.startswith(_RESERVED) or not n]
    if as_sets is not None:
        odd += [n for n in features if is_label_name(n)]
    if odd or len(set(features)) != len(features):
        raise DataFormatError(
            f"a table cannot hold a feature named {odd[0]!r}"
            if odd
            else "a table cannot hold two features of the same name",
            advice="Rename it, or write npz.",
        )
    note = {
        "task": parts.task,
        "target_names": parts.names,
        "sparse": bool(sp.issparse(parts.X)),
        "feature_names": parts.features is not None,
        "dtype": parts.X.dtype.str,
    }
    metadata = {META_KEY: json.dumps(note)} if as_sets is None else None
    # As text, float32 is widened: its shortest text would be another float64.
    narrow = as_sets is None or parts.X.dtype == np.float16
    kind = np.float32 if narrow else np.float64
    labels = (
        (parts.candidates, "candidates", CANDIDATE_MARK),
        (parts.truth_matrix(), "truth", TRUTH_MARK),
    )
    for rows in gen_batches(parts.X.shape[0], _BLOCK_ROWS):
        X = parts.X[rows]
        X = X.toarray() if sp.issparse(X) else X
        X = X.astype(kind) if X.dtype.kind == "f" and X.dtype != np.float64 else X
        columns: dict[str, Any] = dict(zip(features, X.T.copy(), strict=True))
        for matrix, name, mark in labels:
            if matrix is None:
                continue
            if not as_sets:
                for label, marks in zip(parts.names, matrix[rows].T, strict=True):
                    columns[mark + label] = marks.astype(np.uint8)
                continue
            if parts.evidence is not None and name == "candidates":
                columns[name] = weight_texts(parts.evidence.weights[rows], parts.names)
            else:
                columns[name] = _texts(matrix[rows], parts.names)
        if parts.bags is not None:
            columns[f"{BAG_MARK}id"] = parts.bags[rows].tolist()
        if safe:
            columns = {neutral(name): cells for name, cells in columns.items()}
            for name, cells in columns.items():
                if isinstance(cells, list):
                    columns[name] = list(map(neutral, cells))
        yield pa.RecordBatch.from_pydict(columns, metadata=metadata)


def _write_table(
    file: BinaryIO, parts: _Parts, kind: str, delimiter: str, safe_csv: bool
) -> None:
    if kind == "csv":
        names = [*parts.names, *(parts.features or [])]
        if any(set(n) & set("\n\r") for n in names):
            raise DataFormatError("names with line breaks cannot be written to CSV")
    as_sets = _sets_fit(parts) if kind == "csv" else None
    batches = _batches(parts, as_sets, safe_csv and kind == "csv")
    first = next(batches)
    if kind == "parquet":
        opened = parquet.ParquetWriter(file, first.schema)
    elif kind == "arrow":
        opened = ipc.new_file(file, first.schema)
    else:
        options = csv.WriteOptions(delimiter=delimiter)
        opened = csv.CSVWriter(file, first.schema, write_options=options)
    with opened as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)
