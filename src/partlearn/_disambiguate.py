"""Find the most likely label of every row, with its confidence."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Real
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from partlearn import candidates, tables
from partlearn._arguments import argument, check_index
from partlearn._disambiguation import Disambiguation
from partlearn._math.linalg import z_scores
from partlearn._registry import DEFAULT_METHOD, PARTIAL_LABEL_ROLES, build
from partlearn._typing import Array, Indices, Mask
from partlearn.base import check_matrix
from partlearn.candidates import MissRate
from partlearn.inspection import explain_labels
from partlearn.io import label_choice

# Miss rate of the fit from which the rate is estimated. Chosen on vehicle, vowel and
# digits with drawn errors: a smaller one believes wrong labels.
_FIRST_RATE = 0.2
_ENOUGH = 40  # rows from which halves of them are learned from
_MOST_HELD_OUT = 2000  # rows that tell whether probabilities are too high


def disambiguate(
    X: Any,
    y: Any = None,
    method: Any = DEFAULT_METHOD,
    *,
    standardize: bool = True,
    corrections: Mapping[Any, Any] | None = None,
    annotator: str | None = None,
    encoder: tables.TableEncoder | None = None,
    sep: str | None = None,
    raters: str | Sequence[str] | None = None,
    weights: str | Sequence[str] | None = None,
    marks: str | Sequence[str] | None = None,
    bags: Any = None,
    gold: Any = None,
    miss_rate: float | Literal["auto"] | None = None,
    task: Literal["single", "tags"] = "single",
) -> Any:
    """Find the most likely label of every row.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or path of a table
        Features of shape (n_samples, n_features). A table with text, dates, missing
        values or the labels themselves among its columns is encoded by `encoder`.
    y : candidate labels, weights or votes; or str or list of str, default=None
        In any form that :func:`partlearn.candidates.check_candidates` reads; or the
        columns of `X` that hold them. Every label is possible for rows of a table that
        have none. None finds the column by its name, such as ``candidates``.
    method : str or estimator, default="crisp-classifier"
        Name of a reducer, selector or classifier of this library with its default
        parameters, in any case, with or without hyphens ("cenda", "PL-KNN", "sure"); or
        an estimator for candidate labels, of which a clone is fitted.
    standardize : bool, default=True
        Whether to bring the columns to mean zero and variance one first; sparse columns
        are only scaled.
    corrections : mapping, default=None
        True labels of checked rows, by the name of the row: its entry in the index of a
        data frame, or its number from 0. The label may lie outside the candidates.
    annotator : str, default=None
        Name of the annotator who gave the `corrections`. They then count as one more
        vote of each row, and not as its true label. For votes.
    encoder : TableEncoder, default=None
        How to encode a table; by default as its columns look. The columns `id` name the
        rows of the result.
    sep : str, default=None
        Separator of labels in a column of a table; ``|``, ``;`` and ``,`` are
        recognized, and ``"none"`` reads each cell as one label.
    raters, weights, marks : str or list of str, default=None
        Label columns of a table, instead of `y`. A column of `raters` holds the labels
        given by one annotator. A column of `weights` or `marks` is named after a label
        and holds its weight, or a mark in the rows that have it. The meaning of several
        columns `y` is inferred from their cells; ``result.read_as`` describes it.
    bags : array-like of shape (n_samples,) or str, default=None
        Bag of each row, such as the photograph of a face: rows of a bag share one list
        of labels, each of which belongs to at least one of them. A column of a table;
        or "runs", unless a column is called so, for runs of rows with equal sets. For
        methods whose `fit` takes bags. Without it, a warning is raised where rows seem
        to come in bags.
    gold : mapping, array-like of shape (n_samples,) or str, default=None
        True labels of a random sample of rows: by the name of the row, one per row and
        None where it is not known, or a column of a table. They become certain, and
        also estimate ``quality`` and calibrate the confidences. The method is fitted
        twice, once without them.
    miss_rate : float or "auto", default=None
        Share of rows whose candidates miss the true label: of wrong labels where every
        row has one. Other labels become possible then, and the result ranks the rows to
        review (:meth:`Disambiguation.label_errors`). "auto" estimates it from `gold`,
        or, where every row has a single label, from predictions made without the label
        of the row. None takes the labels as they are. For methods that take weights.
    task : {"single", "tags"}, default="single"
        Whether one of the labels of a row is true, or any number of them (tags). Tags
        are scored by a
        :class:`~partlearn.multilabel.classification.CRISPMultiLabelClassifier` unless
        `method` is another classifier for tags. Corrections are whole sets, such as
        ``rock|live``.

    Returns
    -------
    result : Disambiguation, or TagDisambiguation for tags
        Label, confidence and margin of every row; of tags the scores, and which listed
        ones are believed or doubtful, and which others look missing.

    Notes
    -----
    ``partlearn disambiguate`` calls this function. The confidences are the estimator's
    ``label_confidence_``, of a pipeline those of the last step that has any. For a
    classifier without this attribute, its probabilities of the training rows are
    restricted to the candidates. IPAL corrects the class sizes before it decides: its
    own decision is in ``disambiguated_`` and may differ from the largest confidence.
    Confidences of most methods are no probabilities: check them by
    :meth:`Disambiguation.plot_calibration` where some truth is known.

    Examples
    --------
    >>> from partlearn import disambiguate
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> result = disambiguate(X, y, method="sure")
    >>> result.label
    array(['a', 'a', 'a', 'b', 'b', 'b'], dtype='<U1')
    >>> result.margin
    array([1., 1., 1., 1., 1., 1.])
    """
    y = label_choice(y, raters=raters, weights=weights, marks=marks)
    check_index(X, y=y, bags=bags, gold=gold)
    if isinstance(X, (str, PathLike)):
        X = tables.read_columns(X)
    if task == "tags":
        if not (bags is gold is miss_rate is annotator is None):
            raise ValueError(
                f"Tags come without {argument('bags')}, {argument('gold')}, "
                f"{argument('miss_rate')} and {argument('annotator')}; leave them out."
            )
        return tables.disambiguate_tags(
            X,
            y,
            method,
            standardize=standardize,
            corrections=corrections,
            encoder=encoder,
            sep=sep,
        )
    if task != "single":
        raise ValueError(f'`task` must be "single" or "tags"; got {task!r}.')
    index = np.asarray(X.index) if hasattr(X, "iloc") else None
    kept, columns, sources = None, {}, None
    if tables.is_frame(X):
        columns = tables.columns_of(X)
        beside = [n for n in (bags, gold) if isinstance(n, str) and n in columns]
        if beside:
            encoder = tables.TableEncoder() if encoder is None else clone(encoder)
            ignored = set(beside) - set(tables.as_names(encoder.id))
            encoder.set_params(ignore=[*tables.as_names(encoder.ignore), *ignored])
        X, y, index, kept, sources = _encoded(X, y, index, encoder, sep, bags)
    X = check_matrix(X)
    if sources is None:
        sources = [str(j) for j in range(X.shape[1])]
    evidence = candidates.check_evidence(y)
    read_as = evidence.read_as
    index = np.arange(len(evidence)) if index is None else index
    if bags is not None:
        bags = tables.read_bags(bags, columns, evidence)
        tables.warn_of_bags(bags, evidence)
    else:
        left_out = set() if encoder is None else {*tables.as_names(encoder.ignore)}
        tables.warn_of_runs(evidence, columns.keys() - left_out)
    fixed = tables.labels_by_place(index, corrections) if corrections else {}
    if annotator is not None:
        evidence, fixed = _with_answers(evidence, fixed, annotator), {}
    if standardize:
        X = z_scores(X)
    known = {} if gold is None else tables.read_gold(gold, columns, index, kept)
    rate = None if miss_rate is None else _read_miss_rate(miss_rate, evidence, known)
    certain = fixed | known
    estimator, F, possible, rate = _fitted(method, X, evidence, certain, bags, rate)
    quality = None
    if known:
        places = np.fromiter(known, dtype=np.intp)
        _, without, *_ = _fitted(method, X, evidence, fixed, bags, rate)
        codes = evidence.with_known(known).candidates[places].argmax(axis=1)
        F, quality = candidates.judge_by_gold(F, without, places, codes)
    evidence = evidence.with_known(certain) if certain else evidence
    classes, S = evidence.classes, evidence.candidates
    rows = np.arange(len(S))
    # Outside the candidates nothing may win, not even where all confidences are zero.
    best = np.where(possible, F, -1.0).argmax(axis=1)
    lead = F[rows, best].copy()
    rest = F.copy()
    rest[rows, best] = 0
    annotators = halves = n_votes = None
    if isinstance(evidence, candidates.Votes):
        n_votes = evidence.table.counts.sum(axis=1).astype(np.intp)
        annotators = candidates.summarize_votes(evidence, F).annotators
        if len(evidence.annotators) > 1:
            halves = partial(_labels_of_halves, method, X, evidence, bags)
    held_out = None
    plain = not certain and rate is None and bags is None and not evidence.weighted
    several = int((S.sum(axis=1) > 1).sum())
    if plain and several and len(S) >= _ENOUGH and hasattr(estimator, "predict_proba"):
        held_out = partial(_held_out_halves, estimator, X, S)
    return Disambiguation(
        label=classes[best],
        confidence=lead,
        margin=lead - rest.max(axis=1),
        classes=classes,
        label_confidence=F,
        candidates=S,
        index=index,
        method=type(estimator).__name__,
        space=partial(_space, estimator, X),
        reasons=partial(explain_labels, estimator, X, sources),
        rows=kept,
        annotators=annotators,
        n_votes=n_votes,
        read_as=read_as,
        bags=bags,
        quality=quality,
        miss_rate=rate,
        halves=halves,
        held_out=held_out,
        column_importances=tables.column_importances(estimator, sources),
    )


def _with_answers(
    evidence: candidates.Evidence, answers: Mapping[int, Any], annotator: str
) -> candidates.Evidence:
    """Votes with those of an annotator, by place."""
    if not isinstance(evidence, candidates.Votes):
        raise ValueError(
            f"{argument('annotator')} is for votes, and the labels are none; leave it "
            f"out, so that {argument('corrections')} are true labels."
        )
    return evidence.with_answers(answers, annotator)


def _read_miss_rate(
    miss_rate: Any, evidence: candidates.Evidence, known: Mapping[int, Any]
) -> MissRate:
    """Return the given rate, or that of known rows; NaN if it must be estimated."""
    if miss_rate != "auto":
        if not isinstance(miss_rate, Real) or isinstance(miss_rate, bool):
            raise TypeError(
                f"{argument('miss_rate')} must be a number or 'auto'; got "
                f"{miss_rate!r}."
            )
        return MissRate(float(miss_rate), float(miss_rate), float(miss_rate), 0)
    size = evidence.listed.sum(axis=1)
    if known:
        truth = np.full(len(evidence), None, dtype=object)
        truth[list(known)] = list(known.values())
        listed = candidates.Evidence(evidence.listed, evidence.classes)
        found = candidates.estimate_miss_rate(listed, truth)
        # As if one more known row missed by half: no row is beyond doubt.
        rate = (found.rate * found.n_rows + 0.5) / (found.n_rows + 1)
        return found._replace(rate=rate)
    several = int(((size > 1) & (size < evidence.listed.shape[1])).sum())
    if several or evidence.listed.shape[1] < 2:
        raise ValueError(
            f"{argument('miss_rate', 'auto')} needs rows with one label each; "
            f"{several} rows have several. Pass the rate as a number, or true labels "
            f"of some rows as {argument('gold')}."
        )
    return MissRate(float("nan"), float("nan"), float("nan"), 0)


def _fitted(
    method: Any,
    X: Any,
    evidence: candidates.Evidence,
    certain: Mapping[int, Any],
    bags: Any,
    rate: MissRate | None,
) -> tuple[Any, Array, Mask, MissRate | None]:
    """Return the fitted method, confidences, possible labels, and the miss rate.

    Where rows have single labels, a rate that is not known yet is estimated from the
    fit. By Bayes' rule the confidences are adjusted to it, and to the labels that are
    mistaken for each other.
    """
    unknown = rate is not None and np.isnan(rate.rate)
    listed = evidence
    if rate is not None:
        evidence = evidence.with_miss_rate(_FIRST_RATE if unknown else rate.rate)
    if certain:
        evidence = evidence.with_known(certain)
    S = evidence.candidates
    labels: Any = S if bags is None else evidence
    possible = S
    if evidence.weighted:
        # Annotators may all be wrong: other labels than theirs are possible.
        labels, possible = evidence, np.asarray(evidence.weights > 0)
    elif S.shape[1] == 1:  # would be read as a column of labels
        labels = np.zeros(len(S), dtype=np.intp)
    estimator = build(method, {}, *PARTIAL_LABEL_ROLES, seed=0)
    estimator.fit(X, labels, **tables.bag_params(estimator, bags))
    F = candidates.restrict_confidence(_confidences(estimator, X), possible)
    size = listed.candidates.sum(axis=1)
    if rate is not None and not ((size > 1) & (size < S.shape[1])).any():
        free = size == 1
        free[list(certain)] = False
        given = listed.candidates[free].argmax(axis=1)
        L = evidence.weights[free]
        expected = _rows_to_one(F[free] / np.where(L > 0, L, 1.0))
        if unknown:
            rate = candidates.held_out_miss_rate(expected, given)
        errors = candidates.error_evidence(expected, given, rate.rate)
        F[free] = _rows_to_one(expected * errors)
    return estimator, F, possible, rate


def _labels_of_halves(
    method: Any, X: Any, votes: candidates.Votes, bags: Any
) -> list[Indices]:
    """Return the most likely labels by each half of the annotators."""
    labels = []
    for half in votes.halves():
        _, F, possible, _ = _fitted(method, X, half, {}, bags, None)
        labels.append(np.where(possible, F, -1.0).argmax(axis=1))
    return labels


def _held_out_halves(estimator: Any, X: Any, S: Mask) -> tuple[Array, Mask]:
    """Return probabilities of rows by a model of as many others, and their candidates.

    A rule of thumb needs no more than some thousand rows.
    """
    rows = np.random.default_rng(0).permutation(len(S))[:_MOST_HELD_OUT]
    first, second = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    P = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows raised them
        for train, test in ((first, second), (second, first)):
            model = clone(estimator).fit(X[train], S[train])
            P.append(model.predict_proba(X[test]))
    return np.concatenate(P), S[np.concatenate([second, first])]


def _rows_to_one(F: Array) -> Array:
    """Scale rows to a sum of one; rows of zeros stay unchanged."""
    total = F.sum(axis=1, keepdims=True)
    return np.asarray(F / np.where(total > 0, total, 1.0))


def _encoded(
    X: Any,
    y: Any,
    index: NDArray[Any] | None,
    encoder: tables.TableEncoder | None,
    sep: str | None,
    bags: Any,
) -> tuple[Any, Any, NDArray[Any] | None, Indices | None, Sequence[str]]:
    """Return features, labels, names of rows, labeled rows, and columns of features."""
    columns = tables.columns_of(X)
    if y is None:
        y = tables.label_columns(None, columns)
    names = tables.named_columns(columns, y)
    if names is None and encoder is None and tables.is_plain(columns):
        return np.column_stack(list(columns.values())), y, index, None, list(columns)
    evidence, label_columns = tables.read_labels(
        columns, y, sep, empty="all", bags=bags
    )
    rows = evidence.rows
    encoded, index, table, fitted = tables.encode_rows(
        columns, rows, label_columns, encoder, index
    )
    tables.warn_of_columns(table, fitted.kinds_, evidence.candidates)
    return encoded, evidence, index, rows, fitted.get_source_columns().tolist()


def _confidences(fitted: Any, X: Any) -> NDArray[Any]:
    """Return the confidences of a fitted estimator in its training rows."""
    F = candidates.fitted_confidence(fitted)
    if F is not None:
        return F
    if not hasattr(fitted, "predict_proba"):
        raise ValueError(
            f"{type(fitted).__name__} has neither `label_confidence_` nor "
            "`predict_proba`, so labels have no probabilities. Choose another method."
        )
    return np.asarray(fitted.predict_proba(X))


def _space(fitted: Any, X: Any) -> Any:
    """Return the rows in the space of a fitted method, or their features."""
    Z: Any = getattr(fitted, "cross_fitted_", None)
    if isinstance(Z, list):
        return np.hstack(Z)
    if Z is not None:
        return Z
    return fitted.transform(X) if hasattr(fitted, "transform") else X
