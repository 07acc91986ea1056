"""Votes of neighbours of which several are equally near."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsTransformer

from partlearn._math.graphs import (
    TiedNeighbors,
    query_votes,
    vote,
)
from partlearn._math.neighbors import self_neighbors
from partlearn._sizes import SIZES


def literal(Z, F, k, kind="rank"):
    V = np.zeros_like(F)
    k = min(k, len(Z) - 1)
    for i in range(len(Z)):
        d = np.linalg.norm(Z - Z[i], axis=1)
        others = [j for j in np.argsort(d, kind="stable") if j != i]
        rank = 0
        while rank < k:
            tied = [j for j in others if abs(d[j] - d[others[rank]]) <= 1e-9]
            ranks = range(rank, min(k, rank + len(tied)))
            weight = sum(k - a if kind == "rank" else 1 for a in ranks)
            V[i] += weight * F[tied].sum(axis=0) / len(tied)
            rank += len(tied)
    return V


def grid(seed, n=60, p=2, levels=4):
    rng = np.random.default_rng(seed)
    return rng.integers(levels, size=(n, p)).astype(float), rng.random((n, 3))


@pytest.mark.parametrize("levels", [1, 2, 4, 9])
@pytest.mark.parametrize("k", [1, 5, 70])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", ["rank", "uniform"])
def test_as_by_hand(levels, k, sparse, kind, global_random_seed):
    Z, F = grid(global_random_seed, levels=levels)
    votes = TiedNeighbors(sp.csr_array(Z) if sparse else Z, k)
    assert votes.tied
    np.testing.assert_allclose(votes(F, kind), literal(Z, F, k, kind), atol=1e-9)
    known = TiedNeighbors(sp.csr_array(Z) if sparse else Z, k, tied=True)
    np.testing.assert_array_equal(known(F, kind), votes(F, kind))


def test_neither_order_nor_the_last_digit_matters(global_random_seed):
    Z, F = grid(global_random_seed, p=3)
    V = TiedNeighbors(Z, 4)(F)
    rng = np.random.default_rng(global_random_seed)
    new = rng.permutation(len(Z))
    np.testing.assert_allclose(TiedNeighbors(Z[new], 4)(F[new]), V[new], atol=1e-9)
    trembling = Z * (1 + 2e-16 * rng.integers(-2, 3, size=Z.shape))
    np.testing.assert_allclose(TiedNeighbors(trembling, 4)(F), V, atol=1e-9)
    np.testing.assert_allclose(TiedNeighbors(Z, 4, n_jobs=2)(F), V, atol=1e-12)


def test_without_ties_as_ever():
    rng = np.random.default_rng(0)
    Z, F = rng.normal(size=(50, 3)), rng.random((50, 4))
    votes = TiedNeighbors(Z, 5)
    assert not votes.tied
    np.testing.assert_array_equal(votes(F), vote(F, self_neighbors(Z, 5)))
    again = TiedNeighbors(Z, 5, warm_start=votes.neighbors)
    np.testing.assert_array_equal(again.neighbors, votes.neighbors)
    # Neighbours that were found for fewer ranks are of no use.
    np.testing.assert_array_equal(
        TiedNeighbors(Z, 5, warm_start=votes.neighbors[:, :2])(F), votes(F)
    )


@pytest.mark.parametrize("sparse", [False, True])
def test_ties_that_were_expected_and_are_not_there(sparse):
    rng = np.random.default_rng(0)
    Z, F = rng.normal(size=(40, 3)), rng.random((40, 2))
    rows = sp.csr_array(Z) if sparse else Z
    votes = TiedNeighbors(rows, 4, tied=True)
    assert votes.neighbors is None
    np.testing.assert_allclose(votes(F), TiedNeighbors(rows, 4)(F), atol=1e-12)


def test_more_ties_than_are_looked_at(monkeypatch):
    monkeypatch.setattr(SIZES, "tied", 4)
    angle = np.arange(24) * np.pi / 12
    Z = np.vstack([[0.0, 0.0], np.column_stack([np.cos(angle), np.sin(angle)])])
    F = np.random.default_rng(0).random((25, 2))
    V = TiedNeighbors(Z, 3)(F)
    # The centre hears some of the circle: six votes in all.
    np.testing.assert_allclose(TiedNeighbors(Z, 3)(np.ones((25, 1))), 6)
    new = np.random.default_rng(1).permutation(25)
    np.testing.assert_allclose(TiedNeighbors(Z[new], 3)(F[new])[new == 0], V[:1])


def test_types_are_kept():
    Z, F = grid(0)
    assert TiedNeighbors(Z, 3)(F.astype(np.float32)).dtype == np.float32


def test_rows_in_single_precision_tie_within_their_rounding():
    Z, F = grid(0)
    single = (0.1 * Z).astype(np.float32)  # distances differ by 1e-8
    np.testing.assert_allclose(
        TiedNeighbors(single, 3)(F), TiedNeighbors(Z, 3)(F), atol=1e-12
    )


def test_a_search_of_ones_own_breaks_ties_itself():
    Z, F = grid(0)
    search = KNeighborsTransformer(n_neighbors=4)
    votes = TiedNeighbors(Z, 3, search=search)
    assert not votes.tied
    expected = vote(F, self_neighbors(Z, 3, search=search))
    np.testing.assert_array_equal(votes(F), expected)


@pytest.mark.parametrize("kind", [bool, int, np.uint8])
def test_votes_with_marks_are_numbers(kind):
    F = np.eye(4, dtype=kind)
    Z = np.array([[0.0], [1.0], [1.0], [3.0]])
    np.testing.assert_array_equal(TiedNeighbors(Z, 1)(F)[0], [0, 0.5, 0.5, 0])
    np.testing.assert_array_equal(vote(F, np.array([[1, 2]]))[0], [0, 2, 1, 0])
    large = np.full((4, 1), 200, dtype=np.uint8)
    assert vote(large, np.array([[1, 2]])) == 600


def literal_query_votes(known, Z, F, k):
    """Mean votes over many orders of the known rows, each breaking ties anew."""
    total = np.zeros((len(Z), F.shape[1]))
    rng = np.random.RandomState(0)
    for _ in range(4000):
        order = rng.permutation(len(known))
        D = np.abs(Z[:, None] - known[order]).sum(axis=2)
        near = order[np.argsort(D, axis=1, kind="stable")[:, :k]]
        total += np.einsum("k,nkq->nq", np.arange(k, 0, -1.0), F[near])
    return total / 4000


def test_new_rows_share_places_too():
    rng = np.random.RandomState(1)
    known, F = rng.randint(3, size=(30, 1)).astype(float), rng.uniform(size=(30, 3))
    Z = np.array([[0.0], [1.0], [0.5], [7.3]])
    votes = query_votes(known, Z, F, 4)
    np.testing.assert_allclose(votes, literal_query_votes(known, Z, F, 4), rtol=0.04)
    order = rng.permutation(30)
    again = query_votes(known[order], Z, F[order], 4)
    np.testing.assert_allclose(votes, again, atol=1e-12)


def test_new_rows_without_ties_get_votes_of_their_neighbors():
    rng = np.random.RandomState(2)
    known, F, Z = (
        rng.normal(size=(40, 2)),
        rng.uniform(size=(40, 3)),
        rng.normal(size=(5, 2)),
    )
    near = np.argsort(np.linalg.norm(Z[:, None] - known, axis=2), axis=1)[:, :3]
    expected = np.einsum("k,nkq->nq", [3.0, 2.0, 1.0], F[near])
    np.testing.assert_allclose(query_votes(known, Z, F, 3), expected)
    # Fewer known rows than ranks.
    assert query_votes(known[:2], Z, F[:2], 5).shape == (5, 3)
