"""One class from a table with a label column to labels for new rows."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from partlearn._registry import DEFAULT_METHOD, PARTIAL_LABEL_ROLES, build
from partlearn.candidates import Evidence
from partlearn.classification import PLKNN, CandidateClassifier, CoupledClassifier
from partlearn.io import import_optional
from partlearn.tables._column_kinds import ColumnKind
from partlearn.tables._encoder import TableEncoder
from partlearn.tables._familiarity import Familiarity, learn_familiarity
from partlearn.tables._frame import Columns, columns_of, take_rows
from partlearn.tables._labels import as_names, read_labels

__all__ = ["PartialClassifier", "make_learner"]

_FAR = "far from all training rows"


def make_learner(method: Any, params: Mapping[str, Any] | None = None) -> Any:
    """Build what learns labels: a learner, a reducer with PL-KNN, or any classifier.

    Parameters
    ----------
    method : str or estimator
        Name of a learner, reducer or selector of this library; ``package.module:Class``
        of another classifier; or an estimator. Classifiers that know single labels only
        are put into a CandidateClassifier.
    params : mapping of str to object, default=None
        Parameters, where `method` is a name.

    Returns
    -------
    learner : estimator
        Not fitted, with ``predict_proba``.

    Examples
    --------
    >>> from partlearn.tables import make_learner
    >>> make_learner("cenda")
    CoupledClassifier(classifier=PLKNN(), reducer=CENDA())
    >>> make_learner("sklearn.linear_model:LogisticRegression", {"C": 2.0})
    CandidateClassifier(estimator=LogisticRegression(C=2.0, random_state=0))
    """
    if isinstance(method, str):
        estimator = build(method, params or {}, *PARTIAL_LABEL_ROLES, seed=0)
    elif hasattr(method, "fit"):
        estimator = clone(method)
    else:
        raise TypeError(
            "`method` must be the name of a method or an estimator; got "
            f"{type(method).__name__}."
        )
    if not hasattr(estimator, "predict"):
        return CoupledClassifier(estimator, PLKNN())
    if not get_tags(estimator).target_tags.two_d_labels:
        return CandidateClassifier(estimator)
    return estimator


class PartialClassifier(ClassifierMixin, BaseEstimator):
    """Learn labels from a table as it is, and predict them for other tables.

    Columns of numbers, categories, dates and text are found and encoded by
    :class:`TableEncoder`; the label column may hold sets (``cat|dog``), lists, weights
    or the labels of several annotators.

    Parameters
    ----------
    method : str or estimator, default="crisp-classifier"
        What learns: a name ("crisp", "pl-knn", "cenda"), ``package.module:Class`` or an
        estimator; see :func:`make_learner`.
    labels : str or list of str, default=None
        Columns with the labels, where they are not given to `fit`.
    id : str or list of str, default=()
        Columns that name the rows: kept beside predictions, never used as features.
    number, category, date, text, ignore : str or list of str, default=()
        Columns about which the data need not be asked; see :class:`TableEncoder`.
    sep : str, default=None
        What separates labels; ``|``, ``;`` and ``,`` are recognised.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    encoder_ : TableEncoder
        The fitted encoder; ``encoder_.report()`` says what each column is.
    estimator_ : estimator
        The fitted learner.
    n_unlabelled_ : int
        Training rows that had no label and were left out.

    See Also
    --------
    partlearn.disambiguate : Labels of the training rows themselves.
    estimate_quality : How good the labels of new rows will be.

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

    __state_types__ = (Familiarity,)

    def __init__(
        self,
        method: Any = DEFAULT_METHOD,
        *,
        labels: str | Sequence[str] | None = None,
        id: str | Sequence[str] = (),
        number: str | Sequence[str] = (),
        category: str | Sequence[str] = (),
        date: str | Sequence[str] = (),
        text: str | Sequence[str] = (),
        ignore: str | Sequence[str] = (),
        sep: str | None = None,
    ) -> None:
        self.method = method
        self.labels = labels
        self.id = id
        self.number = number
        self.category = category
        self.date = date
        self.text = text
        self.ignore = ignore
        self.sep = sep

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
        columns = columns_of(X)
        return self.fit_evidence(columns, *self.read_labels(columns, y))

    def read_labels(self, X: Any, y: Any = None) -> tuple[Evidence, list[str]]:
        """Read the labels of a table as `fit` does.

        Parameters
        ----------
        X : table
            As for :meth:`fit`.
        y : str, list of str, or candidate labels, default=None
            As for :meth:`fit`.

        Returns
        -------
        evidence : Evidence
            ``evidence.rows`` are the rows that have labels.
        columns : list of str
            Columns of `X` that hold them.
        """
        y = self.labels if y is None else y
        if y is None or y == ():
            raise ValueError(
                "Name the columns with the labels (`labels`, or the second argument of "
                "fit), or pass labels."
            )
        return read_labels(columns_of(X), y, self.sep)

    def fit_evidence(
        self, X: Any, evidence: Evidence, label_columns: Sequence[str] = ()
    ) -> Self:
        """Learn from a table and labels that were read before.

        Parameters
        ----------
        X : table
            As for :meth:`fit`.
        evidence : Evidence
            Labels; ``evidence.rows`` are their rows in `X`.
        label_columns : sequence of str, default=()
            Columns of `X` that are no features because the labels are in them.

        Returns
        -------
        self : PartialClassifier
            The fitted classifier.
        """
        columns = columns_of(X)
        self.n_unlabelled_ = len(next(iter(columns.values()))) - len(evidence)
        self.encoder_ = TableEncoder(
            number=self.number,
            category=self.category,
            date=self.date,
            text=self.text,
            id=self.id,
            ignore=[*as_names(self.ignore), *label_columns],
        )
        table = take_rows(columns, evidence.rows)
        Z = self.encoder_.fit_transform(table)
        self._refuse_labels(table, evidence.classes)
        for name in label_columns:
            self.encoder_.kinds_[name] = ColumnKind("label", "")
        self.familiarity_ = learn_familiarity(Z)
        sets = evidence if evidence.weighted else evidence.candidates
        self.estimator_ = make_learner(self.method).fit(Z, sets)
        self.classes_ = evidence.classes
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the labels.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`, in any order; others are passed over.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows sum to one; columns as in ``classes_``.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(self.encoder_.transform(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Most likely labels.

        Parameters
        ----------
        X : table
            As for :meth:`predict_proba`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            One label per row.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy against true labels.

        Parameters
        ----------
        X : table
            As for :meth:`predict_proba`.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        accuracy : float
            Share of rows predicted right.
        """
        return float(super().score(X, y, sample_weight))

    def predictions(self, X: Any) -> dict[str, NDArray[Any]]:
        """Labels with all there is to know about them, as columns.

        Parameters
        ----------
        X : table
            As for :meth:`predict_proba`.

        Returns
        -------
        columns : dict of str to ndarray
            The columns `id` where the table has them, else ``row`` numbers; ``label``,
            ``probability``, ``runner_up``, ``runner_up_probability``; ``unlike``, which
            says how a row differs from the training rows and is empty if it does not.
        """
        check_is_fitted(self)
        columns = columns_of(X)
        Z = self.encoder_.transform(columns)
        P = np.asarray(self.estimator_.predict_proba(Z))
        rows = np.arange(len(P))
        order = np.argsort(-P, axis=1, kind="stable")
        best, second = order[:, 0], order[:, 1]
        names = [name for name in as_names(self.id) if name in columns]
        head = {n: columns[n] for n in names} if names else {"row": rows}
        return {
            **head,
            "label": self.classes_[best],
            "probability": P[rows, best],
            "runner_up": self.classes_[second],
            "runner_up_probability": P[rows, second],
            "unlike": self._unlike(columns, Z),
        }

    def predict_frame(self, X: Any) -> Any:
        """Return :meth:`predictions` as a pandas data frame.

        Parameters
        ----------
        X : table
            As for :meth:`predict_proba`.

        Returns
        -------
        frame : DataFrame
            One line per row.
        """
        pandas = import_optional("pandas", "data frames")
        return pandas.DataFrame(self.predictions(X))

    def _unlike(self, columns: Columns, Z: NDArray[np.float64]) -> NDArray[Any]:
        reasons: list[list[str]] = [[] for _ in range(len(Z))]
        for name, mask in self.encoder_.unseen(columns).items():
            for i in np.flatnonzero(mask):
                reasons[i].append(name)
        said = [f"unusual {', '.join(names)}" if names else "" for names in reasons]
        for i in np.flatnonzero(self.familiarity_.is_far(Z)):
            said[i] = f"{said[i]}; {_FAR}" if said[i] else _FAR
        return np.asarray(said, dtype=object)

    def _refuse_labels(self, table: Columns, classes: NDArray[Any]) -> None:
        """Refuse features that are labels: scores would be worthless."""
        known = {str(label) for label in classes.tolist()}
        for name, column in self.encoder_.kinds_.items():
            if column.kind != "category" or name in as_names(self.category):
                continue
            values = {text.strip() for text in table[name] if isinstance(text, str)}
            if len(values) > 1 and values - {""} <= known:
                raise ValueError(
                    f"Column {name!r} holds labels. If it is the truth or another "
                    "label column, leave it out (`ignore`, on the command line --truth "
                    "or --ignore); if it is a feature, say so with `category`."
                )
