"""Confidences: hand-computed votes and the invariants of refinement."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from partlearn._math.graphs import vote, vote_weights
from partlearn.candidates import refine, uniform_confidence


def test_uniform_confidence():
    S = np.array([[1, 1, 0, 0], [0, 0, 1, 0]], dtype=bool)
    F = uniform_confidence(S)
    np.testing.assert_array_equal(F, [[0.5, 0.5, 0, 0], [0, 0, 1, 0]])
    assert uniform_confidence(S, np.float32).dtype == np.float32


def test_votes_by_hand():
    F = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    neighbors = np.array([[1, 2], [0, 2], [1, 0]])
    np.testing.assert_allclose(vote(F, neighbors), [[1.0, 2.0], [2.0, 1.0], [2.0, 1.0]])
    np.testing.assert_allclose(
        vote(F, neighbors, "uniform"), [[0.5, 1.5], [1.0, 1.0], [1.5, 0.5]]
    )
    assert vote_weights(3).tolist() == [3, 2, 1]
    assert vote_weights(3, "uniform").tolist() == [1, 1, 1]


def test_single_precision_is_kept():
    F = np.eye(3, dtype=np.float32)
    V = vote(F, np.array([[1], [2], [0]]))
    assert V.dtype == np.float32
    assert refine(F, V, np.ones((3, 3), dtype=bool)).dtype == np.float32


def test_refine_by_hand():
    S = np.array([[1, 1, 0], [1, 0, 1]], dtype=bool)
    F = np.array([[0.5, 0.5, 0.0], [0.25, 0.0, 0.75]])
    V = np.array([[2.0, 0.0, 9.0], [0.0, 5.0, 0.0]])
    # Row 0: (0.5 + 2, 0.5) / 3; row 1 hears nothing inside its set.
    np.testing.assert_allclose(
        refine(F, V, S), [[2.5 / 3, 0.5 / 3, 0], [0.25, 0, 0.75]]
    )
    np.testing.assert_allclose(refine(F, V, S, own=0.0)[0], [1, 0, 0])
    np.testing.assert_allclose(refine(F, V, S, own=0.0)[1], F[1])  # silent: unchanged


@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0, 3))
def test_refined_confidences_stay_distributions(seed, k, own):
    rng = np.random.default_rng(seed)
    S = rng.random((12, 5)) < 0.4
    S[np.arange(12), rng.integers(5, size=12)] = True
    F = uniform_confidence(S)
    G = refine(F, vote(F, rng.integers(12, size=(12, k))), S, own=own)
    assert (G >= 0).all()
    assert not G[~S].any()
    np.testing.assert_allclose(G.sum(axis=1), 1)
