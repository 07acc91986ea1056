"""Ridge regression with a free intercept, factored once for many targets.

The machine of SURE and PL-AGGD. With a kernel matrix ``K`` and targets ``P`` it solves
``(K + beta I) A = P - 1 b'`` with ``1'A = 0``. Centering the kernel on both sides drops
``b`` from the system: ``(H K H + beta I) A = H P``. That matrix is also far better
conditioned, since a kernel of positive entries has its largest eigenvalue along the
constant vector. Outputs on the training rows are ``K A + b = P - beta A``, so that the
factor can overwrite the kernel matrix.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state

from partlearn._array_api import (
    array_device,
    as_double,
    at_least,
    cholesky,
    cholesky_solve,
    diagonal_added,
    is_numpy,
    namespace,
    numpy_dtype,
    take,
    where_true,
)
from partlearn._math.blocks import lazy_rows
from partlearn._math.linalg import memory_error, too_large
from partlearn._math.simplex import project_simplex
from partlearn._sizes import spans
from partlearn.base import BaseScoreClassifier

_BLOCK = 1 << 22  # kernel entries computed at a time where few are needed


class Solution(NamedTuple):
    """Coefficients of a ridge regression, and its outputs on the training rows."""

    coef: NDArray[Any]
    intercept: NDArray[Any]
    outputs: NDArray[Any]
    penalty: float  # beta times the squared norm of the function


@dataclass(frozen=True)
class Predictor:
    """Scores of new rows: points, coefficients, intercept.

    Scores are ``K(X, points) @ coef + intercept``; without points, ``X @ coef``.
    """

    points: Any
    sigma: float | None
    coef: NDArray[Any]
    intercept: NDArray[Any]

    def __call__(self, X: Any) -> NDArray[Any]:
        """Score rows."""
        if self.points is None:
            scores = X @ self.coef
            return (np.asarray(scores) if is_numpy(X) else scores) + self.intercept
        return _blocks(X, self.points, self.sigma, self.coef) + self.intercept


@lazy_rows
class BaseRidgeClassifier(BaseScoreClassifier):
    """Classifier with the scores of a ridge regression, ``_predictor``."""

    __state_types__ = (Predictor,)
    kernel: str

    def _ridge(self, X: Any, penalty: float) -> _Dual | _Primal:
        """Prepare the regression for the kernel and the size of the data."""
        m, d = X.shape
        if self.kernel == "linear" and d <= m:
            return _Primal(X, penalty)
        if self.kernel == "rbf" and (self.n_landmarks or m) < m:
            rng = check_random_state(self.random_state)
            chosen = np.sort(rng.choice(m, self.n_landmarks, replace=False))
            points = take(X, chosen)
            width = _distance_to(X, points) if self.sigma is None else float(self.sigma)
            root = _landmark_root(points, width)
            Phi = _blocks(X, points, width, root)
            return _Primal(Phi, penalty, points, width, root)
        itemsize = numpy_dtype(X).itemsize
        reason = too_large(m**2 * itemsize, self.memory_limit)
        if reason is not None:
            raise memory_error(m, itemsize, reason)
        return _Dual(X, penalty, self.kernel, self.sigma)

    def _square_side(self, n_samples: int, n_features: int) -> int:
        if self.kernel == "linear":
            return min(n_samples, n_features)
        return min(n_samples, self.n_landmarks or n_samples)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Predict the confidences nearest to the scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Projection of the scores onto the simplex; rows sum to one.
        """
        return project_simplex(self._scores(X))

    def _scores(self, X: Any) -> NDArray[Any]:
        X = self._validate_predict(X, "label_confidence_")
        return self._predictor(X)


