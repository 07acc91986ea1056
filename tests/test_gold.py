"""gold=: honest intervals, calibrated annotators and confidences, all forms."""

import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_wine

from partlearn import PartialClassifier, disambiguate
from partlearn.candidates import (
    aggregate_votes,
    from_votes,
    known_labels,
    make_candidates,
    make_votes,
    warn_if_chosen,
)
from partlearn.metrics import calibrate_by_gold, gold_quality
from partlearn.tables import estimate_quality

X, Y = load_wine(return_X_y=True)
S = make_candidates(Y, n_false=1, random_state=0)
GOLD = {int(i): int(Y[i]) for i in np.random.RandomState(0).permutation(178)[:40]}


@pytest.mark.parametrize("n_gold", [30, 60, 150])
def test_intervals_hold_as_often_as_they_say(n_gold):
    """90 % intervals: 85 to 95 % of 6,000 hold, over six shares of right labels."""
    rng = np.random.RandomState(n_gold)
    held = []
    for share in (0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
        for _ in range(1000):
            right = rng.rand(400) < share
            sample = rng.permutation(400)[:n_gold]
            quality = gold_quality(right[sample], 400)
            right[sample] = True  # they are known now
            held.append(quality.low <= right.mean() <= quality.high)
    assert 0.85 <= np.mean(held) <= 0.95


def test_interval_by_hand():
    """8 of 10 right, 10 others: they count as 5, and z^2 more, half of them right."""
    z, p, n = 1.6448536269514722, 0.8, 5.0
    middle = (4 + z**2 / 2) / (n + z**2)
    half = z * np.sqrt(middle * (1 - middle) / (n + z**2))
    quality = gold_quality([True] * 8 + [False] * 2, 20)
    ends = np.array([p, middle - half, middle + half])
    np.testing.assert_allclose(quality[:3], 0.5 + 0.5 * ends)
    assert quality[3:] == (0.9, 10, 8)
    assert gold_quality([True, False], 2)[:3] == (1, 1, 1)
    with pytest.raises(ValueError, match="1 to 5 known rows"):
        gold_quality([], 5)
    with pytest.raises(ValueError, match="`level` must lie"):
        gold_quality([True], 5, level=90)


@pytest.mark.parametrize("n_gold", [10, 20, 35, 100])
def test_at_least_85_percent_of_intervals_hold_for_every_share(n_gold):
    """Of new rows, exactly: hits are binomial. Wilson's interval falls to .80."""
    hits = np.arange(n_gold + 1)
    ends = [gold_quality(np.arange(n_gold) < k)[1:3] for k in hits]
    low, high = np.transpose(ends)[..., None]
    shares = np.linspace(0.5, 0.99, 491)
    held = (low <= shares) & (shares <= high)
    coverage = (binom.pmf(hits[:, None], n_gold, shares) * held).sum(axis=0)
    assert coverage.min() >= 0.85
    assert 0.89 <= coverage.mean() <= 0.94


def test_bold_confidences_become_modest_and_back():
    F = np.tile([0.95, 0.05, 0.0], (400, 1))
    codes = (np.arange(400) % 10 < 3).astype(int)  # 70 % are right
    modest = calibrate_by_gold(F, F, codes)
    assert 0.68 < modest[0, 0] < 0.76
    assert modest[0, 2] == 0
    np.testing.assert_allclose(modest.sum(axis=1), 1)
    few = calibrate_by_gold(F, F[:5], codes[:5])
    assert abs(few[0, 0] - 0.95) < abs(modest[0, 0] - 0.95)
    timid = np.tile([0.6, 0.4], (400, 1))
    assert calibrate_by_gold(timid, timid, np.zeros(400, int))[0, 0] > 0.8


def test_gold_in_every_form():
    pandas = pytest.importorskip("pandas")
    result = disambiguate(X, S, "plknn", gold=GOLD)
    places = np.array(list(GOLD))
    assert (result.label[places] == Y[places]).all()
    assert (result.confidence[places] == 1).all()
    plain = disambiguate(X, S, "plknn")
    right = int((plain.label == Y)[places].sum())
    assert (result.quality.n_gold, result.quality.n_right) == (40, right)
    assert result.quality.low <= (result.label == Y).mean() <= result.quality.high
    assert plain.quality is None
    column = [Y[i] if i in GOLD else None for i in range(178)]
    assert disambiguate(X, S, "plknn", gold=column).quality == result.quality
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["labels"] = ["|".join(f"c{j}" for j in np.flatnonzero(row)) for row in S]
    frame["known"] = [f"c{Y[i]}" if i in GOLD else None for i in range(178)]
    of_table = disambiguate(frame, "labels", "plknn", gold="known")
    assert of_table.quality.n_gold == 40
    assert (of_table.label[places] == frame["known"][places]).all()
    with pytest.raises(ValueError, match="must hold 178 labels"):
        disambiguate(X, S, "plknn", gold=["a"])
    with pytest.raises(ValueError, match="`gold` name row 999"):
        disambiguate(X, S, "plknn", gold={999: 0})


def test_the_report_says_how_the_estimate_was_reached():
    pytest.importorskip("jinja2")
    known = disambiguate(X, S, "plknn", gold=GOLD)
    page = " ".join(known.to_html().split())
    assert f"{known.quality.n_right} of 40 were found without knowing them" in page
    assert "The expected share is estimated from the known labels" in page
    assert "By known labels" not in disambiguate(X, S, "plknn").to_html()


def test_gold_rows_show_how_good_annotators_are():
    """Two of three annotators agree on wrong labels; ten known rows say so."""
    rng = np.random.RandomState(0)
    truth = rng.randint(2, size=200)
    rows = np.repeat(np.arange(200), 3)
    given = np.stack([truth, 1 - truth, 1 - truth], axis=1).ravel()
    votes = from_votes(rows, np.tile(["good", "bad", "evil"], 200), given)
    assert (aggregate_votes(votes).label == truth).mean() < 0.1
    gold = {i: int(truth[i]) for i in range(60)}
    summary = aggregate_votes(votes, gold=gold)
    assert (summary.label == truth).mean() > 0.9
    best = summary.annotators.name[summary.annotators.accuracy.argmax()]
    assert best == "good"
    np.testing.assert_array_equal(summary.confidence[:60], np.eye(2)[truth[:60]])


def test_interval_for_new_rows_holds_as_often_as_it_says():
    """The interval is for the accuracy itself: 85 to 95 % of 6,000 hold."""
    rng = np.random.RandomState(0)
    held = []
    for share in (0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
        for right in rng.rand(1000, 60) < share:
            quality = gold_quality(right)
            held.append(quality.low <= share <= quality.high)
    assert 0.85 <= np.mean(held) <= 0.95
    with pytest.raises(ValueError, match="any number of known rows"):
        gold_quality([])


def test_intervals_of_aggregated_votes_hold():
    """300 draws of votes and of 40 known rows each: 85 to 95 % hold."""
    rng = np.random.RandomState(0)
    truth = rng.randint(4, size=200)
    held, gaps = [], []
    for seed in range(300):
        skill = rng.uniform(0.4, 0.8, 8)
        votes = make_votes(truth, 8, accuracy=skill, coverage=0.4, random_state=seed)
        gold = {int(i): int(truth[i]) for i in rng.permutation(200)[:40]}
        summary = aggregate_votes(votes, gold=gold)
        right = (summary.label == truth).mean()
        held.append(summary.quality.low <= right <= summary.quality.high)
        gaps.append(summary.confidence.max(axis=1).mean() - right)
    assert 0.85 <= np.mean(held) <= 0.95
    assert abs(np.mean(gaps)) < 0.05  # calibrated
    assert aggregate_votes(votes).quality is None
    column = [gold.get(i) for i in range(200)]
    assert aggregate_votes(votes, gold=column).quality == summary.quality


def test_accuracy_on_new_rows_of_a_trained_table():
    """60 draws of 50 known rows: the interval holds the accuracy on new rows."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.RandomState(0)
    held = []
    for _ in range(60):
        truth = rng.randint(3, size=1500)
        rows = rng.randn(1500, 3) + np.eye(3)[truth] * 1.5
        sets = make_candidates(truth, n_false=1, random_state=rng)
        frame = pandas.DataFrame(rows, columns=list("abc"))
        frame["labels"] = ["|".join(map(str, np.flatnonzero(s))) for s in sets]
        frame["known"] = None
        sample = rng.permutation(300)[:50]
        frame.loc[sample, "known"] = truth[sample].astype(str)
        model = PartialClassifier("pl-knn", labels="labels", gold="known")
        model.fit(frame[:300])
        quality = estimate_quality(model, frame[:300])[0].gold
        right = (model.predict(frame[300:]) == truth[300:].astype(str)).mean()
        held.append(quality.low <= right <= quality.high)
    assert np.mean(held) >= 0.85  # .95 is 57 of 60: a bound above would be chance


def test_known_rows_of_a_table_are_certain_and_may_lack_candidates():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [0.0, 0.1, 1.0, 1.1], "labels": ["a|b"] * 4})
    frame["known"] = ["a", None, "b", None]
    frame.loc[2, "labels"] = None
    model = PartialClassifier("pl-knn", labels="labels", gold="known")
    evidence, _ = model.read_labels(frame)
    assert evidence.rows.tolist() == [0, 1, 2, 3]
    assert model.fit(frame).predict(frame).tolist() == ["a", "a", "b", "b"]
    frame.loc[1, "labels"] = ""
    assert model.fit(frame).n_unlabeled_ == 1
    frame["known"] = None
    with pytest.raises(ValueError, match="holds no label"):
        model.fit(frame)
    with pytest.raises(ValueError, match="for single labels"):
        model.set_params(task="tags").fit(frame)


def test_known_labels_in_every_form():
    assert known_labels([np.nan, 1.0, 2.0], 3) == {1: 1, 2: 2}
    assert known_labels({2: "a"}, 3) == {2: "a"}
    for wrong, message in (
        ({3: "a"}, "names row 3; rows are 0 to 2"),
        ({"x": "a"}, "names row 'x'"),
        (["a"], "must hold 3 values"),
        ([None] * 3, "holds no label"),
    ):
        with pytest.raises(ValueError, match=message):
            known_labels(wrong, 3)


def test_known_rows_that_were_chosen_are_warned_about():
    """The least certain rows, the most certain ones, and no random sample of 300."""
    order = np.argsort(disambiguate(X, S, "plknn").confidence, kind="stable")
    for rows, word in ((order[:20], "too low"), (order[-60:], "too high")):
        gold = {int(i): int(Y[i]) for i in rows}
        with pytest.warns(UserWarning, match=f"look chosen.*{word}"):
            disambiguate(X, S, "plknn", gold=gold)
    rng = np.random.RandomState(0)
    confidence = rng.beta(5, 1, 500).round(1)  # many ties
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (1, 10, 499, 500):
            for _ in range(75):
                warn_if_chosen(confidence, rng.permutation(500)[:n])
        warn_if_chosen(np.ones(9), np.arange(3))
