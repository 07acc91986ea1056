"""Checks at the edge: huge numbers, and labels that are none."""

# SPDX-License-Identifier: BSD-3-Clause

import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partlearn._typing import Mask

__all__ = ["check_huge_features", "check_unhashable_labels"]

_CLEAR = re.compile("rescale|too large|overflow")
_OUTPUTS = ("transform", "predict_proba", "decision_function")
_ATTRIBUTES = ("label_confidence_", "scores_", "components_", "coef_")


def _edge_problem() -> tuple[NDArray[Any], Mask]:
    rng = np.random.default_rng(0)
    X = rng.random((30, 5))
    y = np.arange(30) % 3
    S = np.eye(3, dtype=bool)[y]
    S[np.arange(30), (y + 1) % 3] |= rng.random(30) < 0.4
    return X, S


def _huge(X: NDArray[Any]) -> dict[str, NDArray[Any]]:
    column, cell = X.copy(), X.copy()
    column[:, 2] *= 1e300
    cell[3, 2] = 1e300
    return {"everywhere": X * 1e300, "in a column": column, "in a cell": cell}


def check_huge_features(estimator: Any) -> None:
    """Features of 1e300 give a clear error or finite results, never NaN."""
    X, S = _edge_problem()
    for where, huge in _huge(X).items():
        for train in (X, huge):
            message, results = "", {}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    results = _results(clone(estimator).fit(train, S), huge)
                except ValueError as error:
                    message = str(error)
            assert results or _CLEAR.search(message), f"unclear: {message}"
            for name, values in results.items():
                assert np.isfinite(values).all(), f"{name} with 1e300 {where}"


def _results(fitted: Any, X: NDArray[Any]) -> dict[str, NDArray[Any]]:
    fitted_arrays = {
        name: np.asarray(getattr(fitted, name)(X), dtype=np.float64)
        for name in _OUTPUTS
        if hasattr(fitted, name)
    }
    for name in _ATTRIBUTES:
        if hasattr(fitted, name):
            fitted_arrays[name] = np.asarray(getattr(fitted, name), dtype=np.float64)
    return fitted_arrays


def check_unhashable_labels(estimator: Any) -> None:
    """Labels that can name no class are an error that says what they are."""
    X, _ = _edge_problem()
    labels = np.empty(len(X), dtype=object)
    labels[:] = [{"name": "cat"}] * len(X)
    message = "nothing was raised"
    try:
        clone(estimator).fit(X, labels)
    except ValueError as error:
        message = str(error)
    assert "A label is a dict" in message, f"unclear: {message}"