class _Dual:
    """Exact kernel machine: one Cholesky factor of the centered kernel."""

    def __init__(self, X: Any, beta: float, kernel: str, sigma: float | None) -> None:
        self.X, self.beta, self.kernel = X, beta, kernel
        if kernel == "linear":
            self.sigma = None
            K = X @ X.T
            K = K.toarray() if sp.issparse(K) else K
        else:
            K = squared_distances(X)
            self.sigma = mean_distance(K) if sigma is None else float(sigma)
            K = _gaussian(K, self.sigma)
        xp = namespace(K)
        self.means = xp.mean(K, axis=0)
        K -= self.means
        K -= (self.means - xp.mean(self.means))[:, None]
        K = diagonal_added(K, beta)
        # K is symmetric: its transpose is the column order that LAPACK works in.
        self.factor = _factored(K.T)

    def solve(self, P: NDArray[Any]) -> Solution:
        mean = namespace(P).mean(P, axis=0)
        A = cholesky_solve(self.factor, P - mean)
        outputs = P - self.beta * A
        b = mean - self.means @ A
        return Solution(A, b, outputs, self.beta * _inner(A, outputs))

    def predictor(self, solution: Solution) -> Predictor:
        if self.kernel == "linear":
            weights = self.X.T @ solution.coef
            weights = np.asarray(weights) if is_numpy(self.X) else weights
            return Predictor(None, None, weights, solution.intercept)
        return Predictor(self.X, self.sigma, solution.coef, solution.intercept)


class _Primal:
    """Regression on explicit features: linear, or landmark features.

    Features of landmarks are ``K(X, points) @ root``.
    """

    def __init__(
        self,
        Phi: Any,
        beta: float,
        points: Any = None,
        sigma: float | None = None,
        root: NDArray[Any] | None = None,
    ) -> None:
        self.Phi, self.beta = Phi, beta
        self.points, self.sigma, self.root = points, sigma, root
        m = Phi.shape[0]
        if sp.issparse(Phi):
            self.mean = np.asarray(Phi.mean(axis=0)).ravel()
            G = (Phi.T @ Phi).toarray() - m * np.outer(self.mean, self.mean)
        else:
            self.mean = namespace(Phi).mean(Phi, axis=0)
            centered = Phi - self.mean
            G = centered.T @ centered
        self.factor = _factored(diagonal_added(G, beta))

    def solve(self, P: NDArray[Any]) -> Solution:
        mean = namespace(P).mean(P, axis=0)
        # The targets are centered, so the means of the features drop out.
        W = cholesky_solve(self.factor, self.Phi.T @ (P - mean))
        b = mean - self.mean @ W
        outputs = self.Phi @ W + b
        return Solution(W, b, outputs, self.beta * _inner(W, W))

    def predictor(self, solution: Solution) -> Predictor:
        coef = solution.coef if self.root is None else self.root @ solution.coef
        return Predictor(self.points, self.sigma, coef, solution.intercept)


def _inner(A: NDArray[Any], B: NDArray[Any]) -> float:
    """Return the sum of the products of all entries."""
    xp = namespace(A, B)
    return float(xp.reshape(A, (-1,)) @ xp.reshape(B, (-1,)))


