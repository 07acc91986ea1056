"""Published multi-label scores, carried as data."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
from importlib import resources

from partlearn.benchmark._published import PublishedFigure

__all__ = ["published_scores"]

Key = tuple[str, str, str]


def published_scores(paper: str, tables: str) -> dict[Key, PublishedFigure]:
    """Scores of published tables.

    Parameters
    ----------
    paper : {"PML-FSLA"}
        The paper.
    tables : str
        Number of a table, or several with commas.

    Returns
    -------
    dict
        Keys are (data set, method, metric). A deviation that is not printed is NaN.
    """
    wanted = {part.strip() for part in tables.split(",")}
    item = resources.files("partlearn.benchmark") / "published" / "pml.csv"
    lines = item.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {
        (row["dataset"], row["method"], row["metric"]): PublishedFigure(
            float(row["mean"]), float(row["std"] or "nan")
        )
        for row in rows
        if row["paper"] == paper and row["table"] in wanted
    }
