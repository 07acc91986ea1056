"""Base classes for methods of your own, inside this library or outside.

A reducer sets ``components_`` and ``label_confidence_`` in `fit`, a selector calls
``_limits`` and ``_select``, a classifier writes ``predict_proba``. Checking input,
standardising, projecting new rows and predicting from scores are inherited.
"""

# SPDX-License-Identifier: BSD-3-Clause

from partlearn.classification._base import BasePartialClassifier, BaseScoreClassifier
from partlearn.decomposition._base import BaseReducer
from partlearn.feature_selection._base import BaseSelector
from partlearn.multilabel._base import BaseMultilabelClassifier

__all__ = [
    "BaseMultilabelClassifier",
    "BasePartialClassifier",
    "BaseReducer",
    "BaseScoreClassifier",
    "BaseSelector",
]
