"""Tables of files, with cells as they are written."""

# SPDX-License-Identifier: BSD-3-Clause

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn.io import table_blocks
from partlearn.tables._frame import Columns, as_text, columns_of

__all__ = ["read_columns"]


def read_columns(path: str | os.PathLike[str]) -> Columns:
    r"""Read a table whole.

    Parameters
    ----------
    path : path-like
        CSV, TSV, Parquet, Arrow or JSON lines; ``-`` is standard input.

    Returns
    -------
    columns : dict of str to ndarray
        As from :func:`columns_of`. Cells of text files stay text until somebody asks
        what a column is: ``007`` is no number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from partlearn.tables import read_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pets.csv")
    ...     _ = path.write_text("weight,kind\n4,cat|dog\n30,dog\n")
    ...     columns = read_columns(path)
    >>> columns["kind"].tolist()
    ['cat|dog', 'dog']
    """
    blocks = [columns_of(block) for block in table_blocks(Path(path))]
    names = list(dict.fromkeys(name for block in blocks for name in block))
    return {name: _joined([_part(block, name) for block in blocks]) for name in names}


def _part(block: Columns, name: str) -> NDArray[Any]:
    if name in block:
        return block[name]
    return np.full(len(next(iter(block.values()))), None, dtype=object)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    if len({part.dtype.kind for part in parts}) == 1:
        return np.concatenate(parts)
    texts = [as_text(value) for part in parts for value in part.tolist()]
    out = np.empty(len(texts), dtype=object)
    out[:] = texts
    return out
