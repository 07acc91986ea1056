"""Scores for partial-label problems, with and without the truth."""

from sklearn.metrics import accuracy_score

from partlearn.candidates import GoldQuality as GoldQuality
from partlearn.candidates import calibrate_by_gold, gold_quality
from partlearn.metrics._confidence import (
    CalibrationBins,
    RiskCoverage,
    area_under_risk_coverage,
    calibration_bins,
    risk_coverage_curve,
)
from partlearn.metrics._dependence import (
    Dependence,
    candidate_dependence,
    cautious_share,
    hit_accuracy,
    overconfidence,
)
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
from partlearn.metrics._scores import (
    approximated_accuracy,
    approximated_accuracy_scorer,
    candidate_hit_rate,
    candidate_hit_scorer,
    candidate_log_likelihood,
    candidate_log_likelihood_scorer,
    class_recalls,
    covering_rate,
    covering_scorer,
    disambiguation_accuracy,
    prediction_hits,
    truth_scorer,
    worst_class_recall,
)

__all__ = [
    "approximated_accuracy",
    "approximated_accuracy_scorer",
    "area_under_risk_coverage",
    "average_precision",
    "candidate_hit_rate",
    "candidate_hit_scorer",
    "candidate_log_likelihood",
    "candidate_log_likelihood_scorer",
    "class_recalls",
    "coverage",
    "covering_rate",
    "covering_scorer",
    "disambiguation_accuracy",
    "gold_quality",
    "hamming_loss",
    "macro_f1",
    "micro_f1",
    "one_error",
    "ranking_loss",
    "risk_coverage_curve",
    "truth_scorer",
    "worst_class_recall",
]
