"""Scorers for scikit-learn's own model selection.

scikit-learn hands the target that was fitted, here the candidate sets, to a scorer. The
first scorer below needs nothing else; the second takes the truth as metadata.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.metrics import accuracy_score, make_scorer

from partlearn.metrics._scores import candidate_hit_rate

__all__ = ["candidate_hit_scorer", "truth_scorer"]

candidate_hit_scorer = make_scorer(candidate_hit_rate)


def _truth_accuracy(candidates: Any, y_pred: Any, *, truth: Any) -> float:
    return float(accuracy_score(np.asarray(truth), y_pred))


def truth_scorer() -> Any:
    """Give a scorer for the accuracy against true labels passed as metadata.

    The metadata is named ``truth``. Metadata routing of scikit-learn must be enabled
    where the scorer is used. :func:`partlearn.model_selection.cross_validate` does the
    same without routing.

    Returns
    -------
    scorer : callable
        For the `scoring` parameter of scikit-learn's functions.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.metrics import truth_scorer
    >>> from partlearn.model_selection import CandidateKFold
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = make_candidates(y, random_state=0)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scores = cross_val_score(
    ...         PLKNN(), X, candidates, cv=CandidateKFold(5),
    ...         scoring=truth_scorer(), params={"truth": y},
    ...     )
    >>> bool(scores.mean() > 0.9)
    True
    """
    with config_context(enable_metadata_routing=True):
        return make_scorer(_truth_accuracy).set_score_request(truth=True)
