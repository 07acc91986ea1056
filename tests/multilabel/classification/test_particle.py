"""PARTICLE: the released first stage, a literal transcription, no leak, the edges."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from scipy.optimize import minimize, nnls
from sklearn.exceptions import ConvergenceWarning

from partlearn._math.graphs import neighbor_weights, rebuilding_graph, weighted_votes
from partlearn._math.neighbors import query_neighbors, self_neighbors
from partlearn._sizes import SIZES
from partlearn.metrics import average_precision, micro_f1, ranking_loss
from partlearn.model_selection import CandidateKFold
from partlearn.multilabel import ParticleMAP, ParticleVLS, add_noise_labels
from partlearn.multilabel.classification._particle import (
    Pairs,
    credible_labels,
    fit_pairs,
    pairs_of,
    propagate,
    rescale,
    unit_rows,
)
from partlearn.multilabel.classification._particle_map import (
    count_tables,
    log_odds_tables,
    pairs_won,
)
from partlearn.multilabel.classification._particle_vls import ranking_votes

BOTH = [ParticleVLS, ParticleMAP]
ORACLE = 1e-8


def problem(seed, n=80, d=12, l=4):  # no more neighbours than features: unique
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 5, size=d) + 3
    Y = (X - 3) / X.std(axis=0) @ rng.normal(size=(d, l)) > 0.8
    Y[~Y.any(axis=1), 0] = True
    return X, Y, add_noise_labels(Y, 1, random_state=seed)


# ------------------------------------------------------------------ first stage


@pytest.mark.shared
def test_first_stage_of_the_release(shared_dir):
    oracle = np.load(shared_dir / "oracle" / "pml_particle_stage1.npz")
    X, C, k = oracle["X_train"], oracle["C_train"] > 0, int(oracle["k"])
    alpha, thr = float(oracle["alpha"]), float(oracle["thr"])
    near = {"rtol": 0, "atol": ORACLE}

    neighbors = self_neighbors(X, k)
    np.testing.assert_array_equal(neighbors, oracle["neighbors"])
    T = rebuilding_graph(X, neighbors)
    np.testing.assert_allclose(T.toarray(), oracle["transition"], **near)
    P, n_iter = propagate(T, C, alpha, norm="spectral")
    assert n_iter == int(oracle["fixed_iters"][0])
    expected = oracle["fixed_confidence_before_rescale"]
    np.testing.assert_allclose(P, expected, **near)

    _, with_self = query_neighbors(X, X, k)
    P, _ = propagate(rebuilding_graph(X, with_self), C, alpha, norm="spectral")
    F = rescale(P, C)
    np.testing.assert_allclose(F, oracle["released_confidence"], **near)
    distances, neighbors = query_neighbors(X, oracle["X_test"], k)
    s = weighted_votes(F, neighbors, neighbor_weights(distances, "distance"))
    E = credible_labels(s, oracle["C_test"] > 0, thr, inside=False)
    np.testing.assert_array_equal(E, oracle["released_credible_test"] > 0)


@pytest.mark.shared
@pytest.mark.parametrize("cls", BOTH)
def test_classifiers_hold_the_first_stage(cls, shared_dir):
    oracle = np.load(shared_dir / "oracle" / "pml_particle_stage1.npz")
    X, C = oracle["X_train"], oracle["C_train"] > 0
    model = cls(standardize=False, random_state=0).fit(X, C)
    P = oracle["fixed_confidence_before_rescale"]
    # The program stops earlier, at a smaller norm of the change.
    np.testing.assert_allclose(model.labels_, rescale(P, C), rtol=0, atol=1e-4)
    released = cls(standardize=False, variant="release", random_state=0).fit(X, C)
    np.testing.assert_allclose(
        released.labels_, oracle["released_confidence"], rtol=0, atol=ORACLE
    )


def literal_confidences(X, C, k, alpha, tol):
    """Propagation with loops and one non-negative least squares at a time."""
    n = len(X)
    T = np.zeros((n, n))
    order = []
    for i in range(n):
        others = sorted(
            (a for a in range(n) if a != i), key=lambda a: np.sum((X[a] - X[i]) ** 2)
        )[:k]
        order.append(others)
        w, _ = nnls(X[others].T, X[i])
        if w.sum() > 0:
            T[i, others] = w / w.sum()
    P = C.astype(float)
    while True:
        old = P
        P = (alpha * T @ P + (1 - alpha) * C) * C
        P = P / P.sum(axis=1, keepdims=True)
        if np.sqrt(np.sum((P - old) ** 2)) < tol:
            break
    F = np.zeros(C.shape)
    for j in range(C.shape[1]):
        F[:, j] = P[:, j] * C[:, j].sum() / P[:, j].sum()
    for i in range(n):
        F[i] = (F[i] - F[i].min()) / (F[i].max() - F[i].min())
    return F, order


def literal_credible(X, C, F, order, thr):
    E = np.zeros(C.shape, dtype=bool)
    for i in range(len(X)):
        dist = np.array([np.linalg.norm(X[a] - X[i]) for a in order[i]])
        s = sum(
            (1 - d / dist.sum()) * F[a] for a, d in zip(order[i], dist, strict=True)
        )
        s = (s - s.min()) / (s.max() - s.min())
        E[i] = C[i] & (s >= thr)
        if not E[i].any():
            E[i, max(np.flatnonzero(C[i]), key=lambda j: s[j])] = True
    return E


def literal_svm(X, y, C):
    def objective(t):
        slack = np.maximum(1 - y * (X @ t[:-1] + t[-1]), 0)
        g = -2 * C * slack * y
        return t[:-1] @ t[:-1] / 2 + C * slack @ slack, np.r_[t[:-1] + X.T @ g, g.sum()]

    found = minimize(
        objective,
        np.zeros(X.shape[1] + 1),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 2000},
    )
    return found.x


def literal_classifiers(X, E, N, C):
    found = {}
    l = E.shape[1]
    for j in range(l):
        for m in [*range(j + 1, l), -1]:
            up = E[:, j] & (N[:, m] if m >= 0 else True)
            down = (E[:, m] if m >= 0 else True) & N[:, j]
            if up.any() and down.any():
                rows = up | down
                y = np.where(up[rows], 1.0, -1.0)
                t = literal_svm(X[rows], y, C)
                f = X[rows] @ t[:-1] + t[-1]
                found[j, m] = t, np.mean((f > 0) == (y > 0))
    return found


def literal_stages(X, C, k=10, thr=0.9):
    Z = X / X.std(axis=0, ddof=1)
    F, order = literal_confidences(Z, C, k, 0.95, 1e-5)
    E = literal_credible(Z, C, F, order, thr)
    return Z, F, E, literal_classifiers(Z, E, ~C, 1.0)


def test_literal_vls():
    X, _, C = problem(3, n=50)
    Z, F, E, found = literal_stages(X, C)
    model = ParticleVLS().fit(X, C)
    np.testing.assert_allclose(model.labels_, F, atol=1e-9)
    np.testing.assert_array_equal(model.credible_, E)
    assert {tuple(p) for p in model.pairs_.tolist()} == set(found)
    l = C.shape[1]
    Q = problem(4, n=30)[0] / X.std(axis=0, ddof=1)
    expected, chosen = np.empty((30, l)), np.empty((30, l))
    for i, x in enumerate(Q):
        r, v = np.zeros(l), 0.0
        for (j, m), (t, a) in found.items():
            h = float(x @ t[:-1] + t[-1] > 0)
            r[j] += a * h
            if m >= 0:
                r[m] += a * (1 - h)
            else:
                v += a * (1 - h)
        expected[i], chosen[i] = (1 + (r - v) / l) / 2, r > v
    Q = Q * X.std(axis=0, ddof=1)
    np.testing.assert_allclose(model.predict_proba(Q), expected, atol=1e-12)
    np.testing.assert_array_equal(model.predict(Q), chosen)
    squares = sum((a * t[:-1]) ** 2 for t, a in found.values())
    np.testing.assert_allclose(model.scores_, np.sqrt(squares), rtol=1e-5)
    assert Z.shape == X.shape


class InSample(ParticleMAP):
    """Counts pairs by classifiers that have seen the row."""

    def _training_counts(self, data, pairs, wanted):
        return pairs_won(data.X, pairs, data.E.shape[1])


def test_votes_of_the_release_are_rounded_up():
    X, _, C = problem(3, n=50)
    model = ParticleVLS(variant="release", random_state=0).fit(X, C)
    votes = (2 * model.predict_proba(X) - 1) * C.shape[1]
    np.testing.assert_allclose(votes, np.round(votes), atol=1e-9)


def test_literal_map():
    X, _, C = problem(5, n=50)
    Z, _, E, found = literal_stages(X, C)
    found = {pair: t for pair, (t, _) in found.items() if pair[1] >= 0}
    model = InSample().fit(X, C)
    l, s = C.shape[1], 1.0

    def wins(x):
        c = np.zeros(l, dtype=int)
        for (j, m), t in found.items():
            c[j if x @ t[:-1] + t[-1] > 0 else m] += 1
        return c

    won = np.array([wins(x) for x in Z])
    Q = problem(6, n=30)[0]
    P = np.empty((30, l))
    for j in range(l):
        K1 = np.array([np.sum(E[:, j] & (won[:, j] == r)) for r in range(l)])
        K0 = np.array([np.sum(~C[:, j] & (won[:, j] == r)) for r in range(l)])
        prior = (s + K1.sum()) / (2 * s + K1.sum() + K0.sum())
        like1 = (s + K1) / (s * l + K1.sum())
        like0 = (s + K0) / (s * l + K0.sum())
        for i, x in enumerate(Q / X.std(axis=0, ddof=1)):
            c = wins(x)[j]
            odds = prior * like1[c] / ((1 - prior) * like0[c])
            P[i, j] = odds / (1 + odds)
    np.testing.assert_allclose(model.predict_proba(Q), P, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(Q), P > 0.5)
    squares = sum(t[:-1] ** 2 for t in found.values())
    np.testing.assert_allclose(model.scores_, np.sqrt(squares), rtol=1e-5)


def test_propagation_by_hand():
    # Two rows that rebuild each other, with labels {a, b} and {a}; alpha = 1/2. The
    # second stays (1, 0), so the first becomes ((1 + 1) / 2, (0 + 1) / 2), normalised.
    T = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    C = np.array([[1, 1], [1, 0]], dtype=bool)
    P, n_iter = propagate(T, C, 0.5)
    np.testing.assert_allclose(P, [[2 / 3, 1 / 3], [1, 0]])
    assert n_iter == 2
    # Label a has mass 2 of 5/3, label b 1 of 1/3: 0.8 and 1, then unit rows.
    scaled = P * [2 / (5 / 3), 1 / (1 / 3)]
    np.testing.assert_allclose(scaled[0], [0.8, 1.0])
    np.testing.assert_allclose(rescale(P, C), unit_rows(scaled, C))
    np.testing.assert_allclose(rescale(P, C), [[0, 1], [1, 0]])


def test_propagation_says_when_it_stops_early():
    T = sp.csr_array([[0.0, 1.0], [1.0, 0.0]])
    C = np.array([[1, 1], [1, 0]], dtype=bool)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        propagate(T, C, 0.5, max_iter=1)


def test_support_by_hand():
    F = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    # All neighbours at no distance, or only one of them: they count alike.
    for distances, neighbors, support in [
        ([[1.0, 3.0]], [[0, 1]], [[0.75, 0.25]]),
        ([[0.0, 0.0]], [[0, 1]], [[1, 1]]),
        ([[2.0]], [[1]], [[0, 1]]),
    ]:
        weights = neighbor_weights(np.array(distances), "distance")
        found = weighted_votes(F, np.array(neighbors), weights)
        np.testing.assert_allclose(found, support)


def test_credible_by_hand():
    s = np.array([[4.0, 3.9, 0.0], [0.0, 1.0, 2.0], [5.0, 5.0, 5.0]])
    C = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1]], dtype=bool)
    E = credible_labels(s, C, 0.9)
    assert E.astype(int).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 1]]
    # The release leaves the candidates where none of them reaches the threshold.
    released = credible_labels(s, C, 0.9, inside=False)
    assert released.astype(int).tolist() == [[1, 1, 0], [0, 0, 1], [1, 0, 1]]


@pytest.mark.parametrize("cls", [ParticleVLS, ParticleMAP])
@pytest.mark.parametrize("variant", ["clean", "direct", "release"])
def test_ways_to_elicit(cls, variant):
    gains = []
    for seed in range(8):
        X, Y, C = problem(seed)
        model = cls(variant=variant, random_state=0).fit(X, C)
        E = model.credible_
        assert E.any(axis=1).all()
        assert variant == "release" or not (E & ~C).any()
        gains.append(Y[E].mean() - Y[C].mean())
        if variant == "direct":
            np.testing.assert_array_equal(E, C & (model.labels_ >= 0.9))
    # Credible labels are true more often than candidates; the folds of the release hold
    # so few rows that this is so on average only.
    assert np.mean(gains) > 0


# ------------------------------------------------------------------ second stage


def test_pairs_need_both_sides():
    X = np.arange(4.0)[:, None]
    E = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]], dtype=bool)
    N = np.array([[0, 1, 1], [0, 1, 1], [1, 0, 1], [1, 0, 1]], dtype=bool)
    pairs = fit_pairs(X, E, N, pairs_of(3, real=True, virtual=True))
    assert list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == [
        (0, 1),
        (0, -1),
        (1, -1),
    ]
    assert pairs.accuracy.tolist() == [1, 1, 1]
    none = fit_pairs(X, E, np.zeros_like(N), pairs_of(3, real=True, virtual=True))
    assert none.coef.shape == (0, 1)


def test_votes_by_hand():
    a = np.array([0.9, 0.8, 0.7])
    pairs = Pairs(
        np.array([0, 0, 1]), np.array([1, -1, -1]), np.empty((3, 0)), np.empty(3), a
    )
    h = np.array([[1.0, 1.0, 0.0], [0.5, 0.0, 1.0]])
    r, v = ranking_votes(h, pairs, 2)
    np.testing.assert_allclose(r, [[1.7, 0], [0.45, 0.45 + 0.7]])
    np.testing.assert_allclose(v, [0.7, 0.8])


def test_pairs_won_by_hand():
    # Scores x, x - 1 and the border itself.
    pairs = Pairs(
        np.array([0, 0, 1]),
        np.array([1, 2, 2]),
        np.array([[1.0], [1.0], [0.0]]),
        np.array([0.0, -1.0, 0.0]),
        np.ones(3),
    )
    won = pairs_won(np.array([[-1.0], [0.5], [2.0]]), pairs, 3)
    assert won.tolist() == [[0, 1, 1], [1, 0, 1], [2, 0, 0]]


def test_tables_by_hand():
    E = np.array([[1], [1], [0], [0]], dtype=bool)
    N = np.array([[0], [0], [1], [0]], dtype=bool)  # the last row is not known
    K = count_tables(E, N, np.array([[1], [1], [0], [1]]), 2)
    assert K.tolist() == [[[1, 0]], [[0, 2]]]
    prior, log_odds = log_odds_tables(K, 1.0)
    assert prior.tolist() == [3 / 5]
    np.testing.assert_allclose(
        np.exp(log_odds), [[(1 / 4) / (2 / 3), (3 / 4) / (1 / 3)]]
    )


def test_monotone_odds():
    # Two rows with the label won 0 and 3 pairs, one without it won 1.
    K = np.array([[[5.0, 2, 0, 0]], [[0, 0, 0, 4]]])
    _, plain = log_odds_tables(K, 1.0)
    _, rising = log_odds_tables(K, 1.0, monotone=True)
    assert (np.diff(rising[0]) >= 0).all()
    assert (np.diff(plain[0]) >= 0).all()  # nothing to do here
    np.testing.assert_allclose(rising, plain)
    K = np.array([[[5.0, 0, 2, 0]], [[0, 0, 0, 4]]])
    _, plain = log_odds_tables(K, 1.0)
    _, rising = log_odds_tables(K, 1.0, monotone=True)
    assert plain[0, 1] > plain[0, 2]
    assert (np.diff(rising[0]) >= 0).all()


def test_votes_of_rows_not_seen_differ():
    X, _, C = problem(0)
    unseen = ParticleMAP(random_state=0).fit(X, C)
    seen = InSample().fit(X, C)
    assert not np.allclose(unseen.log_odds_, seen.log_odds_)
    np.testing.assert_allclose(unseen.coef_, seen.coef_)


# ------------------------------------------------------------------ no leak


def evaluate(model, X, C, Y, Y_test_of):
    """Cross-validate on candidates; the truth of test rows goes to the scores alone."""
    predictions, scores = [], []
    for train, test in CandidateKFold(3, random_state=0).split(X, C):
        fitted = model.fit(X[train], C[train])
        P = fitted.predict_proba(X[test])
        truth = Y_test_of(Y[test])
        predictions.append((P, fitted.predict(X[test])))
        scores.append(
            (
                average_precision(truth, P),
                ranking_loss(truth, P),
                micro_f1(truth, fitted.predict(X[test])),
            )
        )
    return predictions, np.array(scores)


@pytest.mark.parametrize("cls", BOTH)
def test_test_labels_change_no_prediction(cls):
    assert list(inspect.signature(cls.predict).parameters) == ["self", "X"]
    assert list(inspect.signature(cls.predict_proba).parameters) == ["self", "X"]
    X, Y, C = problem(1, n=90)
    model = cls(random_state=0)
    honest, scores = evaluate(model, X, C, Y, lambda T: T)
    rng = np.random.default_rng(0)
    permuted, others = evaluate(model, X, C, Y, lambda T: T[rng.permutation(len(T))])
    for (P, Yp), (Q, Yq) in zip(honest, permuted, strict=True):
        np.testing.assert_array_equal(P, Q)
        np.testing.assert_array_equal(Yp, Yq)
    # The scores do notice.
    assert scores[:, 0].mean() > others[:, 0].mean() + 0.05


@pytest.mark.parametrize("cls", BOTH)
def test_rows_are_predicted_one_by_one(cls):
    X, _, C = problem(2)
    model = cls(random_state=0).fit(X[:60], C[:60])
    alone = np.vstack([model.predict_proba(X[[i]]) for i in range(60, 80)])
    np.testing.assert_allclose(model.predict_proba(X[60:]), alone, rtol=1e-12)


def test_there_is_no_leaky_option():
    assert "leaky" not in ParticleMAP().get_params()


# ------------------------------------------------------------------ edges


@pytest.mark.parametrize("order", ["labels", "rows"])
def test_order_carries_no_information(order, global_random_seed):
    X, _, C = problem(global_random_seed)
    rng = np.random.default_rng(0)
    P = ParticleVLS().fit(X, C).predict_proba(X)
    if order == "labels":
        new = rng.permutation(C.shape[1])
        Q = ParticleVLS().fit(X, C[:, new]).predict_proba(X)
        np.testing.assert_allclose(Q, P[:, new], rtol=1e-9)
    else:
        new = rng.permutation(len(X))
        Q = ParticleVLS().fit(X[new], C[new]).predict_proba(X)
        np.testing.assert_allclose(Q, P, rtol=1e-9)


@pytest.mark.parametrize("cls", BOTH)
def test_features_shift_and_scale(cls):
    X, _, C = problem(0)
    P = cls(random_state=0, alpha=0.0).fit(X, C).predict_proba(X)
    Z = X * np.geomspace(0.1, 1e4, 12)
    Q = cls(random_state=0, alpha=0.0).fit(Z, C).predict_proba(Z)
    np.testing.assert_allclose(P, Q, rtol=1e-7)


@pytest.mark.parametrize("cls", BOTH)
def test_rows_without_candidates_are_left_out(cls):
    X, _, C = problem(0)
    C[::8] = False
    with pytest.warns(UserWarning, match="10 rows without candidates are left out"):
        model = cls(random_state=0).fit(X, C)
    assert model.labels_.shape == model.credible_.shape == C.shape
    assert not model.labels_[::8].any()
    some = np.arange(80) % 8 > 0
    other = cls(random_state=0).fit(X[some], C[some])
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    with pytest.raises(ValueError, match="Every candidate set is empty"):
        cls().fit(X, np.zeros_like(C))


@pytest.mark.parametrize("cls", BOTH)
def test_full_rows_say_nothing(cls):
    X, _, _ = problem(0)
    model = cls(random_state=0).fit(X, np.ones((80, 4)))
    assert model.always_.all()
    assert model.predict(X).all()
    assert len(model.pairs_) == 0
    assert not model.scores_.any()
    assert sorted(model.ranking_) == list(range(1, 13))


@pytest.mark.parametrize("cls", BOTH)
def test_one_label(cls):
    X, _, _ = problem(0)
    model = cls(random_state=0).fit(X, ["sea"] * 80)
    assert (model.predict(X) == "sea").all()
    assert (model.predict_proba(X) == 1).all()


def test_one_label_beside_an_empty_one():
    # Only the virtual label is left to compare the first label with.
    X, Y, _ = problem(0, n=200)
    y = [{"sea"} if t else {"sun", "sea"} for t in Y[:, 1]]
    model = ParticleMAP(random_state=0).fit(X, y)
    assert model.always_.tolist() == [True, False]
    assert model.predict(X)[:, 0].all()


@pytest.mark.parametrize("cls", BOTH)
def test_constant_features(cls):
    _, _, C = problem(0)
    model = cls(random_state=0).fit(np.ones((80, 3)), C)
    P = model.predict_proba(np.ones((2, 3)))
    assert np.isfinite(P).all()
    np.testing.assert_array_equal(P[0], P[1])
    assert not model.scores_.any()


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_fewer_rows_than_neighbours(cls, n):
    X, _, C = problem(0)
    model = cls(random_state=0).fit(X[:n], C[:n])
    assert np.isfinite(model.predict_proba(X)).all()
    folds = cls(variant="release", random_state=0).fit(X[:n], C[:n])
    assert folds.credible_.any(axis=1).all()
    if n == 1:
        np.testing.assert_array_equal(model.credible_, C[:1])


@pytest.mark.parametrize("cls", BOTH)
def test_duplicate_rows(cls):
    X, _, C = problem(0)
    model = cls(3, random_state=0)
    model.fit(np.repeat(X[:10], 8, axis=0), C[np.repeat(np.arange(10), 8)])
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.credible_.any(axis=1).all()


@pytest.mark.parametrize("cls", BOTH)
def test_sparse_features(cls, global_random_seed):
    X, _, C = problem(global_random_seed)
    X = np.where(X < 2.5, 0.0, X)
    a = cls(random_state=0).fit(X, C)
    b = cls(random_state=0).fit(sp.csr_matrix(X), C)
    np.testing.assert_array_equal(a.credible_, b.credible_)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        a.predict_proba(X), b.predict_proba(sp.csr_matrix(X)), rtol=1e-9
    )


def test_blocks_and_chunks_do_not_matter(monkeypatch):
    X, _, C = problem(0)
    whole = ParticleVLS().fit(X, C).predict_proba(X)
    monkeypatch.setattr(SIZES, "particle_block", 50)
    monkeypatch.setattr(SIZES, "particle_pairs", 3)
    again = ParticleVLS().fit(X, C)
    np.testing.assert_allclose(again.predict_proba(X), whole, rtol=1e-12)
    with parallel_config(backend="threading"):
        two = ParticleVLS(n_jobs=2).fit(X, C)
    np.testing.assert_array_equal(two.coef_, again.coef_)


def test_a_single_label_meets_the_virtual_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    E = (X[:, :1] > 0).astype(bool)
    pairs = fit_pairs(X, E, ~E, pairs_of(1, real=False, virtual=True))
    assert pairs.second.tolist() == [-1]
    score = X @ pairs.coef[0] + pairs.intercept[0]
    np.testing.assert_array_equal(pairs_won(X, pairs, 1)[:, 0], score > 0)


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"alpha": 1.0}, "alpha"),
        ({"thr": 1.5}, "thr"),
        ({"C": 0.0}, "'C'"),
        ({"variant": "all"}, "variant"),
    ],
)
def test_bad_parameters(cls, params, match):
    X, _, C = problem(0)
    with pytest.raises(ValueError, match=match):
        cls(**params).fit(X, C)


@pytest.mark.parametrize(
    ("params", "match"),
    [({"smoothing": 0}, "smoothing"), ({"cv": 1}, "cv")],
)
def test_bad_parameters_of_map(params, match):
    X, _, C = problem(0)
    with pytest.raises(ValueError, match=match):
        ParticleMAP(**params).fit(X, C)
