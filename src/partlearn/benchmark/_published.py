"""Published figures, carried as data with their citation."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class PublishedFigure:
    """One published accuracy.

    Attributes
    ----------
    mean, std : float
        As printed.
    n_components : int or None
        Dimensions, where the table gives them.
    """

    mean: float
    std: float
    n_components: int | None = None


Key = tuple[str, int | float | None, str, str]


def _rows(file: str, paper: str, tables: str) -> Iterator[dict[str, str]]:
    """Rows of one or several tables (numbers with commas) of a paper."""
    wanted = {part.strip() for part in tables.split(",")}
    item = resources.files("partlearn.benchmark") / "published" / file
    lines = item.read_text(encoding="utf-8").splitlines()
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        if row["paper"] == paper and row["table"] in wanted:
            yield row


def published_figures(paper: str, table: str) -> dict[Key, PublishedFigure]:
    """Figures of one published table.

    Parameters
    ----------
    paper : {"SAUTE", "CENDA", "WPLDR"}
        The paper.
    table : str
        Number of the table.

    Returns
    -------
    dict
        Keys are (data set, r, reducer, learner); empty when nothing is known.

    Examples
    --------
    >>> from partlearn.benchmark import published_figures
    >>> figures = published_figures("CENDA", "7")
    >>> figures["Lost", None, "CENDA[thr=0.999]", "PL-KNN"].mean
    0.81
    """
    figures: dict[Key, PublishedFigure] = {}
    for row in _rows("pll.csv", paper, str(table)):
        r = int(row["r"]) if row["r"] else None
        columns = int(row["n_components"]) if row["n_components"] else None
        figure = PublishedFigure(float(row["mean"]), float(row["std"]), columns)
        figures[row["dataset"], r, row["method"], row["base"]] = figure
    return figures


def published_scores(
    paper: str, tables: str
) -> dict[tuple[str, str, str], PublishedFigure]:
    """Multi-label scores of published tables.

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

    Examples
    --------
    >>> from partlearn.benchmark import published_scores
    >>> published_scores("PML-FSLA", "4")["Yeast", "PML-FSLA", "average_precision"].mean
    0.69
    """
    return {
        (row["dataset"], row["method"], row["metric"]): PublishedFigure(
            float(row["mean"]), float(row["std"] or "nan")
        )
        for row in _rows("pml.csv", paper, str(tables))
    }
