"""Small least squares on the orthant and the simplex, against other solvers."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from partlearn._extras import compiled_loops, compiled_twin
from partlearn._math.simplex import (
    _nnls,
    _nnls_numba,
    nnls_from_gram,
    reconstruction_weights,
    reconstruction_weights_from_gram,
)
from partlearn._math.simplex._nnls import pivot_all
from partlearn._sizes import SIZES

SOLVERS = [_nnls.solve_all, _nnls.solve_carefully, _nnls_numba.solve_all]
NAMES = ["numpy", "careful", "numba"]


def differences(kind, m, k, p, rng):
    E = rng.standard_normal((m, k, p)) + 0.7 * rng.standard_normal((m, 1, p))
    if kind == "duplicates":
        E[:, 1] = E[:, 0]
        E[:, -1] = E[:, k // 2]
    elif kind == "near duplicates":
        E[:, 1] = E[:, 0] * (1 + 1e-9)
        E[:, -1] = E[:, 0] + 1e-11
    elif kind == "one near":
        E[:, 2] *= 1e-7
    elif kind == "scales":
        E *= 10.0 ** rng.integers(-6, 6, size=(m, k, 1))
    elif kind == "line":
        E = E[:, :, :1] * rng.standard_normal((m, 1, p))
    return E


KINDS = ["plain", "duplicates", "near duplicates", "one near", "scales", "line"]


def violation(E, s):
    """Duality gap of ``min ||E's||^2``, as a part of the shortest difference.

    By convexity no point of the simplex has a value below ``x.x - 2 gap`` where
    ``x = E's`` and ``gap = x.x - min_a e_a.x``. The bound needs no other solver, so it
    holds on every processor and for singular matrices.
    """
    x = np.einsum("iap,ia->ip", E, s)
    gap = np.einsum("ip,ip->i", x, x) - np.einsum("iap,ip->ia", E, x).min(axis=1)
    # Far neighbours enter x.e_a with their own rounding error.
    shortest = np.sqrt((E**2).sum(axis=2)).min(axis=1)
    longest = np.sqrt((E**2).sum(axis=2)).max(axis=1)
    return gap / (shortest * longest)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("k", "p"), [(10, 50), (10, 9), (10, 3), (20, 5), (4, 1)])
def test_reconstruction_is_optimal(solver, kind, k, p, monkeypatch):
    monkeypatch.setattr(_nnls, "compiled_twin", lambda function: solver)
    monkeypatch.setattr(_nnls, "solve_all", solver)
    E = differences(kind, 60, k, p, np.random.default_rng(k * p))
    s = reconstruction_weights(E)
    assert (s >= 0).all()
    assert_allclose(s.sum(axis=1), 1, rtol=1e-14)
    assert violation(E, s).max() < 1e-12  # rounding error of the gram matrix


def test_the_duality_gap_sees_weights_that_are_not_optimal():
    E = differences("plain", 60, 10, 9, np.random.default_rng(0))
    s = reconstruction_weights(E)
    other = 0.99 * s + 0.01 / 10
    assert violation(E, other).min() > 1e-6


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 12),
    st.sampled_from(KINDS),
)
@settings(max_examples=60, deadline=None)
def test_both_solvers_agree_with_the_reference_trick(seed, k, p, kind):
    rng = np.random.default_rng(seed)
    E = differences(kind if k > 2 else "plain", 3, k, p, rng)
    G = E @ E.transpose(0, 2, 1)
    shortest = np.einsum("ijj->ij", G).min(axis=1)
    scaled = G / shortest[:, None, None] + 1
    for i in range(3):
        g = np.sqrt((E[i] ** 2).sum(axis=1).mean())
        w, _ = nnls(np.vstack([E[i].T, np.full(k, g)]), np.r_[np.zeros(p), g])
        reference = np.linalg.norm(E[i].T @ w) / w.sum()
        for solver in SOLVERS:
            s = solver(scaled, np.ones((3, k)))[i]
            value = np.linalg.norm(E[i].T @ s) / s.sum()
            # The reference works on E itself, ours on products of its rows.
            assert value <= reference * (1 + 1e-9) + 1e-7 * np.sqrt(shortest[i])


def test_twins_give_the_same_unique_weights(global_random_seed):
    E = differences("plain", 200, 10, 30, np.random.default_rng(global_random_seed))
    G = E @ E.transpose(0, 2, 1)
    b = np.einsum("iap,ip->ia", E, E[:, 0] + E[:, 1] - E[:, 2])
    ours, careful, compiled = (solver(G, b) for solver in SOLVERS)
    assert ((ours > 0).sum(axis=1) > 1).all()
    assert_allclose(ours, compiled, atol=1e-12)
    assert_allclose(ours, careful, atol=1e-12)


def test_nnls_from_gram_matches_scipy(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    A = rng.standard_normal((40, 15, 6))
    y = rng.standard_normal((40, 15))
    w = nnls_from_gram(A.transpose(0, 2, 1) @ A, np.einsum("ipk,ip->ik", A, y))
    expected = np.array([nnls(a, t)[0] for a, t in zip(A, y, strict=True)])
    assert (expected == 0).any()
    assert (expected > 0).any()
    assert_allclose(w, expected, atol=1e-12)


def test_hand_computed_problems():
    # The origin between two points on a line, and beyond both of them.
    assert_allclose(reconstruction_weights([[[1.0], [-3.0]]]), [[0.75, 0.25]])
    assert_allclose(reconstruction_weights([[[1.0], [3.0]]]), [[1, 0]])
    # A right angle: the foot of the height divides the hypotenuse 1 : 4.
    assert_allclose(reconstruction_weights([[[1.0, 0], [0, 2.0]]]), [[0.8, 0.2]])
    assert_allclose(nnls_from_gram([np.eye(2)], [[3.0, -1.0]]), [[3, 0]])
    assert_array_equal(nnls_from_gram([np.eye(2)], [[-3.0, -1.0]]), [[0, 0]])


def test_zero_differences_share_the_weight():
    E = np.random.default_rng(0).standard_normal((3, 4, 2))
    E[0] = 0
    E[1, [1, 3]] = 0
    s = reconstruction_weights(E)
    assert_array_equal(s[0], [0.25] * 4)
    assert_array_equal(s[1], [0, 0.5, 0, 0.5])
    assert_array_equal(reconstruction_weights(np.ones((2, 1, 3))), [[1], [1]])


def test_scale_does_not_change_the_weights():
    E = differences("plain", 20, 8, 5, np.random.default_rng(1))
    expected = reconstruction_weights(E)
    for factor in (1e-100, 1e100):
        assert_allclose(reconstruction_weights(E * factor), expected, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_columns_that_cannot_help_are_left_out(solver):
    # A zero column, and a linear term outside the range of a singular matrix: along
    # (1, -1, 0) the second has no curvature and no end.
    G = np.array([np.diag([1.0, 0.0, 2.0]), [[1.0, -1, 0], [-1, 1, 0], [0, 0, 1]]])
    w = solver(G, np.array([[1.0, 5.0, 4.0], [1.0, 1.0, 0.0]]))
    assert_allclose(w, [[1, 0, 2], [1, 0, 0]])


@pytest.mark.parametrize("solver", SOLVERS, ids=NAMES)
def test_no_problems_no_answers(solver):
    assert solver(np.empty((0, 3, 3)), np.empty((0, 3))).shape == (0, 3)


def test_what_pivoting_spoils_is_solved_again(monkeypatch):
    E = differences("plain", 30, 6, 4, np.random.default_rng(0))
    G = E @ E.transpose(0, 2, 1)
    b = np.einsum("iap,ip->ia", E, E[:, 0] - E[:, 1])
    expected = _nnls.solve_all(G, b)
    assert pivot_all(G, b)[1].all()
    sweep = _nnls._sweep

    def spoilt(T, here, pivot, enters, stuck):
        sweep(T, here, pivot, enters, stuck)
        T *= 1 + 1e-6

    monkeypatch.setattr(_nnls, "_sweep", spoilt)
    assert not pivot_all(G, b)[1].all()
    assert_allclose(_nnls.solve_all(G, b), expected, atol=1e-12)


def test_both_stop_after_many_entries(monkeypatch):
    monkeypatch.setattr(SIZES, "nnls_entries", 0)
    w, good = pivot_all(np.ones((2, 1, 1)), np.array([[1.0], [-1.0]]))
    assert_array_equal(w, [[0], [0]])
    assert_array_equal(good, [False, True])
    assert_array_equal(
        _nnls.solve_carefully(np.ones((1, 1, 1)), np.ones((1, 1))), [[0]]
    )


def test_many_problems_ask_for_the_compiled_solver(monkeypatch):
    asked = []

    def compiled(function):
        asked.append(function)
        return function

    monkeypatch.setattr(SIZES, "nnls_compiled", 20)
    monkeypatch.setattr(_nnls, "compiled_twin", compiled)
    nnls_from_gram(np.ones((4, 2, 2)), np.ones((4, 2)))
    assert not asked
    nnls_from_gram(np.ones((5, 2, 2)), np.ones((5, 2)))
    assert asked == [_nnls.solve_all]


def test_without_numba_numpy_serves(monkeypatch):
    compiled_loops.cache_clear()
    assert compiled_twin(_nnls.solve_all) is _nnls_numba.solve_all
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "partlearn._math.simplex._nnls_numba")
    monkeypatch.delattr("partlearn._math.simplex._nnls_numba")
    compiled_loops.cache_clear()
    assert compiled_twin(_nnls.solve_all) is _nnls.solve_all
    compiled_loops.cache_clear()


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match=r"got \(2, 2\) and \(2,\)"):
        nnls_from_gram(np.eye(2), np.ones(2))
    with pytest.raises(ValueError, match="three dimensions; got 2"):
        reconstruction_weights(np.eye(2))
    with pytest.raises(ValueError, match=r"got \(1, 2, 3\)"):
        reconstruction_weights_from_gram(np.ones((1, 2, 3)))


def test_differences_that_are_as_good_as_zero_take_the_weight():
    E = np.array([[[1e-160], [1.0]], [[1e100], [-1e-100]]])
    assert_array_equal(reconstruction_weights(E), [[1, 0], [0, 1]])
