"""Scores for partial-label problems, with and without the truth."""

from partlearn.metrics._scorer import candidate_hit_scorer, truth_scorer
from partlearn.metrics._scores import (
    accuracy_score,
    candidate_hit_rate,
    disambiguation_accuracy,
    prediction_hits,
)

__all__ = [
    "accuracy_score",
    "candidate_hit_rate",
    "candidate_hit_scorer",
    "disambiguation_accuracy",
    "prediction_hits",
    "truth_scorer",
]
