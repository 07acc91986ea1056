"""Right labels of rows that somebody checked, in a CSV file."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
from os import PathLike
from pathlib import Path

from partlearn.io._errors import DataFormatError


def read_corrections(path: str | PathLike[str]) -> dict[str, str]:
    """Read what the label report saves: a CSV file with columns row and label.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    corrections : dict of str to str
        Right label by the name of the row. Lines without a label are passed over:
        nobody has filled them in.
    """
    path = Path(path)
    corrections: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.DictReader(file)
            if not {"row", "label"} <= set(lines.fieldnames or ()):
                raise DataFormatError(
                    "corrections need columns named row and label; got "
                    f"{', '.join(lines.fieldnames or ()) or 'none'}",
                    path=path,
                    advice="Save them from the page, or write that header.",
                )
            for line in lines:
                name, label = line["row"], line["label"]
                if not label:
                    continue
                if not name:
                    raise DataFormatError(
                        f"line {lines.line_num} has no row", path=path
                    )
                if corrections.setdefault(name, label) != label:
                    raise DataFormatError(
                        f"row {name!r} is corrected to {corrections[name]!r} and to "
                        f"{label!r}",
                        path=path,
                        advice="Keep one of the two.",
                    )
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataFormatError(f"not a readable CSV file: {error}", path=path) from error
    return corrections
