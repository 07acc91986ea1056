"""Scatter plot of embedded rows by label and confidence."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from partlearn.candidates import fitted_confidence
from partlearn.inspection._axes import Display

_MARKERS = "osD^vPX*<>"
_LEGEND = 20  # largest number of labels with a legend


class EmbeddingDisplay(Display):
    """Scatter plot of rows along two directions, by label and confidence.

    Parameters
    ----------
    Z : array-like or sparse matrix of shape (n_samples, n_components)
        Embedded rows; the first two columns are drawn, a single one by label.
    label : array-like of shape (n_samples,)
        Labels.
    confidence : array-like of shape (n_samples,), default=None
        Confidence in the labels, drawn as opacity; by default all are certain.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    points_ : list of matplotlib PathCollection
        The rows of each label, in sorted order of the labels.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.decomposition import CENDA
    >>> from partlearn.inspection import EmbeddingDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = EmbeddingDisplay.from_estimator(CENDA().fit(X, y), X)
    >>> len(display.points_)
    3
    """

    def __init__(
        self, Z: Any, label: ArrayLike, confidence: ArrayLike | None = None
    ) -> None:
        self.Z = Z.toarray() if issparse(Z) else np.asarray(Z)
        self.label = np.asarray(label)
        self.confidence = (
            np.ones(len(self.label)) if confidence is None else np.asarray(confidence)
        )
        shapes = self.Z.shape[:1], self.confidence.shape
        if self.Z.ndim != 2 or shapes != (self.label.shape, self.label.shape):
            raise ValueError(
                "`Z` must hold one row of coordinates per label, `confidence` one "
                f"number; got shapes {self.Z.shape} and {self.confidence.shape} for "
                f"{len(self.label)} labels."
            )

    @classmethod
    def from_predictions(
        cls,
        Z: Any,
        label: ArrayLike,
        confidence: ArrayLike | None = None,
        *,
        ax: Any = None,
    ) -> Self:
        """Draw embedded rows.

        Parameters
        ----------
        Z : array-like or sparse matrix of shape (n_samples, n_components)
            Embedded rows.
        label : array-like of shape (n_samples,)
            Labels.
        confidence : array-like of shape (n_samples,), default=None
            Confidence in them.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : EmbeddingDisplay
            The display, drawn.
        """
        return cls(Z, label, confidence).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None) -> Self:
        """Draw the training rows of a fitted reducer by their most likely label.

        Parameters
        ----------
        estimator : fitted reducer
            With ``transform`` and ``label_confidence_``.
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows it was fitted on.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : EmbeddingDisplay
            The display, drawn.
        """
        F = fitted_confidence(estimator)
        if F is None or not hasattr(estimator, "transform"):
            raise ValueError(
                f"{type(estimator).__name__} has no `transform` and `label_confidence_`"
                "; use `from_predictions` with coordinates and labels."
            )
        label = estimator.classes_[F.argmax(axis=1)]
        return cls(estimator.transform(X), label, F.max(axis=1)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : EmbeddingDisplay
            The display, with its artists.
        """
        ax = self._axes(ax, (6, 5))
        from matplotlib.colors import to_rgba_array

        classes, codes = np.unique(self.label, return_inverse=True)
        flat = self.Z.shape[1] == 1
        across = self.Z[:, 0]
        up = codes + np.linspace(-0.3, 0.3, len(codes)) if flat else self.Z[:, 1]
        alpha = np.clip(self.confidence, 0.1, 1.0)  # faint rows stay visible
        self.points_ = []
        for code, name in enumerate(classes):
            rows = codes == code
            self.points_.append(
                ax.scatter(
                    across[rows],
                    up[rows],
                    s=14,
                    color=to_rgba_array(f"C{code % 10}", alpha[rows]),
                    marker=_MARKERS[code % len(_MARKERS)],
                    linewidths=0,
                    label=str(name),
                )
            )
        ax.set(xlabel="first direction", ylabel="label" if flat else "second direction")
        if len(classes) <= _LEGEND:
            legend = ax.legend(fontsize=8, ncols=1 + (len(classes) > 10))
            for code, handle in enumerate(legend.legend_handles):
                handle.set_color(f"C{code % 10}")
        return self
