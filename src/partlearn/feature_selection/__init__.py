"""Selectors: subsets of features learnt from candidate labels."""

from importlib import import_module
from typing import Any

from partlearn.feature_selection._baselines import MaxRelevance, RandomSelection
from partlearn.feature_selection._crisp_selector import CRISPSelector
from partlearn.feature_selection._greedy import PathState
from partlearn.feature_selection._joint_entropy import MaxJointEntropy
from partlearn.feature_selection._plot import (
    SelectionCurve,
    plot_selection_path,
    selection_curve,
)
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
    "PathState",
    "RandomSelection",
    "SelectionCurve",
    "SelectionStability",
    "plot_selection_path",
    "selection_curve",
    "selection_stability",
]

_MULTILABEL = ("DRMFS", "MIFS", "PMLFSLA", "PMLFSSO", "TRACE")


def __getattr__(name: str) -> Any:
    """Offer the selectors for partial multi-labels under their former names."""
    if name in _MULTILABEL:
        return getattr(import_module("partlearn.multilabel.feature_selection"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
