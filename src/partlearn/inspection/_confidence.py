"""Displays of confidences, and of labels that share candidate sets."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import check_candidates, require_confidence
from partlearn.inspection._axes import Display


class CandidateConfusion(NamedTuple):
    """Pairs of labels in common candidate sets.

    ``together[i, j]`` counts the rows with both candidates. ``doubt[i, j]`` is the mean
    of ``4 p (1 - p)`` over these rows, where p is the share of i in the confidence of
    both labels. Rows are weighted by this confidence, so rows with a third, certain
    label have no weight. Doubt is zero if one of the two is always certain, and one if
    both are always equally likely. Pairs without a common set have doubt zero.
    """

    together: Indices
    doubt: Array


def candidate_confusion(
    label_confidence: ArrayLike, S: ArrayLike
) -> CandidateConfusion:
    """Count common candidate sets of labels, and measure the doubt between them.

    Parameters
    ----------
    label_confidence : array-like of shape (n_samples, n_classes)
        Confidence in every candidate.
    S : array-like of bool, shape (n_samples, n_classes)
        Candidates.

    Returns
    -------
    confusion : CandidateConfusion
        Counts and doubts of all pairs.

    Examples
    --------
    >>> from partlearn.inspection import candidate_confusion
    >>> F = [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    >>> confusion = candidate_confusion(F, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> int(confusion.together[0, 1]), float(confusion.doubt[0, 1])
    (2, 0.5)
    """
    M = np.asarray(S).astype(bool)
    F = _checked(label_confidence, M)
    q = M.shape[1]
    weights = M.astype(np.float64)
    together = (weights.T @ weights).round().astype(np.intp)
    doubt, confidence = np.zeros((q, q)), np.zeros((q, q))
    for i in range(q):
        rows = M[:, i]
        own, others = F[rows, i, None], F[rows]
        both = (own + others) * M[rows]
        share = np.divide(own, both, out=np.zeros_like(both), where=both > 0)
        doubt[i] = (both * 4 * share * (1 - share)).sum(axis=0)
        confidence[i] = both.sum(axis=0)
    np.fill_diagonal(together, 0)
    np.fill_diagonal(doubt, 0.0)
    return CandidateConfusion(
        together, np.divide(doubt, confidence, out=doubt, where=confidence > 0)
    )


def _checked(label_confidence: ArrayLike, S: Mask) -> Array:
    F = np.asarray(label_confidence, dtype=np.float64)
    if F.shape != S.shape:
        raise ValueError(
            "`label_confidence` must have the shape of the candidate matrix, "
            f"{S.shape}; got {F.shape}."
        )
    return F


class CandidateConfusionDisplay(Display):
    """Remaining confusion between labels that share candidate sets.

    Parameters
    ----------
    confusion : CandidateConfusion
        Result of ``candidate_confusion``.
    classes : array-like of shape (n_classes,)
        Names of the labels.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    im_ : matplotlib AxesImage
        Image of the doubts; pairs without a common set are white.

    Examples
    --------
    >>> from partlearn.inspection import CandidateConfusionDisplay
    >>> F = [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    >>> y = [{"a", "b"}, {"a", "b"}, {"c"}]
    >>> display = CandidateConfusionDisplay.from_predictions(F, y)
    >>> display.ax_.get_title()
    'Remaining doubt between labels'
    """

    def __init__(self, confusion: CandidateConfusion, classes: ArrayLike) -> None:
        self.confusion = confusion
        self.classes = np.asarray(classes)

    @classmethod
    def from_predictions(
        cls, label_confidence: ArrayLike, y: Any, *, ax: Any = None
    ) -> Self:
        """Plot the confusion from confidences and candidates.

        Parameters
        ----------
        label_confidence : array-like of shape (n_samples, n_classes)
            Confidence in every candidate.
        y : candidate labels
            In any form that :func:`partlearn.candidates.check_candidates` reads.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : CandidateConfusionDisplay
            The display, drawn.
        """
        classes, S = check_candidates(y)
        return cls(candidate_confusion(label_confidence, S), classes).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, y: Any, *, ax: Any = None) -> Self:
        """Plot the confusion from the training confidences of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With ``label_confidence_``, or a pipeline with such a step.
        y : candidate labels
            Its training data.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : CandidateConfusionDisplay
            The display, drawn.
        """
        F = require_confidence(estimator, "Use `from_predictions` with probabilities.")
        return cls.from_predictions(F, y, ax=ax)

    def plot(self, *, ax: Any = None, cmap: str = "viridis") -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.
        cmap : str, default="viridis"
            Color map.

        Returns
        -------
        self : CandidateConfusionDisplay
            The display, with its artists.
        """
        q = len(self.classes)
        side = min(4 + 0.25 * q, 12)
        ax = self._axes(ax, (side + 1, side))
        together, doubt = self.confusion
        self.im_ = ax.imshow(
            np.ma.masked_where(together == 0, doubt), cmap=cmap, vmin=0, vmax=1
        )
        self.figure_.colorbar(
            self.im_, ax=ax, label="doubt (0: one is certain, 1: equally likely)"
        )
        names = [str(name) for name in self.classes]
        ax.set_xticks(range(q), names, rotation=90)
        ax.set_yticks(range(q), names)
        ax.set_title("Remaining doubt between labels")
        if q <= 12:
            centered = {"ha": "center", "va": "center", "fontsize": 8}
            for i, j in np.argwhere(together > 0):
                color = "black" if doubt[i, j] > 0.6 else "white"
                ax.text(j, i, str(together[i, j]), color=color, **centered)
        return self


class ConfidenceDisplay(Display):
    """Histogram of the confidences of ambiguous rows, before and after disambiguation.

    Parameters
    ----------
    before : array-like of shape (n_samples,)
        One divided by the number of candidates.
    after : array-like of shape (n_samples,)
        Confidence in the most likely candidate.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
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
            Confidence in every candidate.
        y : candidate labels
            In any form that :func:`partlearn.candidates.check_candidates` reads.
        bins : int, default=20
            Number of bins.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ConfidenceDisplay
            The display, drawn.
        """
        S: Mask = check_candidates(y)[1]
        F = _checked(label_confidence, S)
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
            Its training data.
        bins : int, default=20
            Number of bins.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

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
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : ConfidenceDisplay
            The display, with its artists.
        """
        ax = self._axes(ax, (6, 3.5))
        ambiguous = self.before < 1
        edges = np.linspace(0, 1, bins + 1)
        self.bars_ = [
            ax.hist(values[ambiguous], edges, alpha=0.6, label=name, color=color)[2]
            for values, name, color in (
                (self.before, "before disambiguation", "0.6"),
                (self.after, "after disambiguation", "C0"),
            )
        ]
        ax.set(
            xlabel="confidence in the most likely candidate",
            ylabel="rows",
            xlim=(0, 1),
            title=f"{ambiguous.sum()} ambiguous rows",
        )
        ax.margins(y=0.3)  # room for the legend above the bars
        ax.legend(loc="upper left", fontsize=8)
        return self
