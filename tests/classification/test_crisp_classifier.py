"""CRISPClassifier: a literal transcription, its honesty, its modes, its messages."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsTransformer
from tests.settling import few_iterations, fit_briefly
from threadpoolctl import threadpool_limits

from partlearn._math.crossfit import (
    _iterations,
    _pooled,
    _space,
)
from partlearn._math.crossfit._scores import RIDGE_GRID
from partlearn._sizes import SIZES
from partlearn.candidates import (
    from_votes,
    from_weights,
    make_bags,
    make_candidates,
)
from partlearn.classification import CRISPClassifier
from partlearn.decomposition import CRISP, KernelCRISP
from partlearn.persistence import load_model, save_model


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        240, 10, n_informative=6, n_redundant=2, n_classes=4, random_state=1
    )
    return X, y, make_candidates(y, n_false=1, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    X, _, S = data
    return fit_briefly(CRISPClassifier(), X[:160], S[:160])


# The method as its specification writes it, row by row and refit by refit. -----------


def held_out_by_refits(K, F, lam):
    """Blocks A and C: ridge regression on a kernel, refitted without each row."""
    m, mass = len(F), F.sum(axis=0)
    Y = np.sqrt(m) * F / np.sqrt(mass)
    Y = Y - Y.mean(axis=0)
    scores, press = np.empty_like(Y), 0.0
    for i in range(m):
        rows, rest = [i], np.delete(np.arange(m), i)
        H = np.eye(len(rest)) - 1 / len(rest)
        inner = K[np.ix_(rest, rest)]
        dual = np.linalg.solve(H @ inner @ H + lam * np.eye(len(rest)), H @ Y[rest])
        scores[rows] = (K[np.ix_(rows, rest)] - inner.mean(axis=0)) @ H @ dual
        press += ((Y[rows] - Y[rest].mean(axis=0) - scores[rows]) ** 2).sum()
    return Y, scores, press


def in_sample(K, Y, lam):
    m = len(K)
    H = np.eye(m) - 1 / m
    centred = H @ K @ H
    return centred @ np.linalg.solve(centred + lam * np.eye(m), Y)


def discriminants(Y, F, E, Ec):
    """Block D."""
    m, mass = len(F), F.sum(axis=0)
    C = (Y.T @ Ec + Ec.T @ Y) / (2 * m)
    e = Ec - Ec.mean(axis=0)
    W = e.T @ e / m
    for j in range(F.shape[1]):
        mu = F[:, j] @ e / mass[j]
        W = W - mass[j] * np.outer(mu, mu) / m
    size, vectors = np.linalg.eigh(E.T @ E / m)
    Q = vectors[:, size > 1e-8 * size.max()]
    W = Q.T @ W @ Q
    W = W + 1e-2 * np.trace(W) / len(W) * np.eye(len(W))
    low = np.linalg.inv(np.linalg.cholesky(W))
    values, v = np.linalg.eigh(low @ Q.T @ C @ Q @ low.T)
    order = np.argsort(values)[::-1]
    kept = [a for a in order if values[a] > 1e-6 * values.max()][: F.shape[1] - 1]
    return Ec @ Q @ low.T @ v[:, kept]


def rank_vote(Z, F, k):
    P, weights = np.zeros_like(F), np.zeros(len(Z) - 1)
    weights[:k] = np.arange(k, 0, -1)
    for i in range(len(Z)):
        distance = np.sqrt(((Z - Z[i]) ** 2).sum(axis=1))
        distance[i] = np.inf
        order = np.argsort(distance, kind="stable")[:-1]
        new = np.diff(distance[order], prepend=-1) > 1e-9
        for tie in np.split(np.arange(len(order)), np.flatnonzero(new)[1:]):
            P[i] += weights[tie].mean() * F[order[tie]].sum(axis=0)
    return P / P.sum(axis=1, keepdims=True)


def gaussian(Z, F):
    m, mass = len(F), F.sum(axis=0)
    P = np.empty_like(F)
    for i in range(m):
        logits = []
        for j in range(F.shape[1]):
            distance = ((Z[i] - F[:, j] @ Z / mass[j]) ** 2).sum()
            distance *= (mass[j] / max(mass[j] - F[i, j], 0.5)) ** 2
            logits.append(-distance / 2 + np.log(mass[j] / m))
        P[i] = np.exp(logits - np.max(logits))
    return P / P.sum(axis=1, keepdims=True)


def with_normal_scores(X):
    """Mean of the standardized values and their normal scores, column by column."""
    m, Z = len(X), np.empty_like(X)
    for j, x in enumerate(X.T):
        below = np.array([(x < value).sum() for value in x])
        equal = np.array([(x == value).sum() for value in x])
        scores = norm.ppf((below + equal / 2) / m)
        scores = (scores - scores.mean()) / scores.std()
        Z[:, j] = ((x - x.mean()) / x.std(ddof=1) + scores) / 2
    return Z


def literal_iterations(X, S, n_iter, k=10):
    """Confidences after some rounds, all three geometries, all thirteen experts."""
    q = S.shape[1]
    X = with_normal_scores(X)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    F = S / S.sum(axis=1, keepdims=True)
    kernels = [[X @ X.T]]
    h = np.median(pdist(X))
    rbf = [np.exp(-(cdist(X, X) ** 2) / (2 * (c * h) ** 2)) for c in (0.25, 0.5, 1, 2)]
    h1 = np.median(pdist(X, "cityblock"))
    city = cdist(X, X, "cityblock")
    laplacian = [np.exp(-city / (c * h1)) for c in (0.25, 0.5, 1, 2)]
    chosen = []
    for family in [*kernels, rbf, laplacian]:
        errors = []
        for K in family:
            lams = np.array(RIDGE_GRID) * mean_square(K)
            errors.append(min(held_out_by_refits(K, F, g)[2] for g in lams))
        chosen.append(family[int(np.argmin(errors))])
    w = np.full(13, 1 / 13)
    for t in range(n_iter):
        experts = []
        if t < 4:
            lams = []
            for K in chosen:
                grid = np.array(RIDGE_GRID) * mean_square(K)
                press = [held_out_by_refits(K, F, g)[2] for g in grid]
                lams.append(grid[int(np.argmin(press))])
        for K, lam in zip(chosen, lams, strict=True):
            Y, Ec, _ = held_out_by_refits(K, F, lam)
            Z = discriminants(Y, F, in_sample(K, Y, lam), Ec)
            share = F.mean(axis=0)
            P = np.maximum(Ec * np.sqrt(share) + share, 1e-3)
            units = Z / np.linalg.norm(Z, axis=1, keepdims=True)
            experts += [rank_vote(Z, F, k), rank_vote(units, F, k), gaussian(Z, F)]
            experts += [P / P.sum(axis=1, keepdims=True)]
        experts += [rank_vote(X, F, k)]
        experts = [0.99 * P + 0.01 / q for P in experts]
        a = np.full(13, 1 / 13)
        hits = np.array([(P * S).sum(axis=1) for P in experts])
        for _ in range(15):
            share = a[:, None] * hits
            a = (share / share.sum(axis=0)).mean(axis=1)
        logs = np.log(np.array(experts))

        def pool(w, logs=logs):
            P = np.exp(np.einsum("e,eij->ij", w, logs))
            return P / P.sum(axis=1, keepdims=True)

        def loss(w):
            fit = np.log((S * pool(w)).sum(axis=1)).mean()
            return -fit + 1e-3 * ((w - 1 / 13) ** 2).sum()

        w = minimize(
            loss, w, method="L-BFGS-B", bounds=[(0, 5)] * 13, options={"maxiter": 50}
        ).x
        M = np.sqrt(np.einsum("e,eij->ij", a, np.array(experts)) * pool(w))
        F = S * M / (S * M).sum(axis=1, keepdims=True)
    return F, a, w


def mean_square(K):
    m = len(K)
    H = np.eye(m) - 1 / m
    squares = np.linalg.eigvalsh(H @ K @ H)
    return squares.sum() / np.count_nonzero(squares > 1e-10 * squares.max())


@pytest.mark.parametrize("n_iter", [1, 3])
def test_iterations_are_those_of_a_literal_transcription(n_iter):
    rng = np.random.RandomState(3)
    y = rng.randint(3, size=45)
    X = rng.standard_normal((45, 4)) + 1.5 * rng.standard_normal((3, 4))[y]
    X[:, 2] = np.exp(2 * X[:, 2]).round(1)  # a heavy tail, and ties
    S = make_candidates(y, n_false=1, random_state=0)
    F, a, w = literal_iterations(X, S, n_iter)
    model = CRISPClassifier(max_iter=n_iter, tol=0.0, relevance=0.0)
    fit_briefly(model, X, S)
    assert_allclose(list(model.expert_weights_["linear"].values()), a, atol=1e-3)
    assert_allclose(list(model.expert_weights_["log_linear"].values()), w, atol=0.02)
    # The numeric gradient of the transcription stops a little earlier.
    assert_allclose(model.label_confidence_, F, atol=5e-3)


# Attributes, modes, honesty. ---------------------------------------------------------


def test_fitted_attributes(data, fitted):
    X, y, S = data
    F = fitted.label_confidence_
    assert_allclose(F.sum(axis=1), 1)
    assert (F[~S[:160]] == 0).all()
    assert (F.argmax(axis=1) == y[:160]).mean() > 0.85
    for pool in ("linear", "log_linear"):
        assert len(fitted.expert_weights_[pool]) == 13
    assert_allclose(sum(fitted.expert_weights_["linear"].values()), 1)
    assert list(fitted.ridge_) == ["linear", "rbf", "laplacian"]
    assert set(fitted.ridge_.values()) <= set(RIDGE_GRID)
    assert list(fitted.bandwidth_) == ["rbf", "laplacian"]
    assert len(fitted.objective_) == fitted.n_iter_
    assert fitted.objective_[-1] > fitted.objective_[0]
    assert [len(Z) for Z in fitted.cross_fitted_] == [160] * 3
    assert all(Z.shape[1] <= 3 for Z in fitted.cross_fitted_)
    P = fitted.predict_proba(X[160:])
    assert_allclose(P.sum(axis=1), 1)
    assert_array_equal(fitted.predict(X[160:]), P.argmax(axis=1))
    assert fitted.score(X[160:], y[160:]) >= 0.7


def test_warns_where_the_iterations_do_not_settle(data):
    X, _, S = data
    with pytest.warns(ConvergenceWarning, match="after max_iter=1 iterations"):
        assert CRISPClassifier(max_iter=1).fit(X, S).n_iter_ == 1


def test_full_candidate_sets_carry_no_information(data):
    X = data[0]
    with pytest.raises(ValueError, match="candidate sets carry no information"):
        CRISPClassifier().fit(X, np.ones((len(X), 4), dtype=int))


def test_one_class_and_constant_features_are_refused(data):
    X, _, S = data
    with pytest.raises(ValueError, match="at least two classes; y has 1 class"):
        CRISPClassifier().fit(X, np.zeros(len(X), dtype=int))
    with pytest.raises(ValueError, match="All features are constant"):
        CRISPClassifier().fit(np.ones_like(X), S)


@pytest.mark.parametrize("geometries", [("cubic",), (), ("rbf", "rbf")])
def test_unknown_geometries_are_refused(data, geometries):
    with pytest.raises(ValueError, match="`geometries` must name one or more of"):
        CRISPClassifier(geometries).fit(data[0], data[2])


def test_a_constant_column_is_ignored_in_new_rows_too(data):
    X, _, S = data
    wider = np.hstack([X, np.full((len(X), 1), 3.0)])
    one = fit_briefly(CRISPClassifier(), X[:160], S[:160])
    other = fit_briefly(CRISPClassifier(), wider[:160], S[:160])
    wider[160:, -1] = 1e6
    expected = one.predict_proba(X[160:])
    assert_allclose(other.predict_proba(wider[160:]), expected, atol=1e-6)


def test_singletons_give_a_supervised_classifier():
    X, y = load_digits(return_X_y=True)
    X = (X - X[:600].mean(axis=0)) / np.maximum(X[:600].std(axis=0), 1e-9)
    X = np.clip(X, -10, 10)
    train, test = slice(600), slice(600, 1400)
    model = CRISPClassifier().fit(X[train], y[train])
    assert model.n_iter_ == 1
    assert_array_equal(model.label_confidence_, np.eye(10)[y[train]])
    h = model.bandwidth_["rbf"]
    ridge = KernelRidge(kernel="rbf", gamma=1 / (2 * h**2), alpha=0.01)
    ridge.fit(X[train], np.eye(10)[y[train]] - 0.1)
    expected = (ridge.predict(X[test]).argmax(axis=1) == y[test]).mean()
    assert model.score(X[test], y[test]) > expected - 0.02


def test_the_same_seed_gives_the_same_result_with_any_threads(data):
    X, _, S = data
    first = fit_briefly(CRISPClassifier(), X[:160], S[:160])
    with threadpool_limits(2):
        again = fit_briefly(CRISPClassifier(n_jobs=2), X[:160], S[:160])
    with threadpool_limits(1):
        single = fit_briefly(CRISPClassifier(n_jobs=1), X[:160], S[:160])
    for other in (again, single):
        assert_allclose(other.label_confidence_, first.label_confidence_, atol=1e-8)
        expected = first.predict_proba(X[160:])
        assert_allclose(other.predict_proba(X[160:]), expected, atol=1e-8)
    seven = fit_briefly(CRISPClassifier(random_state=7), X[:160], S[:160])
    # Of few rows nothing is drawn.
    assert_allclose(seven.label_confidence_, first.label_confidence_, atol=1e-8)


def test_without_neighbors_nothing_is_searched(data, monkeypatch):
    X, y, S = data

    def search(*args, **options):
        raise AssertionError("no search is needed")

    monkeypatch.setattr(_iterations, "TiedNeighbors", search)
    monkeypatch.setattr(_pooled, "query_votes", search)
    model = fit_briefly(
        CRISPClassifier(use_neighbors=False, n_landmarks=40), X[:160], S[:160]
    )
    assert len(model.expert_weights_["linear"]) == 6
    assert model.score(X[160:], y[160:]) > 0.65
    # No training row is kept but the landmarks.
    assert model.model_.rows is None
    kept = [g.map.points for g in model.model_.geometries if g.name != "linear"]
    assert [len(points) for points in kept] == [40, 40]


def test_many_rows_vote_among_a_reference_sample(data):
    X, y, S = data
    exact = fit_briefly(CRISPClassifier(), X[:160], S[:160])
    some = fit_briefly(CRISPClassifier(n_reference=90), X[:160], S[:160])
    assert len(some.model_.rows) == len(some.model_.reference) == 90
    assert abs(some.score(X[160:], y[160:]) - exact.score(X[160:], y[160:])) < 0.08
    agree = some.label_confidence_.argmax(axis=1) == y[:160]
    assert agree.mean() >= 0.85


def test_a_row_of_the_reference_never_votes_for_itself():
    Z = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    find = _iterations.NeighborSearch(None, None, np.array([0, 1, 3, 4]))
    assert_array_equal(find(Z, 2, "any"), [[1, 3], [0, 3], [1, 0], [4, 1], [3, 1]])


@pytest.mark.parametrize("n_landmarks", [60, None])
def test_landmarks(data, fitted, n_landmarks):
    X, y, S = data
    model = fit_briefly(CRISPClassifier(n_landmarks=n_landmarks), X[:160], S[:160])
    if n_landmarks is None:  # "auto" is exact for few rows
        assert_array_equal(model.label_confidence_, fitted.label_confidence_)
    assert model.score(X[160:], y[160:]) > fitted.score(X[160:], y[160:]) - 0.1


def test_injected_exact_search_changes_nothing(data, fitted):
    X, _, S = data
    search = KNeighborsTransformer(n_neighbors=12, algorithm="brute")
    model = fit_briefly(CRISPClassifier(search=search), X[:160], S[:160])
    assert_allclose(model.label_confidence_, fitted.label_confidence_, atol=1e-8)
    expected = fitted.predict_proba(X[160:])
    assert_allclose(model.predict_proba(X[160:]), expected, atol=1e-8)


def test_narrow_sparse_rows_are_dense_rows(data):
    X, _, S = data
    X = X * (np.abs(X) > 0.5)
    dense = fit_briefly(CRISPClassifier(), X[:160], S[:160])
    sparse = fit_briefly(CRISPClassifier(), sp.csr_array(X[:160]), S[:160])
    assert_allclose(
        sparse.predict_proba(sp.csr_array(X[160:])),
        dense.predict_proba(X[160:]),
        atol=1e-4,  # where the weights of the pool stop
    )


def test_wide_sparse_rows_enter_kernels_by_leading_directions(data, monkeypatch):
    X, y, S = data
    X = X * (np.abs(X) > 0.5)
    rows = sp.csr_array(X[:160])
    dense = CRISPClassifier(("linear", "rbf"), relevance=0.0, normal_scores=False)
    fit_briefly(dense, X[:160], S[:160])
    for name in ("relevant_columns", "wide_columns", "wide_directions"):
        monkeypatch.setattr(SIZES, name, 9)
    model = fit_briefly(CRISPClassifier(), rows, S[:160])
    assert model.model_.rows.shape == (160, 9)
    assert model.score(sp.csr_array(X[160:]), y[160:]) > 0.6
    # New rows go where training rows are.
    kept = model.model_.rows
    assert_allclose(model.model_.space(rows), kept, atol=1e-8)
    # With all directions Euclidean geometry is what it was.
    monkeypatch.setattr(SIZES, "wide_columns", 10)
    space, points, _ = _space.input_space(rows, np.random.RandomState(0), linear=True)
    assert space.projection is None
    whole = dense.model_.rows
    assert_allclose(pdist(points), pdist(whole), atol=1e-8)


def test_confidences_to_start_from(data):
    X, y, S = data
    start = np.eye(4)[y[:160]]
    right = []
    for confidence in (None, start):
        model = CRISPClassifier(max_iter=1)
        F = fit_briefly(
            model, X[:160], S[:160], confidence=confidence
        ).label_confidence_
        right.append((F.argmax(axis=1) == y[:160]).mean())
    assert right[1] > right[0]
    with pytest.raises(ValueError, match="shape of the candidate matrix"):
        CRISPClassifier().fit(X[:160], S[:160], confidence=start[:, :2])


def test_equal_weights_are_sets_and_others_count(data, fitted):
    X, _, S = data
    classes = np.arange(4)
    same = fit_briefly(
        CRISPClassifier(), X[:160], from_weights(3.0 * S[:160], classes=classes)
    )
    assert_array_equal(same.label_confidence_, fitted.label_confidence_)
    W = S[:160] * np.array([1.0, 0.2, 1.0, 1.0])
    other = fit_briefly(CRISPClassifier(), X[:160], from_weights(W, classes=classes))
    less = fitted.label_confidence_[:, 1].sum() - other.label_confidence_[:, 1].sum()
    assert less > 1
    assert (other.label_confidence_[~S[:160]] == 0).all()


def test_votes_of_annotators_are_weighed_anew(data):
    X, y, _ = data
    rng = np.random.RandomState(0)
    rows = np.repeat(np.arange(160), 3)
    who = np.tile(["good", "fair", "poor"], 160)
    skill = np.tile([0.9, 0.6, 0.3], 160)
    said = np.where(rng.rand(480) < skill, y[rows], rng.randint(4, size=480))
    votes = from_votes(rows, who, said)
    model = fit_briefly(CRISPClassifier(), X[:160], votes)
    F = model.label_confidence_
    assert_allclose(F.sum(axis=1), 1)
    alone = (votes.confidence().argmax(axis=1) == y[:160]).mean()
    assert (F.argmax(axis=1) == y[:160]).mean() > alone
    assert model.score(X[160:], y[160:]) > 0.6


def test_sets_that_miss_the_truth(global_random_seed):
    X, y = make_blobs(200, n_features=5, centers=6, random_state=3)
    S = make_candidates(y, n_false=2, random_state=global_random_seed)
    rng = np.random.RandomState(global_random_seed)
    for i in np.flatnonzero(rng.rand(200) < 0.2):
        S[i, rng.choice(np.flatnonzero(~S[i]))] = True
        S[i, y[i]] = False
    strict = fit_briefly(CRISPClassifier(), X, S)
    tolerant = fit_briefly(CRISPClassifier(miss_rate=0.2), X, S)
    assert (strict.label_confidence_[~S] == 0).all()
    assert (tolerant.label_confidence_[~S] > 0).all()
    right = [
        (model.label_confidence_.argmax(axis=1) == y).mean()
        for model in (strict, tolerant)
    ]
    assert right[1] > right[0] + 0.1


@pytest.mark.parametrize(("m", "q"), [(2, 2), (5, 3), (11, 4)])
def test_very_few_rows(m, q):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((m, 6)), np.arange(m) % q
    model = fit_briefly(CRISPClassifier(), X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_equal_rows(data):
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=0)
    model = fit_briefly(CRISPClassifier(), X, np.repeat([0, 1], 10))
    assert_array_equal(model.predict([[0.0, 1.0], [1.0, 0.0]]), [0, 1])


def test_pickle(data, fitted):
    X = data[0]
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_predictions_do_not_depend_on_the_batch(data, fitted):
    X = data[0][160:]
    whole = fitted.predict_proba(X)
    assert_allclose(fitted.predict_proba(X[:1]), whole[:1], atol=1e-10)


def test_without_numba(data, tmp_path, fitted):
    X, _, S = data
    np.savez(tmp_path / "data.npz", X=X, S=S)
    code = (
        "import sys, warnings; sys.modules['numba'] = None; warnings.simplefilter("
        "'ignore'); import numpy as np; "
        "from partlearn.classification import CRISPClassifier; "
        f"file = np.load({str(tmp_path / 'data.npz')!r}); X, S = file['X'], file['S']; "
        "P = CRISPClassifier().fit(X[:160], S[:160]).predict_proba(X[160:]); "
        f"np.save({str(tmp_path / 'P.npy')!r}, P)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    P = np.load(tmp_path / "P.npy")
    assert_allclose(P, fitted.predict_proba(X[160:]), atol=1e-8)


@pytest.mark.shared
def test_specified_figure_of_vehicle(shared_dir):
    """Accuracy .825 in five folds; all cells by `python -m benchmarks`."""
    from benchmarks.crisp_classifier import CELLS, load, measure

    data = load(shared_dir / "data", CELLS["vehicle"])
    with few_iterations():
        accuracy, *_ = measure(data, use_neighbors=True)
    assert_allclose(accuracy, 0.825, atol=0.015)


def test_votes_tell_of_annotators_and_of_rows(tmp_path):
    rng = np.random.default_rng(0)
    X, y = make_blobs(160, centers=4, cluster_std=1.5, n_features=5, random_state=0)
    rows, who = np.repeat(np.arange(160), 3), np.tile([0, 1, 2], 160)
    skill = np.array([0.9, 0.7, 0.25])[who]
    given = np.where(rng.random(480) < skill, y[rows], rng.integers(0, 4, 480))
    votes = from_votes(rows, who, given)
    model = fit_briefly(CRISPClassifier(geometries=("linear",)), X, votes)
    summary = model.vote_summary_
    assert (np.diff(summary.annotators.accuracy) < 0).all()
    assert np.mean(summary.label == y) > np.mean(votes.confidence().argmax(1) == y)
    wrong = votes.confidence().argmax(axis=1) != y
    apart = summary.feature_disagreement
    assert apart[wrong].mean() > apart[~wrong].mean() + 0.2
    again = load_model(save_model(model, tmp_path / "model")).estimator
    np.testing.assert_array_equal(
        again.vote_summary_.confusion(2), summary.confusion(2)
    )
    assert model.reducer_.vote_summary_ is summary
    sets = fit_briefly(CRISPClassifier(geometries=("linear",)), X, votes.candidates)
    assert sets.vote_summary_ is None


@pytest.mark.parametrize("use_neighbors", [False, True])
def test_rows_that_are_too_far_away_are_refused(use_neighbors):
    X, y = make_blobs(60, n_features=3, centers=3, random_state=0)
    model = fit_briefly(CRISPClassifier(use_neighbors=use_neighbors, max_iter=2), X, y)
    with pytest.raises(ValueError, match="overflow float64; rescale the features"):
        model.predict_proba(np.full((1, 3), 1e160))
    assert np.isfinite(model.predict_proba(np.full((1, 3), 1e100))).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_landmarks", [None, 5])
def test_rows_that_choose_a_width_may_be_equal(n_landmarks, seed, monkeypatch):
    monkeypatch.setattr(SIZES, "width_rows", 10)
    X = np.random.default_rng(seed).normal(size=(60, 3))
    X[1:] = X[1]  # up to rounding their kernel is one, which leaves no direction
    y = np.arange(60) % 2
    model = CRISPClassifier(n_landmarks=n_landmarks, max_iter=2, random_state=seed)
    assert np.isfinite(fit_briefly(model, X, y).predict_proba(X)).all()


@pytest.mark.parametrize(
    "estimator", [CRISP(), KernelCRISP(), CRISPClassifier()], ids=repr
)
def test_order_and_storage_of_rows_do_not_matter(estimator, data):
    X, _, S = data
    X = np.round(X, 1)
    X[:20] = X[20:40]  # equal rows, with labels of their own
    expected = fit_briefly(clone(estimator), X, S).label_confidence_
    new = np.random.default_rng(1).permutation(len(X))
    other = fit_briefly(clone(estimator), X[new], S[new]).label_confidence_
    assert_allclose(other, expected[new], atol=1e-9)
    for rows in (np.asfortranarray(X), sp.csr_array(X)):
        found = fit_briefly(clone(estimator), rows, S).label_confidence_
        assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("Method", [CRISP, KernelCRISP, CRISPClassifier])
def test_labels_of_a_bag_are_shared(Method, global_random_seed):
    X, y = make_blobs(120, n_features=3, centers=4, cluster_std=6, random_state=3)
    S, bags = make_bags(y, size=3, random_state=global_random_seed)
    plain, shared = (
        fit_briefly(Method(), X, S, **given).label_confidence_
        for given in ({}, {"bags": bags})
    )
    assert_allclose(shared.sum(axis=1), 1)
    assert (shared[~S] == 0).all()
    right = [(F.argmax(axis=1) == y).mean() for F in (plain, shared)]
    assert right[1] > right[0]
    with pytest.raises(ValueError, match="`bags` must hold 120 values"):
        Method().fit(X, S, bags=bags[:5])


@pytest.mark.parametrize("n", [2, 3])
def test_one_row_of_each_class(n):
    X = np.array([[5.0, 24.0], [28.0, 55.0], [450.0, 150.0]])
    model = CRISPClassifier().fit(X[:n], np.arange(n))
    probability = model.predict_proba([[4.0, 25.0], [500.0, 160.0]])
    assert_allclose(probability.sum(axis=1), 1)
    assert probability.argmax(axis=1).tolist() == [0, n - 1]
    embedding = KernelCRISP().fit(X[:n], np.arange(n)).transform(X)
    assert np.abs(embedding).max() < 1e12  # so that squares are far from overflow
