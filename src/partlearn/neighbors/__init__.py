"""Exact nearest neighbours with deterministic ties."""

from partlearn.neighbors._knn import query_neighbors, self_neighbors

__all__ = ["query_neighbors", "self_neighbors"]
