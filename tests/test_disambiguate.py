"""The most likely label of every row."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_classification
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import partlearn
from partlearn import Disambiguation, disambiguate
from partlearn._math.linalg import z_scores
from partlearn.candidates import from_votes, make_candidates
from partlearn.classification import IPAL, PLKNN, PLSVM
from partlearn.datasets import load_wine_partial, make_tickets
from partlearn.decomposition import CENDA
from partlearn.inspection import label_report
from partlearn.tables import TableEncoder


@pytest.fixture
def blobs(global_random_seed):
    """Well separated classes, two candidates each."""
    X, y = make_blobs(
        100, n_features=6, centers=4, cluster_std=1.0, random_state=global_random_seed
    )
    return X, make_candidates(y, 1, random_state=global_random_seed), y


@pytest.mark.parametrize(
    "method",
    ["cenda", "PL-KNN", "ipal", "sure", "pl_aggd", PLSVM(0.01, random_state=0)],
    ids=str,
)
def test_finds_the_truth(blobs, method):
    X, S, y = blobs
    result = disambiguate(X, S, method)
    assert np.mean(result.label == y) > 0.9
    F = result.label_confidence
    np.testing.assert_allclose(F.sum(axis=1), 1)
    assert not F[~S].any()
    ordered = np.sort(F, axis=1)
    np.testing.assert_array_equal(result.confidence, ordered[:, -1])
    np.testing.assert_allclose(result.margin, ordered[:, -1] - ordered[:, -2])


def test_confidences_are_those_of_the_estimator(blobs):
    X, S, _ = blobs
    expected = IPAL(5).fit(z_scores(X), S).label_confidence_
    np.testing.assert_allclose(disambiguate(X, S, IPAL(5)).label_confidence, expected)
    plain = disambiguate(X, S, PLKNN(), standardize=False).label_confidence
    np.testing.assert_allclose(plain, PLKNN().fit(X, S).label_confidence_)
    piped = disambiguate(X, S, make_pipeline(StandardScaler(), IPAL(5)))
    np.testing.assert_allclose(piped.label_confidence, expected)


def test_a_pipeline_speaks_by_its_last_step_that_has_confidences(blobs):
    X, S, _ = blobs
    reducer = CENDA(2)
    piped = disambiguate(X, S, make_pipeline(reducer, PLSVM(random_state=0)))
    expected = disambiguate(X, S, reducer)
    np.testing.assert_allclose(piped.label_confidence, expected.label_confidence)


def test_agreement_by_hand():
    result = disambiguate(
        [[0.0], [0.1], [0.2], [1.0], [1.1]],
        [{"a"}, {"a", "b", "c"}, {"a"}, {"b", "c"}, {"b"}],
        method="plknn",
    )
    agreement = result.agreement(["a", "c", "a", "b", "b"])
    assert agreement.n_ambiguous == 2
    assert agreement.accuracy == 0.8
    assert agreement.ambiguous_accuracy == 0.5
    np.testing.assert_allclose(agreement.chance, (1 / 3 + 1 / 2) / 2)
    certain = disambiguate([[0.0], [1.0]], ["a", "b"], method="plknn")
    assert np.isnan(certain.agreement(["a", "b"]).chance)
    with pytest.raises(ValueError, match="must hold 5 values"):
        result.agreement(["a"])


def test_frame_keeps_the_index():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"x": [0.0, 0.1, 1.0]}, index=["r", "s", "t"])
    frame = disambiguate(X, [{"x"}, {"x", "y"}, {"y"}], method="plknn").to_frame()
    assert list(frame.index) == ["r", "s", "t"]
    assert frame["runner_up"].isna().tolist() == [True, False, True]
    assert frame.loc["s", "runner_up"] == "y"
    assert frame["candidates"].tolist() == [["x"], ["x", "y"], ["y"]]
    assert frame.loc["s", "label"] == "x"


def test_the_runner_up_is_never_the_label():
    X, S = np.eye(4), np.ones((4, 3), dtype=bool)
    result = disambiguate(X, S, PLKNN(2))
    assert all(a != b for a, b in zip(result.label, result.runner_up, strict=True))


def test_votes_may_all_be_for_a_wrong_label():
    """The second is told among all labels that are possible, as the margin is."""
    F = np.array([[0.2, 0.1, 0.7], [0.0, 1.0, 0.0], [0.6, 0.3, 0.1]])
    result = replace(
        result_of([0.7, 1.0, 0.6], [2, 1, 0]),
        classes=np.arange(3),
        label_confidence=F,
        candidates=np.array([[1, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=bool),
    )
    assert result.runner_up.tolist() == [0, None, 1]


def test_rows_whose_truth_is_not_known_are_left_out():
    result = result_of([0.6, 0.7, 0.8, 0.9], [0, 0, 1, 1])
    for truth in ([0, None, 0, None], np.array([0, np.nan, 0, None], object)):
        assert result.agreement(truth) == (0.5, 2, 0.5, 0.5)
        bins = result.calibration(truth)
        assert (bins.accuracy.tolist(), bins.n_rows.tolist()) == ([1, 0], [1, 1])
        assert label_report(result, truth=truth).right == (0.5, 0.5, 0.5)
    with pytest.raises(ValueError, match="`truth` holds no label at all"):
        result.agreement([None] * 4)


def test_corrections_of_rows_that_share_a_name():
    X = {"x": [0.0, 0.1, 1.0, 1.1], "id": ["r", "r", "s", "t"]}
    y = [{"a"}, {"a", "b"}, {"b"}, {"a", "b"}]
    encoder = TableEncoder(id="id")
    result = disambiguate(X, y, "plknn", encoder=encoder, corrections={"t": "a"})
    assert result.label[3] == "a"
    with pytest.raises(ValueError, match="row 'r', which 2 rows are called"):
        disambiguate(X, y, "plknn", encoder=encoder, corrections={"r": "a"})
    with pytest.raises(ValueError, match="`id`: there is no column 'key'"):
        disambiguate(X, y, "plknn", encoder=TableEncoder(id="key"))


def test_wine_as_measured():
    """The shares that the command line missed when it did not standardise."""
    wine = load_wine_partial()
    for method, share in (("sure", 0.97), ("pl-knn", 0.94)):
        result = disambiguate(wine.data, wine.candidates, method=method)
        assert result.agreement(wine.truth).accuracy > share


def test_label_names():
    result = disambiguate([[0.0], [0.1], [1.0]], [{"x"}, {"x", "y"}, {"y"}], "plknn")
    assert list(result.classes) == ["x", "y"]
    assert result.label[0] == "x"
    assert result.margin[0] == 1.0


def test_one_class_is_certain():
    result = disambiguate([[0.0], [1.0]], ["a", "a"], "ipal")
    assert list(result.label) == ["a", "a"]
    np.testing.assert_array_equal(result.margin, [1, 1])


def test_messages(blobs):
    X, S, _ = blobs
    with pytest.raises(ValueError, match="no method named 'magic'"):
        disambiguate(X, S, "magic")
    with pytest.raises(TypeError, match="name of a method or an estimator; got int"):
        disambiguate(X, S, 3)
    with pytest.raises(ValueError, match="neither `label_confidence_` nor"):
        disambiguate(X, S, PCA())


def result_of(confidence, label):
    F = np.column_stack([confidence, 1 - np.asarray(confidence)])
    confidence = np.asarray(confidence)
    S = np.ones(F.shape, dtype=bool)
    return Disambiguation(
        label=np.asarray(label),
        confidence=confidence,
        margin=confidence,
        classes=np.array([0, 1]),
        label_confidence=F,
        candidates=S,
        index=np.arange(len(F)),
        method="none",
        space=lambda: F,
        reasons=lambda *args, **kwargs: [],
    )


def test_calibration_by_hand():
    result = result_of([0.55, 0.58, 0.91, 1.0], [0, 0, 0, 0])
    sure, right, count = result.calibration([0, 1, 0, 0])
    np.testing.assert_allclose(sure, [0.565, 0.955])
    np.testing.assert_allclose(right, [0.5, 1.0])
    np.testing.assert_array_equal(count, [2, 2])
    with pytest.raises(ValueError, match="must hold 4 values"):
        result.calibration([0])
    with pytest.raises(ValueError, match="`n_bins` must be at least 1"):
        result.calibration([0, 1, 0, 0], n_bins=0)


def test_calibration_plot(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    result = result_of([0.55, 0.58, 0.91, 1.0], [0, 0, 0, 0])
    ax = result.plot_calibration([0, 1, 0, 0])
    np.testing.assert_allclose(ax.lines[1].get_xydata(), [[0.565, 0.5], [0.955, 1.0]])
    assert result.plot_calibration([0, 1, 0, 0], ax=ax) is ax
    plt.close(ax.figure)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"partlearn\[plot\]"):
        result.plot_calibration([0, 1, 0, 0])


def test_import_stays_light():
    code = "import sys, partlearn; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        partlearn.magic  # noqa: B018


def test_tables_of_anything(global_random_seed):
    tickets = make_tickets(150, random_state=global_random_seed)
    named = disambiguate(tickets.columns, "candidates", method="pl-knn")
    assert named.agreement(tickets.truth).accuracy > 0.7
    sets = [set(cell.split("|")) for cell in tickets.columns["candidates"]]
    table = {n: c for n, c in tickets.columns.items() if n != "candidates"}
    passed = disambiguate(table, sets, method="pl-knn")
    np.testing.assert_array_equal(passed.label, named.label)
    encoder = TableEncoder(id="ticket")
    kept = disambiguate(tickets.columns, "candidates", "pl-knn", encoder=encoder)
    assert kept.index[0] == "T-00001"
    tickets.columns["candidates"][3] = None
    bare = disambiguate(tickets.columns, ["candidates"], method="pl-knn")
    assert bare.rows.tolist() == bare.index.tolist() == list(range(150))
    assert bare.candidates[3].all()
    with pytest.raises(ValueError, match="Did you mean 'candidates'"):
        disambiguate(tickets.columns, "candidate")


def shared_errors(shared, seed=0, n=300):
    """Features, votes of twelve annotators, truth; on some rows all err alike."""
    rng = np.random.RandomState(seed)
    truth = rng.randint(3, size=n)
    X = rng.randn(n, 4) + 1.2 * np.eye(3, 4)[truth]
    trap = np.where(rng.rand(n) < shared, (truth + 1) % 3, -1)
    rows, who, given = [], [], []
    for i in range(n):
        for a in rng.choice(12, 3, replace=False):
            label = truth[i] if rng.rand() < 0.5 + a / 30 else rng.randint(3)
            if trap[i] >= 0 and rng.rand() < 0.8:
                label = trap[i]
            rows, who, given = [*rows, i], [*who, a], [*given, label]
    return X, from_votes(rows, who, given), truth


@pytest.mark.parametrize("shared", [0.0, 0.1, 0.2])
def test_expected_right_of_votes_counts_errors_that_annotators_share(shared):
    X, votes, truth = shared_errors(shared)
    result = disambiguate(X, votes)
    right = (result.label == truth).mean()
    expected, low, high = result.expected_right
    assert low <= right <= high
    assert result.summary()["expected_right"] == (low, high)
    assert low < result.halves_agree < expected < result.confidence.mean()
    if shared:
        assert result.confidence.mean() > right + 0.05  # what the estimate mends
        assert abs(expected - right) < result.confidence.mean() - right
    first, second = (disambiguate(X, half).label for half in votes.halves())
    assert result.halves_agree == (first == second).mean()


def test_the_range_reaches_down_to_the_truth_where_labels_overlap():
    """Confidences are too high there; models of halves of the rows show it."""
    inside, before = 0, 0
    for seed in range(20, 26):
        X, y = make_classification(
            300,
            8,
            n_informative=5,
            n_classes=5,
            n_clusters_per_class=1,
            class_sep=0.6,
            random_state=seed,
        )
        result = disambiguate(X, make_candidates(y, 2, random_state=seed))
        right = (result.label == y).mean()
        mean, low, high = result.expected_right
        inside += low <= right <= high
        before += 2 * mean - high <= right <= high
        assert result.overconfidence > 1.1
    assert inside >= 5
    assert before <= 2  # without the flatter confidences


def test_well_separated_labels_have_a_narrow_range():
    X, y = make_blobs(200, n_features=6, centers=4, random_state=0)
    result = disambiguate(X, make_candidates(y, 1, random_state=0))
    assert result.expected_right[1] > 0.97
    assert disambiguate(X[:30], y[:30, None] == np.arange(4)).overconfidence is None
    assert disambiguate(X, y).overconfidence is None  # nothing to choose
    candidates = make_candidates(y, 1, random_state=0)
    known = disambiguate(X, candidates, gold={i: int(y[i]) for i in range(20)})
    assert known.overconfidence is None
    bare = replace(result, held_out=lambda: disambiguate(X, y[:3]))
    assert bare.overconfidence is None  # nothing can be learnt from a half


def test_expected_right_without_halves():
    X, votes, truth = shared_errors(0.0, n=60)
    known = disambiguate(X, votes, gold={i: int(truth[i]) for i in range(20)})
    assert known.expected_right == known.quality[:3]
    one = from_votes(np.arange(60), ["ann"] * 60, truth)
    assert disambiguate(X, one).halves_agree is None
    sets = disambiguate(X, truth)
    assert sets.halves_agree is None
    assert sets.expected_right[0] == pytest.approx(sets.confidence.mean())
    bare = replace(sets, halves=lambda: disambiguate(X, truth[:3]))
    assert bare.halves_agree is None  # nothing can be learnt from a half
