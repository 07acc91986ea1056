"""``partlearn train`` and ``partlearn predict`` as a user runs them."""

import contextlib
import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from partlearn import PartialClassifier, disambiguate
from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates
from partlearn.cli.__main__ import main
from partlearn.datasets import make_tickets
from partlearn.io import table_blocks
from partlearn.persistence import load_model, save_model
from partlearn.tables import TableEncoder, read_columns

OPTIONS = ["--labels", "candidates", "--id", "ticket", "--method", "pl-knn"]


def write_csv(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        cells = [
            ["" if v is None or v != v else v for v in c] for c in columns.values()
        ]
        writer.writerows(zip(*cells, strict=True))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Training table with truth, new table without labels, and a model."""
    folder = tmp_path_factory.mktemp("tickets")
    known, new = make_tickets(200), make_tickets(30, random_state=1)
    train = write_csv(folder / "train.csv", known.columns | {"answer": known.truth})
    other = {n: c for n, c in new.columns.items() if n != "candidates"}
    write_csv(folder / "new.csv", other)
    model = folder / "m.partlearn"
    call("train", train, *OPTIONS, "--truth", "answer", "--save", model)
    return folder


def call(*argv):
    try:
        main([str(a) for a in argv])
    except SystemExit as end:
        return end.code or 0
    raise AssertionError("a command ends with an exit code")


def predicted(files, source, out, *more):
    model = files / "m.partlearn"
    return call("predict", source, "--load", model, "--out", out, *more)


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_train_reports_columns_and_quality(files, capsys, tmp_path):
    save = tmp_path / "m.partlearn"
    code = call(
        "train", files / "train.csv", *OPTIONS, "--truth", "answer", "--save", save
    )
    out = capsys.readouterr().out
    assert code == 0
    assert "ticket      id        given (left out)" in out
    assert "PLKNN on single candidates" in out
    assert "random label" in out
    assert "likely right     right" in out
    assert save.exists()
    code = call(
        "train", files / "train.csv", *OPTIONS, "--ignore", "answer", "--save", save,
        "--json", "--folds", 2,
    )  # fmt: skip
    outcome = json.loads(capsys.readouterr().out)
    assert code == 0
    assert outcome["columns"]["opened"]["kind"] == "date"
    assert [score["accuracy"] for score in outcome["held_out"]] == [None] * 4


def test_probabilities_that_are_too_high_are_reported(capsys, tmp_path):
    """Eight classes that overlap, three candidates in each row."""
    rng = np.random.default_rng(10)
    y = rng.integers(0, 8, 600)
    X = 0.3 * rng.normal(size=(8, 2))[y] + rng.normal(size=(600, 2))
    S = make_candidates(y, 2, random_state=10)
    rows = ["a,b,kind"]
    for (a, b), labels in zip(X, S, strict=True):
        kind = "|".join("abcdefgh"[j] for j in np.flatnonzero(labels))
        rows.append(f"{a:.4f},{b:.4f},{kind}")
    data = tmp_path / "overlap.csv"
    data.write_text("\n".join(rows) + "\n")
    words = ("--labels", "kind", "--method", "pl-knn", "--save", tmp_path / "m")
    assert call("train", data, *words) == 0
    told = capsys.readouterr().out
    assert "Probabilities are too high" in told
    assert re.search(r"^PLKNN +[.\d]+ +0\.\d\d to 0\.\d\d$", told, re.M)


def test_of_many_rows_a_part_is_held_out(files, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(SIZES, "exact_rows", 50)
    words = ("train", files / "train.csv", *OPTIONS, "--ignore", "answer")
    assert call(*words, "--save", tmp_path / "m.partlearn") == 0
    told = capsys.readouterr()
    assert "up to 10 rows, once, by a model of 40" in told.out
    assert "random label" in told.out
    assert call(*words, "--save", tmp_path / "m2.partlearn", "--folds", 2) == 0
    told = capsys.readouterr()
    assert "on held-out rows (2 folds)" in told.out


def test_predict_is_the_same_from_python(files, capsys, tmp_path):
    out = tmp_path / "predictions.csv"
    assert predicted(files, files / "new.csv", out) == 0
    assert "30 rows labeled, 0 unlike" in capsys.readouterr().out
    columns = read_columns(files / "train.csv")
    model = PartialClassifier(
        "pl-knn", labels="candidates", id="ticket", ignore="answer"
    )
    expected = model.fit(columns).predictions(read_columns(files / "new.csv"))
    rows = table(out)
    assert list(rows[0]) == list(expected)
    assert [row["label"] for row in rows] == expected["label"].tolist()
    assert [row["ticket"] for row in rows] == expected["ticket"].tolist()
    given = [float(row["probability"]) for row in rows]
    np.testing.assert_array_equal(given, expected["probability"])


def test_two_processes(files, tmp_path):
    out = tmp_path / "predictions.csv"
    command = [sys.executable, "-m", "partlearn", "predict", "-"]
    with (files / "new.csv").open("rb") as file:
        done = subprocess.run(
            [*command, "--load", str(files / "m.partlearn"), "--out", "-"],
            stdin=file,
            capture_output=True,
            check=True,
        )
    assert predicted(files, files / "new.csv", out) == 0
    assert done.stdout == out.read_bytes()
    assert b"30 rows labeled" in done.stderr


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".tsv", ".csv.gz", ".arrow"])
def test_formats_in(files, tmp_path, suffix):
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    columns = read_columns(files / "new.csv")
    source = tmp_path / f"new{suffix}"
    if suffix == ".jsonl":
        lines = zip(*columns.values(), strict=True)
        rows = [json.dumps(dict(zip(columns, cells, strict=True))) for cells in lines]
        source.write_text("\n".join(rows) + "\n\n")
    elif suffix == ".csv.gz":
        source.write_bytes(gzip.compress((files / "new.csv").read_bytes()))
    elif suffix == ".tsv":
        text = (files / "new.csv").read_text()
        rows = csv.reader(io.StringIO(text))
        source.write_text("".join("\t".join(row) + "\n" for row in rows))
    else:
        frame = pa.table({name: column.tolist() for name, column in columns.items()})
        write = pq.write_table if suffix == ".parquet" else pa.feather.write_feather
        write(frame, source)
    plain, out = tmp_path / "plain.csv", tmp_path / "out.csv"
    predicted(files, files / "new.csv", plain)
    assert predicted(files, source, out) == 0
    assert out.read_text() == plain.read_text()


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_formats_out(files, tmp_path, suffix, capsys):
    out = tmp_path / f"out{suffix}"
    code = call(
        "predict",
        files / "new.csv",
        "--load",
        files / "m.partlearn",
        "--out",
        out,
        "--json",
    )
    assert code == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 30
    again = read_columns(out)
    assert again["ticket"][0] == "T-00001"
    assert again["probability"].dtype == np.float64


def test_blocks_give_the_same_labels(files, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    predicted(files, files / "new.csv", whole)
    monkeypatch.setattr(SIZES, "predicted_rows", 7)
    assert len(list(table_blocks(files / "new.csv", block_rows=7))) == 5
    predicted(files, files / "new.csv", parts)
    assert whole.read_text() == parts.read_text()


def test_rows_are_numbered_through_all_blocks(files, tmp_path, monkeypatch):
    source = tmp_path / "nameless.csv"
    columns = read_columns(files / "new.csv")
    write_csv(source, {n: c for n, c in columns.items() if n != "ticket"})
    out = tmp_path / "out.csv"
    predicted(files, source, out)
    assert [int(row["row"]) for row in table(out)] == list(range(30))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_column_that_names_rows_may_be_called_row(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(SIZES, "predicted_rows", 7)
    table = pa.table(
        {
            "row": [10 * i for i in range(30)],
            "x": [i % 7 + 0.5 for i in range(30)],
            "kind": [["u", "v", "u|v"][i % 3] for i in range(30)],
        }
    )
    source = tmp_path / f"in{suffix}"
    (pyarrow.csv.write_csv if suffix == ".csv" else pyarrow.parquet.write_table)(
        table, source
    )
    model, out = tmp_path / "m.partlearn", tmp_path / "out.csv"
    options = ["--labels", "kind", "--id", "row", "--method", "pl-knn", "--folds", 0]
    assert call("train", source, *options, "--save", model) == 0
    assert call("predict", source, "--load", model, "--out", out) == 0
    with out.open(newline="") as file:
        rows = [int(line["row"]) for line in csv.DictReader(file)]
    assert rows == table["row"].to_pylist()


def test_other_orders_and_columns(files, tmp_path, capsys):
    columns = read_columns(files / "new.csv")
    plain, out = tmp_path / "plain.csv", tmp_path / "out.csv"
    predicted(files, files / "new.csv", plain)
    turned = dict(reversed(columns.items())) | {"more": np.zeros(30)}
    source = write_csv(tmp_path / "turned.csv", turned)
    assert predicted(files, source, out) == 0
    assert out.read_text() == plain.read_text()
    columns["channel"][0] = "pigeon"
    source = write_csv(tmp_path / "pigeon.csv", columns)
    assert predicted(files, source, out) == 0
    assert table(out)[0]["unlike"] == "unusual channel"
    del columns["amount"]
    source = write_csv(tmp_path / "less.csv", columns)
    capsys.readouterr()
    before = out.read_text()
    assert predicted(files, source, out) == 1
    err = capsys.readouterr().err
    assert "less.csv: the table lacks columns that the model was fitted on: 'amo" in err
    assert err.endswith("Add or rename them.\n")
    assert out.read_text() == before
    assert not list(tmp_path.glob(".*"))


def test_wrong_words(files, tmp_path, capsys):
    save = tmp_path / "m.partlearn"

    def err(*argv):
        code = call(*argv)
        captured = capsys.readouterr()
        assert code in (1, 2), captured
        assert not save.exists()
        return captured.err

    train = files / "train.csv"
    assert "Did you mean 'candidates'" in err(
        "train", train, "--labels", "candidate", "--save", save
    )
    assert "Did you mean 'ticket'" in err(
        "train", train, "--id", "tickets", "--save", save
    )
    assert "Did you mean 'answer'" in err(
        "train", train, "--truth", "answr", "--save", save
    )
    assert "Column 'answer' holds labels" in err("train", train, "--save", save)
    assert "Name it with --labels" in err("train", files / "new.csv", "--save", save)
    assert "Did you mean PLKNN" in err(
        "train", train, "--method", "pl-kn", "--save", save, "--truth", "answer"
    )
    assert "Did you mean 'new.csv'" in err("train", files / "none.csv", "--save", save)
    model = tmp_path / "other.partlearn"
    from partlearn.classification import PLKNN

    save_model(PLKNN(1).fit([[0.0], [1.0]], [0, 1]), model)
    out = tmp_path / "o.csv"
    assert "holds a PLKNN" in err("predict", train, "--load", model, "--out", out)
    assert "both write to standard output" in err(
        "predict", train, "--load", files / "m.partlearn", "--out", "-", "--json"
    )
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    assert "no header line" in err(
        "predict", empty, "--load", files / "m.partlearn", "--out", out
    )
    empty.write_text("a,b\n")
    model = files / "m.partlearn"
    assert "no rows" in err("predict", empty, "--load", model, "--out", out)
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"a": 1}\n[1]\n')
    assert "line 2 is not a JSON object" in err(
        "predict", bad, "--load", files / "m.partlearn", "--out", out
    )
    bad.write_text("{")
    assert "line 1 is not JSON" in err(
        "predict", bad, "--load", files / "m.partlearn", "--out", out
    )


def test_any_classifier(files, tmp_path):
    save = tmp_path / "m.partlearn"
    code = call(
        "train", files / "train.csv", "--id", "ticket", "--truth", "answer",
        "--estimator", "sklearn.linear_model:LogisticRegression", "--param", "C=0.5",
        "--folds", 0, "--save", save,
    )  # fmt: skip
    assert code == 0
    inner = load_model(save).estimator.estimator_
    assert inner.estimator.C == 0.5


def test_what_cannot_be_saved_is_not_fitted(files, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(PartialClassifier, "fit", lambda *_: pytest.fail("fitted"))
    options = ["--labels", "candidates", "--estimator", "sklearn.svm:SVC"]
    assert call("train", files / "train.csv", *options, "--save", tmp_path / "m") == 2
    assert "SVC, which model files do not hold" in capsys.readouterr().err


def test_an_interrupted_run_leaves_no_file(files, tmp_path, monkeypatch):
    out = tmp_path / "out.csv"

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(PartialClassifier, "predictions", interrupted)
    with contextlib.suppress(KeyboardInterrupt, AssertionError):
        predicted(files, files / "new.csv", out)
    assert list(tmp_path.iterdir()) == []


def test_sigterm_leaves_no_file_either(files, tmp_path, monkeypatch):
    out, before = tmp_path / "out.csv", signal.getsignal(signal.SIGTERM)

    def ended(*_, **__):
        assert list(tmp_path.iterdir())  # the table that is being written
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)  # the second one is not heard

    monkeypatch.setattr(PartialClassifier, "predictions", ended)
    assert predicted(files, files / "new.csv", out) == 128 + signal.SIGTERM == 143
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_thread_may_call_the_command_line():
    """Only the main thread may handle signals."""
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(call, "--version").result() == 0


def test_long_tables_of_votes(files, tmp_path, capsys):
    """One line per row, annotator and label: as from_votes in Python."""
    from partlearn.candidates import from_votes

    tickets = make_tickets(120)
    columns = {n: c for n, c in tickets.columns.items() if n != "candidates"}
    data = write_csv(tmp_path / "data.csv", columns)
    rng = np.random.default_rng(0)
    picked = rng.integers(0, 115, 400)  # the last five rows have no vote
    names = np.asarray(columns["ticket"])[picked]
    right = np.asarray(tickets.truth)[picked]
    said = np.where(rng.random(400) < 0.7, right, rng.permutation(right))
    who = np.array(["ann", "bob", "eve"])[rng.integers(0, 3, 400)]
    long = {"ticket": names, "worker": who, "answer": said}
    votes = write_csv(tmp_path / "votes.csv", long)
    out = tmp_path / "labels.csv"
    words = ("--votes", votes, "--id", "ticket")
    code = call("disambiguate", data, *words, "--method", "pl-knn", "--out", out)
    assert code == 0
    assert "rows with no label, or with all of them" in capsys.readouterr().err
    tickets = {"index": np.asarray(columns["ticket"])}
    evidence = from_votes(names, who, said, empty="all", **tickets)
    result = disambiguate(
        columns, evidence, method="pl-knn", encoder=TableEncoder(id="ticket")
    )
    evidence = from_votes(names, who, said, empty="drop", **tickets)
    assert [row["label"] for row in table(out)] == result.label.tolist()
    assert [row["ticket"] for row in table(out)] == result.index.tolist()
    model = tmp_path / "m.model"
    words = (*words, "--method", "pl-knn", "--folds", "2", "--save", model)
    assert call("train", data, *words) == 0
    text = capsys.readouterr().out
    assert f"{120 - len(evidence)} rows without labels left out" in text
    assert call("check", data, "--votes", votes, "--id", "ticket") == 0
    assert "6 labels" in capsys.readouterr().out
    # Rows by their number, columns by name.
    numbered = {"n": picked, "who": who, "what": said}
    write_csv(votes, numbered)
    words = ("--votes", votes, "--labels", "n,who,what", "--method", "pl-knn")
    assert call("disambiguate", data, *words, "--out", tmp_path / "2.csv") == 0
    labels = [row["label"] for row in table(tmp_path / "2.csv")]
    assert len(labels) == 120  # those without votes, too
    for words, message in (
        ((), "Name the column of the rows with --id"),
        (("--labels", "n,who,waht"), "--labels: there is no column 'waht'. Did you"),
        (("--labels", "n,who"), "found 'n', 'who', 'what'"),
        (("--labels", "what,who,n"), "have no row"),
    ):
        code = call("train", data, "--votes", votes, *words, "--save", model)
        assert code in (1, 2)
        assert message in capsys.readouterr().err
    write_csv(votes, {"ticket": ["T-9"], "worker": ["ann"], "label": ["bug"]})
    words = ("--votes", votes, "--id", "ticket", "--save", model)
    assert call("train", data, *words) == 1
    assert "'T-9' (vote 0) is not in column 'ticket' of the data" in (
        capsys.readouterr().err
    )


def test_weights_of_classes_and_groups(files, tmp_path, capsys):
    source, model = files / "train.csv", tmp_path / "m.model"
    words = (*OPTIONS, "--ignore", "answer", "--folds", "2", "--save", model)
    more = ("--groups", "product", "--class-weight", "bug=50")
    assert call("train", source, *words, *more) == 0
    assert "groups of the rows (left out)" in capsys.readouterr().out
    fitted = load_model(model).estimator
    assert fitted.class_weights_[list(fitted.classes_).index("bug")] == 50
    for word, message in (
        ("bug", "must be balanced, or a label and a number"),
        ("bgu=2", "--class-weight: there is no label 'bgu'. Did you mean 'bug'"),
    ):
        assert call("train", source, *words, "--class-weight", word) == 2
        assert message in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_an_interrupt_leaves_no_half_file(files, tmp_path):
    """SIGINT while rows are still coming: no output, no temporary file."""
    out = tmp_path / "out.csv"
    # Shells let what they start in the background ignore SIGINT, and so do children.
    code = (
        "import signal, sys\n"
        "from partlearn.cli.__main__ import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", code, "predict", "-"]
    command += ["--load", str(files / "m.partlearn"), "--out", str(out)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    head, *lines = (files / "new.csv").read_bytes().splitlines(keepends=True)
    process.stdin.write(head)
    for _ in range(120):  # until rows are being written
        process.stdin.write(b"".join(lines) * 50)
        process.stdin.flush()
        if any(tmp_path.iterdir()):
            break
        time.sleep(0.1)
    assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.stdin = None
    _, err = process.communicate(timeout=300)
    assert process.returncode not in (0, None)
    assert b"Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_nothing_is_said_of_objects_that_were_half_made(name, code):
    program = f"""
import signal
from partlearn.cli import __main__ as command

class Half:
    def __init__(self):
        signal.raise_signal(signal.{name})
        self.made = True

    def __del__(self):
        self.made

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with command._leaving_on_signals():
        Half()
except KeyboardInterrupt:
    raise SystemExit(130) from None
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert done.returncode == code
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["familiarity_", "classes_", "estimator_"])
def test_a_model_that_lacks_what_it_needs(files, tmp_path, capsys, name):
    """Sound piece by piece, but not as a whole: a sentence, no traceback."""
    model = load_model(files / "m.partlearn").estimator
    delattr(model, name)
    path = save_model(model, tmp_path / "m")
    out = tmp_path / "out.csv"
    assert call("predict", files / "new.csv", "--load", path, "--out", out) in (1, 2)
    assert "Train the model again" in capsys.readouterr().err
    assert not out.exists()


