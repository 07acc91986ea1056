"""Sparse graphs over rows: from neighbours, with the weights that methods give them."""

from partlearn.graphs._candidate_graph import few_candidates, graph, lift
from partlearn.graphs._heat_graph import degrees, heat_graph, laplacian
from partlearn.graphs._local_grams import difference_grams, neighbor_grams
from partlearn.graphs._reconstruction import reconstruction_graph

__all__ = [
    "degrees",
    "difference_grams",
    "few_candidates",
    "graph",
    "heat_graph",
    "laplacian",
    "lift",
    "neighbor_grams",
    "reconstruction_graph",
]
