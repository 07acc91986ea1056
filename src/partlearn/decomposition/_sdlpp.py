"""SDLPP: projections that separate dissimilar labels and preserve neighborhoods."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from partlearn._math.graphs import neighbor_graph
from partlearn._math.linalg import ThinBasis
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, fit_context
from partlearn._typing import Array, Mask
from partlearn.base import PARAMETERS, BaseReducer, count_directions
from partlearn.candidates import warn_at_max_iter

_RIDGE = 1e-8  # share of the mean diagonal that keeps the constraint definite


class SDLPP(BaseReducer):
    """Reduce dimensions by locality preserving projections guided by dissimilar labels.

    Two rows are dissimilar if their confidences do not overlap. The projection keeps
    dissimilar rows apart and, with the weight `mu`, neighboring rows with a common
    candidate together. Each iteration searches neighbors in the last projection,
    updates the confidences from them and projects again, until the number of directions
    stays the same.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=None
        Number of directions, or their share of the summed eigenvalues. "auto" chooses
        the number by the candidate hit rate of neighbors on held-out rows. None takes
        the number of classes minus one.
    n_neighbors : int, default=8
        Number of neighbors of each row.
    mu : float, default=0.1
        Weight of neighborhoods beside the dissimilarity of labels.
    threshold : float, default=0.95
        Share of the summed eigenvalues that the directions of an iteration must reach.
    standardize : bool, default=True
        Whether to standardize the columns first.
    max_iter : int, default=100
        Maximum number of iterations.
    search : neighbor transformer, default=None
        Approximate neighbor search for many rows, for example
        ``PyNNDescentTransformer``; None searches exactly. It must return `n_neighbors`
        rows besides the row itself.
    n_jobs : int or None, default=None
        Threads of the exact search; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions of length one, in the space of the standardized data.
    eigenvalues_ : ndarray of shape (n_components,)
        Generalized eigenvalue of each direction.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    objective_ : ndarray of shape (n_iter_,)
        Sum of the eigenvalues kept in each iteration.
    n_iter_ : int
        Number of iterations.
    n_components_ : int
        Number of directions.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and scale of the training rows.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    PLDA : Discriminants on an adaptive graph.
    KernelCRISP : Cross-fitted nonlinear embedding.

    Notes
    -----
    The method follows the authors' program, with three differences: both sides of the
    eigenproblem are symmetrized by the mean with their transpose instead of an
    element-wise maximum; the constraint gets a ridge of 1e-8 of its mean diagonal and
    negative row sums, for neighborhoods heavier than all dissimilarities, are set to
    zero; and None stands for the number of classes minus one. The dissimilarity of m
    rows is never written down: it is a matrix of ones less the Gram matrix of the
    confidences. An iteration costs O(m r (r + q + k)) for data of rank r and one
    neighbor search.

    References
    ----------
    Yuheng Jia, Jiahao Jiang and Yongheng Wang. Semantic Dissimilarity Guided Locality
    Preserving Projections for Partial Label Dimensionality Reduction. KDD 2023.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.decomposition import SDLPP
    >>> X, y = make_blobs(150, n_features=6, centers=4, random_state=0)
    >>> candidates = make_candidates(y, 1, random_state=0)
    >>> reducer = SDLPP().fit(X, candidates)
    >>> reducer.transform(X).shape
    (150, 3)
    >>> bool((reducer.label_confidence_.argmax(axis=1) == y).mean() > 0.95)
    True
    """

    _parameter_constraints = PARAMETERS | {
        "mu": [Interval(Real, 0, None, closed="left")],
        "threshold": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        n_components: float | int | str | None = None,
        *,
        n_neighbors: int = 8,
        mu: float = 0.1,
        threshold: float = 0.95,
        standardize: bool = True,
        max_iter: int = 100,
        search: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.mu = mu
        self.threshold = threshold
        self.standardize = standardize
        self.max_iter = max_iter
        self.search = search
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the projection and the confidences.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes, which initialize the confidences; see
            :func:`partlearn.candidates.check_evidence`. Weights and votes are not part
            of the published method.

        Returns
        -------
        self : SDLPP
            The fitted reducer.
        """
        matrix, _, F, orders = self._validate_in_order(X, y)
        basis = ThinBasis(matrix)
        # Coordinates in which the data have their rank as number of columns.
        rows = basis.left(np.diag(basis.s)).astype(np.float64)
        d = matrix.shape[1]
        Z, neighbors, objective = rows, None, []
        for _ in iterations("SDLPP", self.max_iter):
            distances, neighbors = self._neighbors(normalize(Z), neighbors)
            kept = shares_a_label(F, neighbors)
            W = heat_weights(distances, neighbors, kept)
            F = add_neighbors(F, neighbors, kept & (distances > 0))
            values, vectors = dissimilarity_directions(Z, F, W, self.mu, d)
            r = max(count_directions(values, float(self.threshold)), 1)
            objective.append(float(values[:r].sum()))
            settled = r == Z.shape[1]
            Z, d = Z @ vectors[:, :r], r
            if settled:
                break
        else:
            warn_at_max_iter(self.max_iter)
        values, vectors = dissimilarity_directions(rows, F, W, self.mu, matrix.shape[1])
        wanted = len(self.classes_) - 1 if self._wanted is None else self._wanted
        r = self._count(values, wanted)
        P = basis.right(vectors[:, :r].astype(matrix.dtype))
        return self._finish(P, values, F, objective, orders=orders)