def test_quality_by_label_and_on_later_rows(run, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    lines = [
        f"{2000 + i},{v:.3f},{'cat|dog' if i % 3 == 0 else ('cat', 'dog')[k]}"
        for i, (v, k) in enumerate(zip(rng.normal(size=60) + 3 * y, y, strict=True))
    ]
    data = tmp_path / "d.csv"
    data.write_text("\n".join(["year,size,kind", *lines]))
    words = ("train", data, "--labels", "kind", "--save", tmp_path / "m.partlearn")
    words = (*words, "--method", "pl-knn", "--ignore", "year")
    _, text, _ = run(*words)
    assert "on held-out rows (3 folds)" in text
    assert "By label, estimated:" in text
    assert re.search(r"^cat +\d+  0\.\d{3}  0\.\d{3}$", text, flags=re.M)
    _, text, _ = run(*words, "--time", "year", "--json")
    score = json.loads(text)["held_out"][0]
    assert (score["n_train"], score["n_test"]) == (45, 45)
    assert {c["label"] for c in score["classes"]} == {"cat", "dog"}
    _, text, _ = run(*words, "--time", "year")
    assert "on held-out rows (3 later parts)" in text
    code, _, err = run(*words, "--time", "kind")
    assert code == 2
    assert "--time: 60 rows of column 'kind' hold neither" in err
    monkeypatch.setattr(SIZES, "exact_rows", 50)
    _, text, _ = run(*words)
    assert "(up to 10 rows, once, by a model of 40; the saved model" in text
    assert "model is trained on all" in text


def test_corrections_of_tags_are_refused(run, tmp_path):
    data, fixed = tmp_path / "d.csv", tmp_path / "f.csv"
    data.write_text("x,t\n" + "".join(f"{i}.5,{'ab'[i % 2]}|c\n" for i in range(12)))
    fixed.write_text("row,label\n0,a\n")
    words = ("train", data, "--labels", "t", "--task", "tags", "--corrections", fixed)
    code, _, err = run(*words, "--save", tmp_path / "m")
    assert code == 2
    assert "--corrections of train are for single labels" in err
