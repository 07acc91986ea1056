"""PLDA: discriminants between principal components and LDA, on an adaptive graph."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.linalg
from sklearn.preprocessing import normalize

from partlearn._math.graphs import reconstruction_graph
from partlearn._math.linalg import ThinBasis
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, fit_context
from partlearn._typing import Array
from partlearn.base import PARAMETERS, BaseReducer
from partlearn.candidates import refine
from partlearn.decomposition._scatter import class_scaled, without_noise

_CAP = 1e-12  # smallest within-class share of a direction's scatter


class PLDA(BaseReducer):
    """Reduce dimensions by discriminants between ridge regression and LDA.

    Each iteration solves ``S_b p = lambda ((1 - beta) S_w + beta I) p`` with scatter
    matrices weighted by the confidences, reconstructs every row and its confidences
    from its neighbors in the reduced space, and propagates confidences along these
    weights. The trade-off beta decays: the first iterations are regularized because
    their labels are uncertain, and the last ones are plain LDA.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=None
        Number of directions, or their share of the summed eigenvalues. "auto" chooses
        the number by the candidate hit rate of neighbors on held-out rows. None keeps
        all, at most the number of classes minus one.
    n_neighbors : int, default=8
        Number of neighbors that reconstruct a row.
    beta : float, default=0.5
        Weight of the identity in the constraint of the first iteration; the
        within-class scatter has 1 - beta. With 1 or more there is only the identity.
    decay : float, default=0.95
        In (0, 1]; after iteration t `beta` is multiplied by ``decay ** t``.
    standardize : bool, default=True
        Whether to standardize the columns first.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-8
        Stop when neither confidences nor `beta` change by more than `tol`.
    search : neighbor transformer, default=None
        Approximate neighbor search for many rows, for example
        ``PyNNDescentTransformer``; None searches exactly. It must return `n_neighbors`
        rows besides the row itself.
    n_jobs : int or None, default=None
        Threads of the exact search; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, in the space of the standardized data.
    eigenvalues_ : ndarray of shape (n_components,)
        Ratio of between-class scatter to the constraint along each direction.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    objective_ : ndarray of shape (n_iter_,)
        Summed eigenvalues in each iteration; they belong to different values of beta.
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
    DELIN : Discriminant analysis with labels from neighbors.
    WPLDR : Dependence maximization with a neighbor graph.

    Notes
    -----
    The method follows the authors' program, called DRAW; it is not the feature
    augmentation of the same name. The program has no stopping rule: here it stops when
    neither confidences nor beta change. Directions whose within-class scatter vanishes
    are kept with a capped eigenvalue. Confidences rarely converge within `max_iter`
    iterations on ambiguous data, with a warning. Rows are compared by angle, hence with
    a single direction (two classes) by sign only: other reducers suit such data better.

    The data are decomposed once; in their coordinates the constraint without labels is
    diagonal and an iteration costs O(m r q) for data of rank r, a neighbor search and
    m quadratic programs of size `n_neighbors`. Sparse data stay sparse.

    References
    ----------
    Xiang-Ru Yu, Deng-Bao Wang and Min-Ling Zhang. Dimensionality Reduction for Partial
    Label Learning: A Unified and Adaptive Approach. IEEE TKDE 36(8), 2024, 3765-3782.
    https://doi.org/10.1109/TKDE.2024.3367721

    Examples
    --------
    Ten rows are unlabeled: every class is possible.

    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.decomposition import PLDA
    >>> X, y = make_blobs(150, n_features=6, centers=4, random_state=0)
    >>> candidates = [{label} for label in y]
    >>> candidates[::15] = [{0, 1, 2, 3}] * 10
    >>> reducer = PLDA().fit(X, candidates)
    >>> reducer.transform(X).shape
    (150, 3)
    >>> float((reducer.label_confidence_.argmax(axis=1) == y).mean())
    1.0
    """

    _parameter_constraints = PARAMETERS | {
        "decay": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        n_components: float | int | str | None = None,
        *,
        n_neighbors: int = 8,
        beta: float = 0.5,
        decay: float = 0.95,
        standardize: bool = True,
        max_iter: int = 100,
        tol: float = 1e-8,
        search: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.beta = beta
        self.decay = decay
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
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
        self : PLDA
            The fitted reducer.
        """
        matrix, S, F, orders = self._validate_in_order(X, y, center=True)
        basis = ThinBasis(matrix)
        # Rows are compared by their angle: where `transform` does not center them, they
        # keep their distance from the origin here too.
        origin = np.zeros_like(matrix.mean) if self.standardize else matrix.mean
        neighbors = None
        beta = self.beta
        objective = []
        for t in iterations("PLDA", self.max_iter, start=1):
            values, vectors = discriminants(basis, F, beta)
            r = self._count(values)
            A = vectors[:, :r].astype(matrix.dtype)
            P = basis.right(A)
            Z = normalize(basis.left(basis.s[:, None] * A) + origin @ P)
            _, neighbors = self._neighbors(Z, neighbors)
            W = reconstruction_graph(np.hstack([Z, F]), neighbors)
            before = F
            F = refine(F, W @ F, S)
            objective.append(values[:r].sum())
            if np.abs(F - before).max() < self.tol and (
                beta < self.tol or self.decay == 1
            ):
                break
            beta *= self.decay**t
        else:
            self._warn_unless_settled(F, before)
        return self._finish(P, values, F, objective, orders=orders)


def discriminants(basis: ThinBasis, F: Array, beta: float) -> tuple[Array, Array]:
    """Solve ``S_b p = lambda B p`` with ``B = (1 - beta) S_w + beta I``, p'Bp = 1.

    Source: PLDA, eigenproblem.

    Eigenvalues, largest first, and eigenvectors in the coordinates of the data.

    In the coordinates of the data ``S_b = C C'`` and ``B = D - w C C'`` with
    ``w = 1 - beta`` and the diagonal ``D = w diag(s)^2 + beta I``. An eigenpair
    (rho, u) of ``C' D^-1 C`` gives ``lambda = rho / (1 - w rho)`` and
    ``p = D^-1 C u / sqrt(rho (1 - w rho))``.
    """
    w = max(1 - beta, 0.0)
    s = basis.s.astype(np.float64)
    C = basis.left_transposed(class_scaled(F).astype(basis.s.dtype, copy=False))
    root = np.sqrt(w * s**2 + beta)
    # The singular values of D^(-1/2) C are more precise than the roots of rho.
    M = (s / root)[:, None] * C
    A, sigma, _ = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
    rho = sigma**2
    within = np.maximum(1 - w * rho, _CAP)
    values = without_noise(rho, len(F), basis.s.dtype) / within
    return values, A / root[:, None] / np.sqrt(within)
