"""Label report for tags, by tag and by row."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np

from partlearn.inspection._label_report import cell_text, row_columns
from partlearn.inspection._page import rendered


def tag_page(
    result: Any,
    *,
    rows: Any = None,
    truth: Any = None,
    n_review: int = 100,
    title: str = "Label report",
) -> str:
    """Render the label report of tags as HTML, readable without scripts.

    Parameters
    ----------
    result : TagDisambiguation
        Scores of tags.
    rows : data frame or mapping of str to sequence, default=None
        Contents of the rows, shown beside those to review.
    truth : Tags, default=None
        True tags of some rows.
    n_review : int, default=100
        Number of rows to review, those with the most doubtful and missing tags first.
    title : str, default="Label report"
        Title of the page.

    Returns
    -------
    page : str
        HTML without outside requests.
    """
    masks = {
        "listed": result.tags.candidates,
        "believed": result.believed,
        "doubtful": result.doubtful,
        "missing": result.missing,
    }
    classes = [str(name) for name in result.classes]
    columns = row_columns(rows, len(result.index))
    counts = zip(*(mask.sum(axis=0).tolist() for mask in masks.values()), strict=True)
    tags = [
        {"name": name, **dict(zip(masks, count, strict=True))}
        for name, count in zip(classes, counts, strict=True)
    ]
    tags.sort(key=lambda tag: (-(tag["doubtful"] + tag["missing"]), tag["name"]))
    review = [
        {
            **_tags_of_row(result, i, classes),
            "contents": [(name, cell_text(values[i])) for name, values in columns],
        }
        for i in result.review_order()[:n_review]
    ]
    names = [row["name"] for row in review]
    return rendered(
        "tag_report",
        {"names": names, "classes": classes, "sep": result.form.sep},
        title=title,
        method=result.method,
        voted=result.voted,
        n_rows=len(result.index),
        total={name: int(mask.sum()) for name, mask in masks.items()},
        tags=tags,
        review=review,
        right=None if truth is None else result.agreement(truth),
    )


def _tags_of_row(result: Any, i: int, classes: list[str]) -> dict[str, Any]:
    """Listed and missing tags of a row, highest score first."""
    order = np.argsort(-result.scores[i], kind="stable").tolist()
    score = np.clip(result.scores[i], 0, 1).tolist()
    verdict = np.where(
        result.doubtful[i], "doubtful", np.where(result.believed[i], "believed", "open")
    ).tolist()
    S, missing = result.tags.candidates[i], result.missing[i]
    return {
        "name": str(result.index[i]),
        "listed": [(j, classes[j], score[j], verdict[j]) for j in order if S[j]],
        "missing": [(j, classes[j], score[j]) for j in order if missing[j]],
    }
