"""PML-FP: rank labels by confidences that follow prototypes of labels."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from partlearn._math.linalg import Standardized
from partlearn._sklearn_compat import Interval
from partlearn._typing import Array, Mask
from partlearn.candidates import warn_caller
from partlearn.multilabel.classification._confidence_ranker import BaseConfidenceRanker

_ALIKE = 1e-3  # of the spread of the rows


class PMLFP(BaseConfidenceRanker):
    """Partial multi-label learning with feature prototypes, reconstructed.

    Like :class:`PMLLC`, with confidences refined in the space of features. The
    prototype of a label is the mean of the rows weighted by their confidence in it. The
    confidence of a candidate falls with the distance between its row and the prototype.

    This is a reconstruction: no program and only the abstract of the paper were
    available. The paper uses feature prototypes; the formula is our interpretation.

    Parameters
    ----------
    C1 : float, default=100.0
        Weight of the ranking.
    C2 : float, default=10.0
        Weight that keeps confidences near one.
    C3 : float, default=1.0
        Weight of the distances to the prototypes.
    prototypes : int, default=1
        Prototypes per label; with more than one, the nearest counts. They start from
        k-means on the rows that have the label as a candidate.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Squared distance of standardized rows, in units of its mean at the start; or one
        minus the cosine of the rows as given, for text.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Loss of a pair of labels whose scores are less than one apart. The plain hinge
        is rounded off over a width of 0.01.
    pairs : {"candidates", "all"}, default="candidates"
        Rank candidates above non-candidates, the pairs whose order is known; or all
        pairs, with weight ``P_j (1 - P_m)``, where the confidences' step is not convex.
    threshold : float, "f1" or "count", default="f1"
        Score above which a label is predicted. "f1" takes the threshold with the best
        F1 against the confidences above 1/2 of the training rows. "count" predicts
        equally many labels for every row: the mean sum of the confidences of a training
        row, rounded.
    standardize : bool, default=True
        Divide every feature by its standard deviation.
    max_iter : int, default=20
        Maximum number of iterations.
    inner_iter : int, default=100
        Maximum number of iterations of the linear model in each outer one.
    tol : float, default=1e-4
        Stop when the relative change of the objective is below `tol`.
    random_state : int, RandomState or None, default=None
        Seed of k-means and of the order of equal feature scores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns.
    coef_ : ndarray of shape (n_classes, n_features_in_)
        Coefficients of the features as given.
    intercept_ : ndarray of shape (n_classes,)
        Added to the scores.
    threshold_ : float or None
        Threshold on the scores; None where labels are counted.
    n_labels_ : int
        Labels predicted for a row where they are counted.
    labels_ : ndarray of shape (n_samples, n_classes)
        Confidences, in [0, 1], zero outside the candidates; a row sums to at least one.
    never_, always_ : ndarray of bool, shape (n_classes,)
        Labels that no and that every training row had as a candidate.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each feature: norm of its coefficients for standardized features.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    objective_ : ndarray of shape (3 * n_iter_,)
        Value after each step of each iteration: model, prototypes, confidences. It
        never rises.
    n_iter_ : int
        Number of iterations.
    multilabel_ : bool
        Whether `fit` received a matrix or sets instead of one label per row.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    PMLLC : Confidences follow correlations of labels instead.

    Notes
    -----
    Weights are divided by the number of rows. The defaults are those of PML-LC and were
    not tuned: tune them, `C1` above all. Frequent labels have nearly the same
    prototype, which then carries no information; a warning is raised. Labels of no and
    of every training row, and rows without candidates, are treated as in PML-LC, and
    the cost is the same but for O(nnz(X) l) an iteration for the prototypes.

    References
    ----------
    Ming-Kun Xie and Sheng-Jun Huang. Partial multi-label learning. AAAI 2018,
    4302-4309.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import average_precision
    >>> from partlearn.multilabel import PMLFP, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> Y = X[:, :4] > 0.5
    >>> candidates = add_noise_labels(Y, 1, random_state=0)
    >>> model = PMLFP(random_state=0).fit(X, candidates)
    >>> bool(average_precision(Y, model.decision_function(X)) > 0.8)
    True
    >>> P = model.labels_
    >>> bool(P[Y].mean() > P[candidates & ~Y].mean())
    True
    """

    _parameter_constraints = BaseConfidenceRanker._parameter_constraints | {
        "prototypes": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        C1: float = 100.0,
        *,
        C2: float = 10.0,
        C3: float = 1.0,
        prototypes: int = 1,
        metric: str = "euclidean",
        loss: str = "squared_hinge",
        pairs: str = "candidates",
        threshold: float | str = "f1",
        standardize: bool = True,
        max_iter: int = 20,
        inner_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.C1 = C1
        self.C2 = C2
        self.C3 = C3
        self.prototypes = prototypes
        self.metric = metric
        self.loss = loss
        self.pairs = pairs
        self.threshold = threshold
        self.standardize = standardize
        self.max_iter = max_iter
        self.inner_iter = inner_iter
        self.tol = tol
        self.random_state = random_state

    def _structure(
        self, X: Any, Z: Standardized, C: Mask, scale: Array, rng: Any
    ) -> Prototypes:
        if self.metric == "cosine":
            points = normalize(X)
        elif Z.dense is not None:
            points = Z.dense
        else:  # distances do not depend on the mean
            points = sp.csr_array(X @ sp.diags_array(1 / scale))
        structure = Prototypes(points, C, self.C3, self.prototypes, self.metric, rng)
        if C.shape[1] > 1 and structure.alike():
            warn_caller(
                "The prototypes of all labels nearly coincide, so distances to them "
                "carry no information."
            )
        return structure


class Prototypes:
    """``c3 sum_ij P_ij D_ij``: far from a label's prototypes it is less credible.

    Parameters
    ----------
    points : ndarray or CSR array of shape (n, d)
        Rows; of unit length for the cosine.
    C : ndarray of bool, shape (n, l)
        Candidates.
    c3 : float
        Weight.
    count : int
        Prototypes per label.
    metric : {"euclidean", "cosine"}
        The distance.
    rng : RandomState
        Seeds k-means.

    Attributes
    ----------
    centers : list of ndarray of shape (p, d) or None
        Prototypes of each label; None for a label of no row.
    unit : float
        What distances are divided by, found once so that the objective stays the same.
    D : ndarray of shape (n, l)
        Distances of rows to their candidates' nearest prototypes, zero elsewhere.
    """

    def __init__(
        self, points: Any, C: Mask, c3: float, count: int, metric: str, rng: Any
    ) -> None:
        self.points, self.C, self.c3, self.metric = points, C, c3, metric
        self._squares = row_norms(points, squared=True)
        self.centers = [self._start(column, count, rng) for column in C.T]
        self.unit = 1.0
        if metric == "euclidean":
            known = [c for c in self.centers if c is not None]
            mean = np.mean([self._distances(c).min(axis=1).mean() for c in known])
            self.unit = float(mean) if mean > 0 else 1.0
        self._measure()

    def _start(self, column: Mask, count: int, rng: Any) -> Array | None:
        rows = np.flatnonzero(column)
        if not rows.size:
            return None
        points = self.points[rows]
        if count == 1:
            return np.asarray(points.mean(axis=0)).reshape(1, -1)
        with warnings.catch_warnings():  # fewer distinct rows than prototypes are fine
            warnings.simplefilter("ignore", ConvergenceWarning)
            means = KMeans(min(count, rows.size), n_init=1, random_state=rng)
            return np.asarray(means.fit(points).cluster_centers_)

    def _distances(self, centers: Array, rows: Any = slice(None)) -> Array:
        """Squared or cosine distances of rows to centers, (rows, p)."""
        products = np.asarray(self.points[rows] @ centers.T)
        squares = np.einsum("ij,ij->i", centers, centers)
        if self.metric == "cosine":
            return 1 - products / np.sqrt(np.where(squares > 0, squares, 1))
        D = self._squares[rows][:, None] - 2 * products + squares
        return np.maximum(D, 0)

    def _measure(self) -> None:
        self.D = np.zeros(self.C.shape)
        for j, centers in enumerate(self.centers):
            if centers is not None:
                rows = np.flatnonzero(self.C[:, j])
                self.D[rows, j] = self._distances(centers, rows).min(axis=1) / self.unit

    def refresh(self, P: Array) -> None:
        """Move every prototype to the weighted mean of the rows nearest to it."""
        for j, centers in enumerate(self.centers):
            if centers is None:
                continue
            rows = np.flatnonzero(self.C[:, j])
            nearest = self._distances(centers, rows).argmin(axis=1)
            weight = np.zeros((len(rows), len(centers)))
            weight[np.arange(len(rows)), nearest] = P[rows, j]
            total = weight.sum(axis=0)
            moved = total > 0  # one that has lost all confidence stays
            sums = np.asarray(self.points[rows].T @ weight[:, moved]).T
            centers[moved] = sums / total[moved, None]
        self._measure()

    def alike(self) -> bool:
        """Whether all prototypes nearly coincide, compared with the spread of rows."""
        mean = np.asarray(self.points.mean(axis=0)).ravel()
        spread = np.sqrt(max(float(self._squares.mean() - mean @ mean), 0.0))
        far = [
            np.linalg.norm(c - mean, axis=1).max()
            for c in self.centers
            if c is not None
        ]
        return bool(spread > 0 and max(far) < _ALIKE * spread)

    def value(self, P: Array) -> float:
        """The term itself."""
        return self.c3 * float(np.vdot(P, self.D))

    def gradient(self, P: Array) -> Array:
        """Its derivative."""
        return self.c3 * self.D

    def lipschitz(self) -> float:
        """It is linear in the confidences."""
        return 0.0
