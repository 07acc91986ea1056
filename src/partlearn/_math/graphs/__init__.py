"""Sparse graphs of neighboring rows, with the edge weights of several methods."""

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
from partlearn._math.graphs._tied_neighbors import (
    ArrayNeighbors,
    TiedNeighbors,
    find_ties,
    query_votes,
    shared_votes,
    tie_tolerance,
    tied_weights,
)
