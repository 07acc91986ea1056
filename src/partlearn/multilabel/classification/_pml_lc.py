"""PML-LC: rank labels by confidences that follow correlations of labels."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any

import numpy as np

from partlearn._math.linalg import Standardized
from partlearn._typing import Array, Mask
from partlearn.multilabel.classification._confidence_ranker import BaseConfidenceRanker


class PMLLC(BaseConfidenceRanker):
    """Partial multi-label learning with label correlations, reconstructed.

    A linear model ranks candidates above all other labels, with pairs weighted by the
    confidence of the candidate. Confidences fall where the model fails, and correlated
    labels get similar confidences. Both are fitted alternately.

    This is a reconstruction: no program and only the abstract of the paper were
    available. The abstract names the terms of the objective; their form and the term of
    ``C2`` are our interpretation.

    Parameters
    ----------
    C1 : float, default=100.0
        Weight of the ranking.
    C2 : float, default=10.0
        Weight that keeps confidences near one. Without it all confidence of a row would
        go to the label with the lowest cost.
    C3 : float, default=1.0
        Weight of the correlations.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Loss of a pair of labels whose scores are less than one apart. The plain hinge
        is rounded off over a width of 0.01.
    pairs : {"candidates", "all"}, default="candidates"
        Rank candidates above other labels, the pairs whose order is known; or all
        pairs, with weight ``P_j (1 - P_m)``. The update of the confidences is then not
        convex.
    refresh_correlation : bool, default=False
        Compute the correlations from the confidences in every iteration. The objective
        then changes with every iteration and may rise.
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
        Seed of the order of equal feature scores; nothing else is drawn.

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
        Value after each step of each iteration: model, correlations, confidences.
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
    PMLFP : Confidences follow distances to prototypes instead.
    FPML : Denoises labels by a product of low rank.

    Notes
    -----
    Weights are divided by the number of rows. The defaults were chosen on one small
    data set by its true labels: tune them, `C1` above all.

    A label that no training row has as a candidate is never predicted and ranked last;
    one that all have is always predicted and ranked first. Rows with all labels as
    candidates have no pair to rank. Rows without candidates are left out, with a
    warning.

    An iteration costs some hundred evaluations of the loss, each
    O(nnz(X) l + n l min(s, log l)) for s candidates a row.

    References
    ----------
    Ming-Kun Xie and Sheng-Jun Huang. Partial multi-label learning. AAAI 2018,
    4302-4309.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.metrics import average_precision
    >>> from partlearn.multilabel import PMLLC, add_noise_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> Y = X[:, :4] > 0.5
    >>> candidates = add_noise_labels(Y, 1, random_state=0)
    >>> model = PMLLC(random_state=0).fit(X, candidates)
    >>> bool(average_precision(Y, model.decision_function(X)) > 0.8)
    True
    >>> P = model.labels_
    >>> bool(P[Y].mean() > P[candidates & ~Y].mean())
    True
    """

    _parameter_constraints = BaseConfidenceRanker._parameter_constraints | {
        "refresh_correlation": ["boolean"],
    }

    def __init__(
        self,
        C1: float = 100.0,
        *,
        C2: float = 10.0,
        C3: float = 1.0,
        loss: str = "squared_hinge",
        pairs: str = "candidates",
        refresh_correlation: bool = False,
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
        self.loss = loss
        self.pairs = pairs
        self.refresh_correlation = refresh_correlation
        self.threshold = threshold
        self.standardize = standardize
        self.max_iter = max_iter
        self.inner_iter = inner_iter
        self.tol = tol
        self.random_state = random_state

    def _structure(
        self, X: Any, Z: Standardized, C: Mask, scale: Array, rng: Any
    ) -> Correlations:
        return Correlations(C, self.C3, self.refresh_correlation)


class Correlations:
    """``c3 Tr(P Lc P')``: labels that go together get similar confidences.

    Parameters
    ----------
    C : ndarray of bool, shape (n, l)
        Candidates.
    c3 : float
        Weight.
    follow : bool
        Whether to take the correlations from the confidences in every iteration.
    """

    def __init__(self, C: Mask, c3: float, follow: bool) -> None:
        self.c3, self.follow = c3, follow
        self.L = correlation_laplacian(C.astype(np.float64))

    def refresh(self, P: Array) -> None:
        """Update the correlations from the confidences, if required."""
        if self.follow:
            self.L = correlation_laplacian(P)

    def value(self, P: Array) -> float:
        """The term itself."""
        return self.c3 * float(np.vdot(P @ self.L, P))

    def gradient(self, P: Array) -> Array:
        """Its derivative."""
        return 2 * self.c3 * (P @ self.L)

    def lipschitz(self) -> float:
        """Its largest curvature."""
        return float(2 * self.c3 * max(np.linalg.eigvalsh(self.L)[-1], 0.0))


def correlation_laplacian(P: Array) -> Array:
    """``diag(S 1) - S`` for the cosines ``S`` between columns, without a diagonal.

    Source: PMLLC, term of the label correlations (reconstructed).
    """
    B = P.T @ P
    norm = np.sqrt(np.diag(B))
    norm = np.where(norm > 0, norm, 1)
    S = B / np.outer(norm, norm)
    np.fill_diagonal(S, 0.0)
    return np.diag(S.sum(axis=1)) - S
