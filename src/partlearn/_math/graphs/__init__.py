"""Sparse graphs over rows: from neighbours, with the weights that methods give them."""

from partlearn._math.graphs._candidate_graph import few_candidates, lift
from partlearn._math.graphs._neighbor_graph import (
    degrees,
    heat_graph,
    laplacian,
    neighbor_graph,
    neighbor_weights,
    vote,
    vote_weights,
    weighted_votes,
)
from partlearn._math.graphs._reconstruction import (
    difference_grams,
    neighbor_grams,
    rebuilding_graph,
    reconstruction_graph,
    residual_operator,
)
from partlearn._math.graphs._tied_votes import (
    ArrayVotes,
    TiedVotes,
    find_ties,
    shared_votes,
    tie_tolerance,
    tied_weights,
)

__all__ = [
    "ArrayVotes",
    "TiedVotes",
    "degrees",
    "difference_grams",
    "few_candidates",
    "find_ties",
    "heat_graph",
    "laplacian",
    "lift",
    "neighbor_grams",
    "neighbor_graph",
    "neighbor_weights",
    "rebuilding_graph",
    "reconstruction_graph",
    "residual_operator",
    "shared_votes",
    "tie_tolerance",
    "tied_weights",
    "vote",
    "vote_weights",
    "weighted_votes",
]
