"""Classifiers that learn from candidate labels."""

from partlearn.classification._ipal import IPAL
from partlearn.classification._pl_knn import PLKNN
from partlearn.classification._sure import SURE

__all__ = ["IPAL", "PLKNN", "SURE"]
