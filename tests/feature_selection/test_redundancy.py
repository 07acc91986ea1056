"""Mutual information of binned features."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mutual_info_score

from partlearn._extras import compiled_loops
from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates, uniform_confidence
from partlearn.feature_selection import _redundancy
from partlearn.feature_selection._columns import (
    DenseColumns,
    bin_codes,
    columns,
    information,
)
from partlearn.feature_selection._greedy import difference, greedy_path, relevance_only
from partlearn.feature_selection._redundancy import (
    DenseTables,
    Redundancy,
    joint_counts,
)
from partlearn.feature_selection._relevance import Relevance
from partlearn.feature_selection._sparse_tables import SparseTables


def data_with_everything(rng, m=203):
    X = rng.normal(size=(m, 12))
    X[:, 1] = X[:, 0]
    X[:, 2] = 4.0
    X[:, 3] = rng.random(m) < 0.1
    X[:, 4] = rng.random(m) < 0.9
    X[:, 5] = rng.poisson(0.3, m)
    X[:, 6] = np.where(rng.random(m) < 0.02, 40.0, 0.0)
    X[:, 7] = -X[:, 0]
    return X


def test_bins_are_those_of_the_paper():
    x = np.array([-2.5, -2.0, -1.5, -1.0, 0.0, 1.0, 1.5, 2.0, 2.5])
    codes = bin_codes(x, np.zeros(1), np.ones(1))
    assert_array_equal(codes, [0, 0, 1, 1, 2, 2, 3, 3, 4])
    assert_array_equal(bin_codes(x, np.zeros(1), np.zeros(1)), np.zeros(9))


def test_hand_computed_information():
    # Two fair coins that agree in three of four rows.
    joint = np.zeros((5, 5))
    joint[1, 1], joint[1, 3], joint[3, 3] = 2, 1, 1
    expected = (
        0.5 * np.log(0.5 / (0.75 * 0.5))
        + 0.25 * np.log(0.25 / (0.75 * 0.5))
        + 0.25 * np.log(0.25 / (0.25 * 0.5))
    )
    assert_allclose(information(joint, 4), expected, rtol=1e-14)


def test_scikit_learn_as_oracle(global_random_seed):
    X = data_with_everything(np.random.default_rng(global_random_seed))
    data = columns(X)
    codes = data.codes(slice(None))
    d = X.shape[1]
    expected = [
        [mutual_info_score(codes[f], codes[g]) for g in range(d)] for f in range(d)
    ]
    dense = DenseTables(data, use_compiled=False)
    sparse = SparseTables(columns(sp.csr_array(X)))
    for way in (dense, sparse):
        found = np.array([way.row(f) for f in range(d)])
        assert_allclose(found, expected, atol=1e-13)
        assert_array_equal(way.counts, [np.bincount(c, minlength=5) for c in codes])
    assert found.max() > 0.5
    own = Redundancy(data).entropy
    assert_allclose(own, np.diag(expected), atol=1e-13)


@pytest.mark.parametrize("m", [2, 63, 64, 65, 640])
def test_compiled_agrees(m, global_random_seed):
    pytest.importorskip("numba")
    X = data_with_everything(np.random.default_rng(global_random_seed), m)
    data = columns(X)
    plain, fast = DenseTables(data, False), DenseTables(data, True)
    for f in range(X.shape[1]):
        assert_allclose(fast.row(f), plain.row(f), atol=1e-13)
        joint = joint_counts(plain._planes, plain.counts, f)
        assert_array_equal(joint.sum(axis=(1, 2)), np.full(X.shape[1], m))


def test_chunks_do_not_matter(monkeypatch):
    data = columns(data_with_everything(np.random.default_rng(0)))
    whole = DenseTables(data).row(0)
    monkeypatch.setattr(SIZES, "redundancy_block", 20)
    monkeypatch.setattr(SIZES, "column_block", 1)
    assert_array_equal(DenseTables(data).row(0), whole)


def test_rows_are_remembered_within_limits(monkeypatch):
    data = columns(data_with_everything(np.random.default_rng(0)))
    calls = []

    class Counting(DenseTables):
        def row(self, f):
            calls.append(f)
            return super().row(f)

    monkeypatch.setitem(_redundancy.TABLES, DenseColumns, Counting)
    monkeypatch.setattr(SIZES, "redundancy_bytes", 2 * 8 * 12)
    redundancy = Redundancy(data)
    for f in (0, 1, 0, 1, 5, 5):
        redundancy.row(f)
    assert calls == [0, 1, 5, 5]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_conditional_information(make, monkeypatch):
    rng = np.random.default_rng(4)
    X = data_with_everything(rng, 80)
    S = make_candidates(rng.integers(4, size=80), random_state=0)
    S = np.column_stack([S, np.zeros(80, dtype=bool)])  # a class that nobody has
    F = uniform_confidence(S)
    codes = columns(X).codes(slice(None))
    expected = []
    for g in range(X.shape[1]):
        total = 0.0
        for j in range(4):
            joint = np.zeros((5, 5))
            np.add.at(joint, (codes[0], codes[g]), F[:, j])
            total += F[:, j].mean() * information(joint, joint.sum())
        expected.append(total)
    redundancy = Redundancy(columns(make(X)))
    assert_allclose(redundancy.conditional_row(0, F), expected, atol=1e-13)
    monkeypatch.setattr(SIZES, "redundancy_block", 1)
    assert_allclose(redundancy.conditional_row(0, F), expected, atol=1e-13)


@pytest.mark.parametrize("error", [0.0, 1e-6])
def test_lazy_path_equals_eager_path(monkeypatch, error, global_random_seed):
    """Features out of the question need no redundancy, and nothing else changes."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(4, size=300)
    X = rng.normal(size=(300, 80)) @ rng.normal(size=(80, 80)) / 5
    X[:, :20] += rng.normal(size=(4, 20))[y]
    X[:, 40:45] = X[:, :5]
    S = make_candidates(y, random_state=0)
    F = uniform_confidence(S)
    data = columns(X)
    relevance = Relevance(data, F, S, var_floor=0.6, use_compiled=bool(error))
    options = {
        "criterion": difference,
        "keep": np.array([70]),
        "exclude": np.array([0, 79]),
    }
    monkeypatch.setattr(SIZES, "redundancy_compiled", 0)
    eager_book = Redundancy(data)
    assert eager_book.ledger(30) is None
    eager = greedy_path(relevance, eager_book, F, 30, **options)
    monkeypatch.setattr(SIZES, "redundancy_near", 0)
    monkeypatch.setattr(SIZES, "greedy_batch", 4)
    book = Redundancy(data)
    assert book.ledger(10**9) is None  # more than can be remembered
    for _ in range(2):  # the second time all lines are known
        lazy = greedy_path(relevance, book, F, 30, **options)
        assert_array_equal(lazy.order, eager.order)
        assert_allclose(lazy.scores, eager.scores, atol=1e-12)
        assert_allclose(lazy.redundancy, eager.redundancy, atol=1e-12)
    other = greedy_path(relevance, book, F, 40, **options)  # some lines are known
    again = greedy_path(relevance, eager_book, F, 40, **options)
    assert_array_equal(other.order, again.order)
    assert_allclose(other.scores, again.scores, atol=1e-12)


