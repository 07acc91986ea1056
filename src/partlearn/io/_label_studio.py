"""Tasks of Label Studio: choices of several annotators in, labels out."""

# SPDX-License-Identifier: BSD-3-Clause

import json
from copy import deepcopy
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._typing import Mask
from partlearn.candidates import Votes, from_votes
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._files import atomic_write


@dataclass(frozen=True)
class LabelStudioTasks:
    """Tasks of a project of Label Studio, as it exports them.

    Attributes
    ----------
    tasks : list of dict
        The tasks, nothing left out.
    control : str
        Name of the choices in the labeling interface (``from_name``).
    kind : str
        Name of what was labelled (``to_name``).
    ids : ndarray of int, shape (n_tasks,)
        Ids of the tasks.
    columns : dict of str to ndarray
        Data of the tasks: one column per field.
    skipped : ndarray of bool, shape (n_tasks,)
        Tasks without any choice: skipped by all annotators, or never shown.
    votes : Votes
        Choices of all annotators; ``votes.rows`` are the tasks that have any. Several
        choices of one annotator are several votes.
    """

    tasks: list[dict[str, Any]]
    control: str
    kind: str
    ids: NDArray[Any]
    columns: dict[str, NDArray[Any]]
    skipped: Mask
    votes: Votes

    def annotator_columns(self) -> dict[str, NDArray[Any]]:
        """Choices as one column per annotator, ``|`` between several.

        Returns
        -------
        columns : dict of str to ndarray
            Empty text where an annotator did not choose.
        """
        table, votes = self.votes.table, self.votes
        cells: dict[str, list[list[str]]] = {
            str(name): [[] for _ in self.tasks] for name in votes.annotators
        }
        for row, who, label in zip(
            table.row, table.annotator, table.label, strict=True
        ):
            column = cells[str(votes.annotators[who])]
            column[votes.rows[row]].append(str(votes.classes[label]))
        return {
            name: np.array(["|".join(cell) for cell in column], dtype=object)
            for name, column in cells.items()
        }

    def with_predictions(
        self,
        labels: ArrayLike,
        confidence: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        model: str = "partlearn",
    ) -> list[dict[str, Any]]:
        """Tasks with a prediction each, to be imported into Label Studio.

        Parameters
        ----------
        labels : array-like of shape (n_rows,)
            Labels, such as those of :func:`partlearn.disambiguate`.
        confidence : array-like of shape (n_rows,)
            Confidence in each, the ``score`` of the prediction.
        rows : array-like of int, shape (n_rows,), default=None
            Tasks that these are for; the tasks with votes by default.
        model : str, default="partlearn"
            ``model_version`` of the predictions.

        Returns
        -------
        tasks : list of dict
            Copies of all tasks; only ``predictions`` differ.
        """
        places = self.votes.rows if rows is None else np.asarray(rows)
        names, scores = np.asarray(labels), np.asarray(confidence, dtype=float)
        if not len(places) == len(names) == len(scores):
            raise ValueError(
                f"There are {len(places)} rows, {len(names)} labels and {len(scores)} "
                "confidences; give one of each for every row."
            )
        tasks = deepcopy(self.tasks)
        for place, name, score in zip(places, names, scores, strict=True):
            result = {
                "from_name": self.control,
                "to_name": self.kind,
                "type": "choices",
                "value": {"choices": [str(name)]},
            }
            told = {"model_version": model, "score": float(score), "result": [result]}
            tasks[place].setdefault("predictions", []).append(told)
        return tasks


def read_label_studio(
    path: str | PathLike[str], *, control: str | None = None
) -> LabelStudioTasks:
    """Read the choices of a JSON export of Label Studio.

    Parameters
    ----------
    path : str or path
        JSON file with a list of tasks (the export format "JSON").
    control : str, default=None
        Name of the choices, where annotators answered several questions
        (``from_name`` in the labeling interface).

    Returns
    -------
    tasks : LabelStudioTasks
        Votes, data and the tasks themselves. Skipped and cancelled annotations are no
        votes.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from partlearn.io import read_label_studio
    >>> def choice(who, label):
    ...     value = {"from_name": "kind", "to_name": "text", "type": "choices",
    ...              "value": {"choices": [label]}}
    ...     return {"completed_by": who, "result": [value]}
    >>> tasks = [{"id": 7, "data": {"text": "meow"},
    ...           "annotations": [choice(1, "cat"), choice(2, "dog")]}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tasks.json")
    ...     _ = path.write_text(json.dumps(tasks))
    ...     read_label_studio(path).votes
    Votes(1 row, 2 classes, 2 votes of 2 annotators)
    """
    path = Path(path)
    tasks = _load(path)
    names: dict[tuple[str, str], None] = {}
    entries = []
    for place, task in enumerate(tasks):
        for annotation in task.get("annotations") or ():
            if annotation.get("was_cancelled"):
                continue
            for result in annotation.get("result") or ():
                if result.get("type") != "choices":
                    continue
                name = str(result.get("from_name")), str(result.get("to_name"))
                if control is not None and name[0] != control:
                    continue
                names[name] = None
                who = _annotator(annotation)
                entries += [(place, who, c) for c in result["value"]["choices"]]
    if not entries:
        raise DataFormatError(
            "no annotation with choices",
            path=path,
            advice="Export the project as JSON, with annotations"
            + ("." if control is None else f"; there is no {control!r}."),
        )
    if len({first for first, _ in names}) > 1:
        raise AmbiguousDataError(
            f"several questions: {', '.join(first for first, _ in names)}",
            path=path,
            advice="Name one of them with control=.",
        )
    rows, annotators, labels = zip(*entries, strict=True)
    votes = from_votes(rows, annotators, labels, n_rows=len(tasks), empty="drop")
    skipped = np.ones(len(tasks), dtype=bool)
    skipped[votes.rows] = False
    (used, kind), *_ = names
    ids = np.array([task.get("id", place) for place, task in enumerate(tasks)])
    fields = dict.fromkeys(key for task in tasks for key in task["data"])
    columns = {
        key: np.array([task["data"].get(key) for task in tasks], dtype=object)
        for key in fields
    }
    return LabelStudioTasks(tasks, used, kind, ids, columns, skipped, votes)


def _load(path: Path) -> list[dict[str, Any]]:
    try:
        tasks = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise DataFormatError(f"not a readable JSON file: {error}", path=path) from None
    sound = isinstance(tasks, list) and all(
        isinstance(task, dict) and isinstance(task.get("data"), dict) for task in tasks
    )
    if not sound or not tasks:
        raise DataFormatError(
            "not a list of tasks with data",
            path=path,
            advice='Export the project in the format "JSON".',
        )
    return tasks


def _annotator(annotation: dict[str, Any]) -> str:
    """Name of an annotator, who is a number or a record with an address."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return "unknown" if who is None else str(who)


def write_label_studio(tasks: list[dict[str, Any]], path: str | PathLike[str]) -> None:
    """Write tasks to a JSON file that Label Studio imports.

    Parameters
    ----------
    tasks : list of dict
        Tasks, such as ``LabelStudioTasks.tasks`` or those with predictions.
    path : str or path
        The file; it appears when it is complete.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from partlearn.io import write_label_studio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tasks.json")
    ...     write_label_studio([{"id": 1, "data": {"text": "meow"}}], path)
    ...     path.exists()
    True
    """
    with atomic_write(path) as file:
        text = json.dumps(tasks, ensure_ascii=False, indent=2)
        file.write(text.encode("utf-8"))
