"""``partlearn predict`` with --coverage and --accuracy as a user runs it."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

from partlearn import PartialClassifier
from partlearn.candidates import make_candidates
from partlearn.classification._calibration import probability_sets
from partlearn.persistence import load_model
from partlearn.tables import estimate_quality, read_columns

LOGISTIC = "sklearn.linear_model:LogisticRegression"
NAMES = np.array(["barolo", "barbera", "grignolino"])


@pytest.fixture
def wines(tmp_path):
    """A training table, a new table, and the truth of the new one."""
    X, y = load_wine(return_X_y=True)
    X = X[:, [0, 2, 10]]  # so few features that some rows are in doubt
    S = make_candidates(y, n_false=1, random_state=0)
    order = np.random.RandomState(0).permutation(len(y))
    for name, rows in (("train", order[:110]), ("new", order[110:])):
        lines = ["acid,ash,hue,candidates,checked"]
        for k, i in enumerate(rows):
            sets = "" if k == 5 else "|".join(NAMES[S[i]])
            checked = NAMES[y[i]] if k < 40 and name == "train" else ""
            lines.append(",".join([*map(str, X[i]), sets, checked]))
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path, NAMES[y[order[110:]]]


def test_sets_and_abstaining(run, wines, table):
    folder, truth = wines
    model, out = folder / "model.partlearn", folder / "out.csv"
    words = ("--labels", "candidates", "--ignore", "checked", "--estimator", LOGISTIC)
    code, _, error = run("train", folder / "train.csv", *words, "--save", model)
    assert code == 0, error
    apply = ("predict", folder / "new.csv", "--load", model, "--out", out)
    code, text, error = run(*apply, "--coverage", "0.9", "--accuracy", "0.95")
    assert code == 0, error
    assert "rows have no label" in text
    assert "labels on average" in text
    assert "The coverage is approximate" in text
    rows = table(out)
    held = [t in row["labels"].split("|") for row, t in zip(rows, truth, strict=True)]
    assert np.mean(held) >= 0.8
    given = [row["label"] == t for row, t in zip(rows, truth, strict=True)]
    silent = [row["label"] == "" for row in rows]
    assert 0 < np.sum(silent) < len(rows), np.sum(silent)
    assert np.sum(given) >= 0.8 * np.sum(~np.array(silent))
    # The same from Python.
    loaded = load_model(model).estimator
    columns = read_columns(folder / "new.csv")
    sets = loaded.predict_set(columns, coverage=0.9)
    assert ["|".join(loaded.classes_[s]) for s in sets] == [r["labels"] for r in rows]
    code, text, _ = run(*apply, "--coverage", "0.9", "--json")
    facts = json.loads(text)
    assert facts["mean_set_size"] == pytest.approx(sets.sum() / len(sets))
    assert all(row["label"] for row in table(out))


def test_what_cannot_be_calibrated(run, wines):
    folder, _ = wines
    model, out = folder / "model.partlearn", folder / "out.csv"
    plain = ("--labels", "candidates", "--ignore", "checked")
    words = (*plain, "--method", "pl-knn", "--folds", "0")
    assert run("train", folder / "train.csv", *words, "--save", model).exit_code == 0
    apply = ("predict", folder / "new.csv", "--load", model, "--out", out)
    code, _, error = run(*apply, "--coverage", "0.9")
    assert code != 0
    assert "--folds 3" in error
    table = read_columns(folder / "train.csv")
    fitted = PartialClassifier("pl-knn", labels="candidates", ignore="checked")
    scores = estimate_quality(fitted.fit(table), table, cv=2)
    assert fitted.calibration_ is None  # nothing is written to the classifier
    with pytest.raises(ValueError, match="to `calibrate`"):
        fitted.predict_set(table)
    assert all(score.calibration is None for score in scores[1:])
    fitted.calibrate(scores[0].calibration)
    assert len(fitted.calibration_.probability) == 109  # one row has no label
    with pytest.raises(ValueError, match="`coverage` must lie"):
        fitted.predict_set(table, coverage=90)
    with pytest.raises(ValueError, match="`accuracy` must lie"):
        fitted.predictions(table, accuracy=95)
    with pytest.raises(ValueError, match="leave out `labels`"):
        fitted.predictions(table, "candidates", coverage=0.9)
    assert fitted.fit(table).calibration_ is None
    other = PartialClassifier("pl-knn", labels="c")
    other.fit({"x": np.arange(8.0), "c": ["a|b", "b", "a", "b"] * 2})
    with pytest.raises(ValueError, match="is for 3 labels, the model for 2"):
        other.calibrate(scores[0].calibration)


def test_calibrators_of_sets(run, wines, table):
    """--calibrator and --per-class give the sets of Calibration, and what they hold."""
    folder, truth = wines
    model, out = folder / "model.partlearn", folder / "out.csv"
    words = ("train", folder / "train.csv", "--labels", "candidates", "--save", model)
    code, _, error = run(*words, "--method", "pl-knn", "--gold", "checked")
    assert code == 0, error
    apply = ("predict", folder / "new.csv", "--load", model, "--out", out)
    loaded = load_model(model).estimator
    columns = read_columns(folder / "new.csv")
    P = loaded.predict_proba(columns)
    sizes = {}
    for calibrator, said in {
        "all": "of all candidates that a new row would have",
        "any": "The true label is covered less often",
        "confidence": "The coverage is approximate",
        "gold": "calibrated on 40 known labels",
    }.items():
        by = ("--coverage", "0.8", "--calibrator", calibrator)
        code, text, error = run(*apply, *by)
        assert code == 0, error
        assert said in text
        sets = loaded.predict_set(columns, coverage=0.8, calibrator=calibrator)
        limits = loaded.calibration_.thresholds(0.8, calibrator)
        np.testing.assert_array_equal(sets, probability_sets(P, limits))
        texts = ["|".join(loaded.classes_[s]) for s in sets]
        assert [row["labels"] for row in table(out)] == texts
        sizes[calibrator] = sets.sum()
    assert sizes["any"] <= sizes["confidence"] <= sizes["all"]
    covered = loaded.predict_set(columns, coverage=0.8, calibrator="all")
    assert covered[np.arange(len(P)), loaded.classes_.searchsorted(truth)].mean() > 0.8
    code, text, error = run(*apply, "--coverage", "0.8", "--per-class", "--json")
    assert code == 0, error
    assert json.loads(text)["calibrator"] == "gold"
    sets = loaded.predict_set(columns, coverage=0.8, per_class=True)
    limits = loaded.calibration_.thresholds(0.8, "gold", per_class=True)
    assert len(set(limits)) == 3
    np.testing.assert_array_equal(sets, probability_sets(P, limits))
    # Forty known labels are too few where gold is asked for: every label, and a note.
    code, text, error = run(*apply, "--coverage", "0.99", "--calibrator", "gold")
    assert (code, "at least 99 calibration rows" in error) == (0, True)
    assert all(row["labels"].count("|") == 2 for row in table(out))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--coverage", "90"], "--coverage must lie between 0 and 1"),
        (["--accuracy", "95"], "--accuracy must lie between 0 and 1"),
        (["--calibrator", "all"], "--calibrator needs --coverage"),
        (["--per-class"], "--per-class needs --coverage"),
        (["--coverage", "0.9", "--calibrator", "none"], "--calibrator must be one of"),
        (["--coverage", "0.9", "--calibrator", "votes"], "needs votes or weights"),
        (["--coverage", "0.9", "--calibrator", "gold"], "train with --gold"),
        (
            ["--coverage", "0.9", "--calibrator", "any", "--per-class"],
            "any does not identify the true candidate",
        ),
        (["--coverage", "0.9", "--labels", "candidates"], "leave out --labels"),
    ],
)
def test_what_is_wanted_is_checked_before_rows_are_read(run, wines, words, message):
    folder, _ = wines
    model = folder / "model.partlearn"
    options = ("--labels", "candidates", "--method", "pl-knn", "--ignore", "checked")
    assert run("train", folder / "train.csv", *options, "--save", model)[0] == 0
    apply = ("predict", folder / "new.csv", "--load", model, "--out")
    code, _, error = run(*apply, folder / "out.csv", *words)
    assert (code, message in error) == (2, True), error
    assert "needs a table like" not in error


def test_known_labels_train_and_calibrate(run, wines, table):
    """--gold: an interval for the accuracy, certain rows, sets that hold the truth."""
    folder, truth = wines
    model, out = folder / "model.partlearn", folder / "out.csv"
    words = ("train", folder / "train.csv", "--labels", "candidates", "--save", model)
    code, text, error = run(*words, "--gold", "checked")
    assert code == 0, error
    assert "of 40 known labels, held out, were predicted" in text
    assert "0 rows without labels" not in text  # the row without candidates is known
    loaded = load_model(model).estimator
    assert loaded.n_unlabeled_ == 0
    assert loaded.encoder_.kinds_["checked"].reason == "gold of the rows"
    assert loaded.calibration_.gold.sum() == 40
    apply = ("predict", folder / "new.csv", "--load", model, "--out", out)
    code, text, error = run(*apply, "--coverage", "0.9")
    assert code == 0, error
    assert "calibrated on 40 known labels" in text
    held = [
        t in row["labels"].split("|") for row, t in zip(table(out), truth, strict=True)
    ]
    assert np.mean(held) >= 0.8
    # Forty labels are too few for .99: sets fall back on confidences and say so.
    code, text, _ = run(*apply, "--coverage", "0.99")
    assert "The coverage is approximate" in text
    code, text, error = run(*words, "--gold", "checked", "--json")
    held_out = json.loads(text)["held_out"]
    assert held_out[0]["gold"]["n_gold"] == 40
    assert held_out[0]["gold"]["low"] < held_out[0]["accuracy"]
    assert held_out[-1]["gold"] is None
