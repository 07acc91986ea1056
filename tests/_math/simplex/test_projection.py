"""Projection onto the simplex: definition, masks, precision, twins."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from partlearn import _extras
from partlearn._extras import compiled_loops, compiled_twin
from partlearn._math.simplex import _projection, _projection_numba, project_simplex
from partlearn._sizes import SIZES

ANY_ROWS = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 40)),
    elements=st.floats(-1e3, 1e3) | st.integers(-2, 2).map(float),
)


def project_one(q):
    """The formula for one row, word by word."""
    u = sorted(q, reverse=True)
    rho = max(r for r in range(1, len(u) + 1) if u[r - 1] - (sum(u[:r]) - 1) / r > 0)
    theta = (sum(u[:rho]) - 1) / rho
    return [max(value - theta, 0) for value in q]


def test_hand_computed_rows():
    Q = [[0.2, 0.3, 0.5], [1.0, 1.0, 1.0], [3.0, 0.0, 0.0], [0.6, 0.6, -5.0]]
    expected = [[0.2, 0.3, 0.5], [1 / 3] * 3, [1, 0, 0], [0.5, 0.5, 0]]
    assert_allclose(project_simplex(Q), expected, atol=1e-15)


@given(ANY_ROWS, st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_rows_follow_the_formula(Q, seed):
    rng = np.random.default_rng(seed)
    S = rng.random(Q.shape) < 0.6
    S[np.arange(len(S)), rng.integers(0, Q.shape[1], len(S))] = True
    P = project_simplex(Q, S)
    for row, mask, projected in zip(Q, S, P, strict=True):
        # Sums of forty numbers up to 1e3 lose up to 1e-11.
        assert_allclose(projected[mask], project_one(row[mask]), atol=1e-11)
    assert (P[~S] == 0).all()
    assert (P >= 0).all()
    assert_allclose(P.sum(axis=1), 1, rtol=1e-13)
    assert_allclose(project_simplex(P, S), P, atol=1e-15)
    assert_array_equal(project_simplex(Q), project_simplex(Q, np.ones_like(S)))


@given(ANY_ROWS, st.booleans(), st.booleans())
@settings(max_examples=50, deadline=None)
def test_compiled_twin_is_equal_to_the_last_bit(Q, single, masked):
    Q = Q.astype(np.float32 if single else np.float64)
    S = np.empty((0, 0), dtype=bool)
    if masked:
        S = np.median(Q, axis=1, keepdims=True) < Q
        S[:, 0] = True
    ours, compiled = (
        module.project_rows(Q, S) for module in (_projection, _projection_numba)
    )
    assert ours.dtype == compiled.dtype == Q.dtype
    assert_array_equal(ours, compiled)


def test_many_close_entries_use_the_general_sort():
    Q = np.random.default_rng(0).random((5, 300)) * 1e-3
    S = np.empty((0, 0), dtype=bool)
    P = _projection_numba.project_rows(Q, S)
    assert_array_equal(P, _projection.project_rows(Q, S))
    assert (P > 0).sum() > 5 * 24


def test_large_offsets_do_not_hurt():
    Q = np.array([[0.1, 0.2, 0.3]])
    assert_allclose(project_simplex(Q + 2.0**40), project_simplex(Q), atol=1e-4)
    assert_array_equal(project_simplex([[2.0**60, 2.0**60 + 4096]]), [[0.0, 1.0]])


def test_float32_stays_float32(global_dtype):
    P = project_simplex(np.array([[0.5, 0.9]], dtype=global_dtype))
    assert P.dtype == global_dtype
    assert_allclose(P, [[0.3, 0.7]], rtol=1e-6)
    assert project_simplex([[1, 2]]).dtype == np.float64


def test_large_arrays_ask_for_the_compiled_loop(monkeypatch):
    asked = []

    def compiled(function):
        asked.append(function)
        return function

    monkeypatch.setattr(SIZES, "projection_compiled", 10)
    monkeypatch.setattr(_projection, "compiled_twin", compiled)
    project_simplex(np.ones((3, 3)))
    assert not asked
    project_simplex(np.ones((2, 5)))
    assert asked == [_projection.project_rows]


def test_without_numba_numpy_serves(monkeypatch):
    compiled_loops.cache_clear()
    found = compiled_twin(_projection.project_rows)
    assert found is _projection_numba.project_rows
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "partlearn._math.simplex._projection_numba")
    monkeypatch.delattr("partlearn._math.simplex._projection_numba")
    compiled_loops.cache_clear()
    assert compiled_twin(_projection.project_rows) is _projection.project_rows
    compiled_loops.cache_clear()


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match=r"without a candidate: \[1\]"):
        project_simplex(np.ones((2, 2)), [[1, 0], [0, 0]])
    with pytest.raises(ValueError, match=r"\(2, 2\); got \(2, 3\)"):
        project_simplex(np.ones((2, 2)), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"two dimensions and a column; got \(2,\)"):
        project_simplex([1.0, 2.0])
    with pytest.raises(ValueError, match=r"got \(2, 0\)"):
        project_simplex(np.ones((2, 0)))


def test_without_a_place_for_compiled_loops_numpy_serves(monkeypatch):
    def no_place(module):
        raise RuntimeError("cannot cache function 'project_rows': no locator available")

    compiled_loops.cache_clear()
    monkeypatch.setattr(_extras, "import_module", no_place)
    assert compiled_twin(_projection.project_rows) is _projection.project_rows
    compiled_loops.cache_clear()


@pytest.mark.parametrize("n_rows", [9, 40_000])  # by NumPy and by compiled loops
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_no_numbers_are_named(n_rows, value):
    Q = np.zeros((n_rows, 3))
    Q[7, 1] = value
    with pytest.raises(ValueError, match=r"NaN or infinity: \[7\]"):
        project_simplex(Q)
    Q[7, 1] = -np.inf  # far away, which is a place
    assert_array_equal(project_simplex(Q)[7], [0.5, 0, 0.5])
