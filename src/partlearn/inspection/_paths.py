"""Displays of convergence and of selection paths."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from partlearn.feature_selection import SelectionCurve
from partlearn.inspection._axes import Display


class ConvergenceDisplay(Display):
    """Objective of a fit against the iterations.

    Parameters
    ----------
    objective : array-like of shape (n_iter,)
        One value per iteration.
    name : str, default=""
        Name of the estimator, for the title.

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
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.decomposition import CENDA
    >>> from partlearn.inspection import ConvergenceDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = ConvergenceDisplay.from_estimator(CENDA().fit(X, y))
    >>> display.ax_.get_xlabel()
    'iteration'
    """

    def __init__(self, objective: ArrayLike, *, name: str = "") -> None:
        self.objective = np.atleast_1d(np.asarray(objective, dtype=np.float64))
        self.name = name

    @classmethod
    def from_predictions(
        cls, objective: ArrayLike, *, name: str = "", ax: Any = None
    ) -> Self:
        """Draw given values.

        Parameters
        ----------
        objective : array-like of shape (n_iter,)
            One value per iteration.
        name : str, default=""
            What was fitted.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ConvergenceDisplay
            The display, drawn.
        """
        return cls(objective, name=name).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw ``objective_`` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With ``objective_``.
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        display : ConvergenceDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        name = type(estimator).__name__
        if not hasattr(estimator, "objective_"):
            raise ValueError(f"{name} has no `objective_`: it does not iterate.")
        return cls(estimator.objective_, name=name).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : ConvergenceDisplay
            The display, with its artists.
        """
        ax = self._axes(ax, (5, 3.5))
        steps = np.arange(1, len(self.objective) + 1)
        (self.line_,) = ax.plot(steps, self.objective, "o-", markersize=3)
        ax.set(xlabel="iteration", ylabel="objective", title=self.name)
        return self


class SelectionPathDisplay(Display):
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
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
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
            Axes to draw on; a new figure by default.

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
            Axes to draw on; a new figure by default.

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
            Axes to draw on; a new figure by default.

        Returns
        -------
        self : SelectionPathDisplay
            The display, with its artists.
        """
        if (self.selector is None) == (self.curves is None):
            raise ValueError("Give either a fitted `selector` or `curves`.")
        if self.curves is None:
            check_is_fitted(self.selector)
            if not hasattr(self.selector, "relevance_"):
                raise TypeError(
                    f"{type(self.selector).__name__} has no path of relevances to draw;"
                    " give SAUTE or MaxRelevance, or draw `curves`."
                )
        ax = self._axes(ax, (6, 4))
        if self.curves is None:
            self._plot_path(ax)
        else:
            self._plot_curves(ax, self.curves)
        ax.set_xlabel("number of selected features")
        ax.legend()
        self.lines_ = list(ax.get_lines())
        return self

    def _plot_path(self, ax: Any) -> None:
        selector = self.selector
        steps = np.arange(1, len(selector.relevance_) + 1)
        ax.plot(steps, -selector.relevance_, "o-", label="H(label | feature)")
        ax.plot(steps, selector.redundancy_, "s--", label="mean redundancy")
        ax.set_ylabel("nats")
        if hasattr(selector, "hit_rates_"):
            other = ax.twinx()
            other.plot(selector.sizes_, selector.hit_rates_, "^:", color="C2")
            other.set_ylabel("candidate hit rate (dotted)")

    def _plot_curves(self, ax: Any, curves: Mapping[str, SelectionCurve]) -> None:
        for style, (name, curve) in enumerate(curves.items()):
            marker = "osD^vPX"[style % 7]
            ax.errorbar(*curve, marker=marker, capsize=2, label=name)
        ax.set_ylabel("accuracy")
