"""Displays of calibration and of risk against coverage."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partlearn._arguments import check_one_per_row
from partlearn._typing import Array, Mask
from partlearn.inspection._axes import Display
from partlearn.metrics import (
    CalibrationBins,
    RiskCoverage,
    calibration_bins,
    risk_coverage_curve,
)


def _answers(estimator: Any, X: Any, truth: ArrayLike) -> tuple[Array, Mask]:
    """Probability of the most likely label of each row, and whether it is right."""
    P, known = estimator.predict_proba(X), np.asarray(truth)
    check_one_per_row("truth", known.shape, len(P))
    return P.max(axis=1), estimator.classes_[P.argmax(axis=1)] == known


class CalibrationDisplay(Display):
    """Share of right labels against the confidence in them.

    Points on the diagonal are calibrated; below it the confidence is too high. The area
    of a point grows with the number of rows.

    Parameters
    ----------
    bins : CalibrationBins
        Shares of right labels by confidence.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    line_ : matplotlib Line2D
        The line through the points.
    points_ : matplotlib PathCollection
        The points.

    Examples
    --------
    >>> from partlearn.inspection import CalibrationDisplay
    >>> confidence, right = [0.95, 0.9, 0.6, 0.55], [True, True, True, False]
    >>> display = CalibrationDisplay.from_predictions(confidence, right)
    >>> display.ax_.get_ylabel()
    'share of right labels'
    """

    def __init__(self, bins: CalibrationBins) -> None:
        self.bins = bins

    @classmethod
    def from_predictions(
        cls,
        confidence: ArrayLike,
        right: ArrayLike,
        *,
        n_bins: int = 10,
        ax: Any = None,
    ) -> Self:
        """Plot from the confidence in predicted labels and their correctness.

        Parameters
        ----------
        confidence : array-like of shape (n_samples,)
            Confidence in the chosen label.
        right : array-like of bool, shape (n_samples,)
            Whether it is the true one.
        n_bins : int, default=10
            Number of bins.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : CalibrationDisplay
            The display, drawn.
        """
        return cls(calibration_bins(confidence, right, n_bins=n_bins)).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        truth: ArrayLike,
        *,
        n_bins: int = 10,
        ax: Any = None,
    ) -> Self:
        """Plot from the predictions of a fitted classifier on rows with known truth.

        Parameters
        ----------
        estimator : fitted classifier
            It must have ``predict_proba``.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, preferably held out from training.
        truth : array-like of shape (n_samples,)
            Their true labels.
        n_bins : int, default=10
            Number of bins.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : CalibrationDisplay
            The display, drawn.
        """
        confidence, right = _answers(estimator, X, truth)
        return cls.from_predictions(confidence, right, n_bins=n_bins, ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : CalibrationDisplay
            The display, with its artists.
        """
        ax = self._axes(ax, (4.5, 4.5))
        sure, right, count = self.bins
        ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="calibrated")
        (self.line_,) = ax.plot(sure, right, color="C0", zorder=2)
        self.points_ = ax.scatter(
            sure,
            right,
            s=20 + 180 * count / count.max(initial=1),
            color="C0",
            zorder=3,
            label="rows by confidence",
        )
        ax.set(
            xlabel="confidence in the most likely label",
            ylabel="share of right labels",
            xlim=(0, 1.03),
            ylim=(0, 1.03),
            title=f"Calibration of {count.sum()} rows",
        )
        ax.legend(loc="best", fontsize=8)
        return self


class RiskCoverageDisplay(Display):
    """Risk against coverage, rows of highest confidence first.

    A line that falls to the left means that the confidence separates right from wrong
    labels. The dashed line is the best possible order: all right rows before all wrong
    ones.

    Parameters
    ----------
    curve : RiskCoverage
        Result of :func:`partlearn.metrics.risk_coverage_curve`.
    name : str, default="rows by confidence"
        Name of the line in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    line_ : matplotlib Line2D
        The curve.

    Examples
    --------
    >>> from partlearn.inspection import RiskCoverageDisplay
    >>> confidence, right = [0.95, 0.9, 0.6, 0.55], [True, True, True, False]
    >>> display = RiskCoverageDisplay.from_predictions(confidence, right)
    >>> display.ax_.get_xlabel()
    'coverage'
    """

    def __init__(self, curve: RiskCoverage, *, name: str = "rows by confidence"):
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        confidence: ArrayLike,
        right: ArrayLike,
        *,
        name: str = "rows by confidence",
        ax: Any = None,
    ) -> Self:
        """Plot from the confidence in predicted labels and their correctness.

        Parameters
        ----------
        confidence : array-like of shape (n_samples,)
            Confidence in the chosen label.
        right : array-like of bool, shape (n_samples,)
            Whether it is the true one.
        name : str, default="rows by confidence"
            Name of the line in the legend.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : RiskCoverageDisplay
            The display, drawn.
        """
        return cls(risk_coverage_curve(confidence, right), name=name).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        truth: ArrayLike,
        *,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot from the predictions of a fitted classifier on rows with known truth.

        Parameters
        ----------
        estimator : fitted classifier
            It must have ``predict_proba``.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, preferably held out from training.
        truth : array-like of shape (n_samples,)
            Their true labels.
        name : str, default=None
            Name of the line in the legend; the name of the class by default.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : RiskCoverageDisplay
            The display, drawn.
        """
        confidence, right = _answers(estimator, X, truth)
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(confidence, right, name=name, ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : RiskCoverageDisplay
            The display, with its artists.
        """
        ax = self._axes(ax, (5.5, 4))
        coverage, risk, _ = self.curve
        n, area = len(risk), risk.mean()
        n_right = n - round(risk[-1] * n)
        best = np.maximum(np.arange(1, n + 1) - n_right, 0) / np.arange(1, n + 1)
        (self.line_,) = ax.plot(
            coverage, risk, label=f"{self.name} (area {area:.3f})", zorder=3
        )
        ax.plot(
            coverage,
            best,
            color=self.line_.get_color(),
            linestyle="--",
            linewidth=1,
            label=f"best order (area {best.mean():.3f})",
        )
        ax.set(
            xlabel="coverage",
            ylabel="risk (share of errors)",
            xlim=(0, 1.03),
            title=f"Risk and coverage of {n} rows",
        )
        ax.set_ylim(bottom=0)
        ax.legend(loc="best", fontsize=8)
        return self
