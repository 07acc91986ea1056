"""CRISPSelector and its matching pursuit."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from tests.settling import fit_briefly

from partlearn._math.crossfit import targets
from partlearn._math.linalg import standardize
from partlearn._math.neighbors import reference_rows
from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN
from partlearn.decomposition import CRISP
from partlearn.feature_selection import CRISPSelector
from partlearn.feature_selection._crisp_selector import matching_pursuit


def literal_pursuit(X, Y, n):
    """The definition: deflate all columns and the damped residual after each pick."""
    X, R = X.copy(), Y.copy()
    m = len(X)
    order, gains = [], []
    for _ in range(n):
        square = (X**2).sum(axis=0)
        gain = ((X.T @ R) ** 2).sum(axis=1) / (square + 0.01 * m)
        gain[order] = -np.inf
        gain[square == 0] = -np.inf
        f = int(np.argmax(gain))
        order.append(f)
        gains.append(gain[f])
        v = X[:, f].copy()
        R -= np.outer(v, v @ R) / (v @ v + 0.01 * m)
        if v @ v >= 1e-9 * m:
            X -= np.outer(v, v @ X) / (v @ v)
    return order, gains


def problem(seed, m=120, d=30, q=4):
    rng = np.random.RandomState(seed)
    y = rng.randint(q, size=m)
    X = rng.standard_normal((m, d)) @ rng.standard_normal((d, d))
    X[:, :6] += 8 * rng.standard_normal((q, 6))[y]
    return X, y, make_candidates(y, n_false=1, random_state=seed)


def squares(matrix):
    return (matrix.dense**2).sum(axis=0)


def test_pursuit_equals_its_definition(global_random_seed):
    X, y, _ = problem(global_random_seed)
    matrix, _, _ = standardize(X)
    Y = targets(np.eye(4)[y])
    expected, gains = literal_pursuit(matrix.dense, Y, 15)
    found = matching_pursuit(matrix, squares(matrix), Y, 15)
    assert_array_equal(found.order, expected)
    assert_allclose(found.gains[expected], gains, rtol=1e-8)


def test_pursuit_of_sparse_data_equals_that_of_dense():
    X, y, _ = problem(0)
    X = X * (np.abs(X) > 4)
    dense, _, _ = standardize(X)
    sparse, _, _ = standardize(sp.csr_array(X))
    Y = targets(np.eye(4)[y])
    one = matching_pursuit(dense, squares(dense), Y, 12)
    other = matching_pursuit(sparse, squares(dense), Y, 12)
    assert_array_equal(one.order, other.order)
    assert_allclose(one.gains, other.gains, rtol=1e-8)


def test_repeated_and_constant_columns_come_last():
    X, y, _ = problem(0, d=8)
    X = np.hstack([X, X[:, :3], np.ones((120, 1))])
    matrix, _, _ = standardize(X)
    found = matching_pursuit(matrix, squares(matrix), targets(np.eye(4)[y]), 12)
    pairs = [sorted(pair) for pair in ([0, 8], [1, 9], [2, 10])]
    first = found.order[:8].tolist()
    assert all(len(set(pair) & set(first)) == 1 for pair in pairs)
    assert found.order[-1] == 11
    assert sorted(found.order) == list(range(12))
    assert_allclose(found.gains[found.order[8:]], 0, atol=1e-12)


def test_more_features_than_rows_can_tell_apart():
    rng = np.random.RandomState(0)
    matrix, _, _ = standardize(rng.standard_normal((10, 40)))
    Y = targets(np.eye(2)[np.arange(10) % 2])
    found = matching_pursuit(matrix, squares(matrix), Y, 40)
    assert sorted(found.order) == list(range(40))
    assert np.count_nonzero(found.gains) == 9  # the rank of ten centred rows


def test_first_and_excluded_columns():
    X, y, _ = problem(1)
    matrix, _, _ = standardize(X)
    Y = targets(np.eye(4)[y])
    free = matching_pursuit(matrix, squares(matrix), Y, 5).order
    found = matching_pursuit(
        matrix, squares(matrix), Y, 5, first=np.array([29, 20]), exclude=free[:1]
    )
    assert_array_equal(found.order[:2], [29, 20])
    assert free[0] not in found.order
    X[:, 7] = 1.0
    matrix, _, _ = standardize(X)
    constant = matching_pursuit(matrix, squares(matrix), Y, 3, first=np.array([7]))
    assert constant.order[0] == 7
    assert constant.gains[7] == 0
    alone = matching_pursuit(matrix, squares(matrix), Y, 2)
    assert_array_equal(constant.order[1:], alone.order)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        240, 40, n_informative=5, n_redundant=0, n_classes=4, n_clusters_per_class=1,
        class_sep=2.0, shuffle=False, random_state=3,
    )  # fmt: skip
    return X, y, make_candidates(y, n_false=1, random_state=0)


def test_finds_the_informative_features(data):
    X, y, S = data  # the first five columns
    selector = fit_briefly(CRISPSelector(5), X, S)
    assert len(set(selector.selected_) & set(range(5))) >= 4
    assert selector.support_.sum() == 5
    assert_array_equal(np.sort(selector.selected_), np.flatnonzero(selector.support_))
    assert_array_equal(selector.ranking_[selector.selected_], np.arange(1, 6))
    rest = np.flatnonzero(~selector.support_)
    by_rank = rest[np.argsort(selector.ranking_[rest])]
    assert (np.diff(selector.scores_[by_rank]) <= 0).all()
    Z = selector.transform(X)
    assert_array_equal(Z, X[:, selector.support_])
    half = np.arange(len(y)) % 2 == 0
    few = PLKNN().fit(Z[half], S[half]).predict(Z[~half])
    full = PLKNN().fit(X[half], S[half]).predict(X[~half])
    assert (few == y[~half]).mean() > (full == y[~half]).mean()


def test_confidences_are_those_of_crisp(data):
    X, _, S = data
    selector = fit_briefly(CRISPSelector(), X, S)
    crisp = fit_briefly(CRISP(background="none", relevance=0), X, S)
    assert_array_equal(selector.label_confidence_, crisp.label_confidence_)
    assert selector.n_iter_ == crisp.n_iter_
    assert len(selector.selected_) == 6  # 15 % of 40


def test_confidences_of_many_rows_are_those_of_crisp(data, monkeypatch):
    X, _, S = data
    small = fit_briefly(CRISPSelector(), X, S)
    monkeypatch.setattr(SIZES, "exact_rows", 200)
    monkeypatch.setattr(reference_rows, "__kwdefaults__", {"auto": 60})
    selector = fit_briefly(CRISPSelector(), X, S)
    crisp = fit_briefly(CRISP(background="none", relevance=0), X, S)
    assert_array_equal(selector.label_confidence_, crisp.label_confidence_)
    assert not np.array_equal(selector.label_confidence_, small.label_confidence_)


def test_size_chosen_on_held_out_rows(data):
    X, _, S = data
    selector = fit_briefly(CRISPSelector("auto"), X, S)
    again = fit_briefly(CRISPSelector("auto"), X, S)
    assert 2 <= len(selector.selected_) <= 12
    assert_array_equal(selector.selected_, again.selected_)


def test_columns_to_keep_and_to_leave_out(data):
    X, _, S = data
    selector = fit_briefly(CRISPSelector(4, must_keep=[30], exclude=[0, 1]), X, S)
    assert selector.selected_[0] == 30
    assert not set(selector.selected_) & {0, 1}
    assert set(selector.ranking_[[0, 1]]) == {39, 40}


def test_sparse_and_float32(data):
    X, _, S = data
    X = X * (np.abs(X) > 0.7)
    dense = fit_briefly(CRISPSelector(5), X, S)
    sparse = fit_briefly(CRISPSelector(5), sp.csr_array(X), S)
    narrow = fit_briefly(CRISPSelector(5), X.astype(np.float32), S)
    assert_array_equal(dense.selected_, sparse.selected_)
    assert_array_equal(dense.selected_, narrow.selected_)
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32
    size = fit_briefly(CRISPSelector("auto"), sp.csr_array(X), S)
    assert size.support_.sum() >= 1


def test_warns_where_the_confidences_do_not_settle(data):
    X, _, S = data
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        CRISPSelector(max_iter=1).fit(X, S)


def test_one_class_and_full_sets_are_refused(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="carry no information"):
        CRISPSelector().fit(X, np.ones((len(X), 3), dtype=int))
    with pytest.raises(ValueError, match="at least two classes"):
        CRISPSelector().fit(X, np.zeros_like(y))


@pytest.mark.parametrize("m", [2, 3])
def test_too_few_rows_to_hold_any_out_select_the_smallest_size(m):
    X = np.add(np.eye(3)[:m], [0.0, 0.1, 0.2])
    selector = CRISPSelector("auto").fit(X, np.arange(m))
    assert len(selector.selected_) == 1
