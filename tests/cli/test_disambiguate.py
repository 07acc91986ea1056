"""``partlearn disambiguate`` as a user runs it."""

import csv
import json

import numpy as np
import pytest

from partlearn.io import write

COMMON = ["--labels", "kind", "--ignore", "id", "--truth", "truth"]


def test_disambiguate(run, pets, tmp_path, table):
    out = tmp_path / "labels.csv"
    code, text, _ = run(
        "disambiguate", pets, *COMMON, "--param", "n_neighbors=3", "--out", out
    )
    assert code == 0
    assert "10 rows" in text
    assert "Right according to the true labels: 100.0%" in text
    rows = table(out)
    assert [r["label"] for r in rows] == [r["truth"] for r in table(pets)]
    assert rows[0]["candidates"] == "cat|dog"
    assert all(0 < float(r["confidence"]) <= 1 for r in rows)


def test_some_true_labels_are_enough(run, pets, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    out = tmp_path / "labels.csv"
    words = (*COMMON, "--param", "n_neighbors=3", "--out", out)
    frame = pandas.read_csv(pets)
    frame["truth"] = frame["truth"].where(frame.index % 2 == 0)
    frame.to_csv(pets, index=False)
    code, text, _ = run("disambiguate", pets, *words)
    assert code == 0
    assert "Right according to the true labels: 100.0%" in text
    assert "Right among the 5 rows with several candidates: 100.0%" in text
    # Numbers of classes, which are text where they stand in sets.
    numbers = {"cat": "1", "dog": "2", "horse": "3"}
    frame["kind"] = frame["kind"].replace(numbers, regex=True)
    frame["truth"] = frame["truth"].map(numbers).astype(float)
    coded = tmp_path / "coded.parquet"
    frame.to_parquet(coded)
    code, text, _ = run("disambiguate", coded, *words)
    assert "Right according to the true labels: 100.0%" in text
    words = (*COMMON, "--method", "plknn", "--param", "n_neighbors=1")
    code, text, _ = run("train", coded, *words, "--save", tmp_path / "model", "--json")
    assert json.loads(text)["held_out"][0]["accuracy"] > 0.5
    frame.assign(truth=None).to_csv(pets, index=False)
    code, text, _ = run("disambiguate", pets, *COMMON, "--out", out, "--json")
    assert (code, json.loads(text)["accuracy"]) == (0, None)


def test_columns_and_rows_that_are_named_wrongly(run, pets, tmp_path):
    out, fixed = tmp_path / "labels.csv", tmp_path / "fixed.csv"
    fixed.write_text("row,label\n99,cat\n")
    for command in ("disambiguate", "check"):
        words = () if command == "check" else ("--out", out)
        _, _, err = run(command, pets, "--labels", "kind", "--truth", "kind", *words)
        assert "--truth: column 'kind' holds the labels to learn from" in err
    words = ("disambiguate", pets, "--ignore", "id", "--out", out)
    _, _, err = run(*words, "--labels", "kind,kind")
    assert "--labels: 'kind,kind' names a column twice" in err
    _, _, err = run(*words, "--labels", "kind", "--corrections", fixed)
    assert "--corrections name row '99', which is not there" in err


def test_disambiguate_by_a_learner_as_json(run, pets, tmp_path):
    out = tmp_path / "labels.tsv"
    code, text, _ = run(
        "disambiguate",
        pets,
        "--labels",
        "kind",
        "--ignore",
        "id",
        "--ignore",
        "truth",
        "--method",
        "ipal",
        "--param",
        "n_neighbors=3",
        "--out",
        out,
        "--json",
    )
    assert code == 0
    outcome = json.loads(text)
    assert outcome["method"] == "IPAL"
    assert outcome["accuracy"] is None
    assert "\t" in out.read_text()


def test_one_label_per_row_is_a_set_of_one(run, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 4)) + 4 * np.eye(3, 4)[y]
    path = tmp_path / "classes.npz"
    np.savez(path, X=X.astype(np.float32), y=y)
    out = tmp_path / "out.csv"
    code, text, _ = run("disambiguate", path, "--out", out)
    assert code == 0
    assert "100.0%" in text


def test_several_labels_per_row_are_refused(run, tmp_path):
    path = tmp_path / "many.npz"
    np.savez(path, X=np.eye(4), Y=np.ones((4, 3), dtype=bool))
    code, _, err = run("disambiguate", path, "--out", tmp_path / "out.csv")
    assert code == 2
    assert "no candidate sets" in err
    assert "--labels" in err
    lines = tmp_path / "many.libsvm"
    lines.write_text("1,2 1:0.5\n2 2:1\n")
    _, _, err = run("disambiguate", lines, "--out", tmp_path / "out.csv")
    assert "data convert many.libsvm many.npz --task pll" in err
    _, _, err = run("data", "convert", path, tmp_path / "b.npz", "--task", "pll")
    assert ": --task pll needs candidate sets" in err


def test_one_label_is_named(run, tmp_path):
    data = tmp_path / "one.csv"
    data.write_text("a,candidates\n1,cat\n2,cat\n3,cat\n")
    code, _, err = run("disambiguate", data, "--out", tmp_path / "o.csv")
    assert code == 1
    assert "only one label, 'cat'" in err


