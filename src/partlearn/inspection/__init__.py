"""Looking at labels: displays in the manner of scikit-learn."""

from partlearn.inspection._calibration import CalibrationDisplay
from partlearn.inspection._confidence import ConfidenceDisplay
from partlearn.inspection._confusion import (
    CandidateConfusion,
    CandidateConfusionDisplay,
    candidate_confusion,
)
from partlearn.inspection._convergence import ConvergenceDisplay
from partlearn.inspection._embedding import EmbeddingDisplay
from partlearn.inspection._selection import SelectionPathDisplay

__all__ = [
    "CalibrationDisplay",
    "CandidateConfusion",
    "CandidateConfusionDisplay",
    "ConfidenceDisplay",
    "ConvergenceDisplay",
    "EmbeddingDisplay",
    "SelectionPathDisplay",
    "candidate_confusion",
]
