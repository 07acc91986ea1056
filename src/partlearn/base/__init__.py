"""Base classes of reducers, selectors and classifiers.

A reducer sets ``components_`` and ``label_confidence_`` in `fit`, a selector calls
``_limits`` and ``_select``, a classifier implements ``predict_proba``. Validation,
standardization, projection of new rows and prediction from scores are inherited. The
constants are constraints on parameters of several methods.
"""

# SPDX-License-Identifier: BSD-3-Clause

from partlearn.base._classifier import (
    BaseCandidateClassifier,
    BaseScoreClassifier,
    recoded,
)
from partlearn.base._fit_input import (
    check_informative,
    check_matrix,
    check_same_length,
    check_two_classes,
    validate_evidence,
    validate_partial_data,
    validate_rows,
    validate_tags,
)
from partlearn.base._mixins import CandidateMixin, MemoryEstimateMixin
from partlearn.base._multilabel import BaseMultilabelClassifier, drop_empty
from partlearn.base._orders import Orders, content_orders
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