def test_methods_that_know_sets_only_refuse_weights(run, tmp_path):
    out, weights = tmp_path / "labels.csv", tmp_path / "weights.csv"
    weights.write_text("x,candidates\n0,cat:0.9|dog:0.1\n1,dog:1\n2,cat:1\n3,dog:1\n")
    code, _, err = run("disambiguate", weights, "--method", "plecoc", "--out", out)
    assert code == 2
    assert "candidate sets only" in err
    assert not out.exists()


def test_disambiguate_takes_the_table_as_it_is(run, tmp_path, table):
    """Dates, words, gaps and rows without labels need no work before."""
    from partlearn.datasets import make_tickets

    tickets = make_tickets(150)
    tickets.columns["candidates"][7] = ""
    source, out = tmp_path / "tickets.csv", tmp_path / "labels.csv"
    with source.open("w", newline="") as file:
        writer = csv.writer(file)
        names = [*tickets.columns, "truth"]
        writer.writerow(names)
        cells = zip(*tickets.columns.values(), tickets.truth, strict=True)
        writer.writerows(["" if v != v else v for v in row] for row in cells)
    code, text, err = run(
        "disambiguate", source, "--id", "ticket", "--method", "pl-knn", "--out", out
    )
    assert code == 0, err
    assert "rows with no label, or with all of them: 1." in err
    assert "rows with several candidates" in text
    assert "(chance " in text
    rows = table(out)
    assert list(rows[0])[:2] == ["ticket", "label"]
    assert [row["ticket"] for row in rows][6:8] == ["T-00007", "T-00008"]
    code, _, err = run("disambiguate", source, "--labels", "candidate", "--out", out)
    assert code == 2
    assert "Did you mean 'candidates'" in err


def test_roles_are_for_tables(run, tmp_path, table):
    from partlearn.datasets import load_iris_partial

    source = write(load_iris_partial(), tmp_path / "iris.npz")
    out = tmp_path / "labels.csv"
    code, _, err = run("disambiguate", source, "--id", "x", "--out", out)
    assert code == 2
    assert "--id is for tables" in err
    assert run("disambiguate", source, "--method", "plknn", "--out", out)[0] == 0
    assert len(table(out)) == 150


def test_gold_column(run, pets, tmp_path, table):
    out = tmp_path / "labels.csv"
    words = ("--labels", "kind", "--ignore", "id", "--gold", "truth", "--out", out)
    code, text, error = run("disambiguate", pets, *words)
    assert code == 0, error
    assert "of 10 known labels were found without knowing them" in text
    assert [r["label"] for r in table(out)] == [r["truth"] for r in table(pets)]
    code, text, _ = run("disambiguate", pets, *words, "--json")
    assert json.loads(text)["gold"]["n_gold"] == 10
    matrix = tmp_path / "m.arff"
    code, _, error = run("disambiguate", matrix, "--gold", "truth", "--out", out)
    assert code == 2


def test_wrong_labels_are_ranked(run, tmp_path, table):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 6 * np.eye(3, 2)[y]
    names = np.array(["cat", "cow", "dog"])[y]
    names[[4, 7]] = "dog", "cat"
    data, out, page = (tmp_path / name for name in ("d.csv", "o.csv", "o.html"))
    lines = [
        f"r{i},{a},{b},{n}" for i, ((a, b), n) in enumerate(zip(X, names, strict=True))
    ]
    data.write_text("\n".join(["name,a,b,label", *lines]))
    words = ("disambiguate", data, "--labels", "label", "--id", "name", "--out", out)
    _, text, _ = run(*words)
    assert "nothing to choose. Use --miss-rate auto to find" in text
    assert "look" not in table(out)[0]
    code, text, _ = run(*words, "--miss-rate", "auto", "--html", page)
    assert code == 0
    assert "Labels of 2 rows are probably wrong" in text
    assert "r4: dog is cow instead" in text
    rows = {row["name"]: row for row in table(out)}
    assert {rows["r4"]["look"], rows["r7"]["look"]} == {"1", "2"}
    assert rows["r7"]["candidates"] == "cat"
    assert rows["r7"]["label"] == "cow"
    assert float(rows["r7"]["wrong"]) > 0.9
    assert "<strong>2</strong> labels probably wrong" in page.read_text()
    _, text, _ = run(*words, "--miss-rate", "0.05", "--json")
    outcome = json.loads(text)
    assert set(outcome["probably_wrong"]) == {"r4", "r7"}
    assert outcome["miss_rate"]["rate"] == 0.05
    code, _, err = run(*words, "--miss-rate", "much")
    assert code == 2
    assert "--miss-rate must be a number, a share like 15%, or auto" in err
    _, _, err = run(*words, "--miss-rate", "auto", "--task", "tags")
    assert "Tags come without --bag, --gold, --miss-rate and --annotator" in err
    _, _, err = run(*words, "--gold", "name", "--task", "tags")
    assert "Tags come without --bag, --gold, --miss-rate and --annotator" in err