def words(seed, m=150, d=60):
    """Counts of words: rare ones, frequent ones, equal ones, and one in each row."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=m)
    X = rng.poisson(rng.choice([0.03, 0.2, 1.5], size=d), size=(m, d)).astype(float)
    X[:, :12] += (rng.random((m, 12)) < 0.6) * (y[:, None] == np.arange(12) % 4)
    X[:, 20:24] = X[:, :4]
    X[:, 30], X[:, 31] = 1.0, 0.0
    return X, make_candidates(y, n_false=1, random_state=0)


@pytest.mark.parametrize("room", [0, 40, 1 << 20])
@pytest.mark.parametrize("length", [1, 7, 1024])
def test_compiled_path_over_sparse_columns(
    monkeypatch, room, length, global_random_seed
):
    """The whole path at once is that of one feature after the other, dense or not."""
    pytest.importorskip("numba")
    X, S = words(global_random_seed)
    F = uniform_confidence(S)
    dense, sparse = columns(X), columns(sp.csr_array(X))
    options = {
        "criterion": difference,
        "keep": np.array([50, 2]),
        "exclude": np.array([0, 59]),
    }
    paths = []
    for data in (dense, sparse):
        relevance = Relevance(data, F, S, var_floor=0.6, use_compiled=False)
        paths.append(greedy_path(relevance, Redundancy(data), F, 40, **options))
    monkeypatch.setattr(SIZES, "path_compiled", 0)
    monkeypatch.setattr(SIZES, "path_bytes", 12 * room)
    monkeypatch.setattr(SIZES, "shortlist", length)
    monkeypatch.setattr(SIZES, "shortlist_steps", 5)
    book = Redundancy(sparse)
    # The second time meetings are known, where there is room for them.
    paths += [greedy_path(relevance, book, F, 40, **options) for _ in range(2)]
    for path in paths[1:]:
        assert_array_equal(path.order, paths[0].order)
        assert_allclose(path.scores, paths[0].scores, atol=1e-12)
        assert_allclose(path.relevance, paths[0].relevance, atol=1e-12)
        assert_allclose(path.redundancy, paths[0].redundancy, atol=1e-12)
    every = {**options, "keep": np.empty(0, dtype=int), "exclude": np.array([7])}
    whole = greedy_path(relevance, book, F, 59, **every)
    monkeypatch.setattr(SIZES, "path_compiled", np.inf)
    assert_array_equal(greedy_path(relevance, book, F, 59, **every).order, whole.order)


def test_sparse_columns_without_numba(monkeypatch):
    name = "partlearn.feature_selection._sparse_tables_numba"
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delattr(name, raising=False)
    monkeypatch.setattr(SIZES, "path_compiled", 0)
    compiled_loops.cache_clear()
    X, _ = words(0)
    try:
        redundancy = Redundancy(columns(sp.csr_array(X)))
        stages = [(np.ones(60, dtype=bool), 5)]
        assert redundancy.greedy(np.zeros(60), stages, 1e-10) is None
    finally:
        compiled_loops.cache_clear()


def test_way_of_counting_follows_the_data():
    X = data_with_everything(np.random.default_rng(0))
    for data, kind in [(X, DenseTables), (sp.csr_array(X), SparseTables)]:
        assert isinstance(Redundancy(columns(data))._tables, kind)


def test_without_numba(monkeypatch):
    name = "partlearn.feature_selection._redundancy_numba"
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delattr(name, raising=False)
    compiled_loops.cache_clear()
    try:
        assert compiled_loops(_redundancy.__name__) is None
        data = columns(data_with_everything(np.random.default_rng(0)))
        assert_array_equal(
            DenseTables(data, True).row(0), DenseTables(data, False).row(0)
        )
    finally:
        compiled_loops.cache_clear()


@pytest.mark.parametrize("seed", range(5))
def test_scores_that_stay_are_ranked_at_once(seed):
    rng = np.random.default_rng(seed)
    values = -rng.integers(6, size=40) / 3 - 4e-11 * rng.integers(4, size=40)
    relevance = SimpleNamespace(values=values, error=0.0, prior_entropy=1.0)
    fixed = rng.permutation(40)
    options = {"keep": fixed[:3], "exclude": fixed[3:8]}
    for n in (1, 3, 20, 32):
        ranked = greedy_path(
            relevance, None, None, n, criterion=relevance_only, **options
        )
        one_by_one = greedy_path(
            relevance, None, None, n, criterion=lambda s: s.relevance, **options
        )
        assert len(ranked.order) == n
        for got, wanted in zip(
            vars(ranked).values(), vars(one_by_one).values(), strict=True
        ):
            assert_array_equal(got, wanted)
