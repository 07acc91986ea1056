"""Estimate the quality of labels of new rows on held-out rows."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from partlearn._arguments import argument, check_index
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import (
    Evidence,
    GoldQuality,
    gold_quality,
    warn_if_chosen,
)
from partlearn.classification import Calibration
from partlearn.io import Columns, columns_of
from partlearn.metrics import (
    approximated_accuracy,
    candidate_dependence,
    candidate_hit_rate,
    cautious_share,
    hit_accuracy,
)
from partlearn.tables._bags import warn_of_runs
from partlearn.tables._classifier import PartialClassifier
from partlearn.tables._column_kinds import as_names
from partlearn.tables._labels import true_labels, warn_unknown_truth
from partlearn.tables._splits import held_out_models
from partlearn.tables._tags import held_out_labels

_MOST = 0.5  # share of rows with true labels from which labels are judged by them


class ClassQuality(NamedTuple):
    """Quality of the predictions of one label on held-out rows.

    Attributes
    ----------
    label : object
        The label.
    n_rows : float
        Expected number of rows with this label; the exact number if true labels are
        known.
    recall : float
        Share of these rows that are predicted right.
    precision : float
        Share of its predictions that are right. NaN without any.
    """

    label: Any
    n_rows: float
    recall: float
    precision: float


class QualityScore(NamedTuple):
    """Scores of a classifier or a baseline on held-out rows.

    Attributes
    ----------
    name : str
        The classifier or the baseline.
    covering_rate : float
        Share of rows whose predicted label is one of their candidates.
    approximated_accuracy : float
        Estimate of the accuracy without true labels. It assumes that false candidates
        are independent of the true label.
    accuracy : float or None
        Share of right labels among the rows whose true label is known; None without
        any.
    note : str
        Reason why a baseline could not be fitted; its scores are NaN then.
    low : float or None
        Lower end of the estimate, if the classifier is overconfident or the assumption
        fails; labels that come together more often than by chance count as guesses.
    together : tuple of (label, label, lift)
        The pairs of labels that contradict the assumption.
    tested : bool
        Whether the assumption could be tested. It cannot with three labels or fewer and
        hardly any row with a single candidate.
    gold : GoldQuality or None
        Estimate of the accuracy on new rows from the column `gold`, with an interval.
    n_train, n_test : int
        Training rows (the maximum over the folds), and rows tested.
    overconfident : bool
        Whether the estimate is at least two standard errors above another one, which
        uses the covering rate instead of probabilities.
    classes : tuple of ClassQuality
        Quality by label, lowest recall first, for the classifier only: from true labels
        if most rows have one, otherwise estimated like `approximated_accuracy`.
    calibration : Calibration or None
        Probabilities of the held-out rows, for the classifier only: see
        :meth:`partlearn.PartialClassifier.calibrate`.
    """

    name: str
    covering_rate: float
    approximated_accuracy: float
    accuracy: float | None = None
    note: str = ""
    low: float | None = None
    together: tuple[tuple[Any, Any, float], ...] = ()
    gold: GoldQuality | None = None
    tested: bool = True
    n_train: int = 0
    n_test: int = 0
    overconfident: bool = False
    classes: tuple[ClassQuality, ...] = ()
    calibration: Calibration | None = None


class Agreement(NamedTuple):
    """Agreement of the chosen labels with true labels.

    Rows with a single candidate are right by definition. Compare methods on the other
    rows, and with a random guess among the candidates.

    Attributes
    ----------
    accuracy : float
        Share of right labels among the rows whose true label is known.
    n_ambiguous : int
        Number of these rows with several candidates.
    ambiguous_accuracy : float
        Share of right labels among rows with several candidates; NaN without any.
    chance : float
        Expected share among them if a candidate is drawn at random.
    """

    accuracy: float
    n_ambiguous: int
    ambiguous_accuracy: float
    chance: float


def estimate_quality(
    classifier: PartialClassifier,
    X: Any,
    y: Any = None,
    *,
    truth: ArrayLike | None = None,
    cv: int = 3,
    random_state: int = 0,
    time: str | None = None,
    max_rows: int | None = None,
) -> list[QualityScore]:
    """Estimate the quality of a classifier beside chance and simple baselines.

    Parameters
    ----------
    classifier : PartialClassifier
        Clones of it, with its encoder, are fitted on all folds but one. Rows of one of
        its `groups` are held out together, or rows of a bag if it has no groups.
    X, y : table and labels
        As for :meth:`partlearn.PartialClassifier.fit`.
    truth : array-like of shape (n_samples,), default=None
        True labels; None or empty if not known. By default the column `gold` of the
        classifier.
    cv : int, default=3
        Number of folds.
    random_state : int, default=0
        Seed of the folds.
    time : str, default=None
        Column of dates or numbers: models are trained on earlier rows and tested on
        later ones, in `cv` parts. All rows of a group have the time of its latest row.
    max_rows : int, default=None
        Largest number of rows to use. For larger tables, one model is trained on four
        fifths of this number and tested on one fifth. The estimate is a little too low,
        since the model of all rows has more training rows.

    Returns
    -------
    scores : list of QualityScore
        The classifier; the same learner on the rows with a single candidate; the most
        frequent label; a random label.

    Notes
    -----
    Covering rates are high for large sets: compare them with the covering rate of a
    random label.

    Labels in the column `gold` are hidden in held-out rows. The share predicted right
    gives an interval for the accuracy on new rows. It is valid if these rows are a
    random sample, and a little low, since a fold has fewer training rows.

    Examples
    --------
    >>> from partlearn import PartialClassifier
    >>> from partlearn.datasets import make_tickets
    >>> from partlearn.tables import estimate_quality
    >>> tickets = make_tickets(150)
    >>> model = PartialClassifier("pl-knn", labels="candidates", id="ticket")
    >>> scores = estimate_quality(model, tickets.columns, truth=tickets.truth, cv=2)
    >>> [score.name for score in scores]
    ['PLKNN', 'PLKNN on single candidates', 'most frequent label', 'random label']
    """
    check_index(X, y=y, truth=truth)
    columns = columns_of(X)
    evidence, names = held_out_labels(classifier, columns, y, cv)
    if classifier.bags is classifier.groups is None:
        warn_of_runs(
            evidence,
            columns.keys() - {*as_names(classifier.ignore)},
            " Rows of one bag must be held out together, or the estimate is too good.",
        )
    sample = None
    if classifier.gold is not None:
        sample = true_labels(columns[classifier.gold])[evidence.rows]
    known = sample if truth is None else _true_labels(truth, evidence)
    outputs: dict[str, list[Array]] = {}
    note = ""
    order = []
    n_train = 0
    how = {"cv": cv, "time": time, "max_rows": max_rows, "random_state": random_state}
    for train, test, model, held in held_out_models(
        classifier, columns, evidence, names, **how
    ):
        order.append(test)
        n_train = max(n_train, len(train))
        part = evidence[train]
        label = type(model.estimator_).__name__
        shares = np.tile(part.confidence().mean(axis=0), (2, len(test), 1))
        try:
            on_singles = _confidences(
                _fit_singles(classifier, columns, part, names), held
            )
        except ValueError as error:
            note = str(error).split(". ")[0]
            on_singles = np.full(shares.shape, np.nan)
        rivals = {
            label: _confidences(model, held),
            f"{label} on single candidates": on_singles,
            "most frequent label": shares,
        }
        for name, output in rivals.items():
            outputs.setdefault(name, []).append(output)
    rows = np.concatenate(order)
    S, q = evidence.candidates[rows], len(evidence.classes)
    right = None if known is None else known[rows]
    chance = None if right is None else 1 / q
    scores = [
        _score(
            name,
            np.concatenate(parts, axis=1),
            S,
            evidence.classes,
            right,
            note,
            None if sample is None else sample[rows],
        )
        for name, parts in outputs.items()
    ]
    P, decision = np.concatenate(outputs[label], axis=1)
    by_class = _by_class(P, decision.argmax(axis=1), S, evidence.classes, right)
    calibration = _calibration(P, evidence[rows], sample, rows)
    scores[0] = scores[0]._replace(classes=by_class, calibration=calibration)
    chances = QualityScore("random label", float(S.mean()), 1 / q, chance)
    return [s._replace(n_train=n_train, n_test=len(rows)) for s in (*scores, chances)]


def _by_class(
    P: Array, best: Indices, S: Mask, classes: NDArray[Any], truth: Any
) -> tuple[ClassQuality, ...]:
    """Compute recall and precision of each label, from the truth or from confidences.

    Without the truth, labels that cannot be told apart get NaN.
    """
    right = _inside(P, S)
    unknown = candidate_dependence(Evidence(S, classes), right).partners.any(axis=1)
    values = () if truth is None else truth
    known = np.array([label is not None for label in values], dtype=bool)
    if known.size and known.mean() >= _MOST:
        right = (classes.astype(str) == truth[known, None]).astype(float)
        best, unknown = best[known], np.zeros(len(classes), dtype=bool)
    chosen = best[:, None] == np.arange(len(classes))
    hits = (right * chosen).sum(axis=0)
    rows, predicted = right.sum(axis=0), chosen.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall, precision = (
            np.where(unknown, np.nan, hits / total) for total in (rows, predicted)
        )
    order = np.argsort(np.nan_to_num(recall, nan=2.0), kind="stable")
    return tuple(
        ClassQuality(classes[j], float(rows[j]), float(recall[j]), float(precision[j]))
        for j in order
    )


def _inside(P: Array, S: Mask) -> Array:
    """Restrict probabilities to the candidates; rows may become zero."""
    inside = np.where(S, P, 0.0)
    return inside / np.maximum(inside.sum(axis=1, keepdims=True), np.finfo(float).tiny)


def _gold_quality(
    labels: NDArray[Any], truth: NDArray[Any], P: NDArray[Any]
) -> GoldQuality:
    known = np.asarray([label is not None for label in truth])
    warn_if_chosen(P.max(axis=1), np.flatnonzero(known))
    return gold_quality(labels[known].astype(str) == truth[known])


def _calibration(
    P: Array, evidence: Evidence, sample: NDArray[Any] | None, rows: Indices
) -> Calibration:
    """Collect held-out probabilities, with true labels of a random sample if any."""
    if sample is None:
        return Calibration.of(P, evidence)
    given = {i: label for i, label in enumerate(sample[rows]) if label is not None}
    known = np.zeros(len(rows), dtype=bool)
    known[list(given)] = True
    return Calibration.of(P, evidence.with_known(given), known)


def _true_labels(truth: ArrayLike, evidence: Evidence) -> NDArray[Any]:
    values = true_labels(truth)
    if values.ndim != 1 or len(values) <= evidence.rows.max(initial=0):
        raise ValueError(
            f"{argument('truth')} must hold one label per row of the table."
        )
    warn_unknown_truth(values[evidence.rows], evidence.classes)
    return values[evidence.rows]


def _confidences(model: PartialClassifier, held: Columns) -> Array:
    """Return probabilities, and the scores whose largest one decides."""
    P = model.predict_proba(held)
    return np.stack([P, model._decision(P)])


def _fit_singles(
    classifier: PartialClassifier, columns: Columns, part: Evidence, names: list[str]
) -> PartialClassifier:
    """Fit the same learner on the rows with a single candidate."""
    singles = part[np.flatnonzero(part.candidates.sum(axis=1) == 1)]
    if len(np.unique(singles.candidates.argmax(axis=1))) < 2:
        raise ValueError("fewer than two labels occur in sets of one")
    return clone(classifier).fit_evidence(columns, singles, names)


def _score(
    name: str,
    confidences: Array,
    S: Mask,
    classes: NDArray[Any],
    truth: NDArray[Any] | None,
    note: str,
    sample: NDArray[Any] | None,
) -> QualityScore:
    P, decision = confidences
    if np.isnan(P).any():
        return QualityScore(name, float("nan"), float("nan"), None, note)
    best = decision.argmax(axis=1)
    accuracy = None
    if truth is not None:
        known = np.asarray([label is not None for label in truth])
        right = classes[best].astype(str) == truth
        accuracy = float(right[known].mean()) if known.any() else None
    inside = _inside(P, S)
    dependence = candidate_dependence(Evidence(S, classes), inside)
    chance = inside[np.arange(len(P)), best]
    low = cautious_share(chance, S, best, dependence.partners).mean()
    likely = approximated_accuracy(S, P, y_pred=best)
    by_hits, error = hit_accuracy(S, best, inside)
    overconfident = likely - by_hits > 2 * error
    if overconfident:
        low = min(low, max(by_hits - 2 * error, 0.0))
    doubted = overconfident or dependence.pairs or not dependence.tested
    return QualityScore(
        name,
        candidate_hit_rate(S, best, weighted=False),
        likely,
        accuracy,
        low=float(low) if doubted else None,
        overconfident=overconfident,
        tested=dependence.tested,
        together=tuple(dependence.pairs),
        gold=None if sample is None else _gold_quality(classes[best], sample, P),
    )
