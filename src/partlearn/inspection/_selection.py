"""A selection along its path, or accuracy by number of features."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any, Self

from partlearn.feature_selection import SelectionCurve, plot_selection_path
from partlearn.inspection._axes import axes

__all__ = ["SelectionPathDisplay"]


class SelectionPathDisplay:
    """Relevance and redundancy along a path, or accuracy by number of features.

    Parameters
    ----------
    selector : fitted SAUTE or MaxRelevance, default=None
        Drawn along its path.
    curves : mapping of str to SelectionCurve, default=None
        Drawn instead, by name; see
        :func:`~partlearn.feature_selection.selection_curve`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    lines_ : list of matplotlib Line2D
        The curves.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.feature_selection import MaxRelevance
    >>> from partlearn.inspection import SelectionPathDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = SelectionPathDisplay.from_estimator(MaxRelevance(5).fit(X, y))
    >>> len(display.lines_)
    2
    """

    def __init__(
        self,
        selector: Any = None,
        *,
        curves: Mapping[str, SelectionCurve] | None = None,
    ) -> None:
        self.selector = selector
        self.curves = curves

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw a fitted selector along its path.

        Parameters
        ----------
        estimator : fitted SAUTE or MaxRelevance
            The selector.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        display : SelectionPathDisplay
            The display, drawn.
        """
        return cls(estimator).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, curves: Mapping[str, SelectionCurve], *, ax: Any = None
    ) -> Self:
        """Draw accuracy against number of features.

        Parameters
        ----------
        curves : mapping of str to SelectionCurve
            Curves by name.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        display : SelectionPathDisplay
            The display, drawn.
        """
        return cls(curves=curves).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        self : SelectionPathDisplay
            The display, with its artists.
        """
        ax = axes(ax, figsize=(6, 4))
        self.ax_ = plot_selection_path(self.selector, curves=self.curves, ax=ax)
        self.figure_ = ax.figure
        self.lines_ = list(ax.get_lines())
        return self
