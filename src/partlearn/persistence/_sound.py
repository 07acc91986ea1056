"""What estimators take for granted and a file can break.

Parameters are those that the class would accept. Compiled code of scikit-learn that
trusts fitted attributes gets only attributes it can trust.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree

from partlearn.io import DataFormatError
from partlearn.persistence._trees import check_forest, check_tree_owner

_MAX_JOBS = 1024
# Regular expressions can take for ever on text that is made for it.
_TOKEN_PATTERNS = (r"(?u)\b\w\w+\b", r"(?u)\b\w+\b")


def check_sound(estimator: BaseEstimator) -> None:
    """Refuse parameters and attributes that the class could not have given itself."""
    name = type(estimator).__name__
    try:
        if hasattr(estimator, "_parameter_constraints"):
            estimator._validate_params()
    except Exception as error:
        # Without the value, which comes from the file and may be anything.
        reason = str(error).partition(" Got ")[0]
        raise DataFormatError(f"{name} holds parameters it refuses: {reason}") from None
    state = vars(estimator)
    n_features = state.get("n_features_in_", 0)
    if type(n_features) is not int or n_features < 0:
        raise DataFormatError(f"{name} was fitted on an impossible number of features")
    n_jobs = state.get("n_jobs")
    if isinstance(n_jobs, int) and abs(n_jobs) > _MAX_JOBS:
        raise DataFormatError(f"{name} asks for {n_jobs} workers")
    classes = state.get("classes_")
    if isinstance(classes, np.ndarray) and classes.ndim != 1:
        raise DataFormatError(f"the classes of {name} are no list")
    for kind, check in _CHECKS:
        if isinstance(estimator, kind):
            check(estimator)


def _check_text(vectorizer: TfidfVectorizer) -> None:
    if vectorizer.input != "content":
        raise DataFormatError("a TfidfVectorizer that opens files is not loaded")
    if vectorizer.token_pattern not in _TOKEN_PATTERNS:
        raise DataFormatError(
            "a TfidfVectorizer is loaded only with one of the token_patterns "
            + " and ".join(map(repr, _TOKEN_PATTERNS))
        )
    words = getattr(vectorizer, "vocabulary_", {})
    if not isinstance(words, dict) or not all(
        type(word) is str and isinstance(place, (int, np.integer))
        for word, place in words.items()
    ):
        raise DataFormatError("the vocabulary of a TfidfVectorizer is no dictionary")
    if sorted(map(int, words.values())) != list(range(len(words))):
        raise DataFormatError("the vocabulary of a TfidfVectorizer skips columns")


def _check_memory(pipeline: Pipeline) -> None:
    if pipeline.memory is not None:
        raise DataFormatError("a Pipeline with a cache on disk is not loaded")


_CHECKS: tuple[tuple[Any, Any], ...] = (
    (BaseDecisionTree, check_tree_owner),
    ((RandomForestClassifier, ExtraTreesClassifier), check_forest),
    (TfidfVectorizer, _check_text),
    (Pipeline, _check_memory),
)
