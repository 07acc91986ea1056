"""Looking at labels: displays in the manner of scikit-learn, and the label report."""

from partlearn.inspection._confidence import ConfidenceDisplay
from partlearn.inspection._confusion import (
    CandidateConfusion,
    CandidateConfusionDisplay,
    candidate_confusion,
)
from partlearn.inspection._convergence import ConvergenceDisplay
from partlearn.inspection._embedding import EmbeddingDisplay
from partlearn.inspection._label_map import label_map
from partlearn.inspection._label_page import label_page
from partlearn.inspection._label_report import LabelReport, label_report
from partlearn.inspection._selection import SelectionPathDisplay
from partlearn.inspection._sureness import CalibrationDisplay, RiskCoverageDisplay

__all__ = [
    "CalibrationDisplay",
    "CandidateConfusion",
    "CandidateConfusionDisplay",
    "ConfidenceDisplay",
    "ConvergenceDisplay",
    "EmbeddingDisplay",
    "LabelReport",
    "RiskCoverageDisplay",
    "SelectionPathDisplay",
    "candidate_confusion",
    "label_map",
    "label_page",
    "label_report",
]
