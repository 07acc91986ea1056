"""Tags of tables, in every form: reading, learning, predicting, honest quality."""

import numpy as np
import pandas as pd
import pytest

from partlearn import PartialClassifier, disambiguate
from partlearn.candidates import Tags, check_tags, from_votes
from partlearn.io import DataError, tag_columns
from partlearn.multilabel import CRISPMultiLabelClassifier, add_noise_labels
from partlearn.persistence import load_model, save_model
from partlearn.tables import (
    columns_of,
    estimate_tag_quality,
    make_tag_learner,
    read_tags,
    refuse_several,
)
from partlearn.tables._tag_labels import vote_probabilities

NAMES = np.array(["80s", "live", "rock"])


def cells(*values):
    return np.array(values, dtype=object)


@pytest.fixture(scope="module")
def songs():
    """Songs whose tags follow the tempo and the rest, and their true tags."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = X[:, :3] > 0.2
    S = Y | (rng.random(Y.shape) < 0.15)
    table = pd.DataFrame(X, columns=["tempo", "energy", "year", "noise"])
    table.insert(0, "song", [f"s{i}" for i in range(120)])
    return table, Y, S


def in_sets(S, sep="|"):
    return [sep.join(NAMES[row]) for row in S]


FORMS = {
    "sets": {"tags": cells("rock|live", "live", None, "[]")},
    "lists": {"tags": cells('["rock", "live"]', "['live']", None, "[]")},
    "semicolons": {"tags": cells("rock; live", "live", "", "[]")},
}


@pytest.mark.parametrize("form", FORMS)
def test_one_column(form):
    tags, written = tag_columns(FORMS[form], ["tags"])
    assert tags.sets() == [["live", "rock"], ["live"], []]
    assert tags.rows.tolist() == [0, 1, 3]
    text = written.write(tags.candidates, np.zeros(tags.shape), tags.classes)["tags"]
    again, _ = tag_columns({"tags": text}, ["tags"])
    assert again.sets() == tags.sets()
    assert ("[" in text[0]) == (form == "lists")
    assert (";" in text[0]) == (form == "semicolons")


def test_weights_in_cells():
    tags, _ = tag_columns({"tags": cells("rock:0.7|live:0.9", "live:1")}, ["tags"])
    assert tags.weights.tolist() == [[0.9, 0.7], [1.0, 0.0]]


@pytest.mark.parametrize("sep", ["|", ";", ",", "; ", " | "])
def test_weights_in_cells_have_one_separator(sep):
    column = cells(f"rock:0.9{sep}live:0.4", "live:1", f"so-so, la:.5{sep}live:0.4")
    if "," not in sep:
        tags, form = tag_columns({"tags": column}, ["tags"])
        assert tags.classes.tolist() == ["live", "rock", "so-so, la"]
    tags, form = tag_columns({"tags": column[:2]}, ["tags"])
    assert tags.classes.tolist() == ["live", "rock"]
    assert np.asarray(tags).tolist() == [[0.4, 0.9], [1.0, 0.0]]
    assert form.sep == sep.strip()


def test_one_column_for_each_tag():
    table = {"rock": np.array([1, 0, 1]), "live": cells("yes", "no", None)}
    tags, form = tag_columns(table, ["rock", "live"])
    assert tags.sets() == [["rock", "live"], [], ["rock"]]
    written = form.write(tags.candidates, np.zeros((3, 2)), tags.classes)
    assert written["rock"].tolist() == [1, 0, 1]
    assert written["live"].tolist() == [1, 0, 0]


def test_weights_of_each_tag():
    table = {"rock": np.array([0.2, 0.9, np.nan]), "live": np.array([0.5, 0, np.nan])}
    tags, form = tag_columns(table, ["rock", "live"])
    assert form.form == "weights"
    assert tags.rows.tolist() == [0, 1]
    assert tags.weights.tolist() == [[0.2, 0.5], [0.9, 0.0]]
    written = form.write(tags.candidates, np.asarray(tags), tags.classes)
    assert written["rock"].tolist() == [0.2, 0.9]
    with pytest.raises(DataError, match="between 0 and 1"):
        tag_columns({"a": np.array([0.5, 3.0]), "b": np.array([0.1, 1.5])}, ["a", "b"])


def test_five_readers_and_their_findings():
    """A finding weighs as the share of the readers who saw the picture."""
    table = {
        "r1": cells("edema|effusion", "edema", None),
        "r2": cells("edema", "[]", None),
        "r3": cells(None, "edema", None),
        "r4": cells("edema", "[]", None),
        "r5": cells("effusion", "[]", None),
    }
    tags, form = tag_columns(table, list(table))
    assert form.form == "annotators"
    assert tags.rows.tolist() == [0, 1]
    np.testing.assert_allclose(tags.weights, [[0.75, 0.5], [0.4, 0.0]])
    assert "did not see the row" in form.describe(tags)
    assert list(form.write(tags.candidates, tags.weights, tags.classes)) == ["tags"]


def readers(truth, n_readers, wrong, rng):
    """Tables of sets by readers who are wrong in a share of their answers."""
    votes = [(rng.random(truth.shape) < wrong) ^ truth for _ in range(n_readers)]
    cells = [[sep_or_none(NAMES[row]) for row in vote] for vote in votes]
    return {f"r{k}": column for k, column in enumerate(cells)}, np.mean(votes, axis=0)


def sep_or_none(names):
    return "|".join(names) or "[]"


@pytest.mark.parametrize("n_readers", [2, 3, 5])
def test_votes_of_a_row_count(n_readers):
    """Votes and similar rows together are right more often than either alone."""
    right = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 4))
        truth = X[:, :3] + 0.5 * rng.normal(size=(200, 3)) > 0.3
        columns, share = readers(truth, n_readers, 0.15, rng)
        table = pd.DataFrame(X, columns=list("abcd")).assign(**columns)
        result = disambiguate(table, list(columns), task="tags")
        assert result.voted
        kept = result.tags.candidates & ~result.doubtful
        all_listed = result.believed[share == 1]
        assert all_listed.mean() > 0.97  # a tag that everybody lists is not struck
        by_rows = CRISPMultiLabelClassifier().fit(X, Tags(share, NAMES))
        found = kept, share > 0.5, by_rows.held_out_scores_ > 0.5
        right.append([(truth == C).mean() for C in found])
    ours, majority, rows = np.mean(right, axis=0)
    assert ours > max(majority, rows)


def test_vote_probabilities_are_a_fixed_point():
    """Rates of annotators and probabilities agree, tag by tag, as written in words."""
    rng = np.random.default_rng(0)
    truth = rng.random((60, 2)) < 0.4
    seen = rng.integers(2, 6, size=60)
    flips = rng.random((5, 60, 2)) < 0.2
    asked = np.arange(5)[:, None] < seen
    W = ((flips ^ truth) & asked[:, :, None]).sum(axis=0) / seen[:, None]
    G = np.clip(truth * 0.5 + 0.2 + 0.1 * rng.normal(size=(60, 2)), 0, 1)
    P = vote_probabilities(W, seen, G, max_iter=1000, tol=1e-12)
    for j in range(2):
        yes, no = (W[:, j] * seen).round(), ((1 - W[:, j]) * seen).round()
        hit = (np.sum(P[:, j] * yes) + 4) / (np.sum(P[:, j] * seen) + 5)
        slip = (np.sum((1 - P[:, j]) * yes) + 1) / (np.sum((1 - P[:, j]) * seen) + 5)
        assert slip < 0.3 < 0.7 < hit
        prior = np.clip((G[:, j] - slip) / (hit - slip), 0.02, 0.98)
        true = prior * hit**yes * (1 - hit) ** no
        false = (1 - prior) * slip**yes * (1 - slip) ** no
        # atol: where the iteration stops.
        np.testing.assert_allclose(P[:, j], true / (true + false), atol=1e-10)


def test_one_vote_is_a_list():
    X = np.random.default_rng(0).normal(size=(40, 3))
    listed = X[:, :2] > 0
    once = Tags(listed, ["a", "b"], n_seen=np.ones(40))
    result, plain = (disambiguate(X, y, task="tags") for y in (once, listed))
    assert not result.voted
    np.testing.assert_array_equal(result.confidence, plain.confidence)
    part = once[np.array([3, 5])]
    assert part.n_seen.tolist() == [1, 1]
    assert check_tags(part, classes=["b", "a"]).n_seen.tolist() == [1, 1]


def test_bad_columns():
    with pytest.raises(DataError, match="no tag at all"):
        tag_columns({"tags": cells(None, "[]")}, ["tags"])
    marked = {"candidate:a": np.array([1, 0]), "candidate:b": np.array([0, 0])}
    tags, _ = tag_columns(marked, list(marked))
    assert tags.classes.tolist() == ["a", "b"]


def test_tags_that_are_given(songs):
    table, _, S = songs
    columns = columns_of(table)
    tags, names, _ = read_tags(columns, [set(NAMES[row]) for row in S])
    assert names == []
    assert len(tags) == 120
    votes = from_votes([0, 2], ["ann", "bob"], ["rock", "live"], empty="drop")
    assert read_tags(columns, votes)[0].rows.tolist() == [0, 2]
    with pytest.raises(ValueError, match="120 rows, the labels have 200"):
        read_tags(columns, Tags(np.zeros((200, 2)), ["a", "b"]))


@pytest.mark.parametrize("form", ["sets", "marks", "annotators"])
def test_train_and_predict_in_the_same_form(songs, form, tmp_path):
    table, Y, S = songs
    new = table.copy()
    table = table.copy()
    if form == "sets":
        labels = "tags"
        table["tags"] = in_sets(S)
    elif form == "marks":
        labels = list(NAMES)
        table[labels] = S.astype(int)
    else:
        labels = [f"r{k}" for k in range(5)]
        for k, name in enumerate(labels):
            noisy = add_noise_labels(Y, k % 2, random_state=k)
            table[name] = [text or "[]" for text in in_sets(noisy)]
    model = PartialClassifier(labels=labels, id="song", task="tags").fit(table)
    path = tmp_path / "model.partlearn"
    save_model(model, path)
    found = load_model(path).estimator.predict_frame(new)
    assert found["song"].tolist() == new["song"].tolist()
    if form == "marks":
        matrix = found[list(NAMES)].to_numpy()
    else:
        sets = [set(text.split("|")) for text in found["tags"]]
        matrix = np.array([[name in tags for name in NAMES] for tags in sets])
    np.testing.assert_array_equal(matrix, model.predict(new))
    assert (matrix == Y).mean() > 0.8
    assert ":" in found["scores"][0]


def test_probabilities_need_a_false_rate(songs):
    table, _, S = songs
    model = PartialClassifier(task="tags", id="song").fit(table, S)
    with pytest.raises(ValueError, match="false_rate"):
        model.predict_proba(table)
    for wanted in ({"coverage": 0.9}, {"accuracy": 0.9}):
        with pytest.raises(ValueError, match="without `coverage` and `accuracy`"):
            model.predictions(table, **wanted)
    with pytest.raises(ValueError, match="without `labels` and `bags`"):
        model.predictions(table, S)
    rated = CRISPMultiLabelClassifier(false_rate=0.3)
    P = PartialClassifier(rated, task="tags", id="song").fit(table, S)
    assert P.predict_proba(table).shape == S.shape
    assert 0 <= P.score(table, S.astype(int)) <= 1
    other = PartialClassifier("ml-knn", task="tags", id="song").fit(table, S)
    assert other.predict_proba(table).shape == S.shape


def test_wrong_use(songs):
    table, _, S = songs
    with pytest.raises(ValueError, match='"single" or "tags"'):
        PartialClassifier(task="many").fit(table, S)
    with pytest.raises(ValueError, match="for single labels"):
        PartialClassifier(task="tags", class_weight="balanced").fit(table, S)
    with pytest.raises(ValueError, match="multilabel learner"):
        make_tag_learner("pl-knn")
    with pytest.raises(ValueError, match="one label per row"):
        make_tag_learner("partlearn.classification:CRISPClassifier")
    with pytest.raises(DataError, match="`task"):
        refuse_several(["a", "a|b"], "The truth")
    refuse_several(["a", None, "b, c", 3.0], "The truth")


def test_quality_says_what_it_can(songs):
    table, Y, S = songs
    model = PartialClassifier(task="tags", id="song")
    truth = check_tags([set(NAMES[row]) for row in Y[:80]], classes=NAMES)
    tags = check_tags([set(NAMES[row]) for row in S])
    ours, frequent = estimate_tag_quality(model, table, tags)
    assert ours.true_precision is None
    assert ours.listed_precision > frequent.listed_precision
    ours, frequent = estimate_tag_quality(model, table, tags, truth=truth)
    assert ours.true_precision > frequent.true_precision + 0.1
    assert ours.false_found > 0.7
    with pytest.raises(ValueError, match="too few"):
        estimate_tag_quality(model, table[:2], tags[:2])


def test_tags_of_fewer_rows_than_the_table_are_refused():
    """Only `Tags` say which rows of the table they are of."""
    table = {"a": np.arange(4.0)}
    listed = np.eye(3, 2, dtype=bool)
    with pytest.raises(ValueError, match="The table has 4 rows, the labels have 3"):
        read_tags(table, listed)
    tags, _, _ = read_tags(table, Tags(listed, ["x", "y"], rows=[0, 2, 3]))
    assert tags.rows.tolist() == [0, 2, 3]
