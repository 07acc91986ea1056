"""Neighbour graphs with heat weights."""

import numpy as np
import pytest

from partlearn._math.graphs import degrees, heat_graph, laplacian


def test_by_hand():
    S = heat_graph(np.array([[0.0], [1.0], [3.0]]), 1)
    near, far = np.exp(-0.5), np.exp(-2.0)
    expected = [[0, near, 0], [near, 0, far], [0, far, 0]]
    np.testing.assert_allclose(S.toarray(), expected)
    np.testing.assert_allclose(degrees(S), [near, near + far, far])
    np.testing.assert_allclose(laplacian(S).toarray().sum(axis=1), 0, atol=1e-16)


def test_loops_and_width():
    X = np.array([[0.0], [1.0], [3.0]])
    S = heat_graph(X, 1, self_loops=True).toarray()
    np.testing.assert_allclose(S.diagonal(), 1)
    # Distances to neighbours 1, 1, 2: the median is 1.
    np.testing.assert_allclose(
        heat_graph(10 * X, 1, t="median").toarray(), heat_graph(X, 1).toarray()
    )


def test_few_points():
    assert heat_graph(np.zeros((1, 2))).nnz == 0
    S = heat_graph(np.zeros((3, 2)), 5, t="median").toarray()
    np.testing.assert_allclose(S, 1 - np.eye(3))


def test_an_empty_graph_is_reported():
    X = 1e3 * np.arange(8.0)[:, None]
    with pytest.warns(UserWarning, match="Nearly all weights of the graph are zero"):
        heat_graph(X)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "loops"), [("fsso_code_1111", 1), ("mifs", 0)])
def test_reference_graphs(shared_dir, name, loops):
    oracle = np.load(shared_dir / "oracle" / f"pml_{name}.npz")
    S = heat_graph(oracle["X"], self_loops=bool(loops)).toarray()
    np.testing.assert_allclose(S, oracle["Sx"], rtol=0, atol=1e-12)
