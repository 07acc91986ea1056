"""DELIN: linear discriminants with labels disambiguated by neighbors."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from math import ceil
from typing import Any, Literal, Self

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from partlearn._math.blocks import lazy_rows
from partlearn._math.graphs import TiedNeighbors
from partlearn._math.linalg import Standardized, ThinBasis, inverse_scale
from partlearn._progress import iterations
from partlearn._sklearn_compat import StrOptions, fit_context
from partlearn._typing import Array, Mask
from partlearn.base import PARAMETERS, BaseReducer, validate_rows
from partlearn.decomposition._scatter import class_scaled, without_noise

VoteSums = Callable[[NDArray[Any], Literal["rank", "uniform"]], NDArray[Any]]
KERNELS = ("linear", "rbf", "poly", "sigmoid", "cosine", "laplacian")
_RIDGE = 1e-6  # of the mean diagonal of the within-class scatter
_RATIO = 0.6  # directions per class by default, as in the authors' program
_CAP = 1e-12  # smallest within-class share of a direction's scatter


@lazy_rows
class DELIN(BaseReducer):
    """Reduce dimensions by discriminant analysis of disambiguated labels.

    DELIN alternates two steps. Linear discriminant analysis weights the rows of each
    class by their confidences. Nearest neighbors in the reduced space move confidence
    to the candidate with most support.

    Parameters
    ----------
    n_components : int, float, "auto" or None, default=None
        Number of directions, or their share of the summed eigenvalues. "auto" chooses
        the number by the candidate hit rate of neighbors on held-out rows. None takes
        0.6 times the number of classes, rounded up. There are never more than the
        number of classes minus one.
    n_neighbors : int, default=8
        Number of neighbors.
    kernel : {"linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"}, callable or \
