"""``partlearn data``: list, look at, convert, fetch and make data sets."""

# SPDX-License-Identifier: BSD-3-Clause

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partlearn.cli import _input, _options
from partlearn.cli._console import plain, print_json, say

if TYPE_CHECKING:
    from sklearn.utils import Bunch

app = typer.Typer(
    help="List, look at, convert, fetch and make data sets.", no_args_is_help=True
)
Home = Annotated[
    Path | None, typer.Option(help="Folder of fetched files (or PARTLEARN_DATA).")
]
_BUNDLED = {
    "breast_cancer": "scikit-learn's breast cancer: 569 x 30, 2 labels",
    "digits": "scikit-learn's digits: 1797 x 64, 10 labels",
    "iris": "scikit-learn's iris: 150 x 4, 3 labels",
    "wine": "scikit-learn's wine: 178 x 13, 3 labels",
}


@app.command("list")
def list_(as_json: _options.Json = False, data_home: Home = None) -> None:
    """List the data sets that can be loaded or fetched."""
    from partlearn.datasets import REGISTRY, data_folder

    folder = data_folder(data_home)
    rows = [
        {"name": name, "how": "load", "here": True, "about": about}
        for name, about in _BUNDLED.items()
    ]
    rows += [
        {
            "name": entry.name,
            "how": "fetch",
            "here": (folder / entry.file).is_file(),
            "about": entry.about,
            "license": entry.license,
            "size": entry.size or None,
            "checksum": "known" if entry.known else "recorded on the first fetch",
        }
        for entry in REGISTRY.values()
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        here = "here" if row["here"] else "-"
        typer.echo(f"{row['name']:<18} {row['how']:<6} {here:<5} {row['about']}")


def _facts(bunch: "Bunch") -> dict[str, Any]:
    import scipy.sparse as sp

    m, d = bunch.data.shape
    facts: dict[str, Any] = {
        "task": bunch.task,
        "n_samples": m,
        "n_features": d,
        "n_classes": len(bunch.target_names),
        "sparse": bool(sp.issparse(bunch.data)),
        "dtype": str(bunch.data.dtype),
        "truth": bunch.truth is not None,
    }
    if bunch.candidates is not None:
        facts["mean_set_size"] = float(bunch.candidates.sum() / m)
    if "test" in bunch:
        facts["n_test_samples"] = bunch.test.data.shape[0]
    if "bags" in bunch:
        facts["n_bags"] = len(set(bunch.bags.tolist()) - {""})
    if "folds" in bunch:
        facts["n_folds"] = len(bunch.folds)
    return facts


@app.command()
@_options.with_options(without=["votes"])
def info(
    name: str,
    *,
    options: _options.DataOptions,
    data_home: Home = None,
    as_json: _options.Json = False,
) -> None:
    """Describe a data set; nothing is downloaded.

    Parameters
    ----------
    name
        Name of a known data set, or a file.
    """
    import partlearn.datasets as sets

    if name in _BUNDLED:
        bunch = getattr(sets, f"load_{name}_partial")()
    elif name in sets.REGISTRY:
        bunch = sets.fetch(name, data_home=data_home, download=False)
    elif Path(name).exists():
        bunch = _input.read_data(Path(name), options).to_bunch()
    else:
        raise FileNotFoundError(
            f"{name}: no file and no data set of this name; `partlearn data list` "
            "lists the data sets"
        )
    facts = _facts(bunch)
    if as_json:
        facts["description"] = bunch.DESCR
        facts["labels"] = bunch.target_names
        print_json(facts)
        return
    for key, value in facts.items():
        shown = f"{value:.3f}" if isinstance(value, float) else value
        typer.echo(plain(f"{key:<16} {shown}"))
    typer.echo(f"\n{plain(bunch.DESCR)}")


def _written(path: Path, as_json: bool, **facts: Any) -> None:
    if as_json:
        print_json({"path": str(path)} | facts)
    elif str(path) != "-":
        typer.echo(str(path))


@app.command()
@_options.with_options(without=["votes"])
def convert(
    source: Path,
    target: Path,
    *,
    options: _options.DataOptions,
    tasks: Path | None = None,
    question: str | None = None,
    safe_csv: bool = False,
    as_json: _options.Json = False,
) -> None:
    """Convert a data file to another format.

    Matrix formats (npz, mat) hold encoded columns; table formats keep them as they are.
    Bags are kept. A .json export of Label Studio becomes a table with a column per
    annotator, and so do records of argilla; with --tasks, the labels of a table become
    predictions or suggestions in such a file. An .npy file is an array of cleanlab:
    labels, labels_multiannotator or pred_probs.

    Parameters
    ----------
    source
        The file to read.
    target
        The file to write: npz, parquet, csv, mat, arrow, npy.
    tasks
        Tasks of Label Studio or records of argilla (.json), to which the labels of the
        table are added by the column id.
    question
        Question of Label Studio (from_name) or argilla, if there are several.
    safe_csv
        Put a quotation mark before text that a spreadsheet would take for a formula.
    """
    from partlearn.io import TableWriter, is_table, read_cleanlab, write

    printed = {"TARGET": target}
    _options.check_files([source, tasks], {}, printed=printed, as_json=as_json)
    columns: Any = None
    if source.suffix == ".json":
        columns = _task_columns(source, question)
        facts: dict[str, Any] = {"rows": len(columns["id"])}
    elif tasks is not None:
        facts = {"rows": _to_tasks(source, tasks, target, question)}
    elif source.suffix == ".npy":
        columns = read_cleanlab(source)
        facts = {"columns": list(columns)}
    elif target.suffix == ".npy":
        facts = _to_array(source, target, options)
    else:
        bunch = _input.read_data(source, options).to_bunch()
        for part in ("test", "folds"):
            if part in bunch:
                say(f"partlearn: `{part}` is not converted")
        facts = _facts(bunch)
        if is_table(target):  # the same table in another format
            columns = bunch.get("columns")
            if columns is not None and options.bag == "runs":
                columns = {**columns, "bag:id": bunch.bags}  # no column has them
        if columns is None:
            _options.check_files((), {"TARGET": target})
            write(bunch, target, safe_csv=safe_csv)
    if columns is not None:
        with TableWriter(target, safe_csv=safe_csv) as writer:
            writer.write(columns)
    _written(target, as_json, **facts)
    if target.suffix == ".npy" and not as_json:
        names = facts["classes"].items()
        typer.echo(", ".join(f"{i} is {plain(name)}" for i, name in names))


def _task_columns(source: Path, question: str | None) -> dict[str, Any]:
    """Read tasks or records as columns of a table."""
    from partlearn.io import read_tasks

    read = read_tasks(source, question)
    fields = {f"field {n}" if n == "id" else n: c for n, c in read.columns.items()}
    columns = {"id": read.ids, **fields}
    for name, cells in read.annotator_columns().items():
        # An annotator is a number in most projects, and may be called like a field.
        bare = name not in columns and not name.isdigit()
        columns[name if bare else f"annotator {name}"] = cells
    return columns


def _to_tasks(source: Path, tasks: Path, target: Path, question: str | None) -> int:
    """Write tasks with the labels of a table as predictions; returns their number."""
    from partlearn.io import read_tasks, write_label_studio
    from partlearn.tables import as_text, check_names, numbers_in, read_columns

    columns = read_columns(source)
    read = read_tasks(tasks, question)
    check_names(["id", "label"], columns, "tasks")
    place = {str(name): i for i, name in enumerate(read.ids.tolist())}
    if len(place) < len(read.ids):
        raise ValueError(
            f"--tasks: tasks of {tasks.name} share an id; give each its own"
        )
    names = [str(as_text(name)) for name in columns["id"].tolist()]
    if unknown := [name for name in names if name not in place]:
        raise ValueError(f"--tasks: {tasks.name} has no task {unknown[0]!r}")
    key = "confidence" if "confidence" in columns else "probability"
    check_names([key], columns, "tasks")
    rows = [place[name] for name in names]
    labels = [str(as_text(label)) for label in columns["label"].tolist()]
    scores = numbers_in(columns[key])
    write_label_studio(read.with_predictions(labels, scores, rows=rows), target)
    return len(names)


def _to_array(
    source: Path, target: Path, options: _options.DataOptions
) -> dict[str, Any]:
    """Write the labels of a file as an array of cleanlab; returns facts about it."""
    import numpy as np

    from partlearn.io import atomic_write, class_numbers, cleanlab_array

    data = _input.read_data(source, options)
    array = cleanlab_array(data.evidence, data.n_rows)
    with atomic_write(target) as file:
        np.save(file, array, allow_pickle=False)
    classes = data.evidence.classes
    numbers = map(str, class_numbers(classes).tolist())
    names = dict(zip(numbers, map(str, classes.tolist()), strict=True))
    return {"shape": list(array.shape), "classes": names}


@app.command()
@_options.with_options()
def fetch(
    name: str,
    *,
    data_home: Home = None,
    timeout: float = 30.0,
    as_json: _options.Json = False,
) -> None:
    """Download a data set, unless it is there, and print its path.

    Parameters
    ----------
    name
        Name in the list.
    timeout
        Seconds per server.
    """
    from partlearn.datasets import fetch_file
    from partlearn.io import read

    def show(have: int, size: int) -> None:
        print(f"\r{name}: {100 * have // size} %", end="", file=sys.stderr)

    terminal = sys.stderr.isatty()
    with _input.notes():
        path = fetch_file(
            name,
            data_home=data_home,
            timeout=timeout,
            progress=show if terminal else None,
        )
        if terminal:
            print(file=sys.stderr)
    # A .csv is a table for pandas: it does not say what is what.
    facts = {} if path.suffix == ".csv" else _facts(read(path))
    _written(path, as_json, **facts)


@app.command()
@_options.with_options()
def make(
    target: Path,
    *,
    samples: int = 200,
    features: int = 20,
    informative: int = 4,
    redundant: int = 4,
    classes: int = 5,
    false: int = 1,
    seed: int = 0,
    tickets: bool = False,
    as_json: _options.Json = False,
) -> None:
    """Make synthetic partial-label data with planted informative features.

    Parameters
    ----------
    target
        The file to write: npz, parquet, csv, mat, arrow.
    samples
        Rows.
    features
        Columns.
    informative
        Informative columns.
    redundant
        Linear combinations of informative columns.
    classes
        Number of labels.
    false
        False labels in each set.
    seed
        Random seed.
    tickets
        Make a table of support tickets, with dates, text and missing values.
    """
    from partlearn.datasets import make_partial_classification, make_tickets
    from partlearn.io import TableWriter, write

    place = {"TARGET": target}
    if tickets:
        _options.check_files((), {}, printed=place, as_json=as_json)
        columns = make_tickets(samples, random_state=seed).columns
        with TableWriter(target) as writer:
            writer.write(columns)
        _written(target, as_json, columns=list(columns))
        return
    _options.check_files((), place)
    bunch = make_partial_classification(
        samples,
        n_features=features,
        n_informative=informative,
        n_redundant=redundant,
        n_classes=classes,
        n_false=false,
        random_state=seed,
    )
    planted = {k: bunch[k].tolist() for k in ("informative", "redundant", "noise")}
    _written(write(bunch, target), as_json, **_facts(bunch), **planted)
