"""Selectors: subsets of features learnt from candidate labels."""

from partlearn.feature_selection._baselines import MaxRelevance, RandomSelection
from partlearn.feature_selection._crisp_selector import CRISPSelector
from partlearn.feature_selection._criteria import PathState
from partlearn.feature_selection._drmfs import DRMFS
from partlearn.feature_selection._joint_entropy import MaxJointEntropy
from partlearn.feature_selection._mifs import MIFS
from partlearn.feature_selection._plot import (
    SelectionCurve,
    plot_selection_path,
    selection_curve,
)
from partlearn.feature_selection._pml_fsla import PMLFSLA
from partlearn.feature_selection._pml_fsso import PMLFSSO
from partlearn.feature_selection._saute import SAUTE
from partlearn.feature_selection._trace import TRACE

__all__ = [
    "DRMFS",
    "MIFS",
    "PMLFSLA",
    "PMLFSSO",
    "SAUTE",
    "TRACE",
    "CRISPSelector",
    "MaxJointEntropy",
    "MaxRelevance",
    "PathState",
    "RandomSelection",
    "SelectionCurve",
    "plot_selection_path",
    "selection_curve",
]
