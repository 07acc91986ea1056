"""Label confidences: initial values, refinement and access after a fit.

A confidence matrix ``F`` has the shape of the candidate matrix ``S``, is zero outside
it, and its rows sum to one.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn._array_api import namespace, to_numpy
from partlearn._typing import Array, Indices, Mask


def uniform_confidence(S: Mask, dtype: Any = np.float64) -> NDArray[np.floating[Any]]:
    """Spread one unit of confidence evenly over the candidates of each row.

    Parameters
    ----------
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidate matrix; no row may be empty.
    dtype : dtype, default=float64
        Type of the result.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        ``S / S.sum(axis=1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import uniform_confidence
    >>> uniform_confidence(np.array([[True, True, False]]))
    array([[0.5, 0.5, 0. ]])
    """
    F = S.astype(dtype)
    F /= F.sum(axis=1, keepdims=True)
    return F


def initial_confidence(
    confidence: Any, S: Mask, dtype: Any = np.float64
) -> NDArray[Any]:
    """Return initial confidences: those given, restricted to candidates, or uniform.

    Parameters
    ----------
    confidence : array-like of shape (n_samples, n_classes) or None
        Confidences of a reducer or another learner.
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidates.
    dtype : dtype, default=float64
        Type of the result.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        Zero outside `S`, rows sum to one. Rows without any mass on their candidates
        are uniform over them.
    """
    F = uniform_confidence(S, dtype)
    if confidence is None:
        return F
    given = np.asarray(to_numpy(confidence), dtype=dtype)
    if given.shape != S.shape:
        raise ValueError(
            "`confidence` must have the shape of the candidate matrix, "
            f"{S.shape}; got {given.shape}."
        )
    if not np.isfinite(given).all() or (given < 0).any():
        raise ValueError("`confidence` must be finite and not negative.")
    given = given * S
    mass = given.sum(axis=1)
    heard = mass > 0
    F[heard] = given[heard] / mass[heard, None]
    return F


def refine(
    F: NDArray[Any], V: NDArray[Any], S: NDArray[Any], own: float = 1.0
) -> NDArray[np.floating[Any]]:
    """Mix confidences with votes of neighbors, within the candidate sets.

    Source: CENDA, Eq. (13).
    Source: SAUTE, Eq. (14).

    Parameters
    ----------
    F : ndarray of shape (n_samples, n_classes)
        Current confidences.
    V : ndarray of shape (n_samples, n_classes)
        Votes, see :func:`partlearn._math.graphs.vote`.
    S : ndarray of shape (n_samples, n_classes)
        Candidate matrix, or evidence, which weighs the mixture.
    own : float, default=1.0
        Weight of the row's own confidence beside the votes.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes)
        ``(own * F + V)`` masked by `S`, rows scaled to sum to one. A row without any
        mass keeps its confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import refine
    >>> S = np.array([[True, True, False]])
    >>> refine(np.array([[0.5, 0.5, 0.0]]), np.array([[1.0, 0.0, 9.0]]), S)
    array([[0.75, 0.25, 0.  ]])
    """
    xp = namespace(F, V, S)
    N = own * F + V
    N *= S
    mass = xp.sum(N, axis=1, keepdims=True)
    silent = mass <= 0
    if not bool(xp.any(silent)):
        N /= mass
        return N
    return xp.where(silent, F, N / xp.where(silent, xp.ones_like(mass), mass))


def fitted_confidence(estimator: Any) -> NDArray[Any] | None:
    """Return the training confidences of a fitted estimator, or None.

    Parameters
    ----------
    estimator : fitted estimator or Pipeline
        For a pipeline, the last step with confidences is used.

    Returns
    -------
    F : ndarray of shape (n_samples, n_classes) or None
        ``label_confidence_``; None if no step has it.

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
    """Return the training confidences of a fitted estimator; raise if there are none.

    Parameters
    ----------
    estimator : fitted estimator or Pipeline
        As for :func:`fitted_confidence`.
    advice : str
        Advice at the end of the error message.

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
    """Restrict confidences to the candidates and normalize rows to sum to one.

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
    V = np.asarray(F, dtype=np.float64)
    return refine(uniform_confidence(S), V, S, own=0.0).astype(np.float64, copy=False)


def padded_candidates(S: Mask) -> tuple[Indices, Mask]:
    """Return the columns of each row's candidates, padded, and a mask.

    Parameters
    ----------
    S : ndarray of bool, shape (m, q)
        Candidates.

    Returns
    -------
    place : ndarray of int, shape (m, largest set)
        Columns, candidates first and in order.
    filled : ndarray of bool, shape (m, largest set)
        False where a row has fewer candidates.
    """
    size = S.sum(axis=1)
    # A stable sort of "is no candidate" lists the candidates first, in order.
    place = np.argsort(~S, axis=1, kind="stable")[:, : size.max()]
    return place, np.arange(size.max()) < size[:, None]
