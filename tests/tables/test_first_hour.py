"""Small tables as people have them, and what must come out of each."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from partlearn import PartialClassifier, disambiguate
from partlearn.io import DataError
from partlearn.tables import columns_of, read_columns

FOLDER = Path(__file__).parent / "first_hour"
CASES = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
CHOICES = ("labels", "raters", "weights", "marks", "sep")


def said(case):
    words = {word: case[word] for word in CHOICES if word in case}
    return {
        word: value.split(",") if word != "sep" and "," in value else value
        for word, value in words.items()
    }


def test_there_are_forty():
    assert len(CASES) >= 40
    assert {path.name for path in FOLDER.glob("*.csv")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_what_must_come_out(name):
    case = CASES[name]
    model = PartialClassifier("pl-knn", **said(case))
    columns = read_columns(FOLDER / name)
    if "refused" in case:
        with pytest.raises(DataError, match=re.escape(case["refused"])):
            model.fit(columns)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evidence, _ = model.read_labels(columns)
        model.fit(columns)
    assert evidence.read_as == case["read"]
    told = " ".join(str(w.message) for w in caught)
    assert case.get("warns", "") in told
    if "warns" not in case:
        assert not told
    kinds = model.encoder_.kinds_
    assert {n: kinds[n].kind for n in case.get("kinds", {})} == case.get("kinds", {})
    for column, reason in case.get("reason", {}).items():
        assert reason in kinds[column].reason
    if "rows" in case:
        assert len(evidence) == case["rows"]


def frames(path, tmp_path):
    """The same table in every form, with the types that a library finds."""
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    frame = pd.read_csv(path)
    frame.to_parquet(tmp_path / "t.parquet")
    pytest.importorskip("openpyxl")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    forms = {
        "csv": read_columns(path),
        "parquet": read_columns(tmp_path / "t.parquet"),
        "jsonl": read_columns(tmp_path / "t.jsonl"),
        "xlsx": read_columns(tmp_path / "t.xlsx"),
        "pandas": columns_of(frame),
        "polars": columns_of(pl.read_csv(path)),
    }
    return forms


@pytest.mark.parametrize(
    "name",
    [name for name, case in CASES.items() if "refused" not in case
     and name != "german.csv"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")  # what is told is tested above
def test_every_format_gives_the_same_labels(name, tmp_path):
    case = CASES[name]
    model = PartialClassifier("pl-knn", **said(case))
    read = {
        form: model.read_labels(columns)[0]
        for form, columns in frames(FOLDER / name, tmp_path).items()
    }
    first = read["csv"]
    for form, evidence in read.items():
        assert evidence.read_as == case["read"], form
        assert evidence.classes.tolist() == first.classes.tolist()
        np.testing.assert_array_equal(evidence.weights, first.weights, err_msg=form)
        np.testing.assert_array_equal(evidence.rows, first.rows)


def test_a_file_is_a_table_for_disambiguate():
    result = disambiguate(FOLDER / "bar.csv", "c", "pl-knn")
    assert result.read_as == "sets of labels, 3 labels: a, b, c"
    assert repr(result).startswith("Disambiguation(24 rows by PLKNN, 16 with several")
    raters = ["ann", "bob", "cyd"]
    found = disambiguate(FOLDER / "raters_01_said.csv", raters=raters)
    assert found.read_as == "3 raters, 2 labels: 0, 1"
    with pytest.raises(ValueError, match="given as `labels` and `raters`"):
        disambiguate(FOLDER / "bar.csv", "c", raters=["x"])


def test_what_cannot_be_read_is_marked_and_lowers_the_confidence():
    columns = read_columns(FOLDER / "german.csv")
    model = PartialClassifier("pl-knn", labels="c").fit(columns)
    new = {"x": np.array(["0,1", "abc", None, "?"], dtype=object)}
    told = model.predictions(new)
    assert told["unlike"].tolist() == [
        "",
        "x cannot be read: 'abc'; nothing is known",
        "nothing is known",
        "nothing is known",
    ]
    share = model.prior_.max()
    np.testing.assert_allclose(told["probability"][1:], share)
    assert told["probability"][0] > share


def test_empty_cells_of_columns_that_decide_lower_the_confidence():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    table = {
        "x": y + rng.normal(size=150) / 3,
        "noise": rng.normal(size=150),
        "kind": rng.choice(["s", "t"], size=150).astype(object),
        "c": [f"{'abc'[k]}|{'abc'[rng.integers(3)]}" for k in y],
    }
    model = PartialClassifier(labels="c").fit(table)
    new = {name: np.array(table[name], dtype=object)[:30] for name in list(table)[:3]}
    full = model.predictions(new)
    assert full["unlike"].tolist() == [""] * 30
    without = {
        name: model.predictions({**new, name: np.full(30, None)}) for name in new
    }
    for name in ("x", "noise"):
        assert without[name]["unlike"].tolist() == [f"{name} empty"] * 30
    # What decides nothing may be empty; without x a third of the labels is right.
    lost = {name: told["probability"].mean() for name, told in without.items()}
    assert lost["noise"] > 0.9 * full["probability"].mean()
    assert lost["x"] < 0.5
    right = np.mean(without["x"]["label"] == np.array(list("abc"))[y[:30]])
    assert right < 0.6


def test_candidates_of_new_rows_that_the_model_does_not_know_are_named():
    columns = read_columns(FOLDER / "bar.csv")
    model = PartialClassifier("pl-knn", labels="c").fit(columns)
    new = {"x": np.array(["1", "2", "3"]), "names": ["a|oak", "elm|oak", "a|b"]}
    told = model.predictions(new, "names")
    assert told["unlike"].tolist()[1:] == ["unknown candidate 'elm'", ""]
    assert told["label"][0] == "a"


def test_a_search_scores_without_truth():
    from sklearn.model_selection import GridSearchCV

    columns = read_columns(FOLDER / "bar.csv")
    import pandas as pd

    frame = pd.DataFrame(columns)
    grid = {"method": ["pl-knn", "ipal"]}
    search = GridSearchCV(PartialClassifier(labels="c"), grid, cv=2).fit(frame)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    cells = frame.pop("c")
    again = GridSearchCV(PartialClassifier(), grid, cv=2).fit(frame, cells)
    assert np.isfinite(again.cv_results_["mean_test_score"]).all()
    model = PartialClassifier("pl-knn").fit(frame, cells)
    truth = [cell[0] for cell in cells]
    predicted = model.predict(frame)
    assert model.score(frame, truth) == np.mean(predicted == np.array(truth))
    with pytest.raises(ValueError, match="goes with true labels"):
        model.score(frame, cells, sample_weight=np.ones(len(cells)))


def test_labels_that_look_like_sets_are_warned_of():
    from partlearn.classification import PLKNN

    X = np.arange(4.0)[:, None]
    for sep in ("|", ";", " or ", "/", "\uff0c"):
        words = re.escape(f"'a{sep}b' are classes of their own")
        with pytest.warns(UserWarning, match=words):
            PLKNN(1).fit(X, [f"a{sep}b", "b", "a", "b"])
        with pytest.warns(UserWarning, match=words):
            disambiguate(X, [f"a{sep}b", "b", "a", "b"], "pl-knn")
    PLKNN(1).fit(X, ["new york", "york", "new_jersey", "rock-n-roll"])


def test_long_whole_numbers_are_alike_in_every_format():
    numbers = np.array([2**62 + k % 5 for k in range(24)])
    sets = ["a|b", "b", "a"] * 8
    for column in (numbers, numbers.astype(str).astype(object)):
        with pytest.raises(ValueError, match="x: constant"):
            disambiguate({"x": column, "c": sets}, "c")


def test_texts_that_are_all_alike_compute_without_warnings():
    texts = [f"+49 170 {k:07d}" for k in range(100)]
    sets = ["a|b", "b", "a", "b"] * 25
    model = PartialClassifier("pl-knn", labels="c", text="t")
    model.fit({"t": texts, "x": np.arange(100.0) % 7, "c": sets})
    assert np.isfinite(model.predict_proba({"t": texts, "x": np.arange(100.0)})).all()


def test_false_labels_that_go_with_true_ones_give_a_range():
    """The headline is no better than what is known: half of the labels are guesses."""
    truth = json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))
    ring = disambiguate(FOLDER / "three_in_a_ring.csv", "c")
    told = ring.summary()
    assert not told["tested"]
    low, high = told["expected_right"]
    assert low <= ring.agreement(list(truth["three_in_a_ring.csv"])).accuracy <= high
    partners = disambiguate(FOLDER / "partners.csv", "c")
    told = partners.summary()
    assert told["tested"]
    assert {"a", "b"} <= {label for pair in told["together"] for label in pair[:2]}
    low, high = told["expected_right"]
    # An expectation, no bound: one draw of 120 rows may lie a little below.
    right = partners.agreement(list(truth["partners.csv"])).accuracy
    assert low - 0.05 <= right <= high


def test_quality_is_a_range_where_nothing_is_known():
    from partlearn.tables import estimate_quality

    columns = read_columns(FOLDER / "three_in_a_ring.csv")
    score = estimate_quality(PartialClassifier("pl-knn", labels="c"), columns)[0]
    assert not score.tested
    assert score.low <= 0.5 < score.approximated_accuracy
    assert all(np.isnan(c.recall) for c in score.classes)
    columns = read_columns(FOLDER / "partners.csv")
    score = estimate_quality(PartialClassifier("pl-knn", labels="c"), columns)[0]
    unknown = {c.label for c in score.classes if np.isnan(c.recall)}
    assert {label for pair in score.together for label in pair[:2]} == unknown
    assert score.low < score.approximated_accuracy


def rich_table():
    """Numbers, long ones, flags, gaps, dates, text and categories, with labels."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    words = ["leaf needle cone", "bark root soil", "pollen seed wind"]
    gap = rng.random(60) < 0.1
    day = pd.Timestamp("2020-01-01")
    dates = pd.Series(
        [day + pd.Timedelta(days=int(90 * k + i)) for i, k in enumerate(y)]
    )
    return pd.DataFrame(
        {
            "x": (y + rng.normal(size=60)).round(4),
            "gaps": np.where(gap, np.nan, (2 * y + rng.normal(size=60)).round(3)),
            "count": pd.array(y * 3 + rng.integers(4, size=60), "Int64"),
            "long": 2**53 + y * 7 + rng.integers(40, size=60),
            "longer": 2**62 + y,
            "flag": (y + rng.integers(2, size=60)) % 2 == 0,
            "kind": np.where(
                gap[::-1], None, [f"k{(k + i // 9) % 3}" for i, k in enumerate(y)]
            ),
            "date": dates,
            "gone": dates.where(~gap),
            "text": [
                f"{words[k]} number {i % 7} of the forest" for i, k in enumerate(y)
            ],
            "c": [f"l{k}|l{(k + i) % 3}" for i, k in enumerate(y)],
        }
    )


