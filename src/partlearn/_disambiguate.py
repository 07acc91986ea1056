"""The most likely label of every row, with how sure it is."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from partlearn._registry import build
from partlearn.candidates import FLOATS, check_candidates

__all__ = ["Disambiguation", "disambiguate"]


@dataclass(frozen=True)
class Disambiguation:
    """What :func:`disambiguate` found out about every row.

    Attributes
    ----------
    label : ndarray of shape (n_samples,)
        The most likely candidate; the first of equal ones.
    confidence : ndarray of shape (n_samples,)
        Belief in it.
    margin : ndarray of shape (n_samples,)
        Its lead over the second candidate; one where there is no second.
    classes : ndarray of shape (n_classes,)
        The classes.
    label_confidence : ndarray of shape (n_samples, n_classes)
        Belief in every candidate; rows sum to one.
    """

    label: NDArray[Any]
    confidence: NDArray[np.float64]
    margin: NDArray[np.float64]
    classes: NDArray[Any]
    label_confidence: NDArray[np.float64]

    def calibration(
        self, truth: ArrayLike, *, n_bins: int = 10
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
        """Compare confidence with how often the label is right.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            True labels.
        n_bins : int, default=10
            Number of bins of equal width between 0 and 1; empty ones are left out.

        Returns
        -------
        confidence : ndarray of shape (n_filled_bins,)
            Mean confidence of the rows in each bin.
        accuracy : ndarray of shape (n_filled_bins,)
            Share of them whose label is right.
        count : ndarray of shape (n_filled_bins,)
            Number of rows.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> result = disambiguate([[0.0], [0.1], [1.0]], ["a", "a", "b"], "plknn")
        >>> result.calibration(["a", "a", "a"])
        (array([1.]), array([0.66666667]), array([3]))
        """
        truth = np.asarray(truth)
        if truth.shape != self.label.shape:
            raise ValueError(
                f"`truth` must hold {len(self.label)} labels, one per row; got shape "
                f"{truth.shape}."
            )
        if n_bins < 1:
            raise ValueError(f"`n_bins` must be at least 1; got {n_bins}.")
        bins = np.minimum((self.confidence * n_bins).astype(int), n_bins - 1)
        count = np.bincount(bins, minlength=n_bins)
        filled = count > 0
        count = count[filled]
        sure = np.bincount(bins, self.confidence, minlength=n_bins)[filled] / count
        right = np.bincount(bins, self.label == truth, minlength=n_bins)[filled]
        return sure, right / count, count

    def plot_calibration(
        self, truth: ArrayLike, *, n_bins: int = 10, ax: Any = None
    ) -> Any:
        """Plot how often the label is right against the confidence in it.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            True labels.
        n_bins : int, default=10
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
            Points on the diagonal are calibrated; below it the confidence is too high.
            The area of a point grows with the number of rows.
        """
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError(
                    'Plots need matplotlib: pip install "partlearn[plot]".'
                ) from error
            ax = plt.subplots(figsize=(4.5, 4.5))[1]
        sure, right, count = self.calibration(truth, n_bins=n_bins)
        ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="calibrated")
        ax.plot(sure, right, color="C0", zorder=2)
        ax.scatter(
            sure,
            right,
            s=20 + 180 * count / count.max(),
            color="C0",
            zorder=3,
            label="rows by confidence",
        )
        ax.set(
            xlabel="confidence in the most likely label",
            ylabel="share of right labels",
            xlim=(0, 1.03),
            ylim=(0, 1.03),
            title=f"Calibration of {len(self.label)} rows",
        )
        ax.legend(loc="upper left")
        return ax


def disambiguate(
    X: Any, candidates: Any, method: Any = "cenda", *, standardize: bool = True
) -> Disambiguation:
    """Find the most likely label of every row.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features.
    candidates : candidate labels
        In any form that :func:`partlearn.candidates.check_candidates` reads.
    method : str or estimator, default="cenda"
        Name of a reducer, selector or classifier of this library with its default
        parameters, in any case, with or without hyphens ("cenda", "PL-KNN", "sure"); or
        an estimator for candidate labels, of which a clone is fitted.
    standardize : bool, default=True
        Whether to bring the columns to mean zero and variance one first; sparse columns
        are only scaled.

    Returns
    -------
    result : Disambiguation
        Label, confidence and margin of every row.

    Notes
    -----
    The confidences are the estimator's ``label_confidence_``. A classifier without any
    is asked for probabilities of its own training rows, which are then restricted to
    the candidates. IPAL corrects the class sizes before it decides: its own decision
    is in ``disambiguated_`` and may differ from the largest confidence. Confidences of
    most methods are no probabilities: check them by
    :meth:`Disambiguation.plot_calibration` where some truth is known.

    Examples
    --------
    >>> from partlearn import disambiguate
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> result = disambiguate(X, y, method="sure")
    >>> result.label
    array(['a', 'a', 'a', 'b', 'b', 'b'], dtype='<U1')
    >>> result.margin
    array([1., 1., 1., 1., 1., 1.])
    """
    X = check_array(X, accept_sparse="csr", dtype=FLOATS)
    classes, S = check_candidates(candidates)
    if standardize:
        X = StandardScaler(with_mean=not sp.issparse(X)).fit_transform(X)
    # A matrix of one column would be read as a column of labels.
    y = S if S.shape[1] > 1 else np.zeros(len(S), dtype=np.intp)
    fitted = _estimator(method).fit(X, y)
    F = _confidence(fitted, X, S)
    rows = np.arange(len(S))
    best = F.argmax(axis=1)
    lead = F[rows, best].copy()
    rest = F.copy()
    rest[rows, best] = 0
    return Disambiguation(classes[best], lead, lead - rest.max(axis=1), classes, F)


def _estimator(method: Any) -> Any:
    """Build the estimator of a name, or clone the one given."""
    if not isinstance(method, str):
        if not hasattr(method, "fit"):
            raise TypeError(
                "`method` must be the name of a method or an estimator; got "
                f"{type(method).__name__}."
            )
        return clone(method)
    return build(method, {}, "reducer", "selector", "learner")


def _confidence(fitted: Any, X: Any, S: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Confidences of the training rows, inside the candidates, rows summing to one."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    if hasattr(last, "label_confidence_"):
        F = last.label_confidence_
    elif hasattr(fitted, "predict_proba"):
        F = fitted.predict_proba(X)
    else:
        raise ValueError(
            f"{type(last).__name__} has neither `label_confidence_` nor "
            "`predict_proba`, so it cannot tell how likely a label is."
        )
    F = np.asarray(F, dtype=np.float64) * S
    mass = F.sum(axis=1, keepdims=True)
    uniform = S / S.sum(axis=1, keepdims=True)
    return np.where(mass > 0, F / np.where(mass > 0, mass, 1), uniform)
