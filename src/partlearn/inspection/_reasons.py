"""Explanations of labels by columns and by similar rows."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._math.neighbors import some_neighbors
from partlearn._typing import Array, Indices

_MOST_COLUMNS = 30  # columns that are replaced: those that separate labels best
_LEAST = 1e-6  # smaller probabilities are raised to it
_WEAK = 0.05  # smallest change of the log odds that is named
_NAMED = 3  # columns and rows in a sentence


@dataclass(frozen=True)
class Reasons:
    """Why one row got its label.

    Attributes
    ----------
    row, label, rival : object
        Name of the row, its label, and the second most likely label.
    columns : list of (str, float)
        Contribution of each column to the log odds of the label over the rival: their
        mean decrease when the column takes values of other rows. The largest change
        comes first; negative ones favor the rival. Empty if the method has no
        ``predict_proba``.
    neighbors : list of (row, label, confidence)
        Most similar rows, the nearest first, with their labels.
    """

    row: Any
    label: Any
    rival: Any
    columns: list[tuple[str, float]]
    neighbors: list[tuple[Any, Any, float]]

    def __str__(self) -> str:
        return ". ".join(part for part in (self.by_columns, self.by_rows) if part)

    @property
    def by_columns(self) -> str:
        """The columns that speak for and against the label, in words."""
        told = [(name, v) for name, v in self.columns if abs(v) >= _WEAK]
        parts = []
        for label, sign in ((self.label, 1), (self.rival, -1)):
            names = [f"{name} ({abs(v):.1f})" for name, v in told if np.sign(v) == sign]
            if names:
                parts.append(f"for {label}: {', '.join(names[:_NAMED])}")
        return "; ".join(parts)

    @property
    def by_rows(self) -> str:
        """The most similar rows, in words."""
        near = [f"{name} ({label})" for name, label, _ in self.neighbors[:_NAMED]]
        return f"like {', '.join(near)}" if near else ""


def explain_labels(
    estimator: Any,
    X: Any,
    sources: Sequence[str],
    result: Any,
    places: Indices,
    *,
    n_neighbors: int = 5,
    n_draws: int = 20,
) -> list[Reasons]:
    """Explain the labels of some rows.

    Parameters
    ----------
    estimator : fitted estimator
        Estimator that found the labels.
    X : array or CSR matrix of shape (n_samples, n_features)
        Its training rows.
    sources : sequence of str
        Column of the table for each feature.
    result : Disambiguation
        The labels.
    places : ndarray of int
        Indices of the rows to explain.
    n_neighbors : int, default=5
        Number of similar rows.
    n_draws : int, default=20
        Number of other rows from which each column takes values.

    Returns
    -------
    reasons : list of Reasons
        One for each row.
    """
    F = result.label_confidence
    ranked = np.argsort(-F[places], axis=1, kind="stable")
    best, rival = ranked[:, 0], ranked[:, :2][:, -1]
    groups = _separating(X, sources, F)
    changes = np.zeros((len(places), 0))
    if hasattr(estimator, "predict_proba"):
        changes, rival = _changes(
            estimator, X, list(groups.values()), places, best, rival, F, n_draws
        )
    names = list(groups)
    k = min(n_neighbors, F.shape[0] - 1)
    near = some_neighbors(X, places, k)[1] if k else np.empty((len(places), 0), int)
    reasons = []
    for i, place in enumerate(places):
        order = np.argsort(-np.abs(changes[i]), kind="stable")
        reasons.append(
            Reasons(
                row=result.index[place],
                label=result.classes[best[i]],
                rival=result.classes[rival[i]] if len(result.classes) > 1 else None,
                columns=[(names[g], float(changes[i, g])) for g in order],
                neighbors=[
                    (result.index[j], result.label[j], float(result.confidence[j]))
                    for j in near[i]
                ],
            )
        )
    return reasons


def _separating(X: Any, sources: Sequence[str], F: Array) -> dict[str, Indices]:
    """Features of the columns that separate the labels best, by column.

    Measured by the variance of the means of the labels, weighted by confidence.
    """
    share = F.mean(axis=0)
    means = np.asarray((X.T @ F).T) / np.maximum(share * len(F), 1e-12)[:, None]
    center = share @ means
    between = share @ np.square(means - center)
    squares = X.multiply(X) if sp.issparse(X) else np.square(X)
    total = np.asarray(squares.mean(axis=0)).ravel() - np.square(center)
    ratio = between / np.maximum(total, 1e-12)
    features: dict[str, list[int]] = {}
    for j, name in enumerate(sources):
        features.setdefault(str(name), []).append(j)
    ranked = sorted(features, key=lambda name: -ratio[features[name]].max())
    return {name: np.asarray(features[name]) for name in ranked[:_MOST_COLUMNS]}


def _changes(
    estimator: Any,
    X: Any,
    groups: list[Indices],
    places: Indices,
    best: Indices,
    rival: Indices,
    F: Array,
    n_draws: int,
) -> tuple[Array, Indices]:
    """Contribution of each column to the log odds, and the rivals.

    If a row has no second label with positive confidence, the rival is the second most
    probable label of the classifier.
    """
    n = len(places)
    at = np.arange(n)
    own = _dense(X[places])
    P = _probabilities(estimator, own, X)
    others = P.copy()
    others[at, best] = -1
    alone = (F[places] > 0).sum(axis=1) < 2
    rival = np.where(alone, others.argmax(axis=1), rival)
    drawn = _dense(X[np.random.RandomState(0).permutation(len(F))[:n_draws]])

    def log_odds(P: Array) -> Array:
        logs = np.log(np.maximum(P, _LEAST))
        return np.asarray(logs[at, ..., best] - logs[at, ..., rival])

    before = log_odds(P)
    changes = np.zeros((n, len(groups)))
    for g, group in enumerate(groups):
        replaced = np.repeat(own, len(drawn), axis=0)
        replaced[:, group] = np.tile(drawn[:, group], (n, 1))
        without = _probabilities(estimator, replaced, X).reshape(n, len(drawn), -1)
        changes[:, g] = before - log_odds(without).mean(axis=1)
    return changes, rival


def _probabilities(estimator: Any, rows: Array, X: Any) -> NDArray[Any]:
    return np.asarray(
        estimator.predict_proba(sp.csr_array(rows) if sp.issparse(X) else rows)
    )


def _dense(rows: Any) -> Array:
    return np.array(rows.toarray() if sp.issparse(rows) else rows)
