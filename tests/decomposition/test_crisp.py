"""CRISP as an estimator: published behaviour, edge cases, reference figures."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsTransformer
from tests.settling import fit_briefly

from partlearn._math.crossfit import LeaveOneOut, embed, targets
from partlearn._math.crossfit._background import mixed
from partlearn._math.crossfit._bases import decompose
from partlearn._math.crossfit._scores import RIDGE_GRID
from partlearn._math.linalg import standardize
from partlearn._math.neighbors import self_neighbors
from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates, uniform_confidence
from partlearn.classification import PLKNN
from partlearn.decomposition import CRISP


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        200, 12, n_informative=6, n_redundant=2, n_classes=4, random_state=1
    )
    return X, y, make_candidates(y, n_false=1, random_state=0)


def test_fit_transform_is_fit_then_transform(data):
    X, _, S = data
    Z = clone(CRISP(tol=0.05)).fit_transform(X, S)
    reducer = CRISP(tol=0.05).fit(X, S)
    assert_array_equal(Z, reducer.transform(X))
    expected = ((X - reducer.mean_) / reducer.scale_) @ reducer.components_.T
    assert_allclose(Z, expected, atol=1e-10)


def test_fitted_attributes(data):
    X, y, S = data
    reducer = CRISP(tol=0.05).fit(X, S)
    F = reducer.label_confidence_
    assert_allclose(F.sum(axis=1), 1)
    assert (F[~S] == 0).all()
    assert (F.argmax(axis=1) == y).mean() > (S / S.sum(1)[:, None])[0].max()
    assert reducer.ridge_ in RIDGE_GRID
    assert reducer.components_.shape == (reducer.n_components_, 12)
    assert len(reducer.eigenvalues_) == reducer.n_discriminant_ <= 3
    assert_allclose(reducer.expert_weights_.sum(), 1)
    assert len(reducer.objective_) == reducer.n_iter_
    assert reducer.objective_[-1] > reducer.objective_[0]
    top = np.abs(reducer.components_).argmax(axis=1)
    assert (reducer.components_[np.arange(len(top)), top] > 0).all()


def test_the_same_seed_gives_the_same_result(data):
    X, _, S = data
    first, again = (fit_briefly(CRISP(), X, S) for _ in range(2))
    zero, other = (fit_briefly(CRISP(random_state=seed), X, S) for seed in (0, 7))
    for result in (again, zero, other):  # nothing is drawn of few rows
        assert_array_equal(first.components_, result.components_)
        assert_array_equal(first.label_confidence_, result.label_confidence_)


def test_full_candidate_sets_carry_no_information(data):
    X = data[0]
    with pytest.raises(ValueError, match="candidate sets carry no information"):
        CRISP().fit(X, np.ones((len(X), 4), dtype=int))


def test_constant_features_are_refused_as_a_whole_and_ignored_one_by_one(data):
    X, _, S = data
    with pytest.raises(ValueError, match="every feature is constant"):
        CRISP().fit(np.ones_like(X), S)
    wider = np.hstack([X, np.full((len(X), 1), 3.0)])
    one, other = CRISP(tol=0.05).fit(X, S), CRISP(tol=0.05).fit(wider, S)
    assert_array_equal(other.components_[:, -1], 0)
    assert_allclose(other.components_[:, :-1], one.components_, atol=1e-8)


def test_one_class_is_refused(data):
    with pytest.raises(ValueError, match="at least two classes; y has 1 class"):
        CRISP().fit(data[0], np.zeros(len(data[0]), dtype=int))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_singletons_give_a_cross_validated_ridge_discriminant(seed):
    X, y = make_classification(
        150, 10, n_informative=5, n_redundant=0, n_classes=3, random_state=seed
    )
    reducer = CRISP(background="none", relevance=0).fit(X, y)
    assert reducer.n_iter_ == 1
    F = np.eye(3)[y]
    assert_array_equal(reducer.label_confidence_, F)
    # Ridge of the least held-out error, by explicit refits.
    A = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    Y = targets(F)
    errors = []
    for g in RIDGE_GRID:
        lam = g * (np.linalg.svd(A, compute_uv=False) ** 2).mean()
        error = 0.0
        for i in range(150):
            rest = np.arange(150) != i
            mean, level = A[rest].mean(axis=0), Y[rest].mean(axis=0)
            B = A[rest] - mean
            W = np.linalg.solve(B.T @ B + lam * np.eye(10), B.T @ (Y[rest] - level))
            error += ((Y[i] - level - (A[i] - mean) @ W) ** 2).sum()
        errors.append(error)
    assert reducer.ridge_ == RIDGE_GRID[int(np.argmin(errors))]
    # The directions are ridge discriminants: all lie in the span of (A'A + lam)^-1 A'Y.
    lam = reducer.ridge_ * (np.linalg.svd(A, compute_uv=False) ** 2).mean()
    span = np.linalg.solve(A.T @ A + lam * np.eye(10), A.T @ Y)
    inside, *_ = np.linalg.lstsq(span, reducer.components_.T, rcond=None)
    assert_allclose(span @ inside, reducer.components_.T, atol=1e-8)
    Z = reducer.transform(X)
    assert (PLKNN().fit(Z, y).predict(Z) == y).mean() > 0.7


def test_number_of_components(data):
    X, _, S = data
    reducer = CRISP(background=0.4, tol=0.05).fit(X, S)
    found, size = reducer.n_discriminant_, reducer.n_components_
    assert found < size  # background beside
    one = CRISP(1, background=0.4, tol=0.05).fit(X, S)
    assert one.n_components_ == 1
    assert one.background_ == 0
    more = CRISP(found + 1, background=0.4, tol=0.05).fit(X, S)
    assert more.n_components_ == found + 1
    assert more.background_ == 0.4
    with pytest.warns(UserWarning, match=rf"Only {size} of n_components=99"):
        assert CRISP(99, background=0.4, tol=0.05).fit(X, S).n_components_ == size
    share = CRISP(0.5, background=0.4, tol=0.05).fit(X, S)
    assert 1 <= share.n_components_ < found
    auto = CRISP("auto", tol=0.05).fit(X, S)
    assert_array_equal(auto.components_, CRISP(tol=0.05).fit(X, S).components_)


def test_some_of_many_rows_choose_the_background(data, monkeypatch):
    X, _, S = data
    monkeypatch.setattr(SIZES, "background_rows", 199)
    part = CRISP(tol=0.05).fit(X, S)
    monkeypatch.setattr(SIZES, "background_rows", 200)
    whole = CRISP(tol=0.05).fit(X, S)
    # One row of two hundred less: at most the next weight of the grid.
    assert abs(part.background_ - whole.background_) <= 0.2
    assert_array_equal(part.label_confidence_, whole.label_confidence_)


def test_background_weights(data):
    X, _, S = data
    none = CRISP(background="none", tol=0.05).fit(X, S)
    zero = CRISP(background=0.0, tol=0.05).fit(X, S)
    assert_array_equal(none.components_, zero.components_)
    assert none.background_ == 0
    assert none.n_components_ == none.n_discriminant_
    # Weights are shares of the mean squared length of the embedded training rows, which
    # is that of the discriminant directions by themselves.
    length = (none.transform(X) ** 2).sum(axis=1).mean()
    part = CRISP(background=0.3, tol=0.05).fit(X, S)
    Z = part.transform(X) ** 2
    found = part.n_discriminant_
    assert_allclose(Z[:, :found].sum(axis=1).mean(), 0.7 * length)
    assert_allclose(Z[:, found:].sum(axis=1).mean(), 0.3 * length)
    only = CRISP(background=1.0, tol=0.05).fit(X, S)
    assert len(only.eigenvalues_) == 0
    assert_allclose((only.transform(X) ** 2).sum(axis=1).mean(), length)
    only = CRISP(background=1.0, relevance=0, tol=0.05).fit(X, S)
    gram = only.components_ @ only.components_.T
    assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-10)  # principal components


@pytest.mark.parametrize("background", ["none", 0.4, 1.0])
def test_cross_fitted_rows_lie_where_transform_puts_them(data, background):
    X, _, S = data  # many rows per feature: hardly any leak
    reducer = CRISP(background=background, tol=0.05).fit(X, S)
    kept = len(reducer.eigenvalues_)
    Z = reducer.transform(X)[:, :kept]
    assert reducer.cross_fitted_.shape == Z.shape
    for a, b in zip(Z.T, reducer.cross_fitted_.T, strict=True):
        assert np.corrcoef(a, b)[0, 1] > 0.8
        assert 0.5 < a.std() / b.std() < 2


def test_warns_where_the_rounds_do_not_settle(data):
    X, _, S = data
    with pytest.warns(ConvergenceWarning, match="after max_iter=1 iterations"):
        assert CRISP(max_iter=1).fit(X, S).n_iter_ == 1


def test_sparse_equals_dense(data):
    X, _, S = data
    X = X * (np.abs(X) > 0.5)
    dense = CRISP(tol=0.05).fit(X, S)
    sparse = CRISP(tol=0.05).fit(sp.csr_array(X), S)
    assert_allclose(dense.components_, sparse.components_, atol=1e-8)
    assert_allclose(dense.transform(X), sparse.transform(sp.csr_array(X)), atol=1e-8)


def test_float32_stays_and_is_close(data):
    X, _, S = data
    wide, narrow = CRISP(tol=0.05).fit(X, S), CRISP(tol=0.05).fit(np.float32(X), S)
    assert narrow.components_.dtype == np.float32
    assert narrow.label_confidence_.dtype == np.float32
    assert narrow.transform(np.float32(X)).dtype == np.float32
    assert_allclose(narrow.label_confidence_, wide.label_confidence_, atol=1e-3)


def test_without_scaling_the_data_are_still_centred(data):
    X, _, S = data
    reducer = CRISP(standardize=False, tol=0.05).fit(X + 100, S)
    assert_array_equal(reducer.scale_, 1)
    assert_allclose(reducer.mean_, (X + 100).mean(axis=0))
    assert_allclose(reducer.transform(X + 100).mean(axis=0), 0, atol=1e-9)


def test_injected_exact_search_changes_nothing(data):
    X, _, S = data
    exact = fit_briefly(CRISP(), X, S)
    search = KNeighborsTransformer(n_neighbors=12, algorithm="brute")
    assert_allclose(
        fit_briefly(CRISP(search=search), X, S).label_confidence_,
        exact.label_confidence_,
        atol=1e-9,
    )


@pytest.mark.parametrize(("m", "q"), [(4, 2), (5, 3), (11, 4)])
def test_very_few_rows(m, q):
    rng = np.random.RandomState(0)
    y = np.arange(m) % q
    S = np.eye(q, dtype=int)[y]
    S[0, 1] = 1
    reducer = fit_briefly(CRISP(), rng.standard_normal((m, 6)), S)
    assert np.isfinite(reducer.components_).all()
    assert_allclose(reducer.label_confidence_.sum(axis=1), 1)


def test_a_part_of_zeros_is_left_as_it_is():
    zeros = np.zeros((3, 1))
    np.testing.assert_array_equal(mixed(zeros, np.ones((3, 1)), 0.0), zeros)


def test_two_rows():
    reducer = CRISP().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert np.isfinite(reducer.transform([[2.0, 2.0]])).all()


def test_a_label_that_is_nobodys_candidate(data):
    X, _, S = data
    wider = np.hstack([S, np.zeros((len(S), 1), dtype=bool)])
    reducer = fit_briefly(CRISP(), X, wider)
    assert_array_equal(reducer.label_confidence_[:, -1], 0)
    assert reducer.n_discriminant_ <= 3


def test_more_features_than_rows_does_not_let_a_row_confirm_itself(global_random_seed):
    """On noise, in-sample embeddings repeat candidate sets; held-out ones do not."""
    rng = np.random.RandomState(global_random_seed)
    m, q = 120, 6
    y = rng.randint(q, size=m)
    S = make_candidates(y, n_false=2, random_state=global_random_seed)
    matrix, _, _ = standardize(rng.standard_normal((m, 400)))
    basis = decompose(matrix, (matrix.dense**2).sum(), None, rng)
    model = LeaveOneOut(basis)
    embedding = embed(model, uniform_confidence(S), 0.01)

    def overlap(Z):
        nearest = self_neighbors(Z, 1)[:, 0]
        return (S & S[nearest]).sum() / S.sum()

    chance = 3 / 6
    assert overlap(basis.U * basis.s @ embedding.weights) > 0.8
    assert abs(overlap(embedding.held_out) - chance) < 0.12


def test_truncated_decomposition_agrees_on_data_of_low_rank(monkeypatch):
    rng = np.random.RandomState(0)
    y = rng.randint(4, size=160)
    hidden = 2 * rng.standard_normal((4, 8))[y] + rng.standard_normal((160, 8))
    X = hidden @ rng.standard_normal((8, 90)) + 0.01 * rng.standard_normal((160, 90))
    S = make_candidates(y, n_false=1, random_state=0)
    full = CRISP(background="none", tol=0.05).fit(X, S)
    monkeypatch.setattr(SIZES, "full_svd", 50)
    short = CRISP(background="none", tol=0.05, svd_rank=20).fit(sp.csr_array(X), S)
    assert_array_equal(
        full.label_confidence_.argmax(axis=1), short.label_confidence_.argmax(axis=1)
    )
    assert_allclose(full.label_confidence_, short.label_confidence_, atol=0.02)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"use_neighbors": "some"}, "use_neighbors"),
        ({"background": "some"}, "background"),
        ({"background": 1.5}, "background"),
        ({"n_components": 1.5}, "n_components"),
        ({"search": 3}, "search"),
    ],
)
def test_bad_parameters(data, params, message):
    with pytest.raises(ValueError, match=f"The '{message}' parameter"):
        CRISP(**params).fit(data[0], data[2])


def folds_of_five(m):
    """The five folds that the reference figures were measured with."""
    order = np.random.RandomState(0).permutation(m)
    return [order[i::5] for i in range(5)]


@pytest.mark.shared
def test_lost_reference_figures(shared_dir):
    with np.load(shared_dir / "data" / "pll" / "lost.npz") as file:
        X, S, y = file["X"].astype(float), file["S"], file["y"]
    reducer = CRISP(relevance=0).fit(X, S)  # as the figures were measured
    assert reducer.n_iter_ < reducer.max_iter  # labels settle
    assert reducer.ridge_ == 0.1
    assert reducer.background_ == 0
    assert reducer.n_discriminant_ == 14
    accuracy = (reducer.label_confidence_.argmax(axis=1) == y).mean()
    assert_allclose(accuracy, 0.9082, atol=0.02)  # measured with ten folds
    start = uniform_confidence(S)
    assert (start.argmax(axis=1) == y).mean() < 0.6


@pytest.mark.shared
def test_closed_form_on_real_data(shared_dir):
    with np.load(shared_dir / "data" / "pll" / "lost.npz") as file:
        X, S = file["X"].astype(float), file["S"]
    matrix, _, _ = standardize(X)
    A = matrix.dense
    basis = decompose(matrix, (A**2).sum(), None, np.random.RandomState(0))
    model = LeaveOneOut(basis)
    Y = targets(uniform_confidence(S))
    scores = model.held_out(Y, model.project(Y), 1e-3)
    lam = 1e-3 * (basis.s**2).mean()
    rest = np.arange(1, len(A))
    mean = A[rest].mean(axis=0)
    B = A[rest] - mean
    W = np.linalg.solve(B.T @ B + lam * np.eye(108), B.T @ (Y[rest] - Y[rest].mean(0)))
    assert_allclose(scores[0], (A[0] - mean) @ W, atol=1e-7)


def test_relevance_of_columns(global_random_seed):
    rng = np.random.RandomState(global_random_seed)
    y = np.arange(400) % 4
    X = rng.standard_normal((400, 30))
    X[:, :4] += 2 * np.eye(4)[y]
    S = make_candidates(y, n_false=1, random_state=global_random_seed)
    plain, model = (CRISP(relevance=g).fit(X, S) for g in (0.0, "auto"))
    v = model.feature_importances_
    assert_allclose(v.sum(), 1)
    assert v[:4].min() > v[4:].max()
    assert model.relevance_ == 1
    assert plain.relevance_ == CRISP(standardize=False).fit(X, S).relevance_ == 0
    # Components are in the space of the standardised columns, whatever their weights.
    assert_allclose(model.scale_, X.std(axis=0, ddof=1))
    Z = ((X - model.mean_) / model.scale_) @ model.components_.T
    assert_allclose(model.transform(X), Z)
    size = (
        np.linalg.norm(model.components_, axis=0),
        np.linalg.norm(plain.components_, axis=0),
    )
    noise = [weight[4:].max() / weight[:4].min() for weight in size]
    assert noise[0] < noise[1]
