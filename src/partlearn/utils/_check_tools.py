"""What the checks share: a small problem, a fit, and how two fits are compared."""

# SPDX-License-Identifier: BSD-3-Clause

import importlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from partlearn._typing import Indices, Mask
from partlearn.candidates import make_candidates

Check = Callable[[Any], None]
AGREEMENT = 0.9  # least agreement of two fits whose random draws differ


def is_multilabel(estimator: Any) -> bool:
    """Whether rows may have several true labels."""
    return bool(get_tags(estimator).target_tags.multi_output)


def uses_labels(estimator: Any) -> bool:
    """Whether the estimator looks at labels at all."""
    return bool(get_tags(estimator).target_tags.required)


def problem(estimator: Any, seed: int = 0) -> tuple[NDArray[Any], Mask]:
    """120 rows, and candidates of the kind that the estimator learns from.

    `seed` draws classes; labels of multi-label rows are always the same, each decided
    by one of ten features.
    """
    if is_multilabel(estimator):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(120, 10))
        S = X[:, :5] > 0.6
        S[np.arange(120), rng.integers(5, size=120)] = True
        return X, S
    X, _, S = with_truth(seed)
    return X, S


def with_truth(seed: int = 0) -> tuple[NDArray[Any], Indices, Mask]:
    """Well separated classes: any sound method solves it, whatever its random draws."""
    X, y = make_blobs(120, n_features=7, centers=5, cluster_std=0.8, random_state=seed)
    return X, y, make_candidates(y, 1, random_state=seed)


def fit(estimator: Any, X: Any, y: Any) -> Any:
    """Fit a copy that has a seed: two fits can be compared only if both draw alike."""
    estimator = clone(estimator)
    for name, value in estimator.get_params().items():
        if name.endswith("random_state") and value is None:
            estimator.set_params(**{name: 0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return estimator.fit(X, y)


def output(fitted: Any, X: Any) -> NDArray[Any]:
    """What is learnt: probabilities, scores of features, or distances between rows.

    Directions may turn without changing any distance, hence distances.
    """
    if is_classifier(fitted):
        P = np.asarray(fitted.predict_proba(X))
        assert is_multilabel(fitted) or np.allclose(P.sum(axis=1), 1, atol=1e-5)
        return P
    if is_multilabel(fitted):
        return np.asarray(fitted.scores_)
    Z = fitted.transform(X)
    Z = Z.toarray() if sp.issparse(Z) else np.asarray(Z)
    return pdist(Z.astype(np.float64, copy=False))


def confidence(fitted: Any) -> NDArray[Any] | None:
    """Confidences in the labels of the training rows, where there are any."""
    return getattr(fitted, "label_confidence_", None)


def assert_same(a: Any, b: Any, X: Any, tol: float = 1e-9) -> None:
    """Two fitted estimators do the same with rows `X` and labelled alike in `fit`."""
    P, F, G = output(a, X), confidence(a), confidence(b)
    atol = tol * np.abs(P).max()
    np.testing.assert_allclose(output(b, X), P, rtol=tol, atol=atol)
    if F is not None and G is not None:
        np.testing.assert_allclose(G, F, rtol=tol, atol=tol)


def error_message(estimator: Any, X: Any, y: Any) -> str:
    """Message of the ValueError that fitting must raise."""
    try:
        fit(estimator, X, y)
    except ValueError as error:
        return str(error)
    raise AssertionError("Fitting should have raised a ValueError.")


def order_matters(estimator: Any, axis: Literal["rows", "classes"]) -> bool:
    """Whether an estimator, or one inside it, declares that the order matters.

    It may not, unless the class says so: its ``_order_matters`` names ``"rows"`` or
    ``"classes"``, with the reason beside it. Having a ``random_state`` is no reason:
    most methods only break ties with it.
    """
    parts = [estimator, *estimator.get_params().values()]
    return any(axis in getattr(type(part), "_order_matters", ()) for part in parts)


def assert_close(P: NDArray[Any], Q: NDArray[Any], *, exactly: bool) -> None:
    """Two results are equal up to rounding or, where draws differ, nearly so."""
    if exactly:
        np.testing.assert_allclose(P, Q, rtol=1e-5, atol=1e-5)
    else:
        assert np.corrcoef(P.ravel(), Q.ravel())[0, 1] >= AGREEMENT


def _same_data(X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Other layouts of memory, and entries that differ in their last digit."""
    yield np.asfortranarray(X)
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    yield wide[:, ::2]
    signs = np.random.default_rng(0).choice([-1, 0, 1], X.shape)
    yield X * (1 + np.finfo(np.float64).eps * signs)


def assert_stable(
    output: Callable[[NDArray[Any]], NDArray[Any]], X: NDArray[Any]
) -> None:
    """What is learnt from data does not hang on how they are written.

    Parameters
    ----------
    output : callable
        Fits on some rows and returns what is to be the same.
    X : ndarray of shape (n_samples, n_features)
        Rows without ties between distances.
    """
    plain = output(X)
    for same in _same_data(X):
        assert_close(output(same), plain, exactly=True)


def coarse(X: NDArray[Any]) -> NDArray[Any]:
    """Round to seven values, so that rows are equal and many distances the same."""
    low = X.min(axis=0)
    step = (X.max(axis=0) - low) / 6
    return low + step * np.round((X - low) / np.where(step > 0, step, 1))


def optional(name: str) -> Any:
    """Return a package, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def frames(X: NDArray[Any]) -> Iterator[tuple[str, Any]]:
    """Rows as data frames of all kinds whose names scikit-learn can read."""
    columns = [f"f{j}" for j in range(X.shape[1])]
    for name in ("pandas", "polars"):
        module = optional(name)
        if module is None:
            continue
        frame = module.DataFrame(dict(zip(columns, X.T.copy(), strict=True)))
        # They may be of different times: scikit-learn 1.8 knows no polars 2.
        if hasattr(StandardScaler().fit(frame), "feature_names_in_"):
            yield name, frame
