"""Classifier of tables with incomplete labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from partlearn._arguments import argument, check_index
from partlearn._math.blocks import Rows
from partlearn._registry import DEFAULT_METHOD
from partlearn._typing import Array, Indices
from partlearn.candidates import Evidence
from partlearn.classification import Calibration
from partlearn.io import (
    Columns,
    TagForm,
    check_names,
    columns_of,
    label_choice,
    row_count,
    take_rows,
)
from partlearn.metrics import approximated_accuracy
from partlearn.tables._bags import (
    RUNS,
    bag_params,
    read_bags,
    require_fit_parameter,
    warn_of_bags,
)
from partlearn.tables._blocks import BlockEncoder
from partlearn.tables._column_kinds import (
    ColumnKind,
    as_names,
    read_numbers,
)
from partlearn.tables._deciding import warn_of_columns
from partlearn.tables._encoder import TableEncoder
from partlearn.tables._familiarity import Familiarity, learn_familiarity
from partlearn.tables._labels import (
    one_text_each,
    read_gold,
    read_labels,
    true_labels,
)
from partlearn.tables._learner import make_learner, make_tag_learner
from partlearn.tables._predictions import PredictionsMixin
from partlearn.tables._rows import column_importances
from partlearn.tables._tags import read_tags, tag_probabilities

__all__ = ["PartialClassifier"]


class PartialClassifier(PredictionsMixin, ClassifierMixin, BaseEstimator):
    """Train on a table with incomplete labels and predict labels of other tables.

    Columns of numbers, categories, dates and text are encoded by
    :class:`~partlearn.tables.TableEncoder`. The label column may hold sets
    (``cat|dog``), lists, weights or the labels of several annotators.

    Parameters
    ----------
    method : str or estimator, default="crisp-classifier"
        Method to fit: a name ("crisp", "pl-knn", "cenda"), ``package.module:Class`` or
        an estimator.
    labels : str or list of str, default=None
        Columns with the labels, if they are not passed to `fit`.
    raters, weights, marks : str or list of str, default=None
        Label columns, instead of `labels`. A column of `raters` holds the labels given
        by one annotator. A column of `weights` or `marks` is named after a label and
        holds its weight, or a mark in the rows that have it.
    id : str or list of str, default=()
        Columns with the names of the rows. They are copied to the predictions and never
        used as features.
    number, category, date, text, ignore : str or list of str, default=()
        Columns whose kind is given, not inferred; see
        :class:`~partlearn.tables.TableEncoder`.
    sep : str, default=None
        Separator of labels; ``|``, ``;`` and ``,`` are recognized. With ``"none"`` each
        cell is one label.
    groups : str, default=None
        Column of groups, such as the customer. It is not used as a feature. Rows of a
        group are held out together in the estimate of quality and in the folds of
        methods with groups.
    bags : str, default=None
        Column of bags, such as the photograph of each face. The rows of a bag share one
        list of labels, and each label belongs to at least one of them. The column is
        not a feature. "runs" stands for runs of rows with equal sets, unless a column
        has this name. For methods whose `fit` takes bags; see
        :func:`~partlearn.candidates.bag_confidence`.
    gold : str, default=None
        Column with the true labels of a random sample of rows, empty elsewhere; not a
        feature. These labels are certain in training.
        :func:`~partlearn.tables.estimate_quality` uses them for an interval of the
        accuracy and to calibrate prediction sets.
    weight : str, default=None
        Column of sample weights, for methods whose `fit` takes them; not a feature.
    task : {"single", "tags"}, default="single"
        Whether one of the labels of a row is true, or any number of them (tags). Tags
        are learned by
        :class:`~partlearn.multilabel.classification.CRISPMultiLabelClassifier` unless
        `method` names another classifier for tags.
    class_weight : dict of str to float or "balanced", default=None
        Weights of labels in the decision: the label of the largest weight times
        probability is predicted. "balanced" weights labels by the inverse of their
        frequency in the training rows. Probabilities do not change.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    encoder_ : TableEncoder
        The fitted encoder; ``encoder_.report()`` lists the kinds of the columns.
    estimator_ : estimator
        The fitted learner.
    n_unlabeled_ : int
        Training rows that had no label and were left out.
    class_weights_ : ndarray of shape (n_classes,) or None
        Weights of the labels in the decision.
    calibration_ : Calibration or None
        Probabilities of held-out rows, if ``calibrate`` was called.

    See Also
    --------
    partlearn.disambiguate : Labels of the training rows themselves.
    partlearn.tables.estimate_quality : Estimates the quality of labels of new rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from partlearn import PartialClassifier
    >>> table = pd.DataFrame({
    ...     "weight": [4, 5, 30, 28, 4.5, 29],
    ...     "coat": ["soft", "soft", "rough", "rough", "soft", "rough"],
    ...     "kind": ["cat|dog", "cat", "dog", "dog|cat", "cat", "dog"],
    ... })
    >>> model = PartialClassifier("pl-knn", labels="kind").fit(table)
    >>> model.predict(pd.DataFrame({"coat": ["rough"], "weight": [31]}))
    array(['dog'], dtype='<U3')
    """

    __state_types__ = (Calibration, Familiarity, TagForm)

    def __init__(
        self,
        method: Any = DEFAULT_METHOD,
        *,
        labels: str | Sequence[str] | None = None,
        raters: str | Sequence[str] | None = None,
        weights: str | Sequence[str] | None = None,
        marks: str | Sequence[str] | None = None,
        id: str | Sequence[str] = (),
        number: str | Sequence[str] = (),
        category: str | Sequence[str] = (),
        date: str | Sequence[str] = (),
        text: str | Sequence[str] = (),
        ignore: str | Sequence[str] = (),
        sep: str | None = None,
        groups: str | None = None,
        bags: str | None = None,
        gold: str | None = None,
        weight: str | None = None,
        task: Literal["single", "tags"] = "single",
        class_weight: Mapping[str, float] | Literal["balanced"] | None = None,
    ) -> None:
        self.method = method
        self.labels = labels
        self.raters = raters
        self.weights = weights
        self.marks = marks
        self.id = id
        self.number = number
        self.category = category
        self.date = date
        self.text = text
        self.ignore = ignore
        self.sep = sep
        self.groups = groups
        self.bags = bags
        self.gold = gold
        self.weight = weight
        self.task = task
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : pandas or polars data frame, Arrow table, mapping or matrix
            Training rows.
        y : str, list of str, or candidate labels, default=None
            Columns of `X` that hold the labels; or the labels themselves in any form
            that ``fit`` of a learner takes. By default the columns `labels`.

        Returns
        -------
        self : PartialClassifier
            The fitted classifier. Rows without any label are left out.
        """
        check_index(X, y=y)
        columns = columns_of(X)
        return self.fit_evidence(columns, *self.read_labels(columns, y))

    def read_labels(
        self, X: Any, y: Any = None, *, known: Mapping[int, Any] | None = None
    ) -> tuple[Any, list[str]]:
        """Read the labels of a table as `fit` does.

        Parameters
        ----------
        X : table
            As for :meth:`fit`.
        y : str, list of str, or candidate labels, default=None
            As for :meth:`fit`.
        known : mapping of int to label, default=None
            True labels of rows, also of rows without other labels. Not of tags.

        Returns
        -------
        evidence : Evidence, or Tags where the task is tags
            ``evidence.rows`` are the rows that have labels.
        columns : list of str
            Columns of `X` that hold them.
        """
        if y is None:
            y = label_choice(
                self.labels, raters=self.raters, weights=self.weights, marks=self.marks
            )
        if y is None or (isinstance(y, (list, tuple)) and not y):
            raise ValueError(
                f"Name the columns with the labels ({argument('labels')}, or the "
                "second argument of "
                "fit), or pass labels."
            )
        if self._several:
            tags, names, self.tag_form_ = read_tags(columns_of(X), y, self.sep)
            return tags, names
        columns = columns_of(X)
        evidence, names = read_labels(columns, y, self.sep, bags=self.bags)
        fixed = dict(known or {})
        gold = self.known_labels(columns, np.arange(row_count(columns)))
        rows = np.union1d(evidence.rows, [*fixed, *gold]).astype(np.intp)
        if names and len(rows) > len(evidence):
            evidence, _ = read_labels(columns, y, self.sep, empty="all", bags=self.bags)
            evidence = evidence[np.flatnonzero(np.isin(evidence.rows, rows))]
        if fixed:
            place = {row: k for k, row in enumerate(evidence.rows.tolist())}
            if unlabeled := [row for row in fixed if row not in place]:
                raise ValueError(
                    f"Row {unlabeled[0]} has a known label, but is left out since it "
                    'has no evidence; read the evidence with empty="all".'
                )
            evidence = evidence.with_known({place[r]: fixed[r] for r in fixed})
        return evidence, names

    def known_labels(self, columns: Columns, rows: Indices) -> dict[int, Any]:
        """Read the true labels in the column `gold`.

        Parameters
        ----------
        columns : mapping of str to ndarray
            The table.
        rows : ndarray of int
            Rows of the table.

        Returns
        -------
        labels : dict of int to label
            By place among `rows`; empty without the parameter `gold`.
        """
        if self.gold is None:
            return {}
        if self._several:
            raise ValueError(
                f"{argument('gold')} is for single labels; leave it out for tags."
            )
        known = read_gold(self.gold, columns, rows, rows)
        if not known and len(rows) == row_count(columns):
            raise ValueError(
                f"Column {self.gold!r} holds no label; leave out {argument('gold')}."
            )
        return known

    def fit_evidence(
        self, X: Any, evidence: Any, label_columns: Sequence[str] = ()
    ) -> Self:
        """Fit on a table and evidence.

        Parameters
        ----------
        X : table
            As for :meth:`fit`.
        evidence : Evidence or Tags
            Labels; ``evidence.rows`` are their rows in `X`.
        label_columns : sequence of str, default=()
            Columns of `X` with the labels, which are not features.

        Returns
        -------
        self : PartialClassifier
            The fitted classifier.
        """
        columns = columns_of(X)
        self.n_unlabeled_ = row_count(columns) - len(evidence)
        if known := self.known_labels(columns, evidence.rows):
            evidence = evidence.with_known(known)
        table = take_rows(columns, evidence.rows)
        bags = None
        if self.bags is not None:
            bags = read_bags(self.bags, columns, evidence)
        Z = self._fit_encoder(table, evidence, label_columns)
        return self._fit_learner(Z, evidence, table, bags)

    def fit_blocks(
        self,
        rows: Rows,
        evidence: Any,
        label_columns: Sequence[str] = (),
        bags: Any = None,
    ) -> Self:
        """Fit on blocks of a table larger than memory.

        Parameters
        ----------
        rows : Rows
            Blocks of a table, such as those of ``open_tables``. The kinds of the
            columns and the encoding are learned from the first block; a later cell that
            contradicts them is an error.
        evidence : Evidence
            Labels, one for each row.
        label_columns : sequence of str, default=()
            Columns with the labels, which are not features.
        bags : array-like of shape (n_samples,), default=None
            Bags of all rows, where the classifier has `bags`.

        Returns
        -------
        self : PartialClassifier
            The fitted classifier.
        """
        if (bags is None) != (self.bags is None):
            raise ValueError(
                "Blocks of rows need the bags of all rows where the classifier has "
                f"{argument('bags')}, and nowhere else."
            )
        if len(evidence) < len(rows):
            raise ValueError(
                f"{len(rows) - len(evidence)} rows have no label; blocks of rows need "
                "one for each."
            )
        if any(name is not None for name in (self.groups, self.weight, self.gold)):
            raise ValueError(
                f"Blocks of rows take no {argument('groups')}, {argument('weight')} "
                f"and {argument('gold')}. Leave them out, "
                "or train on a single table in memory."
            )
        self.n_unlabeled_ = 0
        table = columns_of(rows.block(0))
        self._fit_encoder(table, evidence, label_columns)
        n_features = self.encoder_.n_features_out_
        encode = BlockEncoder(self.encoder_, table)
        Z = rows.apply(encode, n_features=n_features, dtype=np.float64)
        return self._fit_learner(Z, evidence, table, bags)

    def _fit_encoder(
        self, table: Columns, evidence: Any, label_columns: Sequence[str]
    ) -> Array:
        self.encoder_ = TableEncoder(
            number=self.number,
            category=self.category,
            date=self.date,
            text=self.text,
            id=self.id,
            ignore=[
                *as_names(self.ignore),
                *label_columns,
                *(set(self._beside(table)) - set(as_names(self.id))),
            ],
        )
        for name, use in self._beside(table).items():
            if name in label_columns and use != "bags":
                raise ValueError(
                    f"{argument(use)}: column {name!r} holds the labels to learn from; "
                    f"name another one, or leave out {argument(use)}."
                )
        given = dict(table)  # the encoder replaces text that is numbers
        Z = self.encoder_.fit_transform(table)
        self._refuse_labels(table, evidence.classes)
        self._learn_known(given, evidence)
        for name in label_columns:
            self.encoder_.kinds_[name] = ColumnKind("label", "")
        for name, use in self._beside(table).items():
            self.encoder_.kinds_[name] = ColumnKind("ignored", f"{use} of the rows")
        self.familiarity_ = learn_familiarity(Z)
        return Z

    def _learn_known(self, table: Columns, evidence: Any) -> None:
        """Warn of copies of the label, and record the columns without gaps."""
        S = evidence.candidates
        whole = len(S) == row_count(table)  # not one of many blocks
        if whole and not self._several:
            warn_of_columns(table, self.encoder_.kinds_, S)
        missing, unread = self.encoder_.unknown(table)
        self.always_known_ = [
            name for name, gaps in missing.items() if not (gaps | unread[name]).any()
        ]
        self.prior_ = np.asarray(evidence.confidence().mean(axis=0))

    def _fit_learner(self, Z: Any, evidence: Any, table: Columns, bags: Any) -> Self:
        self.classes_ = evidence.classes
        self.calibration_ = None
        self.class_weights_ = self._class_weights(evidence)
        sets = evidence if evidence.weighted else evidence.candidates
        build_learner = make_tag_learner if self._several else make_learner
        learner = build_learner(self.method)
        params = self._fit_params(learner, table) | bag_params(learner, bags)
        if bags is not None:
            warn_of_bags(bags, evidence)
        if self._several or bags is not None:
            sets = evidence  # which has the labels that were given
        self.estimator_ = learner.fit(Z, sets, **params)
        return self

    def column_importances(self) -> dict[str, float]:
        """Return the relative importance of each column, largest first.

        Returns
        -------
        importances : dict of str to float
            ``feature_importances_`` of the classifier, those of parts of a date and of
            levels of a category added up. Empty where the classifier has none.
        """
        check_is_fitted(self)
        return column_importances(self.estimator_, self.encoder_.get_source_columns())

    def _beside(self, columns: Columns) -> dict[str, str]:
        """Return the columns that are not features, by their use."""
        options = ("groups", "weight", "bags", "gold")
        used = {option: getattr(self, option) for option in options}
        for option, name in used.items():
            if not isinstance(name, str | None):
                raise TypeError(
                    f"{argument(option)} must name a column of the table; got "
                    f"{type(name).__name__}. Add it to the table as a column."
                )
        if self.bags == RUNS and RUNS not in columns:
            del used["bags"]
        for option, name in used.items():
            check_names(as_names(name), columns, option)
        return {name: option for option, name in used.items() if name is not None}

    def _fit_params(self, learner: Any, table: Columns) -> dict[str, NDArray[Any]]:
        """Return the groups and weights for `fit`."""
        params = {}
        if self.groups is not None and has_fit_parameter(learner, "groups"):
            params["groups"] = table[self.groups]
        if self.weight is not None:
            require_fit_parameter(
                learner,
                "sample_weight",
                "takes no weights of rows. Choose a classifier that does, such as "
                "sklearn.linear_model:LogisticRegression, or leave out "
                f"{argument('weight')}.",
            )
            params["sample_weight"] = read_numbers(table[self.weight])
        return params

    def _class_weights(self, evidence: Evidence) -> Array | None:
        names = evidence.classes.tolist()
        if self.class_weight is None:
            return None
        if self._several:
            raise ValueError(
                f"{argument('class_weight')} is for single labels; leave it out."
            )
        if self.class_weight == "balanced":
            share = evidence.confidence().mean(axis=0)
            return np.asarray(1 / (len(names) * np.maximum(share, 1 / len(evidence))))
        if not isinstance(self.class_weight, Mapping):
            raise TypeError(
                f"{argument('class_weight')} must be 'balanced' or a mapping of labels "
                f"to numbers; got {self.class_weight!r}."
            )
        check_names(
            map(str, self.class_weight), map(str, names), "class_weight", "label"
        )
        given = {str(name): float(w) for name, w in self.class_weight.items()}
        weights = np.array([given.get(str(name), 1.0) for name in names])
        if not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError(
                f"{argument('class_weight')} must be positive; got {self.class_weight}."
            )
        return weights

    def predict_proba(self, X: Any) -> Array:
        """Predict probabilities of the labels.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`, in any order; other columns are ignored.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Columns as in ``classes_``; except for tags, rows sum to one. If a value is
            missing or cannot be read in a column that was complete in training, the
            probabilities move towards the label shares of the training rows.
        """
        check_is_fitted(self)
        columns = columns_of(X)
        if self._several:
            return tag_probabilities(self.estimator_, self.encoder_.transform(columns))
        unknown = self.encoder_.unknown(columns)
        return self._probabilities(self.encoder_.transform(columns), *unknown)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most likely labels.

        Parameters
        ----------
        X : table
            As for :meth:`predict_proba`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            One label per row; for tags a binary matrix, columns as in ``classes_``.
        """
        check_is_fitted(self)
        if self._several:
            return np.asarray(self.estimator_.predict(self.encoder_.transform(X)))
        return self.classes_[self._decision(self.predict_proba(X)).argmax(axis=1)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy against true labels, or its estimate from candidates.

        Parameters
        ----------
        X : table
            As for :meth:`predict_proba`.
        y : array-like of shape (n_samples,), or labels as for :meth:`fit`, default=None
            True labels; or candidates, from which the accuracy is estimated by
            :func:`partlearn.metrics.approximated_accuracy`. None stands for the label
            columns of `X`, so that ``GridSearchCV`` needs no truth.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, where `y` holds true labels.

        Returns
        -------
        accuracy : float
            Share of rows predicted right, or an estimate of it.
        """
        check_is_fitted(self)
        check_index(X, y=y)
        columns = columns_of(X)
        if self._several:
            Z = self.encoder_.transform(columns)
            return float(self.estimator_.score(Z, y, sample_weight))
        if one_text_each(y):
            truth = true_labels(y).astype(str)
            predicted = true_labels(self.predict(columns)).astype(str)
            return float(accuracy_score(truth, predicted, sample_weight=sample_weight))
        if sample_weight is not None:
            raise ValueError(
                f"{argument('sample_weight')} goes with true labels; leave it out."
            )
        evidence, _ = self.read_labels(columns, y)
        P = self.predict_proba(take_rows(columns, evidence.rows))
        best = self._decision(P).argmax(axis=1)
        return approximated_accuracy(evidence, P, classes=self.classes_, y_pred=best)

    def _refuse_labels(self, table: Columns, classes: NDArray[Any]) -> None:
        """Raise if a feature holds labels, since scores would be too high."""
        known = {str(label) for label in classes.tolist()}
        for name, column in self.encoder_.kinds_.items():
            if column.kind != "category" or name in as_names(self.category):
                continue
            values = {text.strip() for text in table[name] if isinstance(text, str)}
            if len(values) > 1 and values - {""} <= known:
                raise ValueError(
                    f"Column {name!r} holds labels. If it is the truth or another "
                    f"label column, leave it out with {argument('ignore')}; if it is a "
                    f"feature, name it with {argument('category')}."
                )
