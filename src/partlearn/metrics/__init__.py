"""Scores for partial-label problems, with and without the truth."""

from partlearn.metrics._calibration import CalibrationBins, calibration_bins
from partlearn.metrics._multilabel import (
    average_precision,
    coverage,
    hamming_loss,
    macro_f1,
    micro_f1,
    one_error,
    ranking_loss,
    ranking_scores,
    scored_rows,
)
from partlearn.metrics._scorer import candidate_hit_scorer, truth_scorer
from partlearn.metrics._scores import (
    accuracy_score,
    candidate_hit_rate,
    disambiguation_accuracy,
    prediction_hits,
)

__all__ = [
    "CalibrationBins",
    "accuracy_score",
    "average_precision",
    "calibration_bins",
    "candidate_hit_rate",
    "candidate_hit_scorer",
    "coverage",
    "disambiguation_accuracy",
    "hamming_loss",
    "macro_f1",
    "micro_f1",
    "one_error",
    "prediction_hits",
    "ranking_loss",
    "ranking_scores",
    "scored_rows",
    "truth_scorer",
]
