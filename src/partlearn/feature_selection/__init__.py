"""Feature selection with candidate labels."""

from partlearn.feature_selection._baselines import MaxRelevance, RandomSelection
from partlearn.feature_selection._crisp_selector import CRISPSelector
from partlearn.feature_selection._curve import SelectionCurve, selection_curve
from partlearn.feature_selection._greedy import PathState
from partlearn.feature_selection._joint_entropy import MaxJointEntropy
from partlearn.feature_selection._saute import SAUTE
from partlearn.feature_selection._stability import (
    SelectionStability,
    selection_stability,
)

__all__ = [
    "SAUTE",
    "CRISPSelector",
    "MaxJointEntropy",
    "MaxRelevance",
    "RandomSelection",
    "selection_curve",
    "selection_stability",
]
