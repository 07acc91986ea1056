"""Graphs that rebuild rows from their neighbours."""

import numpy as np

from partlearn._math.graphs import reconstruction_graph
from partlearn._math.neighbors import self_neighbors
from partlearn._sizes import SIZES


def test_a_row_between_its_neighbours_is_rebuilt_exactly():
    points = np.array([[0.0], [1.0], [4.0]])
    W = reconstruction_graph(points, np.array([[1, 2], [0, 2], [1, 0]]))
    np.testing.assert_allclose(
        W.toarray(), [[0, 1, 0], [0.75, 0, 0.25], [0, 1, 0]], atol=1e-12
    )


def test_blocks_do_not_change_the_graph(global_random_seed, monkeypatch):
    rng = np.random.default_rng(global_random_seed)
    points = rng.normal(size=(50, 3))
    neighbors = self_neighbors(points, 6)
    whole = reconstruction_graph(points, neighbors)
    monkeypatch.setattr(SIZES, "reconstruction_block", 100)
    np.testing.assert_allclose(
        reconstruction_graph(points, neighbors).toarray(), whole.toarray(), atol=1e-12
    )
    np.testing.assert_allclose(whole.sum(axis=1), 1)
    # No single neighbour is nearer than what the weights reach.
    rebuilt = np.linalg.norm(points - whole @ points, axis=1)
    nearest = np.linalg.norm(points - points[neighbors[:, 0]], axis=1)
    assert (rebuilt <= nearest + 1e-9).all()
