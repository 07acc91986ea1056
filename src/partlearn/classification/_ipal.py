"""IPAL: instance-based label propagation."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from partlearn._math.blocks import lazy_rows
from partlearn._math.graphs import (
    few_candidates,
    lift,
    neighbor_grams,
    rebuilding_graph,
)
from partlearn._math.linalg import in_data_order
from partlearn._math.neighbors import query_neighbors, self_neighbors
from partlearn._math.simplex import nnls_from_gram
from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, fit_context
from partlearn._typing import Array, Indices, Mask
from partlearn.base import PARAMETERS, BaseCandidateClassifier, content_orders
from partlearn.candidates import (
    initial_confidence,
    labels_settled,
    warn_at_max_iter,
)

_TIE = 1e-12  # confidences that differ by this share are level
# Squared residuals of unit rows are differences of numbers near one.
_ROUNDING = 64 * np.finfo(np.float64).eps


@lazy_rows
class IPAL(BaseCandidateClassifier):
    """Label propagation on a graph of rows that reconstruct each other.

    Each training row is reconstructed from its nearest neighbors with non-negative
    weights, and confidences are propagated along these weights until they converge. A
    new row gets the label with the smallest reconstruction error from the neighbors of
    that label.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbors that reconstruct a row.
    alpha : float, default=0.95
        Share of a confidence that comes from the neighbors, below 1; the rest
        always comes from the start.
    max_iter : int, default=100
        Maximum number of iterations of the propagation.
    tol : float, default=1e-4
        Stop when the spectral norm of the change of the confidences is below `tol`.
    restrict_to_neighbors : bool, default=False
        Whether to predict only labels of the neighbors. In rare cases the authors'
        program predicts another label.
    n_jobs : int, default=None
        Threads of the neighbor search; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    disambiguated_ : ndarray of shape (n_samples,)
        The label chosen for each training row: the largest confidence after
        giving every class the mass that it had at the start.
    n_iter_ : int
        Number of iterations of the propagation.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    PLKNN : Weighted sums over neighbors.

    Notes
    -----
    As in the authors' program, and unlike the paper, every row is scaled to unit
    length first. Standardize the features before. A query that its neighbors cannot
    reconstruct gets the label of the nearest one (in the program: the first label). A
    label that is not a candidate of any row is never predicted.

    The weights cost one neighbor search and m least squares problems of size
    `n_neighbors`. An iteration of propagation touches only the candidates: O(c k) for c
    candidates in all. Memory is O(m (k^2 + q)).

    References
    ----------
    Min-Ling Zhang and Fei Yu. Solving the Partial Label Learning Problem: An
    Instance-Based Approach. IJCAI 2015, 4048-4054.

    Examples
    --------
    >>> from partlearn.classification import IPAL
    >>> X = [[0.0, 1.0], [0.1, 1.0], [0.2, 1.0], [1.0, 0.0], [1.0, 0.1], [1.0, 0.2]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> model = IPAL(n_neighbors=2).fit(X, y)
    >>> model.disambiguated_
    array(['a', 'a', 'a', 'b', 'b', 'b'], dtype='<U1')
    >>> model.predict([[0.0, 2.0], [3.0, 0.1]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints = PARAMETERS | {
        "alpha": [Interval(Real, 0, 1, closed="left")],
        "restrict_to_neighbors": ["boolean"],
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        alpha: float = 0.95,
        max_iter: int = 100,
        tol: float = 1e-4,
        restrict_to_neighbors: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.restrict_to_neighbors = restrict_to_neighbors
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, confidence: Any = None) -> Self:
        """Disambiguate the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes, which initialize the confidences; see
            :func:`partlearn.candidates.check_evidence`. Weights and votes are not part
            of the published method.
        confidence : array-like of shape (n_samples, n_classes), default=None
            Labeling confidences to start from instead of uniform ones, for example
            ``label_confidence_`` of a reducer.

        Returns
        -------
        self : IPAL
            The fitted classifier.
        """
        X, S, confidence = self._validate_fit(X, y, confidence)
        start = initial_confidence(confidence, S)
        # Rounding decides between equally near rows of unit length, and between labels
        # of equal confidence: all is computed in the order of the content.
        order, self._columns, names = content_orders(X, start)
        start, S = start[order][:, names], S[order][:, names]
        self._X = normalize(X[order][:, self._columns])
        neighbors = self_neighbors(self._X, self.n_neighbors, n_jobs=self.n_jobs)
        H = rebuilding_graph(self._X, neighbors)
        F, self.n_iter_, settled = propagate(
            H, start, S, self.alpha, self.max_iter, self.tol
        )
        if not settled:
            warn_at_max_iter(self.max_iter)
        mass = correct_class_mass(F, start)
        best = mass >= mass.max(axis=1, keepdims=True) * (1 - _TIE)
        self._labels = names[np.argmax(best, axis=1)]
        self._seen = np.any(S, axis=0)[np.argsort(names)]
        self.disambiguated_ = in_data_order(self.classes_[self._labels], order)
        F = in_data_order(F, order)[:, np.argsort(names)]
        self.label_confidence_ = F.astype(X.dtype, copy=False)
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return scores of the classes that fall with their reconstruction error.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Inverse residuals, scaled to sum to one. They rank the classes, but are not
            calibrated.
        """
        R = -self._scores(X)
        exact = R == 0
        R[exact.any(axis=1)] = np.inf
        inverse = 1 / np.where(exact, 1, R)
        return inverse / inverse.sum(axis=1, keepdims=True)

    def _scores(self, X: Any) -> NDArray[Any]:
        X = normalize(self._validate_predict(X)[:, self._columns])
        _, neighbors = query_neighbors(self._X, X, self.n_neighbors, n_jobs=self.n_jobs)
        G, b = neighbor_grams(X, self._X, neighbors)
        w = nnls_from_gram(G, b)
        labels = self._labels[neighbors]
        length = row_norms(X).astype(np.float64)
        R = np.repeat(length[:, None], len(self.classes_), axis=1)
        absent = np.ones(R.shape, dtype=bool)
        np.put_along_axis(absent, labels, False, axis=1)
        np.put_along_axis(R, labels, residuals(length, G, b, w, labels), axis=1)
        R[:, ~self._seen] = np.inf
        if self.restrict_to_neighbors:
            R[absent] = np.inf
        unhelped = ~w.any(axis=1)
        R[unhelped] = np.inf
        R[unhelped, labels[unhelped, 0]] = 0
        return -R.astype(X.dtype, copy=False)


def propagate(
    H: sp.csr_array, start: Array, S: Mask, alpha: float, max_iter: int, tol: float
) -> tuple[Array, int, bool]:
    """Repeat ``F = alpha H F + (1 - alpha) F0`` inside the candidates, rows scaled.

    Source: IPAL, propagation of the confidences.

    Returns the confidences, the number of iterations and whether they converged.
    """
    rows, columns = np.nonzero(S)
    sparse = few_candidates(S)
    T = alpha * (lift(H, S, inside=True) if sparse else H)
    starts = np.searchsorted(rows, np.arange(S.shape[0]))
    own = (1 - alpha) * start[S]
    f = start[S]
    F, before = start.copy(), start.copy()
    settled = False
    for n_iter in iterations("IPAL", max_iter, start=1):  # noqa: B007
        if sparse:
            new = T @ f + own
        else:
            F[S] = f
            new = (T @ F)[S] + own
        new /= np.add.reduceat(new, starts)[rows]
        settled = _norm_below(new - f, rows, columns, S.shape, tol)
        before[S], f = f, new
        if settled:
            break
    F[S] = f
    return F, n_iter, settled or labels_settled(F, before)


def _norm_below(
    change: Array, rows: Indices, columns: Indices, shape: tuple[int, int], tol: float
) -> bool:
    """Whether the largest singular value of a change of confidences is below `tol`."""
    total = float(np.linalg.norm(change))
    if total < tol:
        return True
    # At least one of q singular values reaches the root mean square of all.
    if total >= tol * np.sqrt(min(shape)):
        return False
    D = sp.csr_array((change, (rows, columns)), shape=shape)
    return bool(np.sqrt(np.linalg.eigvalsh((D.T @ D).toarray())[-1]) < tol)


def correct_class_mass(F: Array, start: Array) -> Array:
    """Scale each column so that every class has the mass it had at the start.

    Source: IPAL, correction of the class mass.
    """
    mass = F.sum(axis=0)
    return F * (start.sum(axis=0) * (mass > 0) / np.where(mass > 0, mass, 1))


def residuals(length: Array, G: Array, b: Array, w: Array, labels: Indices) -> Array:
    """Return the reconstruction error of each query from the neighbors of one label.

    Source: IPAL, prediction.

    Entry (i, a) is ``||x_i - sum_b w_b z_b||`` over the neighbors b of the same label
    as neighbor a, from inner products alone.
    """
    same = labels[:, :, None] == labels[:, None, :]
    part = same * w[:, None, :]  # weights of the neighbors that share a's label
    squared = (
        length[:, None] ** 2
        - 2 * np.einsum("iab,ib->ia", part, b)
        + np.einsum("iab,ibc,iac->ia", part, G, part, optimize=True)
    )
    squared[squared < _ROUNDING] = 0
    return np.sqrt(squared)
