"""Exact nearest neighbours with deterministic ties."""

from partlearn.neighbors._knn import query_neighbors, self_neighbors, some_neighbors
from partlearn.neighbors._recall import neighbors_recall

__all__ = ["neighbors_recall", "query_neighbors", "self_neighbors", "some_neighbors"]
