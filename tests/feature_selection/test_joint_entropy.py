"""Maximum joint entropy against direct evaluation."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from partlearn.feature_selection import MaxJointEntropy
from partlearn.feature_selection._columns import columns


def entropy(*codes):
    _, n = np.unique(np.column_stack(codes), axis=0, return_counts=True)
    p = n / n.sum()
    return -(p * np.log(p)).sum()


def literal(X, n):
    """Every feature looked at in every step, ties as specified."""
    codes = columns(X).codes(slice(None))
    own = [entropy(c) for c in codes]
    chosen = []
    for _ in range(n):
        rest = [f for f in range(len(codes)) if f not in chosen]
        value = {f: entropy(*(codes[g] for g in chosen), codes[f]) for f in rest}
        best = max(value.values())
        tied = [f for f in rest if value[f] >= best - 1e-12]
        chosen.append(max(tied, key=lambda f: (round(own[f], 12), -f)))
    return chosen


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("m", [25, 200])
def test_lazy_equals_literal(m, make, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(m, 14))
    X[:, 3] = X[:, 8]
    X[:, 5] = 0.0
    X[:, 6:8] = rng.poisson(0.2, size=(m, 2))
    selector = MaxJointEntropy(None).fit(make(X))
    assert_array_equal(selector.selected_, literal(X, 14))
    codes = columns(X).codes(slice(None))
    for p in (1, 3, 14):
        expected = entropy(*codes[selector.selected_[:p]])
        assert_allclose(selector.joint_entropy_[p - 1], expected, atol=1e-9)
    assert_allclose(selector.scores_, [entropy(c) for c in codes], atol=1e-12)


def test_sparse_counts(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.poisson(0.05, size=(300, 60)) - rng.poisson(0.01, size=(300, 60)) * 2.0
    X[:, 9] += 1
    selector = MaxJointEntropy(None, must_keep=[4, 7], exclude=[2])
    dense = selector.fit(X).selected_
    assert_array_equal(selector.fit(sp.csr_array(X)).selected_, dense)
    assert_array_equal(np.sort(dense[:2]), [4, 7])
    assert_array_equal(MaxJointEntropy(8).fit(sp.csr_array(X)).selected_, literal(X, 8))


def test_saturated_partitions_are_filled_by_own_entropy():
    X = np.arange(5.0)[:, None] ** [1, 2, 3, 4]
    X = np.column_stack([X, np.ones(5)])
    selector = MaxJointEntropy(None).fit(X)
    assert selector.joint_entropy_[-1] <= np.log(5) + 1e-12
    assert selector.selected_[-1] == 4


def test_gaussian_is_a_pivoted_determinant(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 7)) + rng.normal(size=(60, 7))
    selector = MaxJointEntropy(5, entropy="gaussian").fit(X)
    R = np.corrcoef(X.T)
    chosen = [0]  # all correlations with itself are one: the first feature
    while len(chosen) < 5:
        value = [
            -np.inf
            if f in chosen
            else np.linalg.det(R[np.ix_([*chosen, f], [*chosen, f])])
            for f in range(7)
        ]
        chosen.append(int(np.argmax(value)))
    assert_array_equal(selector.selected_, chosen)
    sign, logdet = np.linalg.slogdet(R[np.ix_(chosen, chosen)])
    assert sign == 1
    assert_allclose(selector.joint_entropy_[-1], logdet / 2, rtol=1e-8)


def test_gaussian_takes_copies_and_constants_last():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X = np.column_stack([X[:, 0], X[:, 0], np.ones(20), X[:, 1:]])
    selector = MaxJointEntropy(None, entropy="gaussian").fit(X)
    assert set(selector.selected_[:3]) == {0, 3, 4}
    assert_allclose(selector.scores_[[1, 2]], 0, atol=1e-10)