def test_labels_and_predictions_are_the_same_bits_in_every_format(tmp_path):
    pytest.importorskip("openpyxl")
    pl = pytest.importorskip("polars")
    frame = rich_table()
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_feather(tmp_path / "t.feather")
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True, date_format="iso")
    forms = {path.suffix: read_columns(path) for path in tmp_path.iterdir()}
    forms |= {"pandas": columns_of(frame), "polars": columns_of(pl.from_pandas(frame))}
    assert len(forms) == 8
    found, models = {}, {}
    for form, columns in forms.items():
        found[form] = disambiguate(columns, "c")
        models[form] = PartialClassifier(labels="c").fit(columns)
    expected = found[".csv"].label_confidence
    predicted = models[".csv"].predict_proba(forms[".csv"])
    kinds = {n: kind.kind for n, kind in models[".csv"].encoder_.kinds_.items()}
    assert kinds["long"] == "number"
    assert kinds["longer"] == "constant"
    for form, columns in forms.items():
        np.testing.assert_array_equal(found[form].label, found[".csv"].label)
        np.testing.assert_array_equal(
            found[form].label_confidence, expected, err_msg=form
        )
        for trained in (".csv", form):
            np.testing.assert_array_equal(
                models[trained].predict_proba(columns), predicted, err_msg=form
            )
