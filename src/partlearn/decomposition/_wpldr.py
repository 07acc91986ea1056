"""WPLDR: projection, confidences and neighbor graph from one objective.

Only candidates have confidence, and there are few of them in a row. The step for
the confidences therefore works on rows padded to the largest candidate set, with the
quadratic form ``A'A`` restricted to pairs of rows that share a candidate.
"""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, lobpcg

from partlearn._math.graphs import reconstruction_graph, residual_operator
from partlearn._math.linalg import Standardized, ThinBasis
from partlearn._math.simplex import minimize_on_simplex, power_iteration
from partlearn._progress import iterations
from partlearn._sizes import SIZES
from partlearn._sklearn_compat import Interval, fit_context
from partlearn._typing import Array, Indices, Mask
from partlearn.base import PARAMETERS, BaseReducer, count_directions
from partlearn.candidates import padded_candidates
from partlearn.decomposition._scatter import without_noise

_RESIDUAL = 1e-6  # of the largest eigenvalue; an eigenvalue is then right to its square


class WPLDR(BaseReducer):
    """Reduce dimensions and disambiguate by one objective over a neighbor graph.

    WPLDR maximizes the dependence between the projected data Z and the confidences F,
    less the reconstruction errors of both on the neighbor graph W: ``1/2 ||Zc' F||^2 -
    alpha/2 ||Z - W Z||^2 - beta/2 ||F - W F||^2``. It alternates over W (convex weights
    of the nearest neighbors in Z), F (on the candidates) and the projection.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=None
        Number of directions, or their share of the summed positive eigenvalues. "auto"
        chooses the number by the candidate hit rate of neighbors on held-out rows. None
        takes the number of classes minus one. Further directions have the least penalty
        of the graph.
    n_neighbors : int, default=8
        Number of neighbors that reconstruct a row.
    alpha : float, default=0.01
        Weight of the reconstruction of the projected rows.
    beta : float, default=0.01
        Weight of the reconstruction of the confidences; larger values give softer
        confidences. With 0 each row puts all confidence on one candidate.
    mu : float, default=0.5
        Balance, in (0, 1), between uncorrelated projected features (1) and
        orthonormal directions (0) in the constraint.
    standardize : bool, default=True
        Whether to standardize the columns first.
    max_iter : int, default=20
        Maximum number of iterations.
    cccp_max_iter : int, default=10
        Maximum number of inner iterations (CCCP) of the step for the confidences.
    tol : float, default=1e-4
        Stop when no confidence changes by more than `tol` in an iteration.
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
        Dependence less penalty along each direction.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    objective_ : ndarray of shape (n_iter_,)
        Objective after each iteration. It may fall slightly, since neighbors are
        searched again in each iteration.
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
    CENDA : The same dependence without a graph.
    PLDA : A graph with discriminant analysis.

    Notes
    -----
    Some equations of the paper swap alpha and beta against its objective, which is used
    here; the defaults are equal. The paper does not state the number of directions or
    of neighbors, `mu`, or the stopping rule. It does not standardize; with standardized
    features the scatter matrix of the constraint is centered. With the default `beta`
    the dependence outweighs the graph, and confidences are nearly one-hot after the
    first iteration.

    The data are whitened once. An iteration costs a neighbor search, m quadratic
    programs of size `n_neighbors`, sparse products for the confidences, and an
    eigenproblem of the rank of the data (solved iteratively if the rank is large).
    Memory is O(m (k + q + r) + r^2) for data of rank r.

    References
    ----------
    Xiang-Ru Yu, Deng-Bao Wang and Min-Ling Zhang. Wrapped Partial Label
    Dimensionality Reduction via Dependence Maximization. IJCAI 2025, 6913-6921.
    https://doi.org/10.24963/ijcai.2025/769

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.decomposition import WPLDR
    >>> X, y = make_blobs(120, n_features=6, centers=4, random_state=0)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> reducer = WPLDR().fit(X, candidates)
    >>> reducer.transform(X).shape
    (120, 3)
    >>> float((reducer.label_confidence_.argmax(axis=1) == y).mean())
    1.0
    """

    _parameter_constraints = PARAMETERS | {
        "mu": [Interval(Real, 0, 1, closed="neither")],
        "cccp_max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: float | int | str | None = None,
        *,
        n_neighbors: int = 8,
        alpha: float = 0.01,
        beta: float = 0.01,
        mu: float = 0.5,
        standardize: bool = True,
        max_iter: int = 20,
        cccp_max_iter: int = 10,
        tol: float = 1e-4,
        search: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.beta = beta
        self.mu = mu
        self.standardize = standardize
        self.max_iter = max_iter
        self.cccp_max_iter = cccp_max_iter
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
        self : WPLDR
            The fitted reducer.
        """
        matrix, S, F, orders = self._validate_in_order(X, y)
        space = WhitenedSpace(matrix, self.mu)
        values, vectors = space.dependence(F)
        r = self._count(values)
        most = self._most(space.rank, S.shape[1])
        neighbors = None
        trace = []
        for _ in iterations("WPLDR", self.max_iter):
            Z = space.embedding(vectors[:, :r]).astype(np.float64, copy=False)
            _, neighbors = self._neighbors(Z, neighbors)
            points = np.hstack([self.alpha**0.5 * Z, self.beta**0.5 * F])
            A = residual_operator(reconstruction_graph(points, neighbors))
            before = F
            F = confidence_step(
                F, S, Z, A, self.beta, max_iter=self.cccp_max_iter, tol=self.tol
            )
            values, vectors = space.solve(F, A, self.alpha, most, start=vectors)
            r = self._keep(values, most)
            Z = space.embedding(vectors[:, :r])
            trace.append(objective(Z, F, A, self.alpha, self.beta))
            if np.abs(F - before).max() < self.tol:
                break
        else:
            self._warn_unless_settled(F, before)
        why = f"directions exist in data of rank {space.rank}"
        P = space.directions(vectors[:, :r])
        return self._finish(P, values, F, trace, why, orders)

    def _most(self, rank: int, q: int) -> int:
        """Return the number of directions to compute."""
        wanted = self._wanted
        return min(int(wanted) if isinstance(wanted, Integral) else q - 1, rank)

    def _keep(self, values: Array, most: int) -> int:
        """Count the directions to keep; a fraction counts positive values."""
        if not isinstance(self._wanted, float):
            return most
        return max(count_directions(np.clip(values, 0, None), self._wanted), 1)


class WhitenedSpace:
    """Data in coordinates in which the constraint is the identity.

    With ``X = U diag(s) V'`` and ``b = 1 / sqrt(mu s^2 + 1 - mu)`` the directions
    ``p = V diag(b) a`` have ``p' (mu X'X + (1 - mu) I) p = a' a``, and the rows are
    ``U diag(s b)``. Directions outside the span of the data are of no use.
    """

    def __init__(self, X: Standardized, mu: float) -> None:
        self.basis = ThinBasis(X)
        s = self.basis.s.astype(np.float64)
        self._b = 1 / np.sqrt(mu * s**2 + (1 - mu))
        self._length = (s * self._b)[:, None]
        self.rank = self.basis.rank
        self.dtype = X.dtype

    def embedding(self, A: Array) -> NDArray[Any]:
        """Return the rows along the directions `A`, (m, p)."""
        return self.basis.left((self._length * A).astype(self.dtype, copy=False))

    def directions(self, A: Array) -> NDArray[Any]:
        """Return the directions `A` in the space of the data, (d, p)."""
        return self.basis.right((self._b[:, None] * A).astype(self.dtype, copy=False))

    def _transposed(self, C: NDArray[Any]) -> Array:
        return self._length * self.basis.left_transposed(
            C.astype(self.dtype, copy=False)
        )

    def dependence(self, F: Array) -> tuple[Array, Array]:
        """Return the directions of largest dependence, with their eigenvalues.

        Source: WPLDR, Eq. (7).
        """
        HF = F - F.mean(axis=0)
        C = self._transposed(HF)
        vectors, sigma, _ = scipy.linalg.svd(C, full_matrices=False, check_finite=False)
        total = len(F) * float(np.vdot(HF, HF))
        return without_noise(sigma**2, total, self.dtype), vectors

    def solve(
        self, F: Array, A: Any, alpha: float, most: int, start: Array
    ) -> tuple[Array, Array]:
        """Return the directions of largest dependence less `alpha` times the penalty.

        Source: WPLDR, Eq. (16).
        """
        if alpha == 0:
            values, vectors = self.dependence(F)
            if most <= len(values):
                return values[:most], vectors[:, :most]
        C = self._transposed(F - F.mean(axis=0))
        if self.rank > SIZES.wpldr_dense:
            pairs = self._iterate(C, A, alpha, most, start)
            if pairs is not None:
                return pairs
        AG = A @ self.embedding(np.eye(self.rank))
        M = C @ C.T - alpha * (AG.T @ AG)
        values, vectors = scipy.linalg.eigh(
            M, subset_by_index=(self.rank - most, self.rank - 1), check_finite=False
        )
        return values[::-1], vectors[:, ::-1]

    def _iterate(
        self, C: Array, A: Any, alpha: float, most: int, start: Array
    ) -> tuple[Array, Array] | None:
        """Iterate from the last directions; return None without convergence."""
        if start.shape[1] < most or 5 * most > self.rank:
            return None

        def product(B: Array) -> Array:
            AG = A @ self.embedding(B)
            return C @ (C.T @ B) - alpha * self._transposed(A.T @ AG)

        operator = LinearOperator(
            (self.rank, self.rank), matvec=product, matmat=product, dtype=np.float64
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it reached is checked below
            values, vectors, residuals = lobpcg(
                operator,
                np.ascontiguousarray(start[:, :most]),
                tol=_RESIDUAL * np.vdot(C, C) / 10,
                maxiter=100,
                largest=True,
                retResidualNormsHistory=True,
            )
        if not np.max(residuals[-1]) <= _RESIDUAL * np.vdot(C, C):
            return None
        order = np.argsort(-values)
        return values[order], vectors[:, order]


def objective(Z: NDArray[Any], F: Array, A: Any, alpha: float, beta: float) -> float:
    """Return half the dependence less half the weighted residuals of the graph.

    Source: WPLDR, Eq. (1).
    """
    Z = Z.astype(np.float64, copy=False)
    dependence = (Z - Z.mean(axis=0)).T @ F
    AZ, AF = A @ Z, A @ F
    return 0.5 * float(
        np.vdot(dependence, dependence)
        - alpha * np.vdot(AZ, AZ)
        - beta * np.vdot(AF, AF)
    )


def confidence_step(
    F: Array,
    S: Mask,
    Z: Array,
    A: Any,
    beta: float,
    *,
    max_iter: int = 10,
    tol: float = 1e-4,
) -> Array:
    """Raise the objective of WPLDR over the confidences.

    Source: WPLDR, Eq. (11) and (12).

    The dependence is convex in F, so its tangent G = K F bounds it from below; each
    step maximizes ``<F, G> - beta/2 ||A F||^2`` over the candidate simplices.

    Parameters
    ----------
    F : ndarray of shape (m, q)
        Confidences to start from.
    S : ndarray of bool, shape (m, q)
        Candidates.
    Z : ndarray of shape (m, r)
        Projected rows; they are centered here.
    A : csr_array of shape (m, m)
        ``I - W`` for the neighbor graph W.
    beta : float
        Weight of the graph.
    max_iter : int, default=10
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop when no confidence changes by more than `tol`.

    Returns
    -------
    F : ndarray of shape (m, q)
        New confidences.
    """
    Z = Z - Z.mean(axis=0)
    place, filled = padded_candidates(S)
    if beta > 0:
        At = sp.csr_array(A.T)
        # The same for every column of F, so that one column is enough to measure it.
        norm = power_iteration(lambda v: At @ (A @ v), (len(F), 1))
        quadratic = _quadratic(A, At, S, place, filled)

    def slope(G: Array, F: NDArray[Any]) -> NDArray[Any]:
        return beta * quadratic(F) - G

    for _ in range(max_iter):
        G = np.take_along_axis(Z @ (Z.T @ F), place, axis=1)
        start = np.take_along_axis(F, place, axis=1) * filled
        if beta == 0:
            # Without the graph the step is linear: all confidence on one candidate.
            best = np.where(filled, G, -np.inf).argmax(axis=1)
            new = np.eye(G.shape[1])[best]
        else:
            curvature = 1.02 * beta * norm
            new, _ = minimize_on_simplex(partial(slope, G), start, filled, curvature)
        change = np.abs(new - start).max()
        F = np.zeros_like(F)
        rows, slots = np.nonzero(filled)
        F[rows, place[rows, slots]] = new[rows, slots]
        if change < tol:
            break
    return F


def _quadratic(
    A: Any, At: Any, S: Mask, place: Indices, filled: Mask
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return ``F -> A'A F`` for padded rows, by the cheaper of two ways."""
    if S.mean() < SIZES.wpldr_few:
        H = restricted_quadratic(A, S)

        def restricted(F: NDArray[Any]) -> NDArray[Any]:
            out = np.zeros_like(F)
            out[filled] = H @ F[filled]
            return out

        return restricted

    def full(F: NDArray[Any]) -> NDArray[Any]:
        dense = np.zeros(S.shape)
        np.put_along_axis(dense, place, F * filled, axis=1)
        return np.take_along_axis(At @ (A @ dense), place, axis=1)

    return full


def restricted_quadratic(A: Any, S: Mask) -> Any:
    """Return ``A'A`` for every class, restricted to rows with the class as candidate.

    Parameters
    ----------
    A : csr_array of shape (m, m)
        Left factor of the form.
    S : ndarray of bool, shape (m, q)
        Candidates.

    Returns
    -------
    H : csr_array of shape (n, n)
        n candidates in all, row by row; ``x' H x = ||A F||^2`` for ``F[S] = x``.
    """
    rows, columns = np.nonzero(S)
    Ac = sp.csc_array(A)
    blocks = []
    order = np.argsort(columns, kind="stable")  # candidates by class, then by row
    for j in range(S.shape[1]):
        part = Ac[:, rows[columns == j]]
        blocks.append(sp.csr_array(part.T) @ sp.csr_array(part))
    H = sp.block_diag(blocks, format="coo")
    return sp.coo_array(
        (H.data, (order[H.coords[0]], order[H.coords[1]])), shape=H.shape
    ).tocsr()
