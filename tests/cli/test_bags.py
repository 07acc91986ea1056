"""A table of photographs goes through the commands."""

import json
from itertools import pairwise

import numpy as np
import pytest

from partlearn._sizes import SIZES
from partlearn.candidates import make_bags
from partlearn.io import TableWriter
from partlearn.persistence import load_model

NAMES = np.array(["Ann", "Bob", "Cyd", "Dan", "Eve"])
LEARNER = ["--estimator", "sklearn.linear_model:LogisticRegression"]


def photographs(seed, n=240):
    """Faces as points around one center per person, three on a photograph."""
    centers = np.random.default_rng(0).normal(scale=1.0, size=(5, 6))
    rng = np.random.default_rng(seed)
    who = rng.integers(0, 5, size=n)
    S, bags = make_bags(who, size=3, random_state=seed)
    order = np.argsort(bags, kind="stable")
    X = (centers[who] + rng.normal(scale=0.7, size=(n, 6)))[order]
    columns = {f"x{j}": X[:, j] for j in range(6)}
    columns["photo"] = np.array([f"img{b}" for b in bags[order]])
    columns["names"] = np.array([" & ".join(NAMES[row]) for row in S[order]])
    columns["truth"] = NAMES[who[order]]
    return columns


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faces")
    for name, seed in [("faces", 1), ("new", 2)]:
        write_columns(folder / f"{name}.csv", photographs(seed))
    return folder


def write_columns(path, columns):
    with TableWriter(path) as writer:
        writer.write(columns)


WORDS = ["--labels", "names", "--sep", "&"]


def test_check_describes_bags_and_notices_them(run, faces):
    code, text, _ = run("check", faces / "faces.csv", *WORDS, "--ignore", "photo")
    assert code == 0
    assert "of neighboring rows with several candidates have the same set" in text
    assert "pass --bag, the name of a column" in text
    code, text, _ = run("check", faces / "faces.csv", *WORDS, "--bag", "photo")
    assert code == 0
    assert "80 bags of 3.0 rows" in text
    assert "of neighboring rows" not in text


def test_labels_training_and_prediction(run, faces, tmp_path, table):
    out, page = tmp_path / "labels.csv", tmp_path / "report.html"
    code, text, _ = run(
        "disambiguate", faces / "faces.csv", *WORDS, "--bag", "photo",
        "--out", out, "--html", page, "--json",
    )  # fmt: skip
    assert code == 0
    shared = json.loads(text)["accuracy"]
    assert {row["bag"] for row in table(out)} == {f"img{b}" for b in range(80)}
    code, text, notes = run(
        "disambiguate", faces / "faces.csv", *WORDS, "--ignore", "photo",
        "--out", tmp_path / "plain.csv", "--json",
    )  # fmt: skip
    assert "have the same set" in notes
    assert shared >= json.loads(text)["accuracy"]
    model = tmp_path / "model.partlearn"
    code, text, _ = run(
        "train", faces / "faces.csv", *WORDS, "--bag", "photo", *LEARNER,
        "--save", model, "--folds", "2",
    )  # fmt: skip
    assert code == 0
    assert "bags of the rows" in text
    truth = [row["truth"] for row in table(faces / "new.csv")]
    right = []
    for words in ([], ["--labels", "names", "--bag", "photo"], ["--labels", "names"]):
        out = tmp_path / "new.csv"
        code, _, _ = run(
            "predict", faces / "new.csv", "--load", model, *words, "--out", out
        )
        assert code == 0
        labels = [row["label"] for row in table(out)]
        right.append(np.mean([a == b for a, b in zip(labels, truth, strict=True)]))
    assert right[1] > right[0]
    assert right[1] >= right[2]


