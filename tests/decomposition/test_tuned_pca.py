"""TunedPCA: principal components in front of a reducer."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from tests.settling import fit_briefly

from partlearn._math.crossfit import linear_basis
from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN
from partlearn.decomposition import CENDA, DELIN, TunedPCA
from partlearn.decomposition._tuned_pca import dimension_grid


def hidden_classes(seed, m=150, d=200, q=5, p=6):
    """Classes that live in a few strong directions of many noisy features."""
    rng = np.random.RandomState(seed)
    y = rng.randint(q, size=m)
    hidden = 2.5 * rng.standard_normal((q, p))[y] + rng.standard_normal((m, p))
    X = hidden @ rng.standard_normal((p, d)) + 2 * rng.standard_normal((m, d))
    return X, y, make_candidates(y, n_false=2, random_state=seed)


def test_alone_it_is_a_principal_component_analysis():
    X, _, S = hidden_classes(0)
    reducer = TunedPCA(n_components=4).fit(X, S)
    expected = PCA(4).fit_transform(StandardScaler().fit_transform(X))
    found = reducer.transform(X)
    ratio = found.std(axis=0) / expected.std(axis=0)  # ddof 1 against ddof 0
    assert_allclose(ratio, np.sqrt(149 / 150))
    assert_allclose(np.abs(found / ratio), np.abs(expected), atol=1e-6)
    assert reducer.reducer_ is None
    assert reducer.hit_rates_.size == 0
    F = reducer.label_confidence_
    assert_allclose(F.sum(axis=1), 1)
    assert (F[~S] == 0).all()


def test_one_map_equals_components_then_reducer():
    X, _, S = hidden_classes(0)
    reducer = fit_briefly(TunedPCA(CENDA(max_iter=10), n_components=[5, 20]), X, S)
    alone = TunedPCA(n_components=reducer.n_principal_).fit(X, S)
    chained = fit_briefly(CENDA(max_iter=10), alone.transform(X), S)
    expected = chained.transform(alone.transform(X))
    assert_allclose(np.abs(reducer.transform(X)), np.abs(expected), atol=1e-6)
    assert_array_equal(reducer.label_confidence_, reducer.reducer_.label_confidence_)
    assert reducer.n_principal_ in (5, 20)


def test_few_rows_per_feature_need_few_components(global_random_seed):
    X, y, S = hidden_classes(global_random_seed)
    train, test = np.arange(100), np.arange(100, 150)
    tuned = fit_briefly(TunedPCA(CENDA(max_iter=10)), X[train], S[train])
    plain = fit_briefly(CENDA(max_iter=10), X[train], S[train])

    def accuracy(reducer):
        learner = PLKNN().fit(reducer.transform(X[train]), S[train])
        return (learner.predict(reducer.transform(X[test])) == y[test]).mean()

    assert tuned.n_principal_ < 60
    assert len(tuned.hit_rates_) == len(tuned.grid_) > 3
    assert ((tuned.hit_rates_ >= 0) & (tuned.hit_rates_ <= 1)).all()
    assert accuracy(tuned) > accuracy(plain) + 0.1


def test_sparse_equals_dense():
    X, _, S = hidden_classes(1, d=40)
    X = X * (np.abs(X) > 2)
    dense = fit_briefly(TunedPCA(CENDA(max_iter=10), n_components=[4, 12]), X, S)
    sparse = fit_briefly(
        TunedPCA(CENDA(max_iter=10), n_components=[4, 12]), sp.csr_array(X), S
    )
    assert dense.n_principal_ == sparse.n_principal_
    assert_allclose(dense.hit_rates_, sparse.hit_rates_)
    assert_allclose(dense.transform(X), sparse.transform(sp.csr_array(X)), atol=1e-6)


def test_large_data_hold_out_no_more_folds_than_needed(monkeypatch):
    X, _, S = hidden_classes(0, m=300)
    whole = TunedPCA(n_components=[2, 6]).fit(X, S)
    sizes = []

    def counted(X, **options):
        sizes.append(X.shape[0])
        return linear_basis(X, **options)

    module = "partlearn.decomposition._tuned_pca"
    monkeypatch.setattr(f"{module}.linear_basis", counted)
    monkeypatch.setattr(SIZES, "tuned_pca_rows", 150)
    assert_array_equal(
        TunedPCA(n_components=[2, 6]).fit(X, S).hit_rates_, whole.hit_rates_
    )
    assert sizes == [300, 200, 200, 200]
    sizes.clear()
    monkeypatch.setattr(SIZES, "full_svd", 150)
    monkeypatch.setattr(SIZES, "truncated_rank", 20)
    part = TunedPCA(n_components=[2, 6]).fit(X, S)
    assert sizes == [300, 200, 200]  # 100 rows of one fold are too few, 200 are enough
    # Each row of a fold that was held out has weight 1/3 and a hit, none, or a share of
    # one where two or three labels tie.
    shares = 6 * part.hit_rates_ * 200
    assert_allclose(shares, shares.round(), atol=1e-9)
    assert part.n_principal_ == whole.n_principal_
    assert_allclose(part.hit_rates_, whole.hit_rates_, atol=0.05)
    cosine = (part.components_ * whole.components_).sum(axis=1)
    assert_allclose(np.abs(cosine), 1, atol=1e-3)


def test_same_seed_same_choice():
    X, _, S = hidden_classes(2, d=60)
    one, other = (fit_briefly(TunedPCA(), X, S) for _ in range(2))
    assert_array_equal(one.hit_rates_, other.hit_rates_)
    assert_array_equal(one.components_, other.components_)


def test_grid():
    grid = dimension_grid(400, 26)
    assert grid[0] == 12
    assert grid[-1] == 400
    assert len(grid) == 8
    assert_array_equal(dimension_grid(1, 5), [1])
    assert_array_equal(dimension_grid(2, 100), [2])


def test_numbers_beyond_the_rank_are_cut():
    X, _, S = hidden_classes(0, d=10)
    reducer = TunedPCA(n_components=[3, 50, 99]).fit(X, S)
    assert_array_equal(reducer.grid_, [3, 10])


@pytest.mark.parametrize("wanted", [[], [0, 3]])
def test_bad_numbers(wanted):
    X, _, S = hidden_classes(0, d=10)
    with pytest.raises(ValueError, match="`n_components` must hold one or more"):
        TunedPCA(n_components=wanted).fit(X, S)


def test_refuses_what_is_not_linear_or_learns_nothing():
    X, _, S = hidden_classes(0, m=60, d=10)
    with pytest.raises(TypeError, match="needs a linear reducer"):
        fit_briefly(TunedPCA(DELIN(kernel="rbf"), n_components=4), X, S)
    with pytest.raises(TypeError, match="PCA does not"):
        TunedPCA(PCA(2), n_components=4).fit(X, S)


def test_refuses_constant_data_and_one_class():
    X, y, S = hidden_classes(0, d=10)
    with pytest.raises(ValueError, match="All features are constant"):
        TunedPCA().fit(np.ones_like(X), S)
    with pytest.raises(ValueError, match="at least two classes"):
        TunedPCA().fit(X, np.zeros_like(y))
