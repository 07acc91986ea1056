"""Checks for estimators of partial-label data."""

from partlearn.utils._discovery import all_estimators
from partlearn.utils._estimator_checks import (
    check_partial_label_estimator,
    partial_label_checks,
)
from partlearn.utils._multilabel_checks import multilabel_checks

__all__ = [
    "all_estimators",
    "check_partial_label_estimator",
]
