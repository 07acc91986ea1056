"""Read data sets in any format."""

# SPDX-License-Identifier: BSD-3-Clause

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from partlearn.io._arff import read_arff
from partlearn.io._columns import Encode, bunch_of
from partlearn.io._errors import DataError, DataFormatError, DataLimitError
from partlearn.io._files import format_of, regular_size
from partlearn.io._frame import read_noted
from partlearn.io._label_forms import label_choice
from partlearn.io._libsvm import read_libsvm
from partlearn.io._mat import read_hdf5, read_mat5
from partlearn.io._npz import KEYS, csr_parts, parse_meta, read_evidence, read_npz
from partlearn.io._options import (
    Budget,
    Direction,
    Limits,
    ReadOptions,
    Sparse,
    Task,
)
from partlearn.io._variables import assemble

_HDF5 = b"\x89HDF\r\n\x1a\n"


def _read_mat(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    with path.open("rb") as file:
        head = file.read(520)
        hdf5 = _HDF5 in (head[:8], head[512:])
        file.seek(0)
        variables = read_hdf5(path, budget) if hdf5 else read_mat5(file, budget)
    origin = "a MATLAB 7.3 (HDF5) file" if hdf5 else "a MATLAB file"
    mark = "partlearn_"
    meta = {k.removeprefix(mark): v for k, v in variables.items() if k.startswith(mark)}
    if not isinstance(meta.get("task"), str):
        meta.pop("task", None)
    bags = variables.pop("bags", None) if "task" in meta else None  # if it is our own
    bunch = assemble(variables, options, budget, meta, origin=origin, matlab=True)
    return _with_bags(bunch, bags)


def _read_npz(path: Path, options: ReadOptions, budget: Budget) -> Bunch:
    arrays = csr_parts(read_npz(path, budget))
    meta = parse_meta(arrays)
    notes = "".join(
        f"\n{key}: {meta[key]}" for key in ("source", "licence", "note") if key in meta
    )
    labels = {}
    if meta.get("evidence") is True:
        labels = {key: arrays.pop(key) for key in KEYS if key in arrays}
    bags = arrays.pop("bags", None)
    origin = "a NumPy archive"
    bunch = assemble(
        arrays, options, budget, meta, origin=origin, matlab=False, notes=notes
    )
    if labels and bunch.candidates is not None:
        m = len(bunch.candidates)
        bunch.evidence = read_evidence(labels, m, bunch.target_names)
    return _with_bags(bunch, bags)


def _with_bags(bunch: Bunch, bags: Any) -> Bunch:
    """Add the array of bags, if there is one."""
    if bags is not None:
        m = bunch.data.shape[0]
        bags = np.asarray([bags] if isinstance(bags, str) else bags)
        if bags.size != m or bags.shape not in ((m,), (m, 1), (1, m)):
            raise DataFormatError(
                f"`bags` must name the bag of each of the {m} rows; it has shape "
                f"{np.shape(bags)}"
            )
        bunch.bags = bags.reshape(-1)
    return bunch


Reader = Callable[[Path, ReadOptions, Budget], Bunch]
_MATRICES: dict[str, Reader] = {
    "mat": _read_mat,
    "npz": _read_npz,
    "arff": read_arff,
    "libsvm": read_libsvm,
}


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    task: Task | None = None,
    labels: str | int | Sequence[str] | None = None,
    truth: str | Sequence[str] | None = None,
    sep: str | None = None,
    raters: str | Sequence[str] | None = None,
    weights: str | Sequence[str] | None = None,
    marks: str | Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    bags: str | None = None,
    data_key: str | None = None,
    candidates_key: str | None = None,
    truth_key: str | None = None,
    orientation: Direction | None = None,
    label_orientation: Direction | None = None,
    fold: int | None = None,
    sparse: Sparse = "auto",
    encoding: str | None = None,
    limits: Limits | None = None,
    encode: Encode | None = None,
) -> Bunch:
    r"""Read a data set from a table or a matrix file.

    The parts of a file and their orientation are found by name, shape and content.
    Most files need no arguments. Ambiguous files raise ``AmbiguousDataError`` with the
    argument that settles the reading.

    Parameters
    ----------
    path : path-like
        The file: a table (CSV, TSV, Parquet, Arrow, JSON, JSON lines, ``.xlsx``), or a
        matrix: MATLAB (``.mat``, versions 5 to 7.3), ``.npz``, ARFF (with Mulan's XML
        or MEKA's ``-C``) or LIBSVM. Text files may be compressed by gzip (``.gz``).
    format : str, default=None
        ``"mat"``, ``"npz"``, ``"csv"``, ``"parquet"``, ``"arrow"``, ``"jsonl"``,
        ``"json"``, ``"xlsx"``, ``"zip"``, ``"arff"`` or ``"libsvm"``; by default from
        the end of the name.
    task : {"pll", "pml", "multiclass", "multilabel"}, default=None
        Task of the labels, if the file leaves it open. With ``"multiclass"`` or
        ``"multilabel"`` candidate sets are left out; with ``"pll"`` or ``"pml"`` the
        sets of labels of ARFF, LIBSVM and tables are candidate sets.
    labels : str, int or list of str, default=None
        Tables: the column of candidate sets, or the list of one-hot columns. ARFF:
        names of the label attributes, their number (first: 6, last: -6), or the path
        of Mulan's XML.
    truth : str or list of str, default=None
        Tables: the column of true labels, or the list of one-hot columns.
    sep : str, default=None
        Separator of labels in a column; ``|``, ``;`` and ``,`` are recognized, and
        ``"none"`` reads each cell as one label.
    raters, weights, marks : str or list of str, default=None
        Label columns of a table, instead of `labels`. A column of `raters` holds the
        labels given by one annotator. A column of `weights` or `marks` is named after a
        label and holds its weight, or a mark in the rows that have it. The meaning of
        several columns `labels` is inferred from their cells.
    ignore : list of str, default=()
        Columns or attributes to leave out.
    bags : str, default=None
        Tables: the column of the bag of each row; by default one called ``bag:...``, as
        :func:`write` calls it.
    data_key, candidates_key, truth_key : str, default=None
        MATLAB and npz: the variables; fields of structs are written ``"a.b"``.
    orientation, label_orientation : {"rows", "columns"}, default=None
        MATLAB and npz: whether samples are rows or columns of the data and of the label
        matrices.
    fold : int, default=None
        MATLAB: number of the fold, from 0, if the file stores the data in folds.
    sparse : bool or "auto", default="auto"
        Whether `data` is a CSR array. "auto" returns CSR for 100 columns or more if the
        matrix is sparse in the file or fewer than a tenth of its values are non-zero.
    encoding : str, default=None
        Tables: encoding of text, such as latin-1; UTF-8, or UTF-16 with its mark, by
        default.
    limits : Limits, default=None
        How much a file may expand to.
    encode : callable, default=None
        Function that converts a mapping of columns to a matrix and the names of its
        features. It is called for tables with columns that are not numbers, which are
        an error otherwise.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        ``data`` (ndarray or CSR, in the type the file stores), ``candidates`` (bool,
        samples by classes, or None), ``truth`` (class numbers, a bool matrix for
        several labels, or None), ``feature_names`` (list or None), ``target_names``
        (list), ``task``, ``DESCR``, ``variables`` (names of the variables by role).
        Files with a separate test part add ``test``, another Bunch; files that bring
        their splits add ``folds``, a list of (train, test) row numbers. Weights and
        votes add ``evidence``, for the `y` of a method that uses them. The bag of each
        row is ``bags``: of a column, or of an array of that name.

    Raises
    ------
    DataFormatError
        If the content is damaged or is not a data set.
    AmbiguousDataError
        If the file can be read in more than one way.
    DataLimitError
        If the file declares or expands to more than `limits` allow.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from partlearn.io import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pets.csv")
    ...     _ = path.write_text("weight,candidates\n4,cat|dog\n30,dog\n")
    ...     pets = read(path)
    >>> pets.task, pets.target_names
    ('pll', ['cat', 'dog'])
    >>> pets.candidates.astype(int)
    array([[1, 1],
           [0, 1]])
    """
    source = Path(path)
    options = ReadOptions.of(
        task=task,
        labels=label_choice(labels, raters=raters, weights=weights, marks=marks),
        truth=truth,
        sep=sep,
        ignore=ignore,
        bags=bags,
        data_key=data_key,
        candidates_key=candidates_key,
        truth_key=truth_key,
        orientation=orientation,
        label_orientation=label_orientation,
        fold=fold,
        sparse=sparse,
    )
    try:
        kind = format_of(source, format)
        if kind in _MATRICES:
            budget = Budget(limits or Limits(), regular_size(source))
            return _MATRICES[kind](source, options, budget)
        columns, note = read_noted(source, encoding, limits, kind)
        budget = Budget.of_table(regular_size(source), limits)
        return bunch_of(columns, options, budget, note=note, format=kind, encode=encode)
    except DataError as error:
        raise error.at(source) from error.__cause__
    except (MemoryError, RecursionError) as error:
        raise DataLimitError(
            "the file needs more memory than is available", path=source
        ) from error
