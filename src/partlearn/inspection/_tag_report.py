"""Label report for tags, by tag and by row."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np

from partlearn.inspection._label_report import cell_text, row_columns
from partlearn.inspection._page import rendered


@dataclass(frozen=True)
class TagLine:
    """Numbers of rows in which a tag is listed, believed, doubtful or missing."""

    name: str
    listed: int
    believed: int
    doubtful: int
    missing: int


@dataclass(frozen=True)
class TagRow:
    """A row to review, with the scores of its listed and missing tags."""

    name: str
    listed: list[tuple[int, str, float, str]]
    missing: list[tuple[int, str, float]]
    contents: list[tuple[str, str]]


@dataclass(frozen=True)
class TagReport:
    """Contents of the page of tags.

    Attributes
    ----------
    title, method : str
        Title of the page, and the method that scored the tags.
    n_rows, n_listed, n_believed, n_doubtful, n_missing : int
        Rows; listed tags, and how many of them are believed and doubtful; tags that
        look missing.
    tags : list of TagLine
        One per tag, the most doubtful first.
    review : list of TagRow
        Rows with tags to strike or to add, the most striking first.
    classes : list of str
        Names of the tags.
    sep : str
        What separates tags in corrections.
    voted : bool
        Whether several annotators voted, so that scores are probabilities.
    right : TagAgreement or None
        Comparison with true tags.
    """

    title: str
    method: str
    n_rows: int
    n_listed: int
    n_believed: int
    n_doubtful: int
    n_missing: int
    tags: list[TagLine]
    review: list[TagRow]
    classes: list[str]
    sep: str
    voted: bool
    right: Any


def tag_report(
    result: Any,
    *,
    rows: Any = None,
    truth: Any = None,
    n_review: int = 100,
    title: str = "Label report",
) -> TagReport:
    """Collect the contents of the page of tags.

    Parameters
    ----------
    result : TagDisambiguation
        Scores of tags.
    rows : data frame or mapping of str to sequence, default=None
        Contents of the rows, shown beside those to review.
    truth : Tags, default=None
        True tags of some rows.
    n_review : int, default=100
        Number of rows to review.
    title : str, default="Label report"
        Title of the page.

    Returns
    -------
    report : TagReport
        Contents of the page.
    """
    S, believed = result.tags.candidates, result.believed
    doubtful, missing = result.doubtful, result.missing
    classes = [str(name) for name in result.classes]
    columns = row_columns(rows, len(S))
    counts = [M.sum(axis=0).tolist() for M in (S, believed, doubtful, missing)]
    lines = [TagLine(*line) for line in zip(classes, *counts, strict=True)]
    lines.sort(key=lambda line: (-(line.doubtful + line.missing), line.name))
    return TagReport(
        title=title,
        method=result.method,
        n_rows=len(S),
        n_listed=int(S.sum()),
        n_believed=int(believed.sum()),
        n_doubtful=int(doubtful.sum()),
        n_missing=int(missing.sum()),
        tags=lines,
        review=[
            _row(result, i, classes, columns) for i in result.review_order()[:n_review]
        ],
        classes=classes,
        sep=result.form.sep,
        voted=result.voted,
        right=None if truth is None else result.agreement(truth),
    )


def _row(
    result: Any, i: int, classes: list[str], columns: list[tuple[str, Any]]
) -> TagRow:
    order = np.argsort(-result.scores[i], kind="stable").tolist()
    score = np.clip(result.scores[i], 0, 1)
    verdict = np.where(
        result.doubtful[i], "doubtful", np.where(result.believed[i], "believed", "open")
    )
    S, missing = result.tags.candidates[i], result.missing[i]
    return TagRow(
        str(result.index[i]),
        [(j, classes[j], float(score[j]), str(verdict[j])) for j in order if S[j]],
        [(j, classes[j], float(score[j])) for j in order if missing[j]],
        [(name, cell_text(values[i])) for name, values in columns],
    )


def tag_page(report: TagReport) -> str:
    """Render the report as HTML, with no outside request, readable without scripts."""
    names = [row.name for row in report.review]
    data = {"names": names, "classes": report.classes, "sep": report.sep}
    return rendered("tag_report", data, r=report)
