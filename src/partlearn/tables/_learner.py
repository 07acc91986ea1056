"""Build the learner of a table from its name."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

from sklearn.utils import get_tags

from partlearn._registry import (
    DEFAULT_METHOD,
    DEFAULT_TAG_METHOD,
    PARTIAL_LABEL_ROLES,
    build,
)
from partlearn.classification import PLKNN, CoupledClassifier, for_candidates

_BAG_PARAMS = ("bag_rule", "stray_rate")


def make_learner(method: Any, params: Mapping[str, Any] | None = None) -> Any:
    """Build a learner, a reducer with PL-KNN, or any classifier.

    Parameters
    ----------
    method : str or estimator
        Name of a learner, reducer or selector of this library; ``package.module:Class``
        of another classifier; or an estimator. Classifiers of single labels are wrapped
        in a CandidateClassifier.
    params : mapping of str to object, default=None
        Parameters, where `method` is a name. `bag_rule` and `stray_rate` are passed to
        the CandidateClassifier around a classifier of another package.

    Returns
    -------
    learner : estimator
        Not fitted, with ``predict_proba``.

    Examples
    --------
    >>> from partlearn.tables import make_learner
    >>> make_learner("cenda")
    CoupledClassifier(classifier=PLKNN(), reducer=CENDA())
    >>> make_learner("sklearn.linear_model:LogisticRegression", {"C": 2.0})
    CandidateClassifier(estimator=LogisticRegression(C=2.0, random_state=0),
                        random_state=0)
    """
    params = dict(params or {})
    other = isinstance(method, str) and ":" in method
    rule = {key: params.pop(key) for key in _BAG_PARAMS if other and key in params}
    estimator = build(method, params, *PARTIAL_LABEL_ROLES, seed=0)
    if not hasattr(estimator, "predict"):
        return CoupledClassifier(estimator, PLKNN())
    return for_candidates(estimator, random_state=0).set_params(**rule)


def make_tag_learner(method: Any, params: Mapping[str, Any] | None = None) -> Any:
    """Build a classifier of tags.

    Parameters
    ----------
    method : str or estimator
        Name of a classifier for tags ("crisp-multi-label-classifier", "ml-knn"), or
        such an estimator. The default method for single labels stands for the default
        method for tags.
    params : mapping of str to object, default=None
        Parameters, where `method` is a name.

    Returns
    -------
    learner : estimator
        Not fitted.

    Examples
    --------
    >>> from partlearn.tables import make_tag_learner
    >>> make_tag_learner("ml-knn", {"n_neighbors": 3})
    MLKNN(n_neighbors=3)
    """
    name = DEFAULT_TAG_METHOD if method == DEFAULT_METHOD else method
    learner = build(name, params or {}, "multilabel learner", seed=0)
    if not get_tags(learner).target_tags.multi_output:
        raise ValueError(
            f"{type(learner).__name__} predicts one label per row. For tags name a "
            "classifier of partlearn.multilabel, such as CRISPMultiLabelClassifier."
        )
    return learner
