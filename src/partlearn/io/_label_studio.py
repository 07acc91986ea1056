"""Read votes from Label Studio and Argilla, and write predictions back."""

# SPDX-License-Identifier: BSD-3-Clause

import json
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partlearn._arguments import argument
from partlearn._typing import Mask
from partlearn.candidates import Votes, from_votes
from partlearn.io._errors import AmbiguousDataError, DataFormatError, located
from partlearn.io._files import atomic_write, nested_as_json, read_json

_DROPPED = ("discarded", "draft")  # states of responses that are no votes


class _Vote(NamedTuple):
    """One label that an annotator gave to a task."""

    control: str
    kind: str
    place: int
    who: str
    label: Any


@dataclass(frozen=True)
class LabelStudioTasks:
    """Tasks exported from a Label Studio project.

    Attributes
    ----------
    tasks : list of dict
        The tasks, nothing left out.
    control : str
        Name of the choices in the labeling interface (``from_name``).
    kind : str
        Name of what was labeled (``to_name``).
    ids : ndarray of shape (n_tasks,)
        Ids of the tasks.
    columns : dict of str to ndarray
        Data of the tasks: one column per field. Lists and objects are text, as JSON.
    skipped : ndarray of bool, shape (n_tasks,)
        Tasks without any choice.
    votes : Votes
        Choices of all annotators; ``votes.rows`` are the tasks with votes. Several
        choices of one annotator count as several votes.
    """

    tasks: list[dict[str, Any]]
    control: str
    kind: str
    ids: NDArray[Any]
    columns: dict[str, NDArray[Any]]
    skipped: Mask
    votes: Votes

    _fields: ClassVar[tuple[str, ...]] = ("data",)
    _asked_by: ClassVar = "control"
    _nothing: ClassVar = "no annotation with choices"
    _advice: ClassVar = 'Export the project in the format "JSON", with its annotations.'

    def annotator_columns(self) -> dict[str, NDArray[Any]]:
        """Return the choices as one column per annotator.

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
            name: np.array([_in_cell(labels) for labels in column], dtype=object)
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
        """Return copies of the tasks with one prediction each.

        Parameters
        ----------
        labels : array-like of shape (n_rows,)
            Labels, such as those of :func:`partlearn.disambiguate`.
        confidence : array-like of shape (n_rows,)
            Confidence in each, the ``score`` of the prediction.
        rows : array-like of int, shape (n_rows,), default=None
            Task of each label; the tasks with votes by default.
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
        tasks = [dict(task) for task in self.tasks]
        for place, name, score in zip(places, names, scores, strict=True):
            self._predict(tasks[place], str(name), float(score), model)
        return tasks

    def _predict(
        self, task: dict[str, Any], label: str, score: float, model: str
    ) -> None:
        result = {
            "from_name": self.control,
            "to_name": self.kind,
            "type": "choices",
            "value": {"choices": [label]},
        }
        told = {"model_version": model, "score": score, "result": [result]}
        task["predictions"] = [*(task.get("predictions") or []), told]


class ArgillaRecords(LabelStudioTasks):
    """Records exported from an Argilla dataset by ``dataset.records.to_json``.

    The attributes are as for Label Studio. `control` is the question, `columns` are the
    fields and metadata, and predictions are written as suggestions.
    """

    _fields: ClassVar[tuple[str, ...]] = ("fields", "metadata")
    _asked_by: ClassVar = "question"
    _nothing: ClassVar = "no response with a label"
    _advice: ClassVar = (
        "Export the dataset by `dataset.records.to_json`, with its responses."
    )

    def _predict(
        self, task: dict[str, Any], label: str, score: float, model: str
    ) -> None:
        told = {"value": label, "score": score, "agent": model}
        task["suggestions"] = {**(task.get("suggestions") or {}), self.control: told}


