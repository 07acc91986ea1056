"""Parameters of CRISPClassifier and KernelCRISP, and their common fit."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from partlearn._array_api import as_double, like, namespace, to_numpy
from partlearn._math.blocks import take
from partlearn._math.crossfit._geometries import (
    GEOMETRIES,
    kernel_numbers,
    landmark_count,
)
from partlearn._math.crossfit._iterations import Labels
from partlearn._math.crossfit._kernels import KernelMap
from partlearn._math.crossfit._pooled import (
    PooledGeometry,
    PooledModel,
    PoolOptions,
    expert_names,
    fit_pooled,
)
from partlearn._math.crossfit._relevance import (
    POWERS,
    Relevance,
    explained_shares,
    same_power,
    whole_bags,
)
from partlearn._math.crossfit._ridge_pool import RidgePool
from partlearn._math.crossfit._scores import targets
from partlearn._math.crossfit._space import InputSpace, LinearMap
from partlearn._math.linalg import (
    NormalScores,
    content_order,
    drawn_order,
    standardize,
)
from partlearn._sizes import SIZES
from partlearn._sklearn_compat import Interval, StrOptions
from partlearn._typing import Array, Indices
from partlearn.candidates import (
    VOTE_STATE,
    BagRule,
    Evidence,
    Votes,
    VoteSummary,
    initial_confidence,
    move_evidence,
    summarize_votes,
)

_FIRST_ROWS = 500  # rows of a first fit, by which columns are weighted
_FIRST_BAG_ROWS = 1000  # and where rows come in bags
_LEAST_ROWS = 20  # rows of it at least
RIDGE_STATE = (InputSpace, KernelMap, LinearMap, RidgePool)
POOLED_STATE = (
    InputSpace,
    KernelMap,
    LinearMap,
    NormalScores,
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
    "normal_scores": ["boolean"],
    "relevance": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    "miss_rate": [Interval(Real, 0, 1, closed="left")],
}


class PooledFit(NamedTuple):
    """Result of :func:`fit_pool`."""

    model: PooledModel
    relevance: Relevance
    stray_rate: float | None
    vote_summary: VoteSummary | None

    def attributes(self, dtype: Any) -> dict[str, Any]:
        """Fitted attributes of both CRISPClassifier and KernelCRISP."""
        model, F = self.model, self.model.F
        names = [str(g.name) for g in model.geometries]
        experts = expert_names(names, neighbors=model.rows is not None)
        widths = {str(g.name): g.bandwidth for g in model.geometries}
        powers = self.relevance.powers
        return {
            "model_": model,
            "label_confidence_": namespace(F).astype(F, dtype, copy=False),
            "expert_weights_": {
                "linear": _named(experts, model.linear),
                "log_linear": _named(experts, model.log_linear),
            },
            "ridge_": {str(g.name): g.ridge for g in model.geometries},
            "bandwidth_": {k: w for k, w in widths.items() if w is not None},
            "objective_": like(np.asarray(model.objective), F),
            "n_iter_": len(model.objective),
            "relevance_": {str(g.name): powers[g.name] for g in model.geometries},
            "feature_importances_": like(self.relevance.importances, F),
            "stray_rate_": self.stray_rate,
            "vote_summary_": self.vote_summary,
        }


def kernel_side(names: Sequence[str], n_landmarks: Any, n_samples: int) -> int:
    """Return the side of a square matrix as large as all kernels of a fit.

    It is zero without kernels.
    """
    kernels = sum(name != "linear" for name in names)
    count = landmark_count(n_samples, n_landmarks)
    numbers = kernel_numbers(n_samples, kernels, count)
    return math.isqrt(numbers) if kernels else 0


def fit_pool(
    X: Any,
    labels: Evidence,
    params: Mapping[str, Any],
    *,
    confidence: Any = None,
    rule: BagRule | None = None,
) -> PooledFit:
    """Learn the relevance of the columns, then the pool of experts.

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        Training rows.
    labels : Evidence
        Checked labels.
    params : mapping
        Parameters of CRISPClassifier or KernelCRISP.
    confidence : array-like of shape (m, q), default=None
        First confidences; those of the labels by default.
    rule : BagRule, default=None
        Rule of the bags.

    Returns
    -------
    fit : PooledFit
        The model and its relevance.
    """
    names = check_geometries(params["geometries"])
    options = PoolOptions(
        **{f.name: params[f.name] for f in fields(PoolOptions)} | {"geometries": names}
    )
    labels = labels.with_miss_rate(params["miss_rate"])
    rng = check_random_state(params["random_state"])
    order = drawn_order(X, labels.weights, rng)
    columns = None
    if params["normal_scores"] and X.shape[1] <= SIZES.relevant_columns:
        columns = NormalScores.of(X, order)
    given = make_labels(labels, X, confidence, rule)
    relevance = find_relevance(
        X, labels, given, order, options, columns, params["relevance"], rule
    )
    model = fit_pooled(X, given, order, options, columns, relevance, rng=rng)
    summary = None
    if isinstance(labels, Votes):
        features = to_numpy(model.held_out)
        summary = summarize_votes(labels, to_numpy(model.F), features=features)
    rate = None if rule is None else rule.rate
    return PooledFit(model, relevance, rate, summary)


def find_relevance(
    X: Any,
    labels: Evidence,
    given: Labels,
    order: Indices,
    options: PoolOptions,
    columns: NormalScores | None,
    power: float | str,
    rule: BagRule | None,
) -> Relevance:
    """Estimate importances of the columns by a first fit on some rows.

    Source: CRISPClassifier, relevance of columns.

    Parameters
    ----------
    X : ndarray, CSR matrix or Rows, of shape (m, d)
        Training rows.
    labels : Evidence
        Checked labels.
    given : Labels
        The same, in the library and on the device of the rows.
    order : ndarray of int, shape (m,)
        Rows in random order. The first fit uses at most 500 of them, or whole bags of
        at most 1,000 rows, with equal weights of the columns.
    options : PoolOptions
        Parameters of the first fit.
    columns : NormalScores or None
        Map of its columns.
    power : float or "auto"
        Power of the importances in all geometries; "auto" takes 0 in the linear one,
        .5 in the Gaussian and 1 in the Laplacian. More than 1,000 columns have equal
        weights, and the importances are the squared correlations with the confidences.
    rule : BagRule or None
        Rule of the bags.

    Returns
    -------
    relevance : Relevance
        Importances and powers.
    """
    rows, d = order[:_FIRST_ROWS], X.shape[1]
    if rule is not None and rule.shared:
        rows = order[whole_bags(rule.codes[order], _FIRST_BAG_ROWS)]
    part, L = take(X, rows), _dense(take(given.L, rows))
    tells = len(rows) >= _LEAST_ROWS and L.any(axis=0).sum() > 1
    if not tells or not (L.max(axis=1) > L.min(axis=1)).any():
        return Relevance(np.full(d, 1 / d), same_power(0))
    if d > SIZES.relevant_columns:
        part = part if issparse(part) else _dense(part)
        matrix, _, _ = standardize(part, center=True, scale=True)
        Y = targets(_dense(take(given.F, rows)))
        v = np.square(matrix.transposed_matmul(Y)).sum(axis=1)
        return Relevance(v / max(v.sum(), np.finfo(float).tiny), same_power(0))
    # From here on it does not matter in which order rows were drawn.
    placed = content_order(part := _dense(part), L)
    part, rows = part[placed], rows[placed]
    if not (part != part[0]).any():
        return Relevance(np.full(d, 1 / d), same_power(0))
    rule = None if rule is None else rule.among(rows)
    first = make_labels(labels[rows], part, take(given.F, rows), rule)
    rng = np.random.RandomState(0)
    F = fit_pooled(part, first, np.arange(len(rows)), options, columns, rng=rng).F
    powers = POWERS if isinstance(power, str) else same_power(power)
    return Relevance(explained_shares(part, _dense(F)), powers)


def _dense(A: Any) -> Array:
    """Convert a sparse array, or one of another library, to NumPy."""
    A = A.toarray() if issparse(A) else to_numpy(A)
    return np.asarray(A, dtype=np.float64)


def make_labels(
    labels: Evidence,
    X: Any,
    confidence: Any = None,
    rule: BagRule | None = None,
) -> Labels:
    """Return evidence where the rows are, first confidences and the rule of bags.

    First confidences are those of the labels by default.
    """
    L, F, update = move_evidence(labels, X)
    if confidence is not None:
        F = like(initial_confidence(confidence, labels.candidates), F)
    if rule is None:
        return Labels(as_double(L), F, update)
    return Labels(as_double(L), F, update, rule)


def _named(names: list[str], weights: Array) -> dict[str, float]:
    return dict(zip(names, to_numpy(weights).tolist(), strict=True))


def check_geometries(geometries: Any) -> list[Any]:
    """Raise for unknown or repeated geometries."""
    names = list(geometries)
    wrong = [name for name in names if name not in GEOMETRIES]
    if wrong or not names or len(set(names)) < len(names):
        raise ValueError(
            f"`geometries` must name one or more of {', '.join(GEOMETRIES)}, each "
            f"once; got {geometries!r}."
        )
    return names