None, default=None
        None for linear directions. Otherwise directions in the space of the kernel,
        see Notes; a callable takes two matrices and returns their kernel matrix.
    normalize : {"auto", "within", "total"}, default="auto"
        Length of each direction p: ``p' S_w p = 1`` as in classical discriminant
        analysis, or ``p' S_t p = 1``, which stays finite for perfectly separated
        classes. "auto" takes "total" if the rank of the data equals the number of rows,
        so that every labeling can be separated, and "within" otherwise. With a kernel
        only "within" is defined, also for "auto".
    standardize : bool, default=True
        Whether to standardize the columns first.
    max_iter : int, default=75
        Maximum number of iterations of update and projection.
    tol : float, default=0.0
        Stop when no confidence changes by more than `tol`.
    random_state : int, RandomState instance or None, default=0
        Breaks ties of labels.
    search : neighbor transformer, default=None
        Approximate neighbor search for many rows, for example
        ``PyNNDescentTransformer``; None searches exactly. It must return `n_neighbors`
        rows besides the row itself.
    n_jobs : int or None, default=None
        Threads of the exact search; the result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, in the space of the standardized data. With a kernel, of shape
        (n_components, n_samples): coefficients of the training rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Ratio of between- to within-class scatter along each direction.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    objective_ : ndarray of shape (n_iter_ + 1,)
        Share of the scatter along the directions that lies between classes, summed
        over the directions: at the start and after each iteration.
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
    PLDA : Discriminant analysis with an adaptive neighbor graph.
    CENDA : Dependence maximization instead of discriminant analysis.

    Notes
    -----
    The total scatter does not depend on the labels, so the data are whitened once; the
    between-class scatter has rank q - 1 at most, and an iteration costs O(m r q) for
    data of rank r, and a neighbor search. Sparse data stay sparse. Data in single
    precision are computed in double precision, since the choice between labels is
    discrete, and unsettled iterations carry it to the end.

    Differences: the authors' program drops directions with singular within-class
    scatter, since its solver returns no finite eigenvalue for them. They are the best
    directions and are kept here (the published figures on text suffer from the loss).
    Ties are broken among the tied labels only; the program uses all. Standardization is
    outside of the program; the directions depend on it through rounding only.

    With a kernel the method is that of the 2022 paper: class means of the kernel
    columns, unweighted by the size of the class; the within-class scatter gets a
    millionth of its mean diagonal as ridge; and a row's most supported label receives
    confidence v / (k + floor(k / 2)) for v of k neighbors that have it as candidate.
    ``transform`` then compares rows with all training rows, which are kept, and `fit`
    needs O(m^2) memory and O(m^3) time.

    Ties are broken at random. In the program the draw depends on the positions of row
    and label, here on their content, so that no order changes the result. The draws
    matter: on glass (214 rows, one false candidate) .81 of the labels agree between
    ``random_state=0`` and ``1``, and .72 and .74 are right. Between precisions .85
    agree, and .75 are right.

    References
    ----------
    Jing-Han Wu and Min-Ling Zhang. Disambiguation Enabled Linear Discriminant Analysis
    for Partial Label Dimensionality Reduction. KDD 2019, 416-424.
    https://doi.org/10.1145/3292500.3330901

    Min-Ling Zhang, Jing-Han Wu and Wei-Xuan Bao. Disambiguation Enabled Linear
    Discriminant Analysis for Partial Label Dimensionality Reduction. ACM TKDD 16(4),
    2022. https://doi.org/10.1145/3494565

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.decomposition import DELIN
    >>> X, y = make_blobs(120, n_features=6, centers=4, random_state=0)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> reducer = DELIN().fit(X, candidates)
    >>> reducer.transform(X).shape
    (120, 3)
    >>> float((reducer.label_confidence_.argmax(axis=1) == y).mean())
    1.0
    """

    _parameter_constraints = PARAMETERS | {
        "kernel": [StrOptions(set(KERNELS)), callable, None],
        "normalize": [StrOptions({"auto", "within", "total"})],
    }

    def __init__(
        self,
        n_components: float | int | str | None = None,
        *,
        n_neighbors: int = 8,
        kernel: str | Callable[..., Any] | None = None,
        normalize: Literal["auto", "within", "total"] = "auto",
        standardize: bool = True,
        max_iter: int = 75,
        tol: float = 0.0,
        random_state: Any = 0,
        search: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.normalize = normalize
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
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
        self : DELIN
            The fitted reducer.
        """
        matrix, S, F, orders = self._validate_in_order(X, y, center=self.kernel is None)
        rng = check_random_state(self.random_state)
        wanted = self._wanted
        if wanted is None:
            wanted = ceil(_RATIO * min(S.shape[1], matrix.shape[1]))
        space: LinearSpace | KernelSpace
        self._forget("X_fit_")
        if self.kernel is None:
            space, update = LinearSpace(matrix, self.normalize), delin_update
        else:
            self.X_fit_ = self._standardized(X)
            A = self.X_fit_[orders.rows]
            space = KernelSpace(gram(A, A, self.kernel))
            update = kernel_update
        votes: TiedNeighbors | None = None
        objective = []
        settled, before = False, F
        for n_iter in iterations("DELIN", self.max_iter + 1):
            space.solve(F)
            r = self._count(space.values, wanted)
            objective.append(space.shares[:r].sum())
            if settled or n_iter == self.max_iter:
                break
            votes = self._votes(space.embedding(r), votes)
            before, F = F, update(F, votes, votes.n_neighbors, S, rng)
            settled = bool(np.abs(F - before).max() <= self.tol)
        if not settled:
            self._warn_unless_settled(F, before)
        P = space.directions(r).astype(matrix.dtype, copy=False)
        if self.kernel is not None:  # directions are of the rows
            orders = orders._replace(columns=orders.rows)
        self._finish(P, space.values, F, objective, orders=orders)
        self.n_iter_ = n_iter
        return self

    def _standardized(self, X: Any) -> Any:
        """Return the rows for the kernel; sparse rows stay sparse unless centered."""
        X = validate_rows(self, X, order=None)
        if not self.standardize:
            return X
        X = X.toarray() if hasattr(X, "toarray") else X
        return (X - self.mean_.astype(X.dtype)) / self.scale_.astype(X.dtype)

    def transform(self, X: Any) -> NDArray[Any]:
        """Project rows onto the learned directions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows in the units of the training data.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            ``((X - mean_) / scale_) @ components_.T``; with a kernel,
            ``kernel((X - mean_) / scale_, training rows) @ components_.T``.
        """
        if self.kernel is None:
            return super().transform(X)
        check_is_fitted(self)
        rows = self._standardized(X)
        K = gram(rows, self.X_fit_, self.kernel)
        return (K @ self.components_.T).astype(rows.dtype, copy=False)

    @available_if(lambda self: self.kernel is None)
    def inverse_transform(self, Z: Any) -> NDArray[Any]:
        """Return the rows of least norm that project to `Z`, in the units of the data.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Projected rows.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Least-norm standardized rows whose projection is `Z`, put back into the
            units of the training data. Not defined with a kernel.
        """
        return super().inverse_transform(Z)


