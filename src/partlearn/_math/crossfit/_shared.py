"""Parameters that CRISPClassifier and KernelCRISP share, and the fit behind both."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from partlearn._array_api import as_double, like, namespace, to_numpy
from partlearn._math.blocks import take
from partlearn._math.crossfit._geometries import (
    GEOMETRIES,
    kernel_numbers,
    landmark_count,
)
from partlearn._math.crossfit._kernels import KernelMap
from partlearn._math.crossfit._order import drawn_order
from partlearn._math.crossfit._pooled import (
    PooledGeometry,
    PooledModel,
    expert_names,
    fit_pooled,
)
from partlearn._math.crossfit._relevance import (
    RELEVANCE_ROWS,
    WIDE_COLUMNS,
    Relevance,
    choose_relevance,
    sample_rows,
)
from partlearn._math.crossfit._ridge_pool import RidgePool
from partlearn._math.crossfit._rounds import Labels
from partlearn._math.crossfit._scores import targets
from partlearn._math.crossfit._space import InputSpace, LinearMap
from partlearn._math.linalg import standardize
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Indices
from partlearn.candidates import (
    VOTE_STATE,
    BagRule,
    Evidence,
    Votes,
    bag_codes,
    check_informative,
    initial_confidence,
    move_evidence,
    summarize_votes,
    validate_evidence,
)

RIDGE_STATE = (InputSpace, KernelMap, LinearMap, RidgePool)
POOLED_STATE = (
    InputSpace,
    KernelMap,
    LinearMap,
    PooledGeometry,
    PooledModel,
    *VOTE_STATE,
)
# Constraints on what other methods do not have, or have otherwise.
POOLED_PARAMETERS: dict[str, list[Any]] = {
    "geometries": ["array-like"],
    "n_landmarks": [
        Interval(Integral, 1, None, closed="left"),
        StrOptions({"auto"}),
        None,
    ],
    "relevance": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    "miss_rate": [Interval(Real, 0, 1, closed="left")],
}


def kernel_side(estimator: Any, n_samples: int) -> int:
    """Side of a square matrix of the same total size as all kernels of a fit.

    Parameters
    ----------
    estimator : CRISPClassifier or KernelCRISP
        Estimator whose parameters are used.
    n_samples : int
        Number of training rows.

    Returns
    -------
    side : int
        Zero without kernels.
    """
    kernels = sum(name != "linear" for name in estimator.geometries)
    count = landmark_count(n_samples, estimator.n_landmarks)
    numbers = kernel_numbers(n_samples, kernels, count)
    return math.isqrt(numbers) if kernels else 0


def fit_estimator(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    confidence: Any = None,
    bags: Any = None,
) -> PooledModel:
    """Fit with the parameters of an estimator, and set what both kinds have in common.

    Parameters
    ----------
    estimator : CRISPClassifier or KernelCRISP
        Estimator whose parameters are used.
    X, y
        Arguments of `fit`.
    confidence : array-like of shape (n_samples, n_classes), default=None
        First confidences; those of the labels by default.
    bags : array-like of shape (n_samples,), default=None
        Bags of rows that share one list of labels.

    Returns
    -------
    model : PooledModel
        The fit, which is also ``estimator.model_``.
    """
    names = check_geometries(estimator.geometries)
    X, labels = validate_evidence(
        estimator,
        X,
        y,
        accept_sparse="csr",
        order="C",
        ensure_min_samples=2,
        blocks=True,
    )
    labels = labels.with_miss_rate(estimator.miss_rate)
    check_informative(labels.weights, labels.classes, type(estimator).__name__)
    rng = check_random_state(estimator.random_state)
    order = drawn_order(X, labels.weights, rng)
    rule = BagRule.of(estimator, bags, labels)
    given = make_labels(labels, X, confidence, rule)
    relevance = learn_relevance(estimator, X, labels, order, names, confidence, bags)
    model = fit_pooled(
        estimator,
        X,
        given,
        order,
        geometries=names,
        rng=rng,
        weights=relevance.weights if relevance.power else None,
    )
    estimator.relevance_ = relevance.power
    estimator.feature_importances_ = like(relevance.importances, model.F)
    set_fitted(estimator, model, X.dtype)
    estimator.stray_rate_ = None if rule is None else rule.rate
    estimator.vote_summary_ = None
    if isinstance(labels, Votes):
        estimator.vote_summary_ = summarize_votes(
            labels,
            to_numpy(model.F),
            features=to_numpy(model.held_out),
        )
    return model


def learn_relevance(
    estimator: Any,
    X: Any,
    labels: Evidence,
    order: Indices,
    geometries: list[Any],
    confidence: Any,
    bags: Any,
) -> Relevance:
    """Importances of the columns by some rows, and the power of them that counts.

    Of more than 2,000 columns all count alike, and the importances are the squared
    correlations with the confidences.
    """
    rows = order[:RELEVANCE_ROWS]
    some = labels[rows]
    if X.shape[1] > WIDE_COLUMNS:
        part = take(X, rows)
        part = part if sp.issparse(part) else np.asarray(to_numpy(part))
        Y = targets(np.asarray(some.confidence(), dtype=np.float64))
        matrix, _, _ = standardize(part.astype(np.float64), center=True, scale=True)
        v = np.square(matrix.transposed_matmul(Y)).sum(axis=1)
        return Relevance(v / max(v.sum(), np.finfo(float).tiny), 0.0)
    part = sample_rows(X, order)
    first = None if confidence is None else np.asarray(to_numpy(confidence))[rows]
    shared = None if bags is None else bag_codes(bags, len(labels))[rows]
    rule = BagRule.of(estimator, shared, some)
    informative = bool((some.weights.max(axis=1) > some.weights.min(axis=1)).any())
    if not informative or not np.ptp(part, axis=0).any():
        return Relevance(np.full(X.shape[1], 1 / X.shape[1]), 0.0)
    return choose_relevance(
        estimator,
        part,
        make_labels(some, part, first, rule),
        geometries=geometries,
        power=estimator.relevance,
    )


def make_labels(
    labels: Evidence,
    X: Any,
    confidence: Any = None,
    rule: BagRule | None = None,
) -> Labels:
    """Evidence where the rows are, first confidences and the rule of the bags.

    Parameters
    ----------
    labels : Evidence of shape (m, q)
        Checked labels.
    X : array
        Rows, or another array where they are.
    confidence : array-like of shape (n_samples, n_classes), default=None
        First confidences; those of the labels by default.
    rule : BagRule, default=None
        Rule of the bags.

    Returns
    -------
    labels : Labels
        Input of the iterations.
    """
    L, F, update = move_evidence(labels, X)
    if confidence is not None:
        F = like(initial_confidence(confidence, labels.candidates), F)
    if rule is None:
        return Labels(as_double(L), F, update)
    return Labels(as_double(L), F, update, rule)


def set_fitted(estimator: Any, model: PooledModel, dtype: Any) -> None:
    """Set the fitted attributes that both kinds of estimator have."""
    experts = expert_names(
        [g.name for g in model.geometries], neighbors=model.rows is not None
    )
    estimator.model_ = model
    F = model.F
    estimator.label_confidence_ = namespace(F).astype(F, dtype, copy=False)
    estimator.expert_weights_ = {
        "linear": _named(experts, model.linear),
        "log_linear": _named(experts, model.log_linear),
    }
    estimator.ridge_ = {str(g.name): g.ridge for g in model.geometries}
    estimator.bandwidth_ = {
        str(g.name): g.bandwidth for g in model.geometries if g.bandwidth is not None
    }
    estimator.objective_ = like(np.asarray(model.objective), model.F)
    estimator.n_iter_ = len(model.objective)


def _named(names: list[str], weights: Array) -> dict[str, float]:
    return dict(zip(names, to_numpy(weights).tolist(), strict=True))


def check_geometries(geometries: Any) -> list[Any]:
    """Refuse names that are no geometry, or come twice."""
    names = list(geometries)
    wrong = [name for name in names if name not in GEOMETRIES]
    if wrong or not names or len(set(names)) < len(names):
        raise ValueError(
            f"`geometries` must name one or more of {', '.join(GEOMETRIES)}, each "
            f"once; got {geometries!r}."
        )
    return names
