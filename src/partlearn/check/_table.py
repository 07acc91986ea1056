"""Checks of tables that hold anything: text, dates, missing values, labels."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array, Mask
from partlearn.candidates import Evidence
from partlearn.check._report import Finding, about
from partlearn.tables import (
    ColumnKind,
    TableEncoder,
    as_names,
    label_columns,
    read_labels,
)

__all__ = ["column_findings", "label_text_findings", "look_alikes", "read_table"]

_KINDS = {
    "text": ("text-columns", "free text", "--text"),
    "date": ("date-columns", "dates", "--date"),
    "category": ("category-columns", "categories", "--category"),
}


def read_table(
    columns: dict[str, NDArray[Any]],
    labels: Any,
    sep: str | None,
    encoder: TableEncoder,
) -> tuple[Evidence | None, Array | None, list[Finding]]:
    """Labels and encoded features of a table, and what was wrong with either."""
    findings: list[Finding] = []
    evidence: Evidence | None = None
    names: list[str] = []
    try:
        if labels is None or isinstance(labels, str):
            labels = label_columns(labels, columns)
        evidence, names = read_labels(columns, labels, sep)
    except ValueError as error:
        findings.append(
            Finding(
                "labels",
                "error",
                str(error)[0].upper() + str(error)[1:],
                "Name the column of the labels with --labels (in Python the second "
                "argument), its separator with --sep, and correct the cell if one is "
                "named.",
            )
        )
        names = [name for name in as_names(_plain(labels)) if name in columns]
    encoder.set_params(ignore=[*as_names(encoder.ignore), *names])
    try:
        Z = encoder.fit_transform(columns)
    except ValueError as error:
        findings.append(
            Finding(
                "features",
                "error",
                str(error).split(". ")[0].rstrip(".") + ".",
                "Say what the columns are with --number, --category, --date or --text.",
            )
        )
        return evidence, None, findings
    for name in names:
        encoder.kinds_[name] = ColumnKind("label", "")
    findings += column_findings(encoder.kinds_, columns)
    for name in as_names(encoder.id):
        values, counts = np.unique(columns[name].astype(np.str_), return_counts=True)
        findings += about(
            "repeated-ids",
            "warning",
            "value",
            values[counts > 1].tolist(),
            f"of {name!r} in more than one row.",
            "Rows that belong together should not be split between training and test; "
            "name a column that tells rows apart.",
        )
    return evidence, Z, findings


def _plain(labels: Any) -> Any:
    return labels if isinstance(labels, (str, list, tuple)) else ()


def column_findings(
    kinds: Mapping[str, ColumnKind], columns: Mapping[str, NDArray[Any]]
) -> Iterator[Finding]:
    """Say what columns were taken for, where a reader may want to know."""
    for kind, (code, words, option) in _KINDS.items():
        names = [name for name, column in kinds.items() if column.kind == kind]
        yield from about(
            code,
            "note",
            "column",
            names,
            f"of {words}.",
            f"All commands encode them; {option} NAME, --number NAME or --ignore "
            "NAME says otherwise.",
        )
    for kind, title in (("id", "naming the rows"), ("constant", "without content")):
        names = [name for name, column in kinds.items() if column.kind == kind]
        yield from about(
            f"{kind}-columns",
            "note",
            "column",
            [f"{n} ({kinds[n].reason})" for n in names],
            f"{title}, left out.",
            "Keep the ids beside results with --id NAME."
            if kind == "id"
            else "Nothing can be learnt from one value.",
        )
    gaps = {
        name: int(match[1])
        for name, column in kinds.items()
        if column.used and (match := re.search(r"(\d+) of \d+ missing", column.reason))
    }
    yield from about(
        "gaps",
        "note",
        "column",
        [f"{name} ({n})" for name, n in gaps.items()],
        "with missing values.",
        "All commands fill and mark them.",
    )


def label_text_findings(S: Mask, names: Sequence[str]) -> Iterator[Finding]:
    """Find labels that may be the same one, and labels that hardly occur."""
    groups = look_alikes(names)
    yield from about(
        "look-alike-labels",
        "warning",
        "group",
        [" / ".join(map(repr, group)) for group in groups],
        "of labels that differ in letters' case, spaces or marks only.",
        "They count as different labels. Write them alike in the file.",
    )
    once = np.flatnonzero(S.sum(axis=0) == 1)
    yield from about(
        "rare-labels",
        "warning",
        "label",
        [names[int(j)] for j in once],
        "a candidate of one row only.",
        "A label of one row cannot be learnt. Check the spelling, or leave the row "
        "out.",
        rows=tuple(int(S[:, j].argmax()) for j in once[:10]),
    )


def look_alikes(names: Sequence[str]) -> list[list[str]]:
    """Groups of names that are the same without case, spaces and marks."""
    groups: dict[str, list[str]] = {}
    for name in names:
        key = re.sub(r"[\W_]+", "", name).casefold()
        groups.setdefault(key or name, []).append(name)
    return [group for group in groups.values() if len(group) > 1]
