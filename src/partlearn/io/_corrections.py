"""Read corrected labels from a table."""

# SPDX-License-Identifier: BSD-3-Clause

from os import PathLike
from pathlib import Path

from partlearn.io._errors import DataFormatError
from partlearn.io._frame import as_text, read_columns


def read_corrections(path: str | PathLike[str]) -> dict[str, str]:
    """Read a table of corrections, with columns row and label.

    Parameters
    ----------
    path : str or path
        The file: CSV with any separator, or another table.

    Returns
    -------
    corrections : dict of str to str
        True labels by the name of the row. Rows without a label are skipped.
    """
    path = Path(path)
    columns = read_columns(path)
    if not {"row", "label"} <= set(columns):
        raise DataFormatError(
            f"corrections need columns named row and label; got {', '.join(columns)}",
            path=path,
            advice="Save them from the page, or write that header.",
        )
    corrections: dict[str, str] = {}
    for row, cells in enumerate(
        zip(columns["row"].tolist(), columns["label"].tolist(), strict=True)
    ):
        name, label = map(as_text, cells)
        if not label:
            continue
        if not name:
            raise DataFormatError("a label has no row", path=path, where=f"row {row}")
        if corrections.setdefault(name, label) != label:
            raise DataFormatError(
                f"row {name!r} is corrected to {corrections[name]!r} and to {label!r}",
                path=path,
                advice="Keep one of the two.",
            )
    return corrections
