"""Every verb gives the same answer from Python and from the command line."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

import partlearn
from partlearn._arguments import arguments_as
from partlearn._registry import DEFAULT_METHOD, build
from partlearn.benchmark import load_plan, run_plan
from partlearn.check import check
from partlearn.cli.__main__ import main
from partlearn.cli._app import app
from partlearn.cli._options import as_option
from partlearn.datasets import load_wine_partial, make_partial_classification
from partlearn.io import read, write
from partlearn.report import summarize, to_markdown
from partlearn.tables import read_columns


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    """Wine with one false label, as a file and as what the library reads from it."""
    path = write(load_wine_partial(), tmp_path_factory.mktemp("wine") / "wine.csv")
    return path, read(path)


@pytest.fixture
def run(capsys):
    def call(*argv):
        with pytest.raises(SystemExit) as end:
            main([str(a) for a in argv])
        assert not end.value.code
        return capsys.readouterr().out

    return call


def table(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "method", [None, "sure", "pl-knn", "cenda", "crisp-selector", "pl-svm"]
)
def test_disambiguate(run, wine, tmp_path, method):
    path, bunch = wine
    out = tmp_path / "labels.csv"
    chosen = [] if method is None else ["--method", method]
    outcome = json.loads(run("disambiguate", path, *chosen, "--out", out, "--json"))
    columns = read_columns(path)
    right = columns.pop("truth")
    result = partlearn.disambiguate(
        columns, "candidates", method=method or DEFAULT_METHOD
    )
    rows = table(out)
    assert [row["label"] for row in rows] == result.label.tolist()
    given = [float(row["confidence"]) for row in rows]
    np.testing.assert_allclose(given, result.confidence, atol=1e-6)
    agreement = result.agreement(right)
    # Columns of numbers are standardised, whichever way they come.
    plain = partlearn.disambiguate(
        bunch.data, bunch.candidates, method=method or DEFAULT_METHOD
    )
    same = np.asarray(bunch.target_names)[plain.label] == result.label
    assert same.mean() > 0.98
    assert outcome["accuracy"] == agreement.accuracy
    assert outcome["ambiguous_accuracy"] == agreement.ambiguous_accuracy
    assert outcome["chance"] == agreement.chance


@pytest.mark.parametrize(
    ("command", "method"),
    [
        ("reduce", "crisp"),
        ("reduce", "cenda"),
        ("reduce", "kernel-crisp"),
        ("select", "saute"),
    ],
)
def test_reduce_and_select(run, wine, tmp_path, command, method):
    path, bunch = wine
    out = tmp_path / "out.csv"
    run(command, path, "--method", method, "--out", out)
    params = {"n_features_to_select": "auto"} if command == "select" else {}
    estimator = build(method, params, seed=0)
    # Training rows, hence cross-fitted ones where the method cross-fits.
    expected = estimator.fit_transform(bunch.data, bunch.candidates)
    names = estimator.get_feature_names_out(bunch.feature_names)
    rows = table(out)
    given = np.array([[float(row[name]) for name in names] for row in rows])
    np.testing.assert_array_equal(given, expected)


def test_check(run, wine, tmp_path):
    path, bunch = wine
    with arguments_as(as_option):
        report = check(read_columns(path), "candidates", "truth")
    assert json.loads(run("check", path, "--json")) == json.loads(report.to_json())
    assert run("check", path) == report.to_text() + "\n"
    matrix = write(bunch, tmp_path / "wine.npz")
    report = check(
        bunch.data,
        bunch.candidates,
        bunch.truth,
        feature_names=bunch.feature_names,
        target_names=bunch.target_names,
    )
    assert json.loads(run("check", matrix, "--json")) == json.loads(report.to_json())


PLAN = """[plan]
name = "small"
folds = 2
[[data]]
source = "sklearn:iris"
r = 1
[[reducers]]
class = "CENDA"
[[learners]]
class = "PLKNN"
"""


def test_bench_and_report(run, tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(PLAN)
    run("bench", path, "--out", tmp_path / "command", "--json")
    run_plan(load_plan(path), tmp_path / "python")
    cells = [
        [(row["id"], row["value"]) for row in run_rows(tmp_path / folder)]
        for folder in ("command", "python")
    ]
    assert len(cells[0]) == 2
    assert cells[0] == cells[1]
    page = tmp_path / "report.md"
    run("report", tmp_path / "command", "--markdown", page)
    assert page.read_text() == to_markdown(summarize(tmp_path / "command"))


def run_rows(folder):
    import pyarrow.parquet as pq

    rows = pq.read_table(folder / "results.parquet").to_pylist()
    return sorted((r for r in rows if r["metric"] == "accuracy"), key=lambda r: r["id"])


def test_data_make_and_convert(run, tmp_path):
    made = tmp_path / "made.npz"
    run("data", "make", made, "--samples", 30, "--seed", 3)
    expected = make_partial_classification(30, random_state=3)
    bunch = read(made)
    np.testing.assert_array_equal(bunch.data, expected.data)
    np.testing.assert_array_equal(bunch.candidates, expected.candidates)
    run("data", "convert", made, tmp_path / "command.parquet")
    write(bunch, tmp_path / "python.parquet")
    ours, theirs = (read(tmp_path / f"{n}.parquet") for n in ("command", "python"))
    np.testing.assert_array_equal(ours.data, theirs.data)
    np.testing.assert_array_equal(ours.candidates, theirs.candidates)
    facts = json.loads(run("data", "info", made, "--json"))
    assert (facts["n_samples"], facts["n_features"]) == bunch.data.shape


def test_train_and_predict(run, wine, tmp_path):
    path, _ = wine
    model, out = tmp_path / "model.partlearn", tmp_path / "out.csv"
    options = ("--labels", "candidates", "--ignore", "truth", "--folds", 0)
    run("train", path, *options, "--save", model)
    run("predict", path, "--load", model, "--out", out)
    columns = read_columns(path)
    python = partlearn.PartialClassifier(labels="candidates", ignore="truth")
    expected = python.fit(columns).predictions(columns)
    rows = table(out)
    assert [row["label"] for row in rows] == expected["label"].tolist()
    given = [float(row["probability"]) for row in rows]
    np.testing.assert_array_equal(given, expected["probability"])


def test_ask(run, wine, tmp_path):
    path, _ = wine
    out = tmp_path / "asked.csv"
    options = ("--labels", "candidates", "--ignore", "truth", "--budget", 5)
    run("ask", path, *options, "--out", out)
    columns = read_columns(path)
    del columns["truth"]
    result = partlearn.disambiguate(columns, "candidates")
    rows = [int(row["row"]) for row in table(out)]
    assert rows == partlearn.rank_rows(result, budget=5).tolist()


def test_every_verb_is_compared():
    """Each command is run above, but those that only print or ask the network."""
    verbs = set()
    for name, command in get_command(app).commands.items():
        inner = getattr(command, "commands", {})
        verbs |= {f"{name} {part}" for part in inner} or {name}
    text = Path(__file__).read_text(encoding="utf-8")
    calls = re.findall(r'run\(\s*"(\w+)"(?:, "(make|convert|info)")?', text)
    compared = {" ".join(filter(None, call)) for call in calls}
    assert verbs - compared - {"reduce", "select"} == {
        "demo",
        "data list",
        "data fetch",
    }