def _factored(G: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Compute the Cholesky factor, in place."""
    try:
        return cholesky(G)
    except (np.linalg.LinAlgError, RuntimeError) as error:  # PyTorch has its own
        raise np.linalg.LinAlgError(
            f"The equations of the regression cannot be solved in {G.dtype}: their "
            "penalty is too small for its precision. Raise the penalty (`beta` of "
            "SURE, `gamma` of PLAGGD) or pass float64 features."
        ) from error


def squared_distances(X: Any, Z: Any = None) -> NDArray[Any]:
    """Return squared distances between the rows of X and of Z (default: X)."""
    if not is_numpy(X):
        return _array_squared_distances(X, Z)
    if not sp.issparse(X) and not sp.issparse(Z):
        # They are differences of squares, which a common offset would drown.
        with np.errstate(over="ignore"):
            center = X.mean(axis=0) if Z is None else Z.mean(axis=0)
        X = X - center
        Z = Z if Z is None else Z - center
    with np.errstate(over="ignore", invalid="ignore"):
        squared: NDArray[Any] = euclidean_distances(X, Z, squared=True)
    if not np.isfinite(squared.max(initial=0)):
        raise ValueError(
            f"Squared distances between these rows overflow {squared.dtype}; rescale "
            "the features."
        )
    return squared


def _array_squared_distances(X: Any, Z: Any) -> Any:
    """Compute `squared_distances` for arrays of another library than NumPy."""
    xp, among, dtype = namespace(X), Z is None, X.dtype
    center = xp.mean(X if among else Z, axis=0)
    X = as_double(X - center)
    Z = X if among else as_double(Z - center)
    left, right = xp.sum(X**2, axis=1), xp.sum(Z**2, axis=1)
    squared = at_least(left[:, None] - 2 * (X @ Z.T) + right, 0.0)
    if among:
        eye = xp.eye(X.shape[0], dtype=X.dtype, device=array_device(X))
        squared = squared * (1 - eye)
    return xp.astype(squared, dtype, copy=False)


def mean_distance(squared: NDArray[Any]) -> float:
    """Return the mean distance between two different rows."""
    m, xp = squared.shape[0], namespace(squared)
    total = 0.0
    for rows in spans(m, _BLOCK // m):
        total += float(xp.sum(xp.sqrt(as_double(squared[rows, :]))))
    return _width(total / max(1, m * (m - 1)), numpy_dtype(squared))


def _width(distance: float, dtype: Any) -> float:
    """Use a mean distance as width, or 1 if all squared distances are 0."""
    return distance if distance**2 > np.finfo(dtype).tiny else 1.0


def gaussian_kernel(X: Any, sigma: float) -> NDArray[Any]:
    """Return the Gaussian kernel matrix of the rows of X."""
    return _gaussian(squared_distances(X), sigma)


def _gaussian(squared: NDArray[Any], sigma: float) -> NDArray[Any]:
    """Compute ``exp(-d^2 / (2 sigma^2))``, in place; infinite widths are limits."""
    tiny = float(np.finfo(numpy_dtype(squared)).tiny)
    squared_width = max(min(sigma, 1e150) ** 2, tiny)
    if not is_numpy(squared):
        return namespace(squared).exp(squared * (-0.5 / squared_width))
    with np.errstate(over="ignore", under="ignore"):
        squared *= -0.5 / squared_width
        return np.exp(squared, out=squared)


def _landmark_root(Z: Any, sigma: float) -> NDArray[Any]:
    """Return the inverse square root of the kernel of the landmarks."""
    K = gaussian_kernel(Z, sigma)
    xp = namespace(K)
    values, vectors = xp.linalg.eigh(xp.astype(K, xp.float64))
    kept = values > values.shape[0] * float(xp.finfo(K.dtype).eps) * values[-1]
    root = where_true(vectors, kept, axis=1) / xp.sqrt(where_true(values, kept))
    return xp.astype(root, K.dtype)


def _distance_to(X: Any, Z: Any) -> float:
    """Return the mean distance of the rows of X to other rows, estimated by a sample Z.

    All pairs of rows would cost more than the whole approximate fit.
    """
    m, L = X.shape[0], Z.shape[0]
    total = 0.0
    for rows in spans(m, _BLOCK // L):
        squared = squared_distances(X[rows, :], Z)
        xp = namespace(squared)
        total += float(xp.sum(xp.sqrt(squared), dtype=xp.float64))
    return _width(total / max(1, (m - 1) * L), numpy_dtype(X))


def _blocks(X: Any, Z: Any, sigma: float | None, coef: NDArray[Any]) -> NDArray[Any]:
    """Compute ``K(X, Z) @ coef`` in blocks of rows of X, with bounded memory."""
    assert sigma is not None
    m, xp = X.shape[0], namespace(coef)
    out = xp.empty((m, coef.shape[1]), dtype=coef.dtype, device=array_device(coef))
    for rows in spans(m, _BLOCK // Z.shape[0]):
        kernel = _gaussian(squared_distances(X[rows, :], Z), sigma)
        out[rows, :] = kernel @ coef
    return out