class LinearSpace:
    """Discriminant directions of centered data for any confidences.

    In the whitened coordinates U of the data the total scatter is the identity and the
    between-class scatter ``M M'`` with ``M = U' F diag(n_j)^(-1/2)``: the singular
    values of M, squared, are the shares rho of the scatter that lie between classes,
    and ``lambda = rho / (1 - rho)`` the classical eigenvalues.
    """

    def __init__(self, X: Standardized, normalize: str) -> None:
        # Votes are a choice: in single precision another neighbor or label would win.
        # Directions that the data resolve stay those of their own precision.
        resolved = 10 * float(np.finfo(X.dtype).eps)
        self.basis = ThinBasis(X.astype(np.float64), tol=max(1e-10, resolved))
        if normalize == "auto":
            normalize = "total" if self.basis.rank >= X.shape[0] - 1 else "within"
        self.normalize = normalize

    def solve(self, F: Array) -> None:
        """Find the directions; sets ``values`` (lambda) and ``shares`` (rho)."""
        M = self.basis.left_transposed(class_scaled(F))
        self._A, sigma, _ = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
        rho = np.minimum(sigma**2, 1.0)
        within = np.maximum(1 - rho, _CAP)
        self.shares = without_noise(rho, len(F), np.float64)
        self.values = self.shares / within
        self._length = 1.0 if self.normalize == "total" else np.sqrt(within)

    def _scaled(self, r: int) -> Array:
        return (self._A / self._length)[:, :r]

    def embedding(self, r: int) -> NDArray[Any]:
        """Return the centered rows along the first `r` directions."""
        return self.basis.left(self._scaled(r))

    def directions(self, r: int) -> NDArray[Any]:
        """Return the first `r` directions, (d, r)."""
        return self.basis.right(self._scaled(r) / self.basis.s[:, None])


def delin_update(
    F: Array, votes: VoteSums, k: int, S: Mask, rng: np.random.RandomState
) -> Array:
    """Give the most frequent candidates among the neighbors their share of them.

    Source: DELIN, update of the confidences.

    Parameters
    ----------
    F : ndarray of shape (m, q)
        Confidences.
    votes : callable
        Sums values over the neighbors, by rank or uniformly.
    k : int
        Number of neighbors.
    S : ndarray of bool, shape (m, q)
        Candidates.
    rng : RandomState
        Breaks remaining ties at random.

    Returns
    -------
    F : ndarray of shape (m, q)
        New confidences; the other candidates share the rest evenly.
    """
    V = votes(F, "rank") * S
    holders = votes((F > 0).astype(np.float64), "uniform") * S
    most = V.max(axis=1, keepdims=True)
    top = (most > 0) & (most * (1 - 1e-12) <= V)  # equal up to the order of summation
    count = np.where(top, holders, 0).max(axis=1, keepdims=True)
    top &= holders == count
    size = top.sum(axis=1, keepdims=True)
    crowded = (count * size > k) & (size > 1)
    top = np.where(crowded, one_of(top, rng), top)
    size = np.where(crowded, 1, size)
    rest = S.sum(axis=1, keepdims=True) - size
    changes = (most > 0) & (rest > 0)
    share = count / k
    others = (1 - share * size) / np.maximum(rest, 1)
    new = np.where(changes, np.where(top, share, others) * S, F)
    return new / new.sum(axis=1, keepdims=True)


