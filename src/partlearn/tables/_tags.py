"""Read tags of tables, and estimate the quality of their classifiers."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from partlearn._arguments import argument
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import Tags, check_tags
from partlearn.io import (
    AmbiguousDataError,
    LabelColumns,
    TagForm,
    columns_of,
    row_count,
    tag_columns,
)
from partlearn.metrics import average_precision
from partlearn.tables._labels import aligned, named_columns
from partlearn.tables._splits import held_out_models

_LIST = re.compile(r"\[[^\[\]]+,[^\[\]]+\]")
_PLAIN = TagForm("sets", ["tags"])

CANNOT = (
    "Without true tags, only the ranking of the listed tags of new rows can be "
    "estimated. The shares of false and of missing tags cannot: few true tags with "
    "many false ones give the same lists as the reverse."
)


def read_tags(
    columns: Mapping[str, Any], y: Any, sep: str | None = None
) -> tuple[Tags, list[str], TagForm]:
    """Read the tags of a table, and return their columns and form.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of the table, as from ``columns_of``.
    y : str, list of str, LabelColumns, or tags
        Columns that hold the tags, or tags in any form that ``check_tags`` reads.
    sep : str, default=None
        Separator of tags; ``|``, ``;`` and ``,`` are recognized.

    Returns
    -------
    tags : Tags
        ``tags.rows`` are the labeled rows.
    names : list of str
        Columns of the tags; empty if `y` holds the tags themselves.
    form : TagForm
        Form of the tags.

    Examples
    --------
    >>> from partlearn.tables import columns_of, read_tags
    >>> columns = columns_of({"tempo": [120.0, 90.0], "tags": ["rock|live", "live"]})
    >>> read_tags(columns, "tags")[0]
    Tags(2 rows, 2 tags, 1.5 listed a row)
    """
    names = named_columns(columns, y)
    if names is None:
        return aligned(check_tags(y), y, row_count(columns)), [], _PLAIN
    form = y.form if isinstance(y, LabelColumns) else None
    tags, written = tag_columns(columns, names, sep=sep, form=form)
    tags.read_as = written.describe(tags)
    return tags, names, written


def tags_of(
    columns: Mapping[str, Any], y: Any, sep: str | None = None
) -> tuple[Tags, list[str]]:
    """Read the tags of a table, as :func:`read_tags` without their form."""
    tags, names, _ = read_tags(columns, y, sep)
    return tags, names


def tag_scores(learner: Any, Z: Any) -> Array:
    """Return scores of tags by a fitted learner; larger ones are more likely.

    Parameters
    ----------
    learner : estimator
        A fitted classifier for tags.
    Z : array-like of shape (n, d)
        Rows.

    Returns
    -------
    scores : ndarray of shape (n, q)
        Probabilities if the learner has any.
    """
    for name in ("predict_proba", "tag_scores", "decision_function"):
        if hasattr(learner, name):
            return np.asarray(getattr(learner, name)(Z))
    return np.asarray(learner.predict(Z), dtype=np.float64)


def tag_probabilities(learner: Any, Z: Any) -> Array:
    """Return probabilities of tags by a fitted learner.

    Parameters
    ----------
    learner : estimator
        A fitted classifier for tags.
    Z : array-like of shape (n, d)
        Rows.

    Returns
    -------
    P : ndarray of shape (n, q)
        Between 0 and 1.
    """
    if hasattr(learner, "predict_proba"):
        return np.asarray(learner.predict_proba(Z))
    raise ValueError(
        f"{type(learner).__name__} has no probabilities of tags. Pass "
        "CRISPMultiLabelClassifier(false_rate=...) as `method`, or take scores from "
        "`predictions`."
    )


def scored_tags(chosen: Mask, scores: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """Write chosen tags with their scores as text: ``rock:0.91|live:0.55``."""
    names, scores = classes.tolist(), np.clip(scores, 0, 1)
    lines = []
    for row, values in zip(chosen, scores, strict=True):
        order = np.argsort(-values, kind="stable")
        lines.append("|".join(f"{names[j]}:{values[j]:.2f}" for j in order if row[j]))
    return np.asarray(lines, dtype=object)


def told_tags(
    learner: Any, Z: Array, classes: NDArray[Any], form: TagForm | None
) -> dict[str, NDArray[Any]]:
    """Return predicted tags in the form of the training table, and their scores.

    Parameters
    ----------
    learner : estimator
        A fitted classifier for tags.
    Z : array-like of shape (n, d)
        Rows.
    classes : ndarray of shape (q,)
        The tags.
    form : TagForm or None
        Form of the tags in the training table; None stands for a column of sets.

    Returns
    -------
    columns : dict of str to ndarray
        The tags. Unless they are weights, also ``scores`` of the predicted tags and of
        the three most likely ones.
    """
    chosen, scores = np.asarray(learner.predict(Z)) > 0, tag_scores(learner, Z)
    form = form or _PLAIN
    told = form.write(chosen, scores, classes)
    if form.form != "weights":
        third = np.sort(scores, axis=1)[:, [-min(3, scores.shape[1])]]
        told["scores"] = scored_tags(chosen | (scores >= third), scores, classes)
    return told


def held_out_labels(
    classifier: Any, columns: Mapping[str, Any], y: Any, cv: int
) -> tuple[Any, list[str]]:
    """Read the labels of a table for cross-validation.

    Parameters
    ----------
    classifier : PartialClassifier
        Reads the labels.
    columns : mapping of str to ndarray
        The table.
    y : labels
        As for :meth:`partlearn.PartialClassifier.fit`.
    cv : int
        Number of folds.

    Returns
    -------
    labels : Evidence or Tags
        The labels of at least `cv` rows.
    names : list of str
        Columns that hold them.
    """
    labels, names = classifier.read_labels(columns, y)
    if len(labels) < cv:
        raise ValueError(
            f"{len(labels)} labeled rows are too few for {cv} folds; use fewer "
            "folds, or 0 for none."
        )
    return labels, names


class TagQuality(NamedTuple):
    """Scores of a ranking of tags on held-out rows.

    Attributes
    ----------
    name : str
        The classifier, or the baseline it is compared with.
    listed_precision : float
        Average precision of the ranking against the listed tags.
    true_precision : float or None
        Average precision against the true tags, if they are known.
    false_found : float or None
        Probability that a true listed tag scores higher than a false listed one, if
        true tags are known; one half is chance.
    """

    name: str
    listed_precision: float
    true_precision: float | None = None
    false_found: float | None = None


def estimate_tag_quality(
    classifier: Any,
    X: Any,
    y: Any = None,
    *,
    truth: Tags | None = None,
    cv: int = 3,
    random_state: int = 0,
    time: str | None = None,
    max_rows: int | None = None,
) -> list[TagQuality]:
    """Estimate how well a classifier ranks the tags of new rows.

    Parameters
    ----------
    classifier : PartialClassifier
        With ``task="tags"``; clones of it are fitted on all folds but one.
    X, y : table and tags
        As for :meth:`partlearn.PartialClassifier.fit`.
    truth : Tags, default=None
        True tags, where known.
    cv : int, default=3
        Number of folds.
    random_state : int, default=0
        Seed of the folds.
    time, max_rows : str, int
        As for :func:`estimate_quality`.

    Returns
    -------
    scores : list of TagQuality
        The classifier, and the tags in the order of their frequency.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn import PartialClassifier
    >>> from partlearn.tables import estimate_tag_quality
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> listed = np.column_stack([X[:, :2] > 0, X[:, 2] > 2])
    >>> model = PartialClassifier(task="tags")
    >>> ours, frequent = estimate_tag_quality(model, X, listed)
    >>> ours.listed_precision > frequent.listed_precision
    True
    """
    columns = columns_of(X)
    tags, names = held_out_labels(classifier, columns, y, cv)
    ours, frequent = np.zeros(tags.shape), np.zeros(tags.shape)
    tested: list[Indices] = []
    how = {"cv": cv, "time": time, "max_rows": max_rows, "random_state": random_state}
    for train, test, model, held in held_out_models(
        classifier, columns, tags, names, **how
    ):
        tested.append(test)
        ours[test] = tag_scores(model.estimator_, model.encoder_.transform(held))
        frequent[test] = tags.weights[train].mean(axis=0)
    rows = np.sort(np.concatenate(tested))
    tags, ours, frequent = tags[rows], ours[rows], frequent[rows]
    S = tags.candidates
    Y = None if truth is None else true_matrix(truth, tags)
    label = type(model.estimator_).__name__
    return [_quality(label, ours, S, Y), _quality("most frequent tags", frequent, S, Y)]


def true_matrix(truth: Tags, tags: Tags) -> tuple[Mask, Mask]:
    """Return the true tags of the labeled rows, and a mask of the rows that have any.

    Parameters
    ----------
    truth : Tags
        True tags of some rows of a table.
    tags : Tags
        Listed tags of some rows of it.

    Returns
    -------
    Y : ndarray of bool, shape (n_known, q)
        True tags, columns as in `tags`.
    known : ndarray of bool, shape (n,)
        Rows of `tags` with known true tags.
    """
    known = np.isin(tags.rows, truth.rows)
    names = {str(name): j for j, name in enumerate(truth.classes.tolist())}
    place = {int(row): i for i, row in enumerate(truth.rows)}
    some = [place[int(row)] for row in tags.rows[known]]
    Y = np.zeros((len(some), len(tags.classes)), dtype=bool)
    for j, name in enumerate(tags.classes.tolist()):
        if str(name) in names:
            Y[:, j] = truth.candidates[some, names[str(name)]]
    return Y, known


def _quality(
    name: str, scores: Array, S: Mask, truth: tuple[Mask, Mask] | None
) -> TagQuality:
    listed = S.any(axis=1) & ~S.all(axis=1)
    precision = _precision(S[listed], scores[listed])
    if truth is None:
        return TagQuality(name, precision)
    Y, known = truth
    return TagQuality(
        name, precision, _precision(Y, scores[known]), separation(Y, S, scores, known)
    )


def _precision(Y: Mask, scores: Array) -> float:
    some = Y.any(axis=1)
    return average_precision(Y[some], scores[some]) if some.any() else float("nan")


def separation(Y: Mask, S: Mask, scores: Array, known: Mask) -> float | None:
    """Compute the probability that a true listed tag scores higher than a false one.

    Parameters
    ----------
    Y : ndarray of bool, shape (n_known, q)
        True tags of the rows that have any.
    S : ndarray of bool, shape (n, q)
        Listed tags.
    scores : ndarray of shape (n, q)
        Scores.
    known : ndarray of bool, shape (n,)
        Rows whose true tags are known.

    Returns
    -------
    auc : float or None
        None if all listed tags are true, or none is.
    """
    listed = S[known]
    right = Y[listed]
    if not 0 < right.sum() < right.size:
        return None
    return float(roc_auc_score(right, scores[known][listed]))


def rows_of_several(values: Any) -> list[int]:
    """Return the rows with several true labels.

    Parameters
    ----------
    values : sequence
        Cells of the true labels.

    Returns
    -------
    rows : list of int
        A comma separates labels only where its parts occur in other cells, too.
    """
    cells = [(i, v.strip()) for i, v in enumerate(values) if isinstance(v, str)]
    parts = {cell: [p.strip() for p in cell.split(",")] for _, cell in cells}
    often = Counter(part for words in parts.values() for part in words)
    several = [words for words in parts.values() if len(words) > 1]
    shared = all(often[part] > 1 for words in several for part in words)
    return [
        i
        for i, cell in cells
        if re.search(r"[^|;\s]\s*[|;]\s*[^|;\s]", cell)
        or _LIST.fullmatch(cell)
        or (shared and len(parts[cell]) > 1)
    ]


def refuse_several(values: Any, what: str) -> None:
    """Raise if a row has several true labels, but one is expected.

    Parameters
    ----------
    values : sequence
        Cells of the true labels.
    what : str
        Their source, for the message.
    """
    if several := rows_of_several(values):
        raise AmbiguousDataError(
            f"{what} names several true labels in {len(several)} rows, the first is "
            f"row {several[0]}",
            advice="If several labels of a row may be true, pass "
            f"{argument('task', 'tags')}; if not, "
            "leave one true label in each row.",
        )