def read_label_studio(
    path: str | PathLike[str], *, control: str | None = None
) -> LabelStudioTasks:
    """Read the choices in a JSON export of Label Studio.

    Parameters
    ----------
    path : str or path
        JSON file with a list of tasks (the export format "JSON").
    control : str, default=None
        Name of the choices (``from_name`` in the labeling interface), required if there
        are several questions.

    Returns
    -------
    tasks : LabelStudioTasks
        Votes, data and the tasks. Skipped and cancelled annotations are left out.

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
    return _read(LabelStudioTasks, Path(path), control)


def read_argilla(
    path: str | PathLike[str], *, question: str | None = None
) -> LabelStudioTasks:
    """Read the responses in a JSON export of Argilla.

    Parameters
    ----------
    path : str or path
        JSON file with a list of records.
    question : str, default=None
        Name of the question, required if there are several.

    Returns
    -------
    records : LabelStudioTasks
        Responses, fields, metadata and the records. Responses whose ``status`` is
        discarded or draft are left out. Argilla does not write the status of responses:
        without it, each response is a vote.
    """
    return _read(ArgillaRecords, Path(path), question)


def read_tasks(
    path: str | PathLike[str], question: str | None = None
) -> LabelStudioTasks:
    """Read a JSON export of Label Studio or Argilla."""
    path = Path(path)
    records = _are_records(read_json(path))
    return _read(ArgillaRecords if records else LabelStudioTasks, path, question)


def _are_tasks(content: Any) -> bool:
    return _are_objects(content) and all(
        isinstance(task.get("data"), dict) for task in content
    )


def _are_records(content: Any) -> bool:
    """Whether content is a list of Argilla records."""
    if not _are_objects(content):
        return False
    answers = [record.get("responses") or {} for record in content]
    return (
        all(isinstance(record.get("fields"), dict) for record in content)
        and all(isinstance(r.get("suggestions") or {}, dict) for r in content)
        and all(isinstance(given, dict) for given in answers)
        and all(_are_objects(s, 0) for given in answers for s in given.values())
    )


def _are_objects(content: Any, least: int = 1) -> bool:
    return (
        isinstance(content, list)
        and len(content) >= least
        and all(isinstance(item, dict) for item in content)
    )


def _choices(tasks: list[dict[str, Any]], control: str | None) -> Iterator[_Vote]:
    for place, task in enumerate(tasks):
        where = f"task {place}"
        if not isinstance(task.get("id", 0), int | str):
            raise DataFormatError("'id' is neither a number nor text", where=where)
        _objects(task, "predictions", where)
        for annotation in _objects(task, "annotations", where):
            if annotation.get("was_cancelled"):
                continue
            for result in _objects(annotation, "result", where):
                name, kind = str(result.get("from_name")), str(result.get("to_name"))
                if result.get("type") == "choices" and control in (None, name):
                    who = _annotator(annotation)
                    for label in _labels(result.get("value"), where):
                        yield _Vote(name, kind, place, who, label)


def _objects(record: dict[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    found = record.get(name) or []
    if not _are_objects(found, 0):
        raise DataFormatError(f"{name!r} is not a list of objects", where=where)
    return list(found)


def _labels(value: Any, where: str) -> list[Any]:
    labels = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(labels, list) or not all(
        label is None or isinstance(label, str | int | float) for label in labels
    ):
        raise DataFormatError("'choices' is not a list of labels", where=where)
    return labels


def _annotator(annotation: dict[str, Any]) -> str:
    """Return the name of an annotator: an id or an email address."""
    who = annotation.get("completed_by")
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return "unknown" if who is None else str(who)


def _responses(records: list[dict[str, Any]], question: str | None) -> Iterator[_Vote]:
    for place, record in enumerate(records):
        for name, responses in (record.get("responses") or {}).items():
            for response in responses if question in (None, name) else ():
                if response.get("status") in _DROPPED:
                    continue
                who = str(response.get("user_id") or "unknown")
                value = response.get("value")
                for label in value if isinstance(value, list) else [value]:
                    if isinstance(label, str | int):
                        yield _Vote(name, "", place, who, str(label))


def _read(
    kind: type[LabelStudioTasks], path: Path, question: str | None
) -> LabelStudioTasks:
    """Read an export, with the votes on one question."""
    tasks = read_json(path)
    argilla = kind is ArgillaRecords
    if not (_are_records if argilla else _are_tasks)(tasks):
        what = "records with fields" if argilla else "tasks with data"
        raise DataFormatError(f"not a list of {what}", path=path, advice=kind._advice)
    with located(path=path):
        given = list((_responses if argilla else _choices)(tasks, question))
    if not given:
        named = "" if question is None else f" to {question!r}"
        raise DataFormatError(kind._nothing + named, path=path, advice=kind._advice)
    questions, kinds, rows, annotators, labels = zip(*given, strict=True)
    if len(names := list(dict.fromkeys(questions))) > 1:
        raise AmbiguousDataError(
            f"several questions: {', '.join(names)}",
            path=path,
            advice=f"Name one of them with {argument(kind._asked_by)}.",
        )
    ids = [task.get("id", place) for place, task in enumerate(tasks)]
    if argilla:
        ids = [str(name or place) for place, name in enumerate(ids)]
    votes = from_votes(rows, annotators, labels, n_rows=len(tasks), empty="drop")
    skipped = np.ones(len(tasks), dtype=bool)
    skipped[votes.rows] = False
    cells = [_data_of(task, kind._fields) for task in tasks]
    columns = {}
    for key in dict.fromkeys(key for cell in cells for key in cell):
        columns[key] = np.full(len(cells), None, dtype=object)
        columns[key][:] = [nested_as_json(cell.get(key)) for cell in cells]
    return kind(tasks, names[0], kinds[0], np.array(ids), columns, skipped, votes)


def _data_of(task: dict[str, Any], parts: tuple[str, ...]) -> dict[str, Any]:
    """Return the entries of several parts of a task; of equal names, the first."""
    data: dict[str, Any] = {}
    for part in parts:
        found = task.get(part)
        for name, value in found.items() if isinstance(found, dict) else ():
            data.setdefault(name, value)
    return data


def _in_cell(labels: list[str]) -> str:
    """Join the labels of one annotator for one task with ``|``."""
    if marked := [label for label in labels if "|" in label]:
        raise DataFormatError(
            f"label {marked[0]!r} holds |, which separates labels in a table",
            advice="Rename it in the export.",
        )
    return "|".join(labels)


def write_label_studio(tasks: list[dict[str, Any]], path: str | PathLike[str]) -> None:
    """Write tasks to a JSON file that Label Studio can import.

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
    try:
        text = json.dumps(tasks, ensure_ascii=False, indent=2)
    except RecursionError:
        raise DataFormatError("the data are nested too deeply to be written") from None
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))