def shares_a_label(F: Array, neighbors: NDArray[np.int64]) -> Mask:
    """Return whether a row and each neighbor share a likely candidate, shape (m, k)."""
    overlap = np.empty(neighbors.shape)
    for column, others in enumerate(neighbors.T):
        overlap[:, column] = np.einsum("ij,ij->i", F, F[others])
    return overlap > 0


def heat_weights(distances: Array, neighbors: NDArray[np.int64], kept: Mask) -> Any:
    """Weights ``exp(-distance^2 / sigma^2)`` of the neighbors kept, sparse (m, m).

    Source: SDLPP, weights of the neighbors.

    The width sigma is the mean distance to the last neighbor.
    """
    sigma = distances[:, -1].mean() or 1.0
    weights = np.where(kept, np.exp(-((distances / sigma) ** 2)), 0.0)
    return neighbor_graph(neighbors, weights)


def add_neighbors(F: Array, neighbors: NDArray[np.int64], heard: Mask) -> Array:
    """Add the confidences of the kept neighbors, within the likely candidates.

    Source: SDLPP, update of the confidences.
    """
    total = F.copy()
    for column, others in enumerate(neighbors.T):
        total += heard[:, [column]] * F[others]
    total *= F > 0
    return total / total.sum(axis=1, keepdims=True)


def dissimilarity_directions(
    Z: Array, F: Array, W: Any, mu: float, d: int
) -> tuple[Array, Array]:
    """Solve ``Z' (A - B) Z p = lambda Z' A Z p`` with ``B = D - mu (W + W') / 2``.

    Source: SDLPP, eigenproblem.

    ``D = 1 1' - F F'`` off the diagonal and A has the row sums of B. `d` is the number
    of columns that the ridge is spread over.
    """
    lonely = 1 - np.einsum("ij,ij->i", F, F)  # what D would have on its diagonal
    sums = len(F) - F @ F.sum(axis=0) - lonely
    sums -= mu / 2 * (np.asarray(W.sum(axis=1)) + np.asarray(W.sum(axis=0)))
    sums = np.maximum(sums, 0.0)
    if not sums.any():
        raise ValueError(
            f"With mu={mu} neighborhoods outweigh all dissimilarities of labels; "
            "lower `mu`."
        )
    column_sums, ZF = Z.sum(axis=0), Z.T @ F
    cross = Z.T @ (W @ Z)
    B = np.outer(column_sums, column_sums) - ZF @ ZF.T - (Z.T * lonely) @ Z
    B -= mu / 2 * (cross + cross.T)
    A = (Z.T * sums) @ Z
    left = A - B
    A.flat[:: len(A) + 1] += _RIDGE * np.trace(A) / d
    values, vectors = scipy.linalg.eigh((left + left.T) / 2, (A + A.T) / 2)
    vectors = vectors[:, ::-1] / np.linalg.norm(vectors[:, ::-1], axis=0)
    return np.clip(values[::-1], 0.0, None), vectors
