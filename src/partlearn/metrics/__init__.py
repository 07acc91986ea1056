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
from partlearn.metrics._risk_coverage import (
    RiskCoverage,
    area_under_risk_coverage,
    risk_coverage_curve,
)
from partlearn.metrics._scorer import (
    approximated_accuracy_scorer,
    candidate_hit_scorer,
    candidate_log_likelihood_scorer,
    covering_scorer,
    truth_scorer,
)
from partlearn.metrics._scores import (
    accuracy_score,
    candidate_hit_rate,
    class_recalls,
    disambiguation_accuracy,
    prediction_hits,
    worst_class_recall,
)
from partlearn.metrics._truth_free import (
    approximated_accuracy,
    candidate_log_likelihood,
    covering_rate,
)

__all__ = [
    "CalibrationBins",
    "RiskCoverage",
    "accuracy_score",
    "approximated_accuracy",
    "approximated_accuracy_scorer",
    "area_under_risk_coverage",
    "average_precision",
    "calibration_bins",
    "candidate_hit_rate",
    "candidate_hit_scorer",
    "candidate_log_likelihood",
    "candidate_log_likelihood_scorer",
    "class_recalls",
    "coverage",
    "covering_rate",
    "covering_scorer",
    "disambiguation_accuracy",
    "hamming_loss",
    "macro_f1",
    "micro_f1",
    "one_error",
    "prediction_hits",
    "ranking_loss",
    "ranking_scores",
    "risk_coverage_curve",
    "scored_rows",
    "truth_scorer",
    "worst_class_recall",
]