def test_the_rule_is_a_parameter_of_the_commands(run, faces, tmp_path, table):
    """New photographs follow the rule that the model was trained by."""
    photos = photographs(7, n=60)
    # Each photograph shows three persons once, and its caption names a fourth.
    rng = np.random.default_rng(1)
    who = np.concatenate([rng.permutation(5)[:3] for _ in range(20)])
    centers = np.random.default_rng(0).normal(scale=1.0, size=(5, 6))
    X = centers[who] + rng.normal(scale=0.7, size=(60, 6))
    photos |= {f"x{j}": X[:, j] for j in range(6)}
    lists = [NAMES[np.unique([*who[i : i + 3], i % 5])] for i in range(0, 60, 3)]
    photos["photo"] = np.repeat([f"img{k}" for k in range(20)], 3)
    photos["names"] = np.repeat([" & ".join(names) for names in lists], 3)
    photos["truth"] = NAMES[who]
    write_columns(tmp_path / "faces.csv", photos)
    words = [tmp_path / "faces.csv", *WORDS, "--bag", "photo", *LEARNER, "--folds", "0"]
    model, out = tmp_path / "model.partlearn", tmp_path / "new.csv"
    given = ["--param", "bag_rule=distinct"]
    code, _, error = run("train", *words, *given, "--save", model)
    assert code == 0, error
    code, _, error = run(
        "predict", tmp_path / "faces.csv", "--load", model, "--labels", "names",
        "--bag", "photo", "--out", out,
    )  # fmt: skip
    assert code == 0, error
    by_photo = np.array([row["label"] for row in table(out)]).reshape(-1, 3)
    # The most likely label of each row may still repeat where two are as likely.
    assert np.mean([len(set(three)) == 3 for three in by_photo]) > 0.9
    code, _, error = run("train", *words, "--param", "bag_rule=once", "--save", model)
    assert code == 1
    assert "bag_rule" in error


def test_rows_of_a_bag_may_be_far_apart(run, faces, tmp_path, table, monkeypatch):
    """Blocks are smaller than the table, and the rows of a bag lie in several."""
    model, out = tmp_path / "model.partlearn", tmp_path / "new.csv"
    words = [*WORDS, "--bag", "photo", *LEARNER, "--folds", "0", "--save", model]
    assert run("train", faces / "faces.csv", *words)[0] == 0
    monkeypatch.setattr(SIZES, "predicted_rows", 7)
    photos = photographs(2)
    order = np.random.default_rng(0).permutation(240)
    shuffled = {name: column[order] for name, column in photos.items()}
    write_columns(tmp_path / "shuffled.csv", shuffled)
    words = ["--load", model, "--labels", "names", "--bag", "photo", "--out", out]
    found = []
    for path in (faces / "new.csv", tmp_path / "shuffled.csv"):
        assert run("predict", path, *words)[0] == 0
        rows = table(out)
        assert [row["row"] for row in rows] == [str(i) for i in range(240)]
        found.append([(row["label"], float(row["probability"])) for row in rows])
    for (label, probability), i in zip(found[1], order, strict=True):
        assert found[0][i] == (label, pytest.approx(probability, rel=1e-9))
    code, _, error = run("predict", faces / "new.csv", *words[:2], *words[4:])
    assert code == 2
    assert "--bag needs --labels" in error


def test_two_captions_of_a_photograph(run, tmp_path, table):
    """A label weighs as the share of the annotators who list it."""
    columns = photographs(3)
    rng = np.random.default_rng(0)
    second = {}
    for photo, names in zip(columns["photo"], columns["names"], strict=True):
        listed = names.split(" & ")
        second.setdefault(photo, listed[: max(1, len(listed) - rng.integers(2))])
    columns["caption_2"] = np.array([" & ".join(second[p]) for p in columns["photo"]])
    write_columns(tmp_path / "faces.csv", columns)
    right = {}
    for raters in ("names,caption_2", "caption_2"):
        given = ["--raters" if "," in raters else "--labels", raters]
        ignored = [] if "," in raters else ["--ignore", "names"]
        code, text, _ = run(
            "disambiguate", tmp_path / "faces.csv", *given, *ignored, "--sep", "&",
            "--bag", "photo", "--out", tmp_path / "out.csv", "--json",
        )  # fmt: skip
        assert code == 0
        right[raters] = json.loads(text)["accuracy"]
        assert {row["label"] for row in table(tmp_path / "out.csv")} <= set(NAMES)
    assert right["names,caption_2"] > right["caption_2"]


def test_runs_are_kept_in_a_table_of_text(run, tmp_path, table):
    """A table that is copied as it is gets a column of the runs."""
    columns = photographs(8, n=30)
    columns["color"] = np.array(["red", "green", "blue"] * 10)
    write_columns(tmp_path / "faces.csv", columns)
    words = [*WORDS, "--bag", "runs", "--ignore", "photo", "--ignore", "truth"]
    out = tmp_path / "copy.csv"
    code, _, error = run("data", "convert", tmp_path / "faces.csv", out, *words)
    assert code == 0, error
    rows = table(out)
    assert {row["color"] for row in rows} == {"red", "green", "blue"}
    names = [row["names"] for row in rows]
    runs = [row["bag:id"] for row in rows]
    changes = [a != b for a, b in pairwise(names)]
    assert [a != b for a, b in pairwise(runs)] == changes


