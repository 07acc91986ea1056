"""Pictures of a selection: along its path, and accuracy by number of features."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from partlearn._extras import import_optional
from partlearn._typing import Array, Indices
from partlearn.base import count_features
from partlearn.model_selection import cross_validate


class SelectionCurve(NamedTuple):
    """Accuracy against number of features: ``sizes``, ``mean`` and ``std`` (ddof 1)."""

    sizes: Indices
    mean: Array
    std: Array


def selection_curve(
    selector: Any,
    classifier: Any,
    X: Any,
    candidates: Any,
    truth: ArrayLike,
    *,
    sizes: Sequence[int | float] = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6),
    cv: Any = 10,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SelectionCurve:
    """Cross-validate a classifier on selections of several sizes.

    Selection, scaling and classifier are fitted on the training rows of each fold.

    Parameters
    ----------
    selector : selector
        Selector; it is cloned for each size.
    classifier : classifier
        Classifier for the selected features, scaled to variance one.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features.
    candidates : candidate labels
        In any form that :func:`partlearn.candidates.check_candidates` reads.
    truth : array-like of shape (n_samples,)
        True labels, used to score only.
    sizes : sequence of int or float, default=(0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6)
        Numbers of features, or fractions of them; by default those of the paper.
    cv : int, splitter or iterable of (train, test), default=10
        Number of shuffled folds, or how to split.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    n_jobs : int, default=None
        Folds in parallel; the result does not depend on it.

    Returns
    -------
    curve : SelectionCurve
        Accuracy for each distinct size.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.feature_selection import MaxRelevance, selection_curve
    >>> X, y = load_wine(return_X_y=True)
    >>> S = make_candidates(y, n_false=1, random_state=0)
    >>> curve = selection_curve(
    ...     MaxRelevance(alpha=0), PLKNN(), X, S, y, sizes=[2, 6], cv=3
    ... )
    >>> curve.sizes
    array([2, 6])
    >>> bool(curve.mean[1] > 0.8)
    True
    """
    d = X.shape[1] if hasattr(X, "shape") else len(X[0])
    counts = np.unique([count_features(size, d) for size in sizes])
    rows = []
    for n in counts:
        model = make_pipeline(
            clone(selector).set_params(n_features_to_select=int(n)),
            StandardScaler(with_mean=False),
            clone(classifier),
        )
        result = cross_validate(
            model, X, candidates, truth, cv=cv, random_state=random_state, n_jobs=n_jobs
        )
        rows.append(result["test_score"])
    scores = np.array(rows)
    return SelectionCurve(counts, scores.mean(axis=1), scores.std(axis=1, ddof=1))


def plot_selection_path(
    selector: Any = None,
    *,
    curves: Mapping[str, SelectionCurve] | None = None,
    ax: Any = None,
) -> Any:
    """Draw a selection along its greedy path, or accuracy by number of features.

    Parameters
    ----------
    selector : fitted SAUTE or MaxRelevance, default=None
        Its relevance and redundancy are drawn along the path; where the size was
        chosen by "auto", so are the hit rates of the sizes that were tried.
    curves : mapping of str to SelectionCurve, default=None
        Curves to draw instead, by name; see
        :func:`~partlearn.feature_selection.selection_curve`.
    ax : matplotlib Axes, default=None
        Where to draw; by default a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes that were drawn on.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.feature_selection import MaxRelevance, plot_selection_path
    >>> X, y = load_wine(return_X_y=True)
    >>> ax = plot_selection_path(MaxRelevance(5).fit(X, y))
    >>> ax.get_xlabel()
    'number of selected features'
    """
    if (selector is None) == (curves is None):
        raise ValueError("Give either a fitted `selector` or `curves`.")
    if selector is not None:
        check_is_fitted(selector)
        if not hasattr(selector, "relevance_"):
            raise TypeError(
                f"{type(selector).__name__} has no path of relevances to draw; give "
                "SAUTE or MaxRelevance, or draw `curves`."
            )
    if ax is None:
        figure = import_optional("matplotlib.figure", "Drawings", "plot")
        ax = figure.Figure(layout="constrained").add_subplot()
    ax.set_xlabel("number of selected features")
    if curves is not None:
        for style, (name, curve) in enumerate(curves.items()):
            ax.errorbar(
                curve.sizes,
                curve.mean,
                curve.std,
                marker="osD^vPX"[style % 7],
                capsize=2,
                label=name,
            )
        ax.set_ylabel("accuracy")
    else:
        steps = np.arange(1, len(selector.relevance_) + 1)
        ax.plot(steps, -selector.relevance_, "o-", label="H(label | feature)")
        ax.plot(steps, selector.redundancy_, "s--", label="mean redundancy")
        ax.set_ylabel("nats")
        if hasattr(selector, "hit_rates_"):
            other = ax.twinx()
            other.plot(selector.sizes_, selector.hit_rates_, "^:", color="C2")
            other.set_ylabel("candidate hit rate (dotted)")
    ax.legend()
    return ax
