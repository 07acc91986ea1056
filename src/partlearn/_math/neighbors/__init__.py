"""Nearest neighbors: exact with deterministic ties, in cells, among a sample."""

from partlearn._math.neighbors._cells import cell_neighbors
from partlearn._math.neighbors._knn import (
    neighbors_recall,
    query_neighbors,
    self_neighbors,
    some_neighbors,
)
from partlearn._math.neighbors._reference import (
    many_neighbors,
    reference_neighbors,
    reference_rows,
    without_own,
)
