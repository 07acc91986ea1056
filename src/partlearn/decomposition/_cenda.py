"""CENDA: confidence-based dimensionality reduction by dependence maximization."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, Literal, Self

from numpy.typing import NDArray

from partlearn._array_api import namespace
from partlearn._math.crossfit import STEADY, StoppingRule
from partlearn._math.graphs import TiedNeighbors
from partlearn._math.linalg import Eigen, ThinEigenSolver, leading_directions
from partlearn._math.neighbors import reference_rows
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn.base import PARAMETERS, BaseReducer
from partlearn.candidates import move_labels, refine


class CENDA(BaseReducer):
    """Reduce dimensions by maximizing the dependence on labeling confidences.

    CENDA alternates two steps. The projection maximizes the Hilbert-Schmidt dependence
    on the confidences. The confidences of each row are updated from its nearest
    neighbors in the projection.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=0.999
        Number of directions, or their share of the total dependence. "auto" chooses the
        number by the candidate hit rate of neighbors on held-out rows. None or 0.0
        keeps all directions with any dependence. There are never more than the number
        of classes minus one.
    mu : float, default=0.5
        Balance, in (0, 1), between uncorrelated projected features (1) and
        orthonormal directions (0) in the constraint.
    n_neighbors : int, default=8
        Number of neighbors.
    n_reference : int, "auto" or None, default="auto"
        Number of rows, drawn once, among which neighbors are searched. "auto" is all
        for up to 25,000 rows and 4,000 above; None is all. With fewer than all,
        neighbors are searched among all rows once at the end, in cells.
    alpha : float, default=1.0
        Weight of the row's own confidence relative to the neighbors.
    weights : {"rank", "uniform"}, default="rank"
        "rank" weights the a-th nearest of k neighbors by ``k - a + 1``, as the
        authors' program does; "uniform" gives equal weights, as in the paper.
    scaling : {"constraint", "maxabs"}, default="constraint"
        Length of each direction: by the constraint of the paper, or with largest entry
        one, as in the published figures.
    standardize : bool, default=True
        Whether to standardize the columns first.
    max_iter : int, default=50
        Maximum number of iterations of projection and update.
    tol : float, default=1e-10
        Stop when no confidence changes by more than `tol`.
    svd_rank : int or None, default=None
        Number of leading singular directions of the data to use. None uses all, or 500
        if both sides of the data exceed 4000, found by a randomized iteration.
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
        Dependence along each direction.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    objective_ : ndarray of shape (n_iter_,)
        Dependence reached in each iteration.
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
    partlearn.classification.PLKNN : Classifier commonly used after this reducer.

    Notes
    -----
    Where the paper and the authors' program differ, the parameters `weights` and
    `scaling` choose. The program standardizes, the paper does not; standardization also
    centers the scatter matrix of the constraint. The returned directions solve the last
    eigenproblem, with the confidences before the last update.

    The constraint matrix is factored once, on the smaller side of the data; an
    iteration costs O(m d q + min(m, d)^2 q + q^3) and a neighbor search. Sparse data
    stay sparse.

    With leading directions only, the problem is solved in their span, and the
    iterations also stop when two in a row keep the most likely label of all but one row
    in 200. With more columns than rows some direction reproduces any confidences
    exactly, and neighbors then confirm the previous ones: of 4,000 rows of text with
    10,000 words and two false candidates, .33 of the labels are right with all
    directions, and .93 with the 500 leading ones.

    References
    ----------
    Wei-Xuan Bao, Jun-Yi Hang and Min-Ling Zhang. Partial Label Dimensionality
    Reduction via Confidence-Based Dependence Maximization. KDD 2021, 46-54.
    https://doi.org/10.1145/3447548.3467313

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.decomposition import CENDA
    >>> X, y = make_blobs(120, n_features=6, centers=4, random_state=0)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> reducer = CENDA().fit(X, candidates)
    >>> reducer.transform(X).shape
    (120, 3)
    >>> float((reducer.label_confidence_.argmax(axis=1) == y).mean())
    1.0
    """

    _fits_blocks = True
    _array_api = True
    _parameter_constraints = PARAMETERS | {
        "mu": [Interval(Real, 0, 1, closed="neither")],
        "weights": [StrOptions({"rank", "uniform"})],
        "scaling": [StrOptions({"constraint", "maxabs"})],
    }

    def __init__(
        self,
        n_components: float | int | str | None = 0.999,
        *,
        mu: float = 0.5,
        n_neighbors: int = 8,
        n_reference: int | Literal["auto"] | None = "auto",
        alpha: float = 1.0,
        weights: Literal["rank", "uniform"] = "rank",
        scaling: Literal["constraint", "maxabs"] = "constraint",
        standardize: bool = True,
        max_iter: int = 50,
        tol: float = 1e-10,
        svd_rank: int | None = None,
        search: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.mu = mu
        self.n_neighbors = n_neighbors
        self.n_reference = n_reference
        self.alpha = alpha
        self.weights = weights
        self.scaling = scaling
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.svd_rank = svd_rank
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
        self : CENDA
            The fitted reducer.
        """
        matrix, labels = self._validate_evidence(X, y)
        xp = namespace(matrix.mean)
        S, F = move_labels(labels, matrix.mean)
        # Whitening costs as much as solving for m right-hand sides.
        many = 2 * self.max_iter * S.shape[1] > S.shape[0]
        leading = leading_directions(matrix, self.svd_rank)
        solver = ThinEigenSolver(
            matrix, self.mu, 1 - self.mu, within=leading, whiten=many
        )
        # With all directions, the iterations are those of the paper.
        settled = StoppingRule(self.tol, None if leading is None else STEADY)
        reference = None
        if self.search is None:
            reference = reference_rows(F.shape[0], self.n_reference)
        votes: TiedNeighbors | None = None
        for _ in iterations("CENDA", self.max_iter):
            eigen = solver.solve(centered(F))
            r = self._count(eigen.values)
            Z, scale = embed(solver, eigen, r, self.scaling)
            votes = self._votes(Z, votes, reference)
            before = F
            F = refine(F, votes(F, self.weights), S, own=self.alpha)
            if settled(F, before, float(xp.sum(eigen.values[:r]))):
                break
        else:
            self._warn_unless_settled(F, before)
        if reference is not None:
            last = self._votes(Z, None, "cells")
            F = refine(F, last(F, self.weights), S, own=self.alpha)
        P = solver.directions(eigen, r) * scale
        return self._finish(P, eigen.values, F, settled.objective)


def centered(F: NDArray[Any]) -> NDArray[Any]:
    """Center the confidences: ``H F`` with ``H = I - 11'/m``."""
    return F - namespace(F).mean(F, axis=0)


def embed(
    solver: ThinEigenSolver, eigen: Eigen, r: int, scaling: str
) -> tuple[NDArray[Any], NDArray[Any] | float]:
    """Project the training rows; also return the factor that scales each direction."""
    Z = solver.embedding(eigen, r)
    if scaling == "constraint":
        return Z, 1.0
    P = solver.directions(eigen, r)
    xp = namespace(P)
    scale = 1 / xp.max(xp.abs(P), axis=0)
    return Z * scale, scale
