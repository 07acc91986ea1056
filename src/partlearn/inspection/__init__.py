"""Displays of confidences and labels, and the label report."""

from partlearn.inspection._confidence import (
    CandidateConfusion,
    CandidateConfusionDisplay,
    ConfidenceDisplay,
    candidate_confusion,
)
from partlearn.inspection._embedding import EmbeddingDisplay
from partlearn.inspection._label_map import label_map
from partlearn.inspection._label_page import label_page
from partlearn.inspection._label_report import (
    OPEN,
    SETTLED,
    LabelReport,
    RowStates,
    expected_share,
    label_report,
    label_summary,
    row_states,
)
from partlearn.inspection._paths import ConvergenceDisplay, SelectionPathDisplay
from partlearn.inspection._reasons import Reasons, explain_labels
from partlearn.inspection._sureness import CalibrationDisplay, RiskCoverageDisplay
from partlearn.inspection._tag_report import tag_page

__all__ = [
    "CalibrationDisplay",
    "CandidateConfusionDisplay",
    "ConfidenceDisplay",
    "ConvergenceDisplay",
    "EmbeddingDisplay",
    "RiskCoverageDisplay",
    "SelectionPathDisplay",
    "label_map",
    "label_report",
]
