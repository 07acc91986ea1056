"""Splitters and honest cross-validation for candidate labels."""

from partlearn.model_selection._split import CandidateKFold, StratifiedCandidateKFold
from partlearn.model_selection._validate import cross_validate, published_embedding

__all__ = [
    "CandidateKFold",
    "StratifiedCandidateKFold",
    "cross_validate",
    "published_embedding",
]