def test_bags_of_our_own_files_are_named(run, tmp_path):
    columns = photographs(6, n=60)
    columns["bag:id"] = columns.pop("photo")
    write_columns(tmp_path / "faces.csv", columns)
    words = [tmp_path / "faces.csv", *WORDS]
    for more, said in ([], True), (["--ignore", "bag:id"], False):
        code, _, notes = run("check", *words, *more)
        assert code == 0
        assert ("Bags: read from column 'bag:id'" in notes) == said


def test_a_method_without_bags_says_so(run, faces, tmp_path):
    code, _, error = run(
        "disambiguate", faces / "faces.csv", *WORDS, "--bag", "photo", "--method",
        "pl-knn", "--out", tmp_path / "out.csv",
    )  # fmt: skip
    assert code == 2
    assert "PLKNN does not use bags. Choose" in error


def test_runs_of_a_matrix(run, tmp_path):
    pytest.importorskip("pandas")
    columns = photographs(3, n=60)
    S = np.array([[name in text for name in NAMES] for text in columns["names"]])
    X = np.column_stack([columns[f"x{j}"] for j in range(6)])
    path = tmp_path / "faces.npz"
    np.savez(path, X=X, S=S, bags=columns["photo"])
    words = ["--out", tmp_path / "out.csv"]
    code, _, error = run("disambiguate", path, "--bag", "runs", *words)
    assert code == 0, error
    assert "--bag bags uses them" not in error
    assert "--bag bags uses them" in run("check", path)[2]
    assert run("disambiguate", path, "--bag", "bags", *words)[0] == 0
    code, text, _ = run("check", path, "--bag", "bags")
    assert "20 bags of 3.0 rows" in text
    np.savez(path, X=X, S=S)
    code, _, error = run("disambiguate", path, "--bag", "bags", *words)
    assert code == 2
    assert "the file holds no bags" in error
    code, _, error = run("disambiguate", path, "--bag", "photo", *words)
    assert code == 2
    assert "use runs, bags for the bags of a NumPy archive" in error


def test_bags_of_files(run, tmp_path):
    pytest.importorskip("pyarrow")
    from partlearn.candidates import from_text
    from partlearn.io import DataFormatError
    from partlearn.tables import bags_of_files

    parts = [photographs(4, n=30), photographs(5, n=30)]
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    parts[1]["photo"] = np.array([f"b{name}" for name in parts[1]["photo"]])
    for path, columns in zip(paths, parts, strict=True):
        write_columns(path, columns)
    evidence = from_text([t for c in parts for t in c["names"]], sep="&")
    names = bags_of_files(paths, "photo", evidence)
    assert names.tolist() == [name for c in parts for name in c["photo"]]
    runs = bags_of_files(paths, "runs", evidence)
    assert runs[29] != runs[30]
    assert (np.diff(runs) >= 0).all()
    words = ["--labels", "names", "--sep", "&", "--bag", "photo"]
    model = tmp_path / "model.partlearn"
    code, _, error = run("train", *paths, *words, "--save", model)
    assert code == 0, error
    assert load_model(model).estimator.estimator_.stray_rate_ is not None
    same = list(parts[1].items())
    parts[1] |= {"names": np.array([parts[0]["names"][-1], *parts[1]["names"][1:]])}
    write_columns(paths[1], parts[1])
    with pytest.raises(DataFormatError, match="candidates as the last row of the file"):
        bags_of_files(
            paths, "runs", from_text([t for c in parts for t in c["names"]], sep="&")
        )
    parts[1] = dict(same)
    parts[1]["photo"][0] = "img3"
    write_columns(paths[1], parts[1])
    with pytest.raises(DataFormatError, match=r"bag 'img3' is in a\.parquet as well"):
        bags_of_files(paths, "photo", evidence)
    code, _, error = run("train", *paths, *words, "--save", model)
    assert code == 1
    assert "A bag must not span files" in error
