"""Fit any estimator of scikit-learn on confidences instead of labels.

Depending on the estimator: every row once per label, weighted by the confidence; a
regression on the confidences; or, for classifiers without weights, several classifiers
on labels drawn by the confidences.
"""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from partlearn._sklearn_compat import num_samples, safe_indexing
from partlearn._typing import Array, Indices

N_DRAWS = 5
_FEWEST = 1e-3  # confidence below which a row is no example of a label


@dataclass(frozen=True)
class SoftModel:
    """Mean of one or several fitted estimators.

    Attributes
    ----------
    members : list of (estimator, ndarray of int)
        Estimators and the classes their labels 0, 1, ... stand for.
    n_classes : int
        Number of classes.
    """

    members: list[tuple[Any, Indices]]
    n_classes: int

    def predict_proba(self, X: Any) -> Array:
        """Return the mean confidence in every class."""
        P = np.zeros((num_samples(X), self.n_classes))
        for model, known in self.members:
            P[:, known] += self._confidences(model, X, len(known))
        return normalized(P)

    def out_of_bag(self) -> Array:
        """Return mean confidences of the training rows by trees fitted without them.

        Rows that are in the bootstrap samples of all trees get zeros.
        """
        total: Any = 0.0
        for model, known in self.members:
            P = getattr(model, "oob_decision_function_", None)
            P = model.oob_prediction_ if P is None else P
            spread = np.zeros((len(P), self.n_classes))
            spread[:, known] = np.nan_to_num(np.maximum(P, 0))
            total = total + spread
        return normalized(total)

    @staticmethod
    def _confidences(model: Any, X: Any, k: int) -> Array:
        if hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(X), dtype=np.float64)
        if is_regressor(model):
            return normalized(np.maximum(model.predict(X), 0).reshape(-1, k))
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return np.asarray(softmax(scores, axis=1))


def normalized(P: Array) -> Array:
    """Scale rows to a sum of one; rows of zeros become uniform."""
    total = P.sum(axis=1, keepdims=True)
    return np.where(total > 0, P / np.where(total > 0, total, 1), 1 / P.shape[1])


def weight_name(estimator: Any) -> str | None:
    """Return the name of the sample weights in `fit`, or None."""
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        name = weight_name(last)
        return None if name is None else f"{step}__{name}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def seeded(estimator: Any, rng: np.random.RandomState) -> Any:
    """Return a clone with a seed for all parts without one."""
    model = clone(estimator)
    seeds = {
        name: int(rng.randint(np.iinfo(np.int32).max))
        for name, value in sorted(model.get_params().items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    return model.set_params(**seeds)


def by_column(estimator: Any, classes: NDArray[Any]) -> Any:
    """Return a clone with class weights by the number of the class instead of the name.

    Parameters
    ----------
    estimator : classifier
        Estimator to fit on class numbers.
    classes : ndarray of shape (n_classes,)
        The classes; those without a weight have weight one.

    Returns
    -------
    estimator : classifier
        The estimator itself if it has no class weights.
    """
    given = _class_weights(estimator)
    if not given:
        return estimator
    names = classes.tolist()
    for weights in given.values():
        for name in weights:
            if name not in names:
                raise ValueError(
                    f"`class_weight` has a weight for {name!r}, which is no label; "
                    f"labels are {', '.join(map(repr, names[:10]))}."
                )
    return clone(estimator).set_params(
        **{
            key: {j: weights.get(name, 1.0) for j, name in enumerate(names)}
            for key, weights in given.items()
        }
    )


def _class_weights(estimator: Any) -> dict[str, dict[Any, float]]:
    return {
        key: value
        for key, value in estimator.get_params().items()
        if key.rpartition("__")[2] == "class_weight" and isinstance(value, dict)
    }


def fit_soft(
    estimator: Any,
    X: Any,
    F: Array,
    weight: Array | None,
    seed: int,
    *,
    draw: bool = False,
) -> SoftModel:
    """Fit clones of an estimator on confidences.

    Parameters
    ----------
    estimator : classifier or regressor
        What to fit.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows, as the estimator takes them.
    F : ndarray of shape (n_samples, n_classes)
        Confidences; rows sum to one.
    weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    seed : int
        For estimators without a seed, and for draws.
    draw : bool, default=False
        Whether to draw labels even if the estimator takes weights, so that no row is
        repeated.

    Returns
    -------
    model : SoftModel
        The fitted clones.
    """
    rng = np.random.RandomState(seed)
    # The weights made here are no metadata of the caller, who routes those.
    with config_context(enable_metadata_routing=False):
        if is_regressor(estimator):
            model = seeded(estimator, rng)
            model.fit(X, F, **_weights(estimator, weight))
            return SoftModel([(model, np.arange(F.shape[1]))], F.shape[1])
        if weight_name(estimator) is not None and not draw:
            rows, labels = np.nonzero(F >= _FEWEST)
            w = F[rows, labels] * (1.0 if weight is None else weight[rows])
            members = [_fit(estimator, safe_indexing(X, rows), labels, w, rng)]
        else:
            members = [
                _fit(estimator, X, _drawn(F, rng), weight, rng) for _ in range(N_DRAWS)
            ]
    return SoftModel(members, F.shape[1])


def _drawn(F: Array, rng: np.random.RandomState) -> Indices:
    """Draw one label per row by the confidences."""
    upto = np.cumsum(F, axis=1)
    label: Indices = (rng.uniform(size=(len(F), 1)) * upto[:, -1:] >= upto).sum(axis=1)
    return label


def _fit(
    estimator: Any,
    X: Any,
    labels: Indices,
    weight: Array | None,
    rng: np.random.RandomState,
) -> tuple[Any, Indices]:
    # Some estimators insist on labels 0, 1, ... without a gap.
    known, codes = np.unique(labels, return_inverse=True)
    if len(known) == 1:
        return Constant(), known
    model = seeded(estimator, rng)
    if len(given := _class_weights(model)):
        place = known.tolist()
        model.set_params(
            **{key: {i: w[j] for i, j in enumerate(place)} for key, w in given.items()}
        )
    return model.fit(X, codes, **_weights(estimator, weight)), known


def _weights(estimator: Any, weight: Array | None) -> dict[str, Array]:
    if weight is None:
        return {}
    name = weight_name(estimator)
    if name is None:
        raise ValueError(
            f"{type(estimator).__name__} takes no weights of rows: leave out "
            "`sample_weight` or choose an estimator whose `fit` has it."
        )
    return {name: weight}


@dataclass(frozen=True)
class Constant:
    """Constant classifier, for examples of a single class."""

    def predict_proba(self, X: Any) -> Array:
        """Return a probability of one for the class."""
        return np.ones((num_samples(X), 1))