def gram(A: Any, B: Any, kernel: str | Callable[..., Any]) -> Array:
    """Return the kernel matrix of the rows of `A` and of `B`, in double precision."""
    K = kernel(A, B) if callable(kernel) else pairwise_kernels(A, B, metric=kernel)
    K = np.asarray(K, dtype=np.float64)
    if K.shape != (A.shape[0], B.shape[0]):
        raise ValueError(
            "`kernel` must return one row per row of its first argument and one column "
            f"per row of its second, here {(A.shape[0], B.shape[0])}; got {K.shape}."
        )
    return K


class KernelSpace:
    """Discriminants of the columns k_i of a kernel matrix, for any confidences.

    With class means M_j and mean m*, between = sum_j (M_j - m*)(M_j - m*)' and
    within = T - Q Q', where T is the scatter of the columns about m* (no labels in it,
    decomposed once) and Q has the columns sqrt(n_j) (M_j - m*). The ridge enters T's
    eigenvalues, so that within^-1 needs a solve of size q only.
    """

    def __init__(self, K: Array) -> None:
        self.K = K
        centered = K - K.mean(axis=1, keepdims=True)
        t, self._V = scipy.linalg.eigh(centered @ centered.T, check_finite=False)
        self._t = np.maximum(t, 0.0)
        self._coordinates = self._V.T @ centered  # columns k_i - m*

    def solve(self, F: Array) -> None:
        """Find the directions; sets ``values`` (lambda) and ``shares``."""
        n = F.sum(axis=0)
        C = (self._coordinates @ F) * inverse_scale(n)  # M_j - m*
        Q = C * np.sqrt(n)
        m = len(self._t)
        ridge = _RIDGE * max(self._t.sum() - np.vdot(Q, Q), self._t.sum() * 1e-12) / m
        if ridge == 0:  # all rows alike
            self.values = self.shares = np.zeros(len(n))
            self._A = np.zeros((m, len(n)))
            return
        D = (self._t + ridge)[:, None]
        inner = np.eye(len(n)) - Q.T @ (Q / D)
        WC = C / D + (Q / D) @ scipy.linalg.solve(inner, Q.T @ (C / D), assume_a="pos")
        G = C.T @ WC
        values, u = scipy.linalg.eigh((G + G.T) / 2, check_finite=False)
        self.values = np.clip(values[::-1], 0.0, None)
        self.shares = self.values / (1 + self.values)
        roots = np.sqrt(np.where(self.values > 0, self.values, 1.0))
        self._A = WC @ (u[:, ::-1] / roots)

    def directions(self, r: int) -> Array:
        """Return the coefficients of the training rows, (m, r)."""
        return self._V @ self._A[:, :r]

    def embedding(self, r: int) -> Array:
        """Return the training rows along the first `r` directions."""
        return self.K @ self.directions(r)


def kernel_update(
    F: Array, votes: VoteSums, k: int, S: Mask, rng: np.random.RandomState
) -> Array:
    """Give the most frequent candidate among the neighbors a share by their number.

    Source: DELIN, update of the confidences, kernel form.

    Parameters and result are those of the linear method's update; here a label has
    support from each neighbor that has it as candidate, whatever its confidence.
    """
    V = votes(F, "rank") * S
    most = V.max(axis=1, keepdims=True)
    top = (most * (1 - 1e-12) <= V) & S
    rows = np.arange(len(S))
    best = one_of(top, rng).argmax(axis=1)
    holders = votes(S.astype(np.float64), "uniform")[rows, best]
    share = (holders / (k + k // 2))[:, None]
    size = S.sum(axis=1, keepdims=True)
    new = S * (1 - share) / np.maximum(size - 1, 1)
    new[rows, best] = share[:, 0]
    return np.where(size > 1, new, S)


def one_of(tied: Mask, rng: np.random.RandomState) -> Mask:
    """Keep one label of each row's `tied` ones, at random.

    One number is drawn per row, tied or not, so that the choice in a row does not
    depend on other rows.
    """
    draw = np.floor(rng.random_sample((len(tied), 1)) * tied.sum(axis=1, keepdims=True))
    return tied & (np.cumsum(tied, axis=1) == draw + 1)
