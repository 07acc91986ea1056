"""Sparse graphs over rows: from neighbours, with the weights that methods give them."""

from partlearn.graphs._array_votes import ArrayVotes, array_votes
from partlearn.graphs._candidate_graph import few_candidates, lift
from partlearn.graphs._heat_graph import degrees, heat_graph, laplacian
from partlearn.graphs._local_grams import difference_grams, neighbor_grams
from partlearn.graphs._neighbor_graph import neighbor_graph, vote, vote_weights
from partlearn.graphs._reconstruction import (
    rebuilding_graph,
    reconstruction_graph,
    residual_operator,
)
from partlearn.graphs._tied_votes import TiedVotes
from partlearn.graphs._tied_weights import find_ties, tie_tolerance, tied_weights

__all__ = [
    "ArrayVotes",
    "TiedVotes",
    "array_votes",
    "degrees",
    "difference_grams",
    "few_candidates",
    "find_ties",
    "heat_graph",
    "laplacian",
    "lift",
    "neighbor_grams",
    "neighbor_graph",
    "rebuilding_graph",
    "reconstruction_graph",
    "residual_operator",
    "tie_tolerance",
    "tied_weights",
    "vote",
    "vote_weights",
]
