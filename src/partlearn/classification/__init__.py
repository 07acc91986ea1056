"""Classifiers that learn from candidate labels."""

from partlearn.classification._pl_knn import PLKNN

__all__ = ["PLKNN"]
