"""Reducers: linear projections learnt from candidate labels."""

from partlearn.decomposition._cenda import CENDA

__all__ = ["CENDA"]
