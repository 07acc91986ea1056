"""Open Parquet and npy files as blocks of rows, for data larger than memory."""

# SPDX-License-Identifier: BSD-3-Clause

import errno
import glob
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from partlearn._arguments import argument
from partlearn._math.blocks import Rows
from partlearn._sizes import SIZES
from partlearn.io._arrow import pa, parquet
from partlearn.io._errors import DataFormatError
from partlearn.io._files import regular_size
from partlearn.io._frame import join_blocks
from partlearn.io._table_blocks import table_blocks

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def open_rows(
    source: Source, *, ignore: Collection[str] = (), block_rows: int = SIZES.block_rows
) -> Rows:
    """Open Parquet or npy files as blocks of rows; only the headers are read.

    Parameters
    ----------
    source : path, pattern such as ``data/*.parquet``, or sequence of paths
        Files to read one after the other, all Parquet or all npy. A folder stands for
        its files, sorted by name.
    ignore : collection of str, default=()
        Columns of Parquet files to leave out, such as labels and row names.
    block_rows : int, default=20000
        Approximate number of rows per block. Row groups of Parquet files are not split.

    Returns
    -------
    rows : Rows
        Rows for `fit`, `transform` and `predict`. Each block is read when it is needed,
        in the process that needs it.

    See Also
    --------
    load_columns : Reads the columns that were ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from partlearn.io import open_rows
    >>> with TemporaryDirectory() as folder:
    ...     for part in range(3):
    ...         np.save(Path(folder) / f"{part}.npy", np.ones((100, 4)))
    ...     rows = open_rows(folder, block_rows=50)
    ...     rows
    Rows(300 x 4 in 6 blocks)
    """
    paths = _files(source)
    if all(path.suffix == ".npy" for path in paths):
        return _npy_rows(paths, block_rows)
    return _parquet_rows(paths, ignore, block_rows)


def open_tables(source: Source, *, block_rows: int = SIZES.block_rows) -> Rows:
    """Open Parquet files as blocks of a table with columns of any kind.

    Parameters
    ----------
    source, block_rows
        As in :func:`open_rows`.

    Returns
    -------
    rows : Rows
        Its blocks are Arrow tables, for
        :meth:`partlearn.PartialClassifier.fit_blocks`.
    """
    paths = _files(source)
    names = _open(paths[0]).schema_arrow.names
    parts, sizes = _parts(paths, names, None, block_rows)
    return Rows(parts, sizes, len(names), dtype=object, names=names)


