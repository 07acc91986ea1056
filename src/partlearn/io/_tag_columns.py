"""Read tags from columns of sets, lists, marks, weights or annotators."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from partlearn._arguments import argument
from partlearn._typing import Array, Mask
from partlearn.candidates import Tags, is_missing_text
from partlearn.io._errors import DataFormatError, located
from partlearn.io._label_columns import (
    LabelSets,
    all_names,
    label_cells,
    label_matrix,
    parse_sets,
    present_cells,
    sum_labels,
    unmarked,
)
from partlearn.io._label_forms import NO, YES, Cells, find_form, marks, numbers
from partlearn.io._options import Form

Written = Literal["sets", "lists", "marks", "weights", "annotators"]
_SEPARATORS = ("|", ";", ",")
_WEIGHTED = re.compile(r"(.+?)\s*:\s*(0?\.\d+|[01](?:\.0*)?)")
_SEVERAL = re.compile(r"[|;\[]")
_NOTHING = {"[]", "{}", "()"}  # seen, and no tag


@dataclass(frozen=True)
class TagForm:
    """Form of the tags in a table; results are written in the same form.

    Attributes
    ----------
    form : {"sets", "lists", "marks", "weights", "annotators"}
        One column of sets, such as ``rock|live``, or of lists; one column of 0 and 1 or
        of weights for each tag; or one column of sets for each annotator.
    columns : list of str
        The columns, as the table names them.
    sep : str
        Separator of tags in a set.
    """

    form: Written
    columns: list[str]
    sep: str = "|"

    def describe(self, tags: Tags) -> str:
        """Describe how the columns were read."""
        n, q = tags.shape
        named = ", ".join(map(repr, self.columns[:5]))
        named += f" and {len(self.columns) - 5} more" if len(self.columns) > 5 else ""
        how = {
            "sets": f"sets separated by {self.sep!r} in column {named}",
            "lists": f"lists in column {named}",
            "marks": f"one column of 0 and 1 for each tag: {named}",
            "weights": f"one column of weights for each tag: {named}",
            "annotators": f"one column for each of {len(self.columns)} annotators: "
            f"{named}; an empty cell means that the annotator did not see the row, [] "
            "that there is no tag",
        }[self.form]
        return f"{q} tags of {n} rows, {how}"

    def write(
        self, chosen: Mask, scores: Array, classes: NDArray[Any]
    ) -> dict[str, NDArray[Any]]:
        """Write tags of rows in this form.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n, q)
            Tags that the rows have.
        scores : ndarray of shape (n, q)
            Their scores: the order in a set, and the weights.
        classes : ndarray of shape (q,)
            The tags.

        Returns
        -------
        columns : dict of str to ndarray
            One column of sets or lists, ``[]`` for no tag, or one column for each tag.
        """
        if self.form in ("marks", "weights"):
            values = (
                chosen.astype(np.int64) if self.form == "marks" else scores.round(6)
            )
            return {str(name): values[:, j] for j, name in enumerate(classes.tolist())}
        name = "tags" if self.form == "annotators" else self.columns[0]
        sets = ordered_tags(chosen, scores, classes)
        text = [self.text(tags) if tags else "[]" for tags in sets]
        return {name: np.asarray(text, dtype=object)}

    def text(self, tags: list[str]) -> str:
        """Write a set of tags as text: a list where a name holds the separator."""
        odd = any(self.sep in tag or tag.startswith("[") for tag in tags)
        if self.form == "lists" or odd:
            return json.dumps(tags, ensure_ascii=False)
        return self.sep.join(tags)


def ordered_tags(chosen: Mask, scores: Array, classes: NDArray[Any]) -> list[list[str]]:
    """Return the tags of each row in descending order of score."""
    names = [str(name) for name in classes.tolist()]
    order = np.argsort(-scores, axis=1, kind="stable")
    return [
        [names[j] for j in places if row[j]]
        for places, row in zip(order.tolist(), chosen, strict=True)
    ]


def tag_columns(
    columns: Mapping[str, NDArray[Any]],
    labels: Sequence[str],
    *,
    sep: str | None = None,
    form: Form | None = None,
) -> tuple[Tags, TagForm]:
    """Read the tag columns of a table in memory.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of numbers, or of objects that are text or None.
    labels : sequence of str
        One column of sets or lists; or several of marks (0 and 1, yes and no), of
        weights between 0 and 1, or of the sets that annotators gave.
    sep : str, default=None
        Separator of tags; ``|``, ``;`` and ``,`` are recognized.
    form : {"raters", "weights", "marks"}, default=None
        Form of several columns; inferred from their cells by default.

    Returns
    -------
    tags : Tags
        The tags; ``rows`` holds the rows with labels. A row with an empty cell is
        unlabeled; a row with the empty list ``[]``, or zeros only, has no tag.
    form : TagForm
        How they were written.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.io import tag_columns
    >>> table = {"tags": np.array(["rock|live", "live", None, "[]"], dtype=object)}
    >>> tags, form = tag_columns(table, ["tags"])
    >>> tags.sets(), tags.rows.tolist(), form.form
    ([['live', 'rock'], ['live'], []], [0, 1, 3], 'sets')
    """
    chosen = list(labels)
    texts = {name: label_cells(columns[name]) for name in chosen}
    with located(f"columns {', '.join(map(repr, chosen[:3]))}"):
        if len(chosen) == 1 and form is None:
            return _one_column(texts[chosen[0]], chosen[0], sep)
        cells = {name: present_cells(text) for name, text in texts.items()}
        names = [unmarked(name) for name in chosen]
        form = form or _several(cells, chosen, names)
        if form == "raters":
            return _annotators(texts, sep)
        if form == "marks":
            return Tags(marks(cells), names), TagForm("marks", chosen)
        matrix = numbers(cells)
        rows = np.flatnonzero(~np.isnan(matrix).all(axis=1))
        tags = Tags(np.nan_to_num(matrix[rows]), names, rows=rows)
        return tags, TagForm("weights", chosen)


def _one_column(text: Cells, name: str, sep: str | None) -> tuple[Tags, TagForm]:
    sets, used = _cells(text, sep, name)
    names = all_names(sets)
    if not names:
        raise DataFormatError(
            f"there is no tag at all in {name!r}",
            advice=f"Name the column of the tags with {argument('labels')}.",
        )
    rows = np.flatnonzero(_seen(text))
    matrix = label_matrix(text, sets, names)[rows]
    lists = sum(value.strip().startswith("[") for value in text.values)
    written: Written = "lists" if 2 * lists > len(text.values) else "sets"
    return Tags(matrix, names, rows=rows), TagForm(written, [name], used)


def _several(cells: dict[str, Any], chosen: list[str], names: list[str]) -> Form:
    """Infer whether columns hold sets of annotators, weights or marks."""
    if names != chosen:  # "candidate:rock"
        return "marks"
    texts = {text.strip().lower() for column in cells.values() for text in column[1]}
    if texts <= YES | NO:
        return "marks"
    if any(map(_SEVERAL.search, texts)):
        return "raters"
    return find_form(cells, single=False)


def _annotators(columns: dict[str, Cells], sep: str | None) -> tuple[Tags, TagForm]:
    chosen, texts = list(columns), list(columns.values())
    parsed = [_cells(t, sep, n) for n, t in columns.items()]
    names = all_names(*(sets for sets, _ in parsed))
    seen = np.column_stack([_seen(text) for text in texts])
    named = [(text, sets) for text, (sets, _) in zip(texts, parsed, strict=True)]
    votes = sum_labels(named, names)
    rows = np.flatnonzero(seen.any(axis=1))
    n_seen = seen[rows].sum(axis=1)
    shares = votes[rows] / n_seen[:, None]
    used = next((sep for _, sep in parsed if sep != "|"), "|")
    tags = Tags(shares, names, rows=rows, n_seen=n_seen)
    return tags, TagForm("annotators", chosen, used)


def _seen(column: Cells) -> Mask:
    """Return a mask of the rows whose cell is not missing."""
    said = np.array([not is_missing_text(value) for value in (*column.values, "")])
    return np.asarray(said[column.codes])


def _cells(column: Cells, sep: str | None, name: str) -> tuple[LabelSets, str]:
    """Return the tags of each distinct cell, and the separator."""
    said = [v for v in column.values if not is_missing_text(v)]
    values = [v for v in said if v.strip() not in _NOTHING]
    guesses = _SEPARATORS if sep is None else (sep,)
    weighted = [(w, g) for g in guesses if (w := _weights(values, g)) is not None]
    if weighted:
        # Another separator than theirs would be taken for a part of names.
        sets, used = max(weighted, key=lambda read: sum(map(len, read[0])))
    else:
        bare = Cells(np.arange(len(values)), values)
        sets = parse_sets(bare, sep, f"column {name!r}")
        used = next((g for g in guesses if any(g in value for value in values)), "|")
    known = dict(zip(values, sets, strict=True))
    return [known.get(value, {}) for value in column.values], used


def _weights(values: list[str], sep: str) -> LabelSets | None:
    """Read ``tag:weight`` cells; None unless all are written so and some is a share."""
    read = [[_WEIGHTED.fullmatch(p.strip()) for p in v.split(sep)] for v in values]
    if not read or not all(match for cell in read for match in cell):
        return None
    named = [{m[1]: float(m[2]) for m in cell if m} for cell in read]
    shares = any(0 < weight < 1 for cell in named for weight in cell.values())
    return named if shares else None
