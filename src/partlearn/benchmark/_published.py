"""Published figures, shipped as data."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
from importlib import resources

# Data set, r, method, learner and metric. Multi-label scores have no r and no learner.
Key = tuple[str, float | None, str, str, str]
# Mean and deviation as printed, and the number of dimensions; NaN where unknown.
Figure = tuple[float, float, float]


def published_figures(paper: str, tables: str) -> dict[Key, Figure]:
    """Read the figures of published tables.

    Parameters
    ----------
    paper : {"SAUTE", "CENDA", "WPLDR", "PML-FSLA"}
        The paper.
    tables : str
        Number of a table, or several separated by commas.

    Returns
    -------
    dict
        Keys are (data set, r, method, learner, metric), values (mean, deviation,
        number of dimensions); empty for an unknown table.

    Examples
    --------
    >>> from partlearn.benchmark import published_figures
    >>> figures = published_figures("CENDA", "7")
    >>> figures["Lost", None, "CENDA[thr=0.999]", "PL-KNN", "accuracy"][0]
    0.81
    >>> figures = published_figures("PML-FSLA", "4")
    >>> figures["Yeast", None, "PML-FSLA", "", "average_precision"][0]
    0.69
    """
    wanted = {part.strip() for part in tables.split(",")}
    folder = resources.files("partlearn.benchmark") / "published"
    figures: dict[Key, Figure] = {}
    for file in ("pll.csv", "pml.csv"):
        lines = (folder / file).read_text(encoding="utf-8").splitlines()
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            if row["paper"] != paper or row["table"] not in wanted:
                continue
            r = float(row["r"]) if row.get("r") else None
            learner, metric = row.get("base", ""), row.get("metric", "accuracy")
            mean, std, columns = (
                float(row.get(name) or "nan")
                for name in ("mean", "std", "n_components")
            )
            key = row["dataset"], r, row["method"], learner, metric
            figures[key] = mean, std, columns
    return figures
