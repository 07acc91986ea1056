"""Published figures, shipped as data."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
from collections.abc import Iterator
from importlib import resources

# Mean and deviation as printed, and the number of dimensions; NaN where unknown.
Figure = tuple[float, float, float]


def _rows(
    file: str, paper: str, tables: str
) -> Iterator[tuple[dict[str, str], Figure]]:
    """Rows of one or several tables (numbers with commas) of a paper."""
    wanted = {part.strip() for part in tables.split(",")}
    item = resources.files("partlearn.benchmark") / "published" / file
    lines = item.read_text(encoding="utf-8").splitlines()
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        if row["paper"] == paper and row["table"] in wanted:
            mean, std, columns = (
                float(row.get(name) or "nan")
                for name in ("mean", "std", "n_components")
            )
            yield row, (mean, std, columns)


def published_figures(
    paper: str, table: str
) -> dict[tuple[str, float | None, str, str], Figure]:
    """Read the figures of a published table.

    Parameters
    ----------
    paper : {"SAUTE", "CENDA", "WPLDR"}
        The paper.
    table : str
        Number of the table.

    Returns
    -------
    dict
        Keys are (data set, r, reducer, learner), values (mean, deviation, number of
        dimensions); empty when nothing is known.

    Examples
    --------
    >>> from partlearn.benchmark import published_figures
    >>> figures = published_figures("CENDA", "7")
    >>> figures["Lost", None, "CENDA[thr=0.999]", "PL-KNN"][0]
    0.81
    """
    return {
        (row["dataset"], float(row["r"]) if row["r"] else None, row["method"], base): f
        for row, f in _rows("pll.csv", paper, str(table))
        for base in (row["base"],)
    }


def published_scores(paper: str, tables: str) -> dict[tuple[str, str, str], Figure]:
    """Read multi-label scores of published tables.

    Parameters
    ----------
    paper : {"PML-FSLA"}
        The paper.
    tables : str
        Number of a table, or several with commas.

    Returns
    -------
    dict
        Keys are (data set, method, metric), values as in :func:`published_figures`.

    Examples
    --------
    >>> from partlearn.benchmark import published_scores
    >>> figures = published_scores("PML-FSLA", "4")
    >>> figures["Yeast", "PML-FSLA", "average_precision"][0]
    0.69
    """
    return {
        (row["dataset"], row["method"], row["metric"]): figure
        for row, figure in _rows("pml.csv", paper, str(tables))
    }
