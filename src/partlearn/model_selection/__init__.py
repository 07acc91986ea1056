"""Splitters and cross-validation for candidate labels."""

from partlearn.model_selection._held_out import held_out_hits, one_standard_error_rule
from partlearn.model_selection._split import CandidateKFold, StratifiedCandidateKFold
from partlearn.model_selection._validate import (
    cross_validate,
    published_embedding,
    truth_codes,
)

__all__ = [
    "CandidateKFold",
    "StratifiedCandidateKFold",
    "cross_validate",
]
