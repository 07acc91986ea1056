"""The most likely label of every row, with how sure it is."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import escape
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array

from partlearn import candidates, tables
from partlearn._extras import import_optional
from partlearn._math.linalg import z_scores
from partlearn._registry import DEFAULT_METHOD, PARTIAL_LABEL_ROLES, build
from partlearn._typing import Array, Indices, Mask
from partlearn.candidates import Annotators
from partlearn.inspection import (
    SETTLED,
    CalibrationDisplay,
    label_map,
    label_page,
    label_report,
    label_summary,
)
from partlearn.io import atomic_write, label_choice
from partlearn.metrics import (
    CalibrationBins,
    GoldQuality,
    calibrate_by_gold,
    calibration_bins,
    gold_quality,
)
from partlearn.tables import Agreement

BAGS_ADVICE = (
    "If rows of a run share one list, as faces share a caption, every label of the "
    'list belongs to one of them: pass `bags`, a column or "runs" (--bag).'
)


@dataclass(frozen=True)
class Disambiguation:
    """What :func:`disambiguate` found out about every row.

    Attributes
    ----------
    label : ndarray of shape (n_samples,)
        The most likely candidate, after votes and weights any label; the first of
        equal ones.
    confidence : ndarray of shape (n_samples,)
        Confidence of that label.
    margin : ndarray of shape (n_samples,)
        Its lead over the second most likely label; one where there is no second.
    classes : ndarray of shape (n_classes,)
        The classes.
    label_confidence : ndarray of shape (n_samples, n_classes)
        Confidence in every candidate; rows sum to one.
    candidates : ndarray of bool, shape (n_samples, n_classes)
        The candidate sets.
    index : ndarray of shape (n_samples,)
        Names of the rows: the index of a data frame, or numbers from 0.
    method : str
        Class that found the labels.
    space : callable
        Computes the rows in the space that the method found, or the features.
    rows : ndarray of int, shape (n_samples,), or None
        Rows of the table that these are; None where all rows had labels.
    annotators : Annotators or None
        Where the labels came from votes: ``name``, ``accuracy`` and ``n_votes``.
    read_as : str
        How the label columns of a table were read, such as ``3 raters, 2 labels: 0,
        1``.
    bags : ndarray of shape (n_samples,) or None
        Bag of each row, where there are bags.
    quality : GoldQuality or None
        Where some true labels were given as `gold`: estimated share of right labels,
        with an interval.
    """

    label: NDArray[Any]
    confidence: Array
    margin: Array
    classes: NDArray[Any]
    label_confidence: Array
    candidates: Mask
    index: NDArray[Any]
    method: str
    space: Callable[[], Any] = field(repr=False, compare=False)
    rows: Indices | None = None
    annotators: Annotators | None = None
    read_as: str = ""
    bags: NDArray[Any] | None = None
    quality: GoldQuality | None = None

    def __repr__(self) -> str:
        several = self.candidates.sum(axis=1) > 1
        settled = int((several & (self.confidence >= SETTLED)).sum())
        return (
            f"Disambiguation({len(self.label):,} rows by {self.method}, "
            f"{int(several.sum()):,} with several candidates, {settled:,} settled)"
        )

    def summary(self) -> dict[str, Any]:
        """Count settled, leaning and open rows, and say how many labels are right.

        Returns
        -------
        summary : dict
            ``several`` rows had several candidates. Of these ``settled`` have a
            confidence of at least 0.9, ``leaning`` lead the second label by at least
            0.2, the rest is ``open``. ``expected_right`` is the range of the expected
            share of right labels; ``together`` lists labels that share sets more often
            than chance, which makes confidences too high.
        """
        return label_summary(self)

    @cached_property
    def embedding(self) -> Array:
        """The rows in two dimensions, of shape (n_samples, 2).

        The :func:`~partlearn.inspection.label_map` of the space that the method found,
        or of the features where it found none.
        """
        return label_map(self.space(), self.label_confidence)

    @property
    def runner_up(self) -> NDArray[Any]:
        """The second most likely label; None where there is no second.

        A candidate, or after votes and weights any label that has some confidence.
        """
        second = np.empty(len(self.label), dtype=object)
        possible = self.candidates | (self.label_confidence > 0)
        rest = np.where(possible, self.label_confidence, -1.0)
        rows = np.arange(len(rest))
        # The first of equal ones is the label, as in `label`.
        rest[rows, rest.argmax(axis=1)] = -1.0
        several = np.flatnonzero(possible.sum(axis=1) > 1)
        second[several] = self.classes[rest[several].argmax(axis=1)]
        return second

    def to_frame(self) -> Any:
        """Return one line per row as a pandas data frame.

        Returns
        -------
        frame : DataFrame
            Columns ``label``, ``confidence``, ``margin``, ``runner_up`` and
            ``candidates`` (lists), and ``bag`` where there are bags, indexed as the
            rows of `X` were.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> y = [{"a"}, {"a", "b"}, {"b"}]
        >>> frame = disambiguate([[0.0], [0.1], [1.0]], y, method="plknn").to_frame()
        >>> list(frame.columns)
        ['label', 'confidence', 'margin', 'runner_up', 'candidates']
        >>> frame["candidates"].tolist()
        [['a'], ['a', 'b'], ['b']]
        """
        pandas = import_optional("pandas", "data frames")
        columns = {
            "label": self.label,
            "confidence": self.confidence,
            "margin": self.margin,
            "runner_up": self.runner_up,
            "candidates": [self.classes[row].tolist() for row in self.candidates],
        }
        if self.bags is not None:
            columns["bag"] = self.bags
        return pandas.DataFrame(columns, index=self.index)

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        rows: Any = None,
        truth: ArrayLike | None = None,
        images: Sequence[Any] | None = None,
        n_review: int = 100,
        title: str = "Label report",
    ) -> str:
        """Make the label report: one page to look at, and to correct labels on.

        Parameters
        ----------
        path : str or path, default=None
            File to write the page to as well.
        rows : data frame or mapping of str to sequence, default=None
            Contents of the rows, shown beside those to review.
        truth : array-like of shape (n_samples,), default=None
            True labels, as for :meth:`agreement`.
        images : sequence, default=None
            A picture per row: the path of a local image file, or a 2-D array of grey
            values.
        n_review : int, default=100
            Number of rows to review.
        title : str, default="Label report"
            Title of the page.

        Returns
        -------
        page : str
            A self-contained HTML page.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> y = [{"a"}, {"a", "b"}, {"b"}]
        >>> page = disambiguate([[0.0], [0.1], [1.0]], y, method="plknn").to_html()
        >>> "1 came with more than one possible label" in " ".join(page.split())
        True
        """
        page = label_page(
            label_report(
                self,
                rows=rows,
                truth=truth,
                images=images,
                n_review=n_review,
                title=title,
            )
        )
        if path is not None:
            with atomic_write(path) as file:
                file.write(page.encode())
        return page

    def _repr_html_(self) -> str:
        """Short summary for notebooks; it styles nothing but itself."""
        several = self.candidates.sum(axis=1) > 1
        settled = int((several & (self.confidence >= SETTLED)).sum())
        order = np.argsort(self.confidence, kind="stable")[:5]
        lines = "".join(
            f"<tr><td>{escape(str(self.index[i]))}</td>"
            f"<td>{escape(str(self.label[i]))}</td>"
            f"<td>{self.confidence[i]:.2f}</td></tr>"
            for i in order
        )
        return (
            f"<div><p><strong>{len(self.label):,} rows</strong>, {several.sum():,} "
            f"with several candidates, {settled:,} of them settled by "
            f"{escape(self.method)} (confidence 0.9 or more).</p><table><caption>Least "
            "certain rows</caption><thead><tr><th>row</th><th>label</th><th>confidence"
            f"</th></tr></thead><tbody>{lines}</tbody></table></div>"
        )

    def agreement(self, truth: ArrayLike) -> Agreement:
        """Compare the labels with true ones.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            True labels; None or empty where they are not known.

        Returns
        -------
        agreement : Agreement
            Share of right labels, also among ambiguous rows and beside chance.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"b"}]
        >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1]]
        >>> result = disambiguate(X, y, method="plknn")
        >>> result.agreement(["a", "a", "a", "b", "b"])
        Agreement(accuracy=1.0, n_ambiguous=1, ambiguous_accuracy=1.0, chance=0.5)
        """
        known, right = self._compared(truth)
        sizes = self.candidates.sum(axis=1)
        ambiguous = known & (sizes > 1)
        n = int(ambiguous.sum())
        return Agreement(
            float(right[known].mean()),
            n,
            float(right[ambiguous].mean()) if n else float("nan"),
            float((1 / sizes[ambiguous]).mean()) if n else float("nan"),
        )

    def _compared(self, truth: ArrayLike) -> tuple[Mask, Mask]:
        """Rows whose true label is known, and where the label is that one."""
        values = tables.true_labels(truth)
        if values.shape != self.label.shape:
            raise ValueError(
                f"`truth` must hold {len(self.label)} labels, one per row; got shape "
                f"{values.shape}."
            )
        known = np.asarray([value is not None for value in values])
        if not known.any():
            raise ValueError("`truth` holds no label at all; leave it out.")
        return known, np.asarray(tables.true_labels(self.label) == values)

    def calibration(self, truth: ArrayLike, *, n_bins: int = 10) -> CalibrationBins:
        """Compare confidence with how often the label is right.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            True labels; None or empty where they are not known.
        n_bins : int, default=10
            Number of bins of equal width between 0 and 1; empty ones are left out.

        Returns
        -------
        bins : CalibrationBins
            Mean confidence, share of right labels and number of rows of each filled
            bin.

        Examples
        --------
        >>> from partlearn import disambiguate
        >>> result = disambiguate([[0.0], [0.1], [1.0]], ["a", "a", "b"], "plknn")
        >>> result.calibration(["a", "a", "a"])
        CalibrationBins(confidence=array([1.]), accuracy=array([0.66666667]),
                        n_rows=array([3]))
        """
        known, right = self._compared(truth)
        return calibration_bins(self.confidence[known], right[known], n_bins=n_bins)

    def plot_calibration(
        self, truth: ArrayLike, *, n_bins: int = 10, ax: Any = None
    ) -> Any:
        """Plot how often the label is right against the confidence in it.

        Parameters
        ----------
        truth : array-like of shape (n_samples,)
            True labels, as for :meth:`agreement`.
        n_bins : int, default=10
            Number of bins.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib Axes
            Points on the diagonal are calibrated; below it the confidence is too high.
            The area of a point grows with the number of rows.
        """
        return (
            CalibrationDisplay(self.calibration(truth, n_bins=n_bins)).plot(ax=ax).ax_
        )


def disambiguate(
    X: Any,
    y: Any = None,
    method: Any = DEFAULT_METHOD,
    *,
    standardize: bool = True,
    corrections: Mapping[Any, Any] | None = None,
    encoder: tables.TableEncoder | None = None,
    sep: str | None = None,
    raters: str | Sequence[str] | None = None,
    weights: str | Sequence[str] | None = None,
    marks: str | Sequence[str] | None = None,
    bags: Any = None,
    gold: Any = None,
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
        have none. None stands for the column whose name says so, as ``candidates``.
    method : str or estimator, default="crisp-classifier"
        Name of a reducer, selector or classifier of this library with its default
        parameters, in any case, with or without hyphens ("cenda", "PL-KNN", "sure"); or
        an estimator for candidate labels, of which a clone is fitted.
    standardize : bool, default=True
        Whether to bring the columns to mean zero and variance one first; sparse columns
        are only scaled.
    corrections : mapping, default=None
        Right labels of rows that somebody checked, by the name of the row: its place in
        the index of a data frame, or its number from 0. They become certain, also where
        the label was no candidate of the row.
    encoder : TableEncoder, default=None
        How to encode a table; by default as its columns look. The columns `id` name the
        rows of the result.
    sep : str, default=None
        What separates labels in a column of a table; ``|``, ``;`` and ``,`` are
        recognised, and ``"none"`` says that each cell is one label.
    raters, weights, marks : str or list of str, default=None
        Instead of `y`, columns of a table that hold the labels of one rater each, the
        weights of the label that the column is named after, or marks for it. What
        several columns `y` are is found from their cells; ``result.read_as`` says it.
    bags : array-like of shape (n_samples,) or str, default=None
        Bag of each row, such as the photograph of a face: rows of a bag share one list
        of labels, each of which belongs to at least one of them. A column of a table;
        or "runs", unless a column is called so, for runs of rows with equal sets. For
        methods whose `fit` takes bags. Without it, a warning says where rows seem to
        come in bags.
    gold : mapping, array-like of shape (n_samples,) or str, default=None
        True labels of a random sample of rows: by the name of the row, one per row and
        None where it is not known, or a column of a table. They become certain, and
        also estimate ``quality`` and calibrate the confidences. The method is fitted
        twice, once without them.
    task : {"single", "tags"}, default="single"
        Whether one of the labels of a row is true, or any number of them: tags. Tags
        are scored by a
        :class:`~partlearn.multilabel.classification.CRISPMultiLabelClassifier`
        unless `method` is another classifier for tags. Corrections are whole sets, such
        as ``rock|live``.

    Returns
    -------
    result : Disambiguation, or TagDisambiguation for tags
        Label, confidence and margin of every row; of tags the scores, and which listed
        ones are believed or doubtful, and which others look missing.

    Notes
    -----
    ``partlearn disambiguate`` calls this function. The confidences are the estimator's
    ``label_confidence_``, of a pipeline those of the last step that has any. A
    classifier without is asked for probabilities of its own training rows, which are
    then restricted to the candidates. IPAL corrects the class sizes before it decides:
    its own decision is in ``disambiguated_`` and may differ from the largest
    confidence. Confidences of most methods are no probabilities: check them by
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
    if isinstance(X, (str, PathLike)):
        X = tables.read_columns(X)
    if task == "tags":
        if bags is not None or gold is not None:
            raise ValueError("Tags come without `bags` and `gold`; leave them out.")
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
    kept, columns = None, {}
    if tables.is_table(X):
        columns = tables.columns_of(X)
        beside = [n for n in (bags, gold) if isinstance(n, str) and n in columns]
        if beside:
            encoder = tables.TableEncoder() if encoder is None else clone(encoder)
            encoder.set_params(ignore=[*tables.as_names(encoder.ignore), *beside])
        X, y, index, kept = _encoded(X, y, index, encoder, sep)
    X = check_array(X, accept_sparse="csr", dtype=candidates.FLOATS)
    evidence = candidates.check_evidence(y)
    read_as = evidence.read_as
    index = np.arange(len(evidence)) if index is None else index
    if bags is not None:
        bags = tables.read_bags(bags, columns, evidence)
    elif (pairs := candidates.equal_neighbors(evidence.listed)).bags_likely:
        candidates.warn_caller(f"{pairs}. {BAGS_ADVICE}")
    if corrections:
        evidence = evidence.with_known(tables.labels_by_place(index, corrections))
    if standardize:
        X = z_scores(X)
    known = {} if gold is None else tables.read_gold(gold, columns, index, kept)
    given, evidence = evidence, evidence.with_known(known) if known else evidence
    classes, S = evidence.classes, evidence.candidates
    estimator, F, possible = _fitted(method, X, evidence, bags)
    quality = None
    if known:
        _, without, _ = _fitted(method, X, given, bags)
        places = np.fromiter(known, dtype=np.intp)
        codes = S[places].argmax(axis=1)
        right = without[places].argmax(axis=1) == codes
        quality = gold_quality(right, len(S))
        F = calibrate_by_gold(F, without[places], codes)
    rows = np.arange(len(S))
    # Outside the candidates nothing may win, not even where all confidences are zero.
    best = np.where(possible, F, -1.0).argmax(axis=1)
    lead = F[rows, best].copy()
    rest = F.copy()
    rest[rows, best] = 0
    annotators = None
    if isinstance(evidence, candidates.Votes):
        annotators = candidates.summarize_votes(evidence, F).annotators
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
        rows=kept,
        annotators=annotators,
        read_as=read_as,
        bags=bags,
        quality=quality,
    )


def _fitted(
    method: Any, X: Any, evidence: candidates.Evidence, bags: Any
) -> tuple[Any, Array, Mask]:
    """Fitted method, its confidences, and the labels that are possible."""
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
    return estimator, F, possible


def _encoded(
    X: Any,
    y: Any,
    index: NDArray[Any] | None,
    encoder: tables.TableEncoder | None,
    sep: str | None,
) -> tuple[Any, Any, NDArray[Any] | None, Indices | None]:
    """Features, labels, names of the rows, and the rows of a table that have labels."""
    columns = tables.columns_of(X)
    if y is None:
        y = tables.label_columns(None, columns)
    names = tables.named_columns(columns, y)
    if names is None and encoder is None and tables.is_plain(columns):
        return np.column_stack(list(columns.values())), y, index, None
    evidence, label_columns = tables.read_labels(columns, y, sep, empty="all")
    rows = evidence.rows
    encoded, index, table, kinds = tables.encode_rows(
        columns, rows, label_columns, encoder, index
    )
    tables.warn_deciding(table, kinds, evidence.candidates)
    return encoded, evidence, index, rows


def _confidences(fitted: Any, X: Any) -> NDArray[Any]:
    """What a fitted estimator believes about its training rows."""
    F = candidates.fitted_confidence(fitted)
    if F is not None:
        return F
    if not hasattr(fitted, "predict_proba"):
        raise ValueError(
            f"{type(fitted).__name__} has neither `label_confidence_` nor "
            "`predict_proba`, so it cannot tell how likely a label is; choose another "
            "method."
        )
    return np.asarray(fitted.predict_proba(X))


def _space(fitted: Any, X: Any) -> Any:
    """Rows in the space that a method found, or their features."""
    Z: Any = getattr(fitted, "cross_fitted_", None)
    if isinstance(Z, list):
        return np.hstack(Z)
    if Z is not None:
        return Z
    return fitted.transform(X) if hasattr(fitted, "transform") else X
