"""Records of argilla: responses of several annotators in, suggestions out."""

# SPDX-License-Identifier: BSD-3-Clause

import json
from copy import deepcopy
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn.io._errors import AmbiguousDataError, DataFormatError

_DROPPED = ("discarded", "draft")  # states of responses that are no votes


@dataclass(frozen=True)
class ArgillaRecords:
    """Records of a dataset of argilla, as ``dataset.records.to_json`` exports them.

    Attributes
    ----------
    records : list of dict
        The records, nothing left out.
    question : str
        Question whose responses are the labels.
    ids : ndarray of str, shape (n_records,)
        Ids of the records.
    columns : dict of str to ndarray
        One column per field.
    responses : dict of str to ndarray
        One column per annotator, ``|`` between several labels; empty text where an
        annotator did not respond.
    """

    records: list[dict[str, Any]]
    question: str
    ids: NDArray[Any]
    columns: dict[str, NDArray[Any]]
    responses: dict[str, NDArray[Any]]

    def with_suggestions(
        self, labels: dict[int, str], scores: dict[int, float]
    ) -> list[dict[str, Any]]:
        """Copy the records and suggest a label for some.

        Parameters
        ----------
        labels : dict of int to str
            Labels by the place of the record.
        scores : dict of int to float
            Confidence in each.

        Returns
        -------
        records : list of dict
            Only the suggestions for the question differ.
        """
        records = deepcopy(self.records)
        for place, label in labels.items():
            told = {"value": label, "score": scores[place], "agent": "partlearn"}
            records[place].setdefault("suggestions", {})[self.question] = told
        return records


def is_argilla(path: str | PathLike[str]) -> bool:
    """Whether a JSON file holds records of argilla: a list of objects with fields."""
    try:
        records = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return False
    return isinstance(records, list) and bool(records) and all(map(_is_record, records))


def _is_record(record: Any) -> bool:
    if not isinstance(record, dict) or not isinstance(record.get("fields"), dict):
        return False
    given = record.get("responses") or {}
    return isinstance(given, dict) and all(
        isinstance(some, list) and all(isinstance(r, dict) for r in some)
        for some in given.values()
    )


def read_argilla(
    path: str | PathLike[str], *, question: str | None = None
) -> ArgillaRecords:
    """Read the responses of a JSON export of argilla.

    Parameters
    ----------
    path : str or path
        JSON file with a list of records.
    question : str, default=None
        Question, where the annotators answered several.

    Returns
    -------
    records : ArgillaRecords
        Responses, fields and the records themselves. Discarded responses and drafts are
        no votes.
    """
    path = Path(path)
    if not is_argilla(path):
        raise DataFormatError(
            "not a list of records with fields",
            path=path,
            advice="Export the dataset by `dataset.records.to_json`.",
        )
    records = json.loads(path.read_text(encoding="utf-8"))
    votes: dict[str, dict[str, list[str]]] = {}
    n = len(records)
    for place, record in enumerate(records):
        for name, responses in (record.get("responses") or {}).items():
            for response in responses:
                values = _labels(response)
                if values and question in (None, name):
                    who = str(response.get("user_id") or "unknown")
                    column = votes.setdefault(name, {}).setdefault(who, [""] * n)
                    column[place] = "|".join(values)
    if not votes:
        raise DataFormatError(
            "no response with a label"
            + ("" if question is None else f" to {question!r}"),
            path=path,
            advice="Export the records with their responses.",
        )
    if len(votes) > 1:
        raise AmbiguousDataError(
            f"several questions: {', '.join(votes)}",
            path=path,
            advice="Name one of them with question=.",
        )
    (used, given), *_ = votes.items()
    fields = dict.fromkeys(key for record in records for key in record["fields"])
    return ArgillaRecords(
        records,
        used,
        np.array([str(r.get("id") or i) for i, r in enumerate(records)], dtype=object),
        {
            key: np.array([r["fields"].get(key) for r in records], dtype=object)
            for key in fields
        },
        {who: np.array(column, dtype=object) for who, column in given.items()},
    )


def _labels(response: dict[str, Any]) -> list[str]:
    """Labels of a response: one, several, or none that counts."""
    if response.get("status") in _DROPPED:
        return []
    value = response.get("value")
    values = value if isinstance(value, list) else [value]
    return [str(v) for v in values if isinstance(v, str | int)]