def load_columns(source: Source, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Load some columns of Parquet files into memory, such as the labels.

    Parameters
    ----------
    source
        As in :func:`open_rows`.
    names : sequence of str
        Columns.

    Returns
    -------
    columns : dict of str to ndarray
        The columns, with cells read as by :func:`read`.
    """
    paths = _files(source)
    for path in paths:
        _check_columns(path, _open(path), names)
    blocks = (table_blocks(path, columns=list(names)) for path in paths)
    return join_blocks(chain.from_iterable(blocks))


def _files(source: Source) -> list[Path]:
    sources = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    paths = [path for item in sources for path in _expanded(Path(item))]
    kinds = {path.suffix for path in paths}
    if len(kinds) != 1 or not kinds <= {".parquet", ".npy"}:
        told = ", ".join(path.name for path in paths[:10]) or "none"
        raise DataFormatError(
            f"rows in blocks are read from .parquet or from .npy files; got {told}",
            advice="Write all rows in one of the two forms, or into a single table.",
        )
    return paths


def _expanded(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(p for p in path.iterdir() if p.suffix in (".parquet", ".npy"))
    elif path.exists():
        yield path
    else:
        matching = sorted(glob.glob(os.fspath(path)))
        if not matching:
            missing = os.fspath(path)
            raise FileNotFoundError(errno.ENOENT, "There is no such file", missing)
        yield from map(Path, matching)


# npy --------------------------------------------------------------------------------


def _npy_part(path: Path, start: int, stop: int) -> NDArray[Any]:
    """Read some rows of an npy file."""
    return np.array(np.load(path, mmap_mode="r", allow_pickle=False)[start:stop])


def _npy_rows(paths: Sequence[Path], block_rows: int) -> Rows:
    parts, sizes, widths, kinds = [], [], set(), set()
    for path in paths:
        regular_size(path)
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise DataFormatError(str(error), path=path) from None
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            got = f"shape {array.shape} of {array.dtype}"
            raise DataFormatError(
                f"this is not a matrix of numbers but {got}", path=path
            )
        widths.add(array.shape[1])
        kinds.add(array.dtype)
        for part in gen_batches(len(array), block_rows):
            parts.append(partial(_npy_part, path, part.start, part.stop))
            sizes.append(part.stop - part.start)
    if len(widths) > 1:
        raise DataFormatError(f"the files have different widths: {sorted(widths)}")
    dtype = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
    return Rows(parts, sizes, widths.pop(), dtype=dtype)


# Parquet ----------------------------------------------------------------------------


_PATH, _START = b"partlearn.path", b"partlearn.start"


def _parquet_part(
    path: Path, groups: list[int], columns: list[str], dtype: Any, start: int
) -> Any:
    """Read row groups as a matrix, or as a table if `dtype` is None."""
    table = _open(path).read_row_groups(groups, columns=columns, use_threads=False)
    if dtype is None:
        origin = {_PATH: str(path), _START: str(start)}
        return table.replace_schema_metadata(origin)
    rows = np.empty((table.num_rows, len(columns)), dtype=dtype)
    for j, name in enumerate(columns):
        rows[:, j] = table.column(name).to_numpy()
    return rows


def origin_of(block: Any) -> tuple[str | None, int]:
    """Return the file and the first row of a block.

    Parameters
    ----------
    block : Arrow table, or anything else
        Block from :func:`open_tables`.

    Returns
    -------
    path : str or None
        The file, where it is known.
    start : int
        Position of the first row in the file.
    """
    facts = getattr(getattr(block, "schema", None), "metadata", None) or {}
    path = facts.get(_PATH)
    return (None if path is None else path.decode(), int(facts.get(_START, 0)))


def _open(path: Path) -> Any:
    regular_size(path)
    try:
        return parquet.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise DataFormatError(str(error), path=path) from None


def _check_columns(path: Path, file: Any, wanted: Collection[str]) -> None:
    known = set(file.schema_arrow.names)
    absent = [name for name in wanted if name not in known]
    if absent:
        raise DataFormatError(f"there is no column {absent[0]!r}", path=path)


def _parquet_rows(
    paths: Sequence[Path], ignore: Collection[str], block_rows: int
) -> Rows:
    file = _open(paths[0])
    _check_columns(paths[0], file, ignore)
    schema = file.schema_arrow
    names = [
        name
        for name in schema.names
        if name not in set(ignore) and not name.startswith("__index_level_")  # pandas
    ]
    single = True
    for name in names:
        kind = schema.field(name).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise DataFormatError(
                f"column {name!r} holds {kind}, but rows in blocks must be numbers",
                path=paths[0],
                advice=f"Leave it out with {argument('ignore')}, or encode it first.",
            )
        single = single and pa.types.is_float32(kind)
    dtype = np.dtype(np.float32 if single else np.float64)
    parts, sizes = _parts(paths, names, dtype, block_rows)
    return Rows(parts, sizes, len(names), dtype=dtype, names=names)


def _parts(
    paths: Sequence[Path], names: list[str], dtype: Any, block_rows: int
) -> tuple[list[Callable[[], Any]], list[int]]:
    """Return loaders of blocks of row groups, and their numbers of rows."""
    parts: list[Callable[[], Any]] = []
    sizes: list[int] = []
    for path in paths:
        file = _open(path)
        _check_columns(path, file, names)
        facts = file.metadata
        counts = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
        for groups in _grouped(counts, block_rows):
            start = sum(counts[: groups[0]])
            parts.append(partial(_parquet_part, path, groups, names, dtype, start))
            sizes.append(sum(counts[i] for i in groups))
    return parts, sizes


def _grouped(counts: Sequence[int], block_rows: int) -> Iterator[list[int]]:
    """Yield consecutive row groups of about `block_rows` rows together."""
    block: list[int] = []
    for i, count in enumerate(counts):
        if block and sum(counts[j] for j in block) + count > block_rows:
            yield block
            block = []
        block.append(i)
    if block:
        yield block
