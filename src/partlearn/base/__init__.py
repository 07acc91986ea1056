"""Base classes for methods of your own, inside this library or outside.

A reducer sets ``components_`` and ``label_confidence_`` in `fit`, a selector calls
``_limits`` and ``_select``, a classifier writes ``predict_proba``. Checking input,
standardising, projecting new rows and predicting from scores are inherited. The
constants are constraints on parameters that several methods share.
"""

# SPDX-License-Identifier: BSD-3-Clause

from partlearn.base._classifier import (
    BaseCandidateClassifier,
    BaseScoreClassifier,
    recoded,
)
from partlearn.base._mixins import CandidateMixin, MemoryEstimateMixin
from partlearn.base._multilabel import BaseMultilabelClassifier, drop_empty
from partlearn.base._parameters import COUNT, PARAMETERS
from partlearn.base._reducer import (
    BaseReducer,
    count_directions,
    project_standardized,
    reduced_rows,
)
from partlearn.base._selector import BaseSelector, Columns, count_features

__all__ = [
    "BaseCandidateClassifier",
    "BaseMultilabelClassifier",
    "BaseReducer",
    "BaseSelector",
]
