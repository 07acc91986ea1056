"""Checks of tables that hold anything: text, dates, missing values, labels."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array, Mask
from partlearn.candidates import Evidence
from partlearn.check._report import Finding, found
from partlearn.tables import (
    ColumnKind,
    TableEncoder,
    as_names,
    label_columns,
    read_labels,
)


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
        said = str(error)
        findings += found("labels", error=said[0].upper() + said[1:])
        names = [name for name in as_names(_plain(labels)) if name in columns]
    encoder.set_params(ignore=[*as_names(encoder.ignore), *names])
    try:
        Z = encoder.fit_transform(columns)
    except ValueError as error:
        said = str(error).split(". ")[0].rstrip(".")
        findings += found("features", error=f"{said}.")
        return evidence, None, findings
    for name in names:
        encoder.kinds_[name] = ColumnKind("label", "")
    findings += column_findings(encoder.kinds_, columns)
    for name in as_names(encoder.id):
        values, counts = np.unique(columns[name].astype(np.str_), return_counts=True)
        repeated = values[counts > 1].tolist()
        findings += found("repeated-ids", repeated, name=name)
    return evidence, Z, findings


def _plain(labels: Any) -> Any:
    return labels if isinstance(labels, (str, list, tuple)) else ()


def column_findings(
    kinds: Mapping[str, ColumnKind], columns: Mapping[str, NDArray[Any]]
) -> Iterator[Finding]:
    """Say what columns were taken for, where a reader may want to know."""
    for kind in ("text", "date", "category", "id", "constant"):
        names = [name for name, column in kinds.items() if column.kind == kind]
        if kind in ("id", "constant"):
            names = [f"{name} ({kinds[name].reason})" for name in names]
        yield from found(f"{kind}-columns", names)
    gaps = {
        name: int(match[1])
        for name, column in kinds.items()
        if column.used and (match := re.search(r"(\d+) of \d+ missing", column.reason))
    }
    yield from found("gaps", [f"{name} ({n})" for name, n in gaps.items()])


def label_text_findings(S: Mask, names: Sequence[str]) -> Iterator[Finding]:
    """Find labels that may be the same one, and labels that hardly occur."""
    groups = [" / ".join(map(repr, group)) for group in look_alikes(names)]
    yield from found("look-alike-labels", groups)
    once = np.flatnonzero(S.sum(axis=0) == 1)
    rows = tuple(int(S[:, j].argmax()) for j in once[:10])
    yield from found("rare-labels", [names[int(j)] for j in once], rows=rows)


def look_alikes(names: Sequence[str]) -> list[list[str]]:
    """Groups of names that are the same without case, spaces and marks."""
    groups: dict[str, list[str]] = {}
    for name in names:
        key = re.sub(r"[\W_]+", "", name).casefold()
        groups.setdefault(key or name, []).append(name)
    return [group for group in groups.values() if len(group) > 1]
