"""Confidences that a fitted estimator leaves about its training rows."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._typing import Array, Mask
from partlearn.candidates._confidence import uniform_confidence

__all__ = ["fitted_confidence", "require_confidence", "restrict_confidence"]


def fitted_confidence(estimator: Any) -> NDArray[Any] | None:
    """Confidences of the rows an estimator was fitted on, if it learns any.

    Parameters
    ----------
    estimator : fitted estimator or Pipeline
        Of a pipeline the last step that has confidences counts: it saw the labels in
        the space that the steps before it made.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes) or None
        ``label_confidence_``; None where no step has it.

    Examples
    --------
    >>> from partlearn.candidates import fitted_confidence
    >>> from partlearn.decomposition import CENDA
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = [[0.0], [0.1], [1.0], [1.1]], [{0}, {0, 1}, {1}, {1}]
    >>> model = make_pipeline(StandardScaler(), CENDA(1, n_neighbors=1)).fit(X, y)
    >>> fitted_confidence(model).shape
    (4, 2)
    """
    steps = [step for _, step in getattr(estimator, "steps", [("", estimator)])]
    left = (getattr(step, "label_confidence_", None) for step in reversed(steps))
    return next((np.asarray(F) for F in left if F is not None), None)


def require_confidence(estimator: Any, advice: str) -> NDArray[Any]:
    """Confidences of a fitted estimator, or an error where it learns none.

    Parameters
    ----------
    estimator : fitted estimator or Pipeline
        As for :func:`fitted_confidence`.
    advice : str
        What to do instead, a sentence of the error.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        ``label_confidence_``.
    """
    F = fitted_confidence(estimator)
    if F is None:
        raise ValueError(
            f"{type(estimator).__name__} learns no confidences of the training rows "
            f"(`label_confidence_`). {advice}"
        )
    return F


def restrict_confidence(F: Any, S: Mask) -> Array:
    """Keep the mass on the candidates, and bring rows to sum to one.

    Parameters
    ----------
    F : array-like of shape (n_samples, n_classes)
        Confidences or probabilities, none negative.
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidate matrix; no row may be empty.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        Zero outside `S`. Rows without any mass on their candidates are uniform.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import restrict_confidence
    >>> S = np.array([[True, True, False], [True, True, False]])
    >>> restrict_confidence([[0.3, 0.1, 0.6], [0.0, 0.0, 1.0]], S)
    array([[0.75, 0.25, 0.  ],
           [0.5 , 0.5 , 0.  ]])
    """
    inside = np.asarray(F, dtype=np.float64) * S
    mass = inside.sum(axis=1, keepdims=True)
    heard = mass[:, 0] > 0
    result = np.asarray(uniform_confidence(S))
    result[heard] = inside[heard] / mass[heard]
    return result
