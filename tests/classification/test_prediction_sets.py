"""PredictionSets: the rule literally, hand-computed sets, guarantees, bad input."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

from partlearn.candidates import (
    check_evidence,
    from_votes,
    from_weights,
    make_bags,
    make_candidates,
)
from partlearn.classification import PLKNN, CandidateClassifier, PredictionSets
from partlearn.classification._calibration import (
    Calibration,
    conformal_threshold,
    probability_sets,
)

X, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
S = make_candidates(Y, n_false=1, random_state=0)


def literal_sets(P, held, weights, coverage):
    """The formula of the Notes, label by label."""
    n, q = held.shape
    sets = np.zeros(P.shape, dtype=bool)
    for i in range(len(P)):
        for j in range(P.shape[1]):
            total = 1.0
            for a in range(n):
                for b in range(q):
                    if held[a, b] <= P[i, j]:
                        total += weights[a, b]
            sets[i, j] = total > (1 - coverage) * (n + 1) + 1e-9
        sets[i, P[i].argmax()] = True
    return sets


def literal_weights(calibrator, P, L, shares):
    weights = np.zeros(P.shape)
    for i in range(len(P)):
        inside = [j for j in range(P.shape[1]) if L[i, j] > 0]
        if calibrator == "all":
            weights[i, min(inside, key=lambda j: P[i, j])] = 1
        elif calibrator == "any":
            weights[i, max(inside, key=lambda j: P[i, j])] = 1
        else:
            weights[i] = shares[i]
    return weights


def drawn(seed, n=40, q=4):
    rng = np.random.RandomState(seed)
    P = rng.dirichlet(np.ones(q), n).round(2)  # ties
    P /= P.sum(axis=1, keepdims=True)
    L = rng.rand(n, q) * (rng.rand(n, q) < 0.6)
    L[np.arange(n), rng.randint(q, size=n)] = 1
    return P, from_weights(L), rng.dirichlet(np.ones(q), 15)


@pytest.mark.parametrize("calibrator", ["all", "any", "votes"])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
def test_sets_follow_the_rule(calibrator, coverage):
    P, labels, new = drawn(0)
    calibration = Calibration.of(P, labels)
    weights = literal_weights(calibrator, P, labels.weights, labels.confidence())
    np.testing.assert_allclose(calibration.row_weights(calibrator), weights)
    np.testing.assert_array_equal(
        probability_sets(new, calibration.thresholds(coverage, calibrator)),
        literal_sets(new, P, weights, coverage),
    )


def test_confidence_is_evidence_times_the_best_power():
    """The power maximises the likelihood of the candidates: a fine grid agrees."""
    P, labels, new = drawn(1)
    L = labels.weights
    smooth = (P + 0.001 / 4) / 1.001
    grid = np.linspace(0, 5, 5001)

    def objective(w):
        power = smooth**w / (smooth**w).sum(axis=1, keepdims=True)
        return np.log((L * power).sum(axis=1)).mean() - 1e-3 * (w - 1) ** 2

    best = max(grid, key=objective)
    F = L * smooth**best
    F /= F.sum(axis=1, keepdims=True)
    calibration = Calibration.of(P, labels)
    np.testing.assert_allclose(calibration.confidence(), F, atol=2e-3)  # the grid
    weights = calibration.confidence()
    np.testing.assert_array_equal(
        probability_sets(new, calibration.thresholds(0.8, "confidence")),
        literal_sets(new, P, weights, 0.8),
    )


def test_threshold_of_single_labels_by_hand():
    """Split conformal: of 9 rows the least probability for .9, the second for .8."""
    p = np.array([0.5, 0.9, 0.2, 0.7, 0.3, 0.8, 0.6, 0.4, 0.95])
    one = np.ones(9)
    assert conformal_threshold(p, one, 0.9) == 0.2
    assert conformal_threshold(p, one, 0.8) == 0.3
    assert conformal_threshold(p[:8], one[:8], 0.9) == 0.0  # eight are too few
    assert conformal_threshold(np.array([0.4]), np.zeros(1), 0.9) == 0.0
    # Half a row at .2: one row and a half must be below what enters.
    assert conformal_threshold(p, np.where(p == 0.2, 0.5, 1.0), 0.8) == 0.3


def test_thresholds_of_candidates_and_votes_by_hand():
    """Four rows; the k-th largest score, k = ceil(5 c), by each calibrator.

    Worst candidates .9 .4 .7 .8, best ones .9 .6 .7 .8 (Javanmardi et al.); the votes
    of row 1 are split, so that .6 and .4 count half each (Stutz et al.).
    """
    P = np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.2, 0.8]])
    votes = from_votes([0, 1, 1, 2, 3], list("xxyxx"), [0, 0, 1, 0, 1])
    calibration = Calibration.of(P, votes)
    sets = Calibration.of(P, from_weights(votes.table.counts > 0))
    for coverage, expected in {
        0.6: {"all": 0.7, "any": 0.7, "votes": 0.7},
        0.75: {"all": 0.4, "any": 0.6, "votes": 0.4},
        0.8: {"all": 0.4, "any": 0.6, "votes": 0.4},
        0.9: {"all": 0.0, "any": 0.0, "votes": 0.0},  # nine rows are needed
    }.items():
        for calibrator, threshold in expected.items():
            source = calibration if calibrator == "votes" else sets
            found = source.thresholds(coverage, calibrator)
            assert found.tolist() == [threshold] * 2, (coverage, calibrator)


def test_abstention_by_hand():
    """Single labels: the two surest are right, then every second one."""
    P = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4], [0.6, 0.4]])
    y = np.eye(2, dtype=bool)[[0, 0, 1, 0, 0]]
    calibration = Calibration.of(P, check_evidence(y))
    assert calibration.abstention(1.0) == (0.8, 0.4, 1.0)
    threshold, coverage, accuracy = calibration.abstention(0.8)
    assert (threshold, coverage) == (0.6, 1.0)
    assert accuracy == pytest.approx(0.8)
    wrong = Calibration.of(P, check_evidence(~y))
    assert wrong.abstention(0.99)[:2] == (np.inf, 0.0)
    np.testing.assert_allclose(calibration.risk_coverage().risk[:3], [0, 0, 1 / 3])


@pytest.mark.parametrize("calibrator", ["confidence", "all"])
def test_truth_is_covered(calibrator):
    """Guaranteed for "all"; "confidence" is close. Twenty splits, 1,760 rows."""
    hits = []
    for seed in range(20):
        order = np.random.RandomState(seed).permutation(len(X))
        train, test = order[:90], order[90:]
        model = PredictionSets(PLKNN(), calibrator=calibrator, random_state=seed)
        sets = model.fit(X[train], S[train]).predict_set(X[test])
        hits.append(sets[np.arange(len(test)), Y[test]].mean())
    assert np.mean(hits) >= 0.9 - 2 * np.std(hits) / 20**0.5


def test_any_is_narrower_than_all_and_wider_with_coverage():
    widths = {}
    for calibrator in ("all", "any", "confidence"):
        model = PredictionSets(PLKNN(), calibrator=calibrator, random_state=0)
        model.fit(X, S)
        widths[calibrator] = model.predict_set(X).sum()
        assert model.predict_set(X, coverage=0.5).sum() <= widths[calibrator]
    assert widths["any"] <= widths["confidence"] <= widths["all"]
    assert widths["any"] < widths["all"]


def test_calibrating_rows_are_held_out():
    """The estimator is the one fitted on the other rows; `cv` fits on all."""
    model = PredictionSets(PLKNN(), random_state=3).fit(X, S)
    seed = np.random.RandomState(3).randint(2**31 - 1)
    train, test = next(ShuffleSplit(1, test_size=0.25, random_state=seed).split(X))
    fitted = PLKNN().fit(X[train], S[train])
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(
        model.calibration_.probability, fitted.predict_proba(X[test])
    )
    small = PredictionSets(PLKNN(), calibration_size=0.75, random_state=3).fit(X, S)
    assert len(small.calibration_.probability) == 134
    crossed = clone(model).set_params(cv=3).fit(X, S)
    assert len(crossed.calibration_.probability) == len(X)
    np.testing.assert_array_equal(
        crossed.predict_proba(X), PLKNN().fit(X, S).predict_proba(X)
    )


@pytest.mark.parametrize("cv", [None, 3])
def test_whole_bags_are_held_out(monkeypatch, cv):
    """Rows of a bag share a list, so that they never are on both sides."""
    rows, bags = np.arange(len(Y)), np.arange(len(Y)) // 2
    lists = np.zeros((len(Y), 3), dtype=bool)
    lists[rows, Y] = True
    lists |= lists[rows ^ 1]
    fitted = []
    fit = CandidateClassifier.fit

    def recorded(self, X, y, *, bags=None):
        fitted.append(bags)
        return fit(self, X, y, bags=bags)

    monkeypatch.setattr(CandidateClassifier, "fit", recorded)
    learner = CandidateClassifier(LogisticRegression())
    model = PredictionSets(learner, cv=cv, random_state=0).fit(X, lists, bags=bags)
    assert model.predict_set(X)[rows, Y].mean() >= 0.85
    for used in fitted[: cv or 1]:
        assert (np.unique(used, return_counts=True)[1] == 2).all()
        assert len(used) < len(Y)
    if cv:
        np.testing.assert_array_equal(fitted[cv], bags)
    with pytest.raises(ValueError, match="PLKNN does not use bags"):
        PredictionSets(PLKNN()).fit(X, S, bags=bags)


def test_votes_of_annotators():
    rng = np.random.RandomState(0)
    rows = np.repeat(np.arange(len(Y)), 3)
    given = np.where(rng.rand(len(rows)) < 0.8, Y[rows], rng.randint(3, size=len(rows)))
    votes = from_votes(rows, np.tile(["a", "b", "c"], len(Y)), given)
    model = PredictionSets(PLKNN(), calibrator="votes", random_state=0)
    sets = model.fit(X, votes).predict_set(X)
    covered = sets[rows, given].mean()
    assert covered >= 0.85
    seed = np.random.RandomState(0).randint(2**31 - 1)
    _, test = next(ShuffleSplit(1, test_size=0.25, random_state=seed).split(X))
    np.testing.assert_allclose(model.calibration_.shares, votes.table.shares()[test])
    with pytest.raises(ValueError, match="needs votes or weights"):
        model.fit(X, S)


def test_classes_and_subgroups_have_their_own_thresholds():
    model = PredictionSets(PLKNN(), per_class=True, coverage=0.8, random_state=0)
    model.fit(X, S)
    F, P = model.calibration_.confidence(), model.calibration_.probability
    own = [conformal_threshold(P[:, j], F[:, j], 0.8) for j in range(3)]
    np.testing.assert_array_equal(model.thresholds_, own)
    assert len(set(own)) == 3
    where = np.where(X[:, 0] > 0, "north", "south")
    model = PredictionSets(PLKNN(), calibrator="all", coverage=0.8, random_state=0)
    model.fit(X, S, groups=np.arange(len(X)) // 2, subgroups=where)
    both = model.predict_set(X, subgroups=where)
    for name in ("north", "south"):
        P = model.predict_proba(X[where == name])
        np.testing.assert_array_equal(
            both[where == name], probability_sets(P, model.thresholds_[name])
        )
    with pytest.raises(ValueError, match="`subgroups` are missing"):
        model.predict_set(X)
    with pytest.raises(ValueError, match="'west' has no calibration rows"):
        model.predict_set(X[:1], subgroups=["west"])
    with pytest.raises(ValueError, match="one per row"):
        model.fit(X, S, subgroups=where[:3])
    with pytest.raises(ValueError, match="does not identify the true candidate"):
        PredictionSets(PLKNN(), calibrator="all", per_class=True).fit(X, S)


def test_few_rows_give_every_label_and_warn():
    model = PredictionSets(PLKNN(), random_state=0).fit(X[::10], S[::10])
    with pytest.warns(UserWarning, match="at least 9 calibration rows"):
        assert model.predict_set(X).all()
    with pytest.raises(ValueError, match="`coverage` must lie between 0 and 1"):
        model.predict_set(X, coverage=90)


def test_other_classifiers_and_sparse_rows():
    model = PredictionSets(LogisticRegression(), random_state=0)
    sets = model.fit(csr_array(X), S).predict_set(csr_array(X))
    assert type(model.estimator_) is CandidateClassifier
    assert sets[np.arange(len(Y)), Y].mean() > 0.85
    with pytest.raises(ValueError, match="two classes"):
        model.fit(X, np.zeros(len(X)))


def test_known_labels_guarantee_the_coverage():
    """100 draws: the mean coverage of new rows is .9 or more, but for chance.

    False labels always come with the same true one, so that confidences mislead.
    """
    rng = np.random.RandomState(0)
    hits = {"gold": [], "confidence": []}
    for seed in range(100):
        truth = rng.randint(3, size=400)
        rows = rng.randn(400, 2) + np.eye(3)[truth][:, :2]
        sets = np.eye(3, dtype=bool)[truth]
        sets[truth == 1, 0] = True
        sets[np.flatnonzero(truth == 2)[::2], 0] = True
        known = {int(i): int(truth[i]) for i in rng.permutation(200)[:40]}
        for calibrator in hits:
            model = PredictionSets(
                PLKNN(40), calibrator=calibrator, random_state=seed
            ).fit(rows[:200], sets[:200], gold=known if calibrator == "gold" else None)
            covered = model.predict_set(rows[200:])[np.arange(200), truth[200:]]
            hits[calibrator].append(covered.mean())
    gold = np.array(hits["gold"])
    assert gold.mean() >= 0.9 - 2 * gold.std() / 100**0.5
    assert gold.mean() <= 0.9 + 2 / 41  # ties and rounding of 40 rows
    assert np.mean(hits["confidence"]) < 0.85


def test_known_rows_calibrate_and_do_not_train():
    known = [Y[i] if i % 4 == 0 else None for i in range(len(Y))]
    model = PredictionSets(PLKNN(), calibrator="gold", random_state=0)
    model.fit(X, S, gold=known)
    rows = np.arange(len(Y)) % 4 == 0
    fitted = PLKNN().fit(X[~rows], S[~rows])
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))
    P = fitted.predict_proba(X[rows])
    np.testing.assert_array_equal(model.calibration_.probability, P)
    own = conformal_threshold(P[np.arange(len(P)), Y[rows]], np.ones(len(P)), 0.9)
    np.testing.assert_array_equal(model.thresholds_, [own] * 3)
    pairs = np.arange(len(Y)) // 2
    model.fit(X, S, groups=pairs, gold=known)
    apart = ~np.isin(pairs, pairs[rows])
    fitted = PLKNN().fit(X[apart], S[apart])
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))
    where = np.where(X[:, 0] > 0, "north", "south")
    crossed = clone(model).set_params(cv=3, per_class=True)
    crossed.fit(X, S, gold=known, subgroups=where)
    assert crossed.calibration_.gold.sum() == rows.sum()
    assert set(crossed.thresholds_) == {"north", "south"}
    with pytest.raises(ValueError, match="pass both or neither"):
        model.fit(X, S)
    with pytest.raises(ValueError, match="pass both or neither"):
        PredictionSets(PLKNN()).fit(X, S, gold=known)
    with pytest.raises(ValueError, match="Pass fewer known labels, or `cv`"):
        model.fit(X, S, gold=Y)
    with pytest.raises(ValueError, match="needs known labels; train with `gold`"):
        PredictionSets(PLKNN()).fit(X, S).calibration_.thresholds(0.9, "gold")


def test_rows_without_a_bag_count_in_no_stray_rate():
    lists, bags = make_bags(Y, size=2, random_state=0)
    some = np.where(bags % 3, bags.astype(object), None)
    learner = CandidateClassifier(LogisticRegression(), max_iter=2, random_state=0)
    model = PredictionSets(learner, cv=2, random_state=0).fit(X, lists, bags=some)
    alone = clone(learner).fit(X, lists, bags=some)
    assert model.estimator_.stray_rate_ == alone.stray_rate_


def test_each_class_and_subgroup_is_covered():
    """200 draws: .9 in each class or subgroup, by its own rows, but for chance.

    Class 2 and the subgroup "south" are harder than the rest, so that the sets that
    cover all rows together cover them too little.
    """
    rng = np.random.RandomState(0)

    def drawn_rows(n):
        truth = rng.choice(3, n, p=[0.5, 0.3, 0.2])
        south = rng.rand(n) < 0.3
        signal = np.where(truth == 2, 0.5, 3.0) - 1.5 * south
        logits = rng.randn(n, 3) + signal[:, None] * np.eye(3)[truth]
        P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        return P, truth, south

    hits = {"class": [], "all": [], "south": []}
    for _ in range(200):
        P, truth, south = drawn_rows(150)
        new, right, in_south = drawn_rows(400)
        rows = np.arange(400)
        gold = np.ones(150, dtype=bool)
        labels = check_evidence(np.eye(3, dtype=bool)[truth])
        whole = Calibration.of(P, labels, gold)
        covered = whole.sets(new, 0.9)[rows, right]
        hits["all"].append(
            [*(covered[right == j].mean() for j in range(3)), covered[in_south].mean()]
        )
        covered = whole.sets(new, 0.9, per_class=True)[rows, right]
        hits["class"].append([covered[right == j].mean() for j in range(3)])
        part = Calibration.of(P[south], labels[np.flatnonzero(south)], gold[south])
        covered = part.sets(new, 0.9)[rows, right]
        hits["south"].append([covered[in_south].mean()])
    for name, values in hits.items():
        mean = np.mean(values, axis=0)
        error = np.std(values, axis=0) / len(values) ** 0.5
        if name == "all":
            assert (mean[2:] < 0.85).all()
        else:
            assert (mean > 0.9 - 2 * error).all()
            assert (mean < 0.97).all()
