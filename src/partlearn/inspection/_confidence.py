"""Confidence before and after."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from partlearn._typing import Mask
from partlearn.candidates import check_candidates, require_confidence
from partlearn.inspection._axes import axes

__all__ = ["ConfidenceDisplay"]


class ConfidenceDisplay:
    """How sure the labels of ambiguous rows are: by their sets, and by a method.

    Parameters
    ----------
    before : array-like of shape (n_samples,)
        One over the number of candidates.
    after : array-like of shape (n_samples,)
        Confidence in the most likely candidate.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    bars_ : list of matplotlib BarContainer
        Histograms before and after, over rows with several candidates.

    Examples
    --------
    >>> from partlearn.inspection import ConfidenceDisplay
    >>> F = [[0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    >>> y = [{"a", "b"}, {"a", "b"}, {"c"}]
    >>> display = ConfidenceDisplay.from_predictions(F, y)
    >>> display.ax_.get_title()
    '2 ambiguous rows'
    """

    def __init__(self, before: ArrayLike, after: ArrayLike) -> None:
        self.before = np.asarray(before, dtype=np.float64)
        self.after = np.asarray(after, dtype=np.float64)

    @classmethod
    def from_predictions(
        cls, label_confidence: ArrayLike, y: Any, *, bins: int = 20, ax: Any = None
    ) -> Self:
        """Draw confidences of rows with given candidates.

        Parameters
        ----------
        label_confidence : array-like of shape (n_samples, n_classes)
            Belief in every candidate.
        y : candidate labels
            In any form that :func:`partlearn.candidates.check_candidates` reads.
        bins : int, default=20
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        display : ConfidenceDisplay
            The display, drawn.
        """
        F = np.asarray(label_confidence, dtype=np.float64)
        S: Mask = check_candidates(y)[1]
        if F.shape != S.shape:
            raise ValueError(
                "`label_confidence` must have the shape of the candidate matrix, "
                f"{S.shape}; got {F.shape}."
            )
        return cls(1 / S.sum(axis=1), F.max(axis=1)).plot(bins=bins, ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, y: Any, *, bins: int = 20, ax: Any = None
    ) -> Self:
        """Draw the training confidences of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With ``label_confidence_``, or a pipeline with such a step.
        y : candidate labels
            What it was fitted on.
        bins : int, default=20
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        display : ConfidenceDisplay
            The display, drawn.
        """
        F = require_confidence(estimator, "Use `from_predictions` with probabilities.")
        return cls.from_predictions(F, y, bins=bins, ax=ax)

    def plot(self, *, bins: int = 20, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        bins : int, default=20
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        self : ConfidenceDisplay
            The display, with its artists.
        """
        self.ax_ = ax = axes(ax, figsize=(6, 3.5))
        self.figure_ = ax.figure
        ambiguous = self.before < 1
        edges = np.linspace(0, 1, bins + 1)
        self.bars_ = [
            ax.hist(values[ambiguous], edges, alpha=0.6, label=name, color=colour)[2]
            for values, name, colour in (
                (self.before, "by the candidate set alone", "0.6"),
                (self.after, "after disambiguation", "C0"),
            )
        ]
        ax.set(
            xlabel="confidence in the most likely candidate",
            ylabel="rows",
            xlim=(0, 1),
            title=f"{ambiguous.sum()} ambiguous rows",
        )
        ax.margins(y=0.3)  # room for the legend: bars reach the top anywhere
        ax.legend(loc="upper left", fontsize=8)
        return self
