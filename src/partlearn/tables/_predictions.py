"""Write predictions of new rows as columns of a table."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partlearn._arguments import argument
from partlearn._extras import import_optional
from partlearn._typing import Array, Mask
from partlearn.candidates import bag_confidence, restrict_confidence
from partlearn.classification import Calibration, Calibrator, check_share
from partlearn.io import (
    Columns,
    LabelColumns,
    TagForm,
    columns_of,
    label_choice,
)
from partlearn.tables._bags import learned_rule, read_bags
from partlearn.tables._column_kinds import as_names
from partlearn.tables._labels import (
    cell_codes,
    label_columns,
    named_columns,
    read_labels,
)
from partlearn.tables._rows import column_importances
from partlearn.tables._tags import told_tags

Masks = dict[str, Mask]  # rows, by column
_FAR = "far from all training rows"


class PredictionsMixin:
    """Methods of a fitted :class:`PartialClassifier` that describe new rows."""

    classes_: NDArray[Any]
    encoder_: Any
    estimator_: Any
    familiarity_: Any
    id: Any
    sep: str | None
    raters: Any
    weights: Any
    marks: Any
    calibration_: Calibration | None
    class_weights_: Array | None
    always_known_: Any
    prior_: Array
    task: Literal["single", "tags"]
    tag_form_: TagForm | None

    @property
    def _several(self) -> bool:
        """Whether any number of labels of a row may be true."""
        if self.task not in ("single", "tags"):
            raise ValueError(f'`task` must be "single" or "tags"; got {self.task!r}.')
        return self.task == "tags"

    def _decision(self, P: Array) -> Array:
        """Return the scores whose largest one decides."""
        return P if self.class_weights_ is None else P * self.class_weights_

    def _probabilities(self, Z: Array, missing: Masks, unread: Masks) -> Array:
        """Return probabilities, closer to the label shares if values are missing.

        A column that decides much counts accordingly.
        """
        P = np.asarray(self.estimator_.predict_proba(Z))
        gaps = np.stack([missing[name] | unread[name] for name in missing])
        if not gaps.any():
            return P
        sources = self.encoder_.get_source_columns()
        given = column_importances(self.estimator_, sources)
        known = np.isin(list(missing), self.always_known_)
        importance = np.array([given.get(name, 0.0) for name in missing])
        if not importance.any():
            importance = np.ones(len(gaps))
        weight = np.where(known, importance, 0.0) / importance.sum()
        share = np.where(gaps.all(axis=0), 1.0, weight @ gaps)[:, None]
        return np.asarray((1 - share) * P + share * self.prior_)

    def predict_set(
        self,
        X: Any,
        *,
        coverage: float = 0.9,
        calibrator: Calibrator | None = None,
        per_class: bool = False,
    ) -> Mask:
        """Return sets of labels that contain the true one with a given probability.

        Parameters
        ----------
        X : table
            As for :meth:`predict_proba`.
        coverage : float, default=0.9
            Share of sets that shall contain the true label.
        calibrator : {"confidence", "gold", "all", "any", "votes"}, default=None
            How candidate labels stand for the true ones, as for
            :class:`~partlearn.classification.PredictionSets`. None is "gold", a
            guarantee, if enough labels were known in training (`gold`; 9 for a coverage
            of .9), and otherwise "confidence", which is approximate.
        per_class : bool, default=False
            Whether the coverage shall hold for the rows of each true class.

        Returns
        -------
        sets : ndarray of bool, shape (n_samples, n_classes)
            Columns as in ``classes_``.
        """
        check_is_fitted(self)
        columns = columns_of(X)
        P = self._probabilities(
            self.encoder_.transform(columns), *self.encoder_.unknown(columns)
        )
        return self._checked_calibration().sets(
            P, coverage, calibrator, per_class=per_class
        )

    def calibrate(self, calibration: Calibration) -> Self:
        """Keep probabilities of held-out rows, for prediction sets and thresholds.

        Parameters
        ----------
        calibration : Calibration
            Of the first score that :func:`partlearn.tables.estimate_quality` returns
            for this classifier and its training rows.

        Returns
        -------
        self : PartialClassifier
            The classifier, with ``calibration_``.

        Examples
        --------
        >>> from partlearn import PartialClassifier
        >>> from partlearn.datasets import make_tickets
        >>> from partlearn.tables import estimate_quality
        >>> table = make_tickets(150).columns
        >>> model = PartialClassifier("pl-knn", labels="candidates", id="ticket")
        >>> scores = estimate_quality(model.fit(table), table)
        >>> sets = model.calibrate(scores[0].calibration).predict_set(table)
        >>> sets.shape == (150, len(model.classes_))
        True
        """
        check_is_fitted(self)
        if calibration.probability.shape[1] != len(self.classes_):
            raise ValueError(
                f"The calibration is for {calibration.probability.shape[1]} labels, "
                f"the model for {len(self.classes_)}; estimate the quality of this "
                "model on its own training rows."
            )
        self.calibration_ = calibration
        return self

    def _checked_calibration(self) -> Calibration:
        if self.calibration_ is None:
            raise ValueError(
                "The model keeps no held-out rows, so it cannot be calibrated. Train "
                "it with `partlearn train --folds 3`, or pass the calibration of "
                "estimate_quality(...)[0] to `calibrate`."
            )
        return self.calibration_

    def check_wanted(
        self,
        *,
        coverage: float | None = None,
        accuracy: float | None = None,
        calibrator: Calibrator | None = None,
        per_class: bool = False,
        given_candidates: bool = False,
    ) -> Calibration | None:
        """Raise an error if the held-out rows cannot give what is wanted.

        Parameters
        ----------
        coverage, accuracy, calibrator, per_class
            As for :meth:`predictions`.
        given_candidates : bool, default=False
            Whether new rows come with candidates.

        Returns
        -------
        calibration : Calibration or None
            None where neither a coverage nor an accuracy is wanted.
        """
        if coverage is None and (calibrator is not None or per_class):
            name = "per_class" if calibrator is None else "calibrator"
            raise ValueError(f"{argument(name)} needs {argument('coverage')}.")
        if coverage is None and accuracy is None:
            return None
        if self._several:
            raise ValueError(
                f"Tags are predicted without {argument('coverage')} and "
                f"{argument('accuracy')}; leave them out."
            )
        if given_candidates:
            raise ValueError(
                f"{argument('coverage')} and {argument('accuracy')} are calibrated for "
                f"rows without candidates; leave out {argument('labels')}, or both."
            )
        calibration = self._checked_calibration()
        if accuracy is not None:
            check_share(accuracy, "accuracy")
        if coverage is not None:
            check_share(coverage, "coverage")
            chosen = calibrator or calibration.best_calibrator(coverage)
            calibration.thresholds(coverage, chosen, per_class=per_class)
        return calibration

    def predictions(
        self,
        X: Any,
        y: Any = None,
        *,
        bags: Any = None,
        coverage: float | None = None,
        accuracy: float | None = None,
        calibrator: Calibrator | None = None,
        per_class: bool = False,
    ) -> dict[str, NDArray[Any]]:
        """Return labels, probabilities and remarks for each row, as columns.

        Parameters
        ----------
        X : table
            As for :meth:`predict_proba`.
        y : str, list of str, or candidate labels, default=None
            Candidates of the new rows, or their columns in `X`, such as the caption of
            a photograph; weights count as in training. Labels that no training row had
            are ignored, and named in ``unlike``; a row without any other may have any
            label.
        bags : str or array-like of shape (n_samples,), default=None
            Rows that share one list of labels, as for `bags` of the class.
        coverage : float, default=None
            Coverage of a further column ``labels``, the set of
            :meth:`predict_set`, separated by ``|``.
        accuracy : float, default=None
            Accuracy that the labels shall have. Rows whose probability is too low for
            it get an empty label.
        calibrator, per_class
            As for :meth:`predict_set`; with `coverage`.

        Returns
        -------
        columns : dict of str to ndarray
            The columns `id` if the table has them, else ``row`` numbers; ``label``,
            ``probability``, ``runner_up``, ``runner_up_probability``; ``unlike``, which
            describes how a row differs from the training rows, if it does; ``labels``
            if `coverage` is given. For tags, the columns are the tags in the form of
            the training table, and ``scores`` of the predicted tags and of the three
            most likely ones.
        """
        check_is_fitted(self)
        calibration = self.check_wanted(
            coverage=coverage,
            accuracy=accuracy,
            calibrator=calibrator,
            per_class=per_class,
            given_candidates=y is not None,
        )
        columns = columns_of(X)
        Z = self.encoder_.transform(columns)
        missing, unread = self.encoder_.unknown(columns)
        strange: dict[int, str] = {}
        if self._several:
            if y is not None or bags is not None:
                raise ValueError(
                    f"Tags are predicted without {argument('labels')} and "
                    f"{argument('bags')}; leave them out."
                )
            form = getattr(self, "tag_form_", None)
            told = told_tags(self.estimator_, Z, self.classes_, form)
        else:
            P = self._probabilities(Z, missing, unread)
            if y is not None:
                P, strange = self._given_list(P, columns, y, bags)
            elif bags is not None:
                raise ValueError("`bags` needs `y`, the lists of the bags.")
            told = self._told_labels(P)
            if calibration is not None and accuracy is not None:
                sure = calibration.is_answered(P, accuracy)
                told["label"] = np.where(sure, told["label"].astype(object), "")
            if calibration is not None and coverage is not None:
                sets = calibration.sets(P, coverage, calibrator, per_class=per_class)
                classes = self.classes_.astype(str)
                texts = ["|".join(classes[row]) for row in sets]
                told["labels"] = np.array(texts, dtype=object)
        told["unlike"] = self._unlike(columns, Z, missing, unread, strange)
        names = [name for name in as_names(self.id) if name in columns]
        rows = np.arange(len(Z))
        head = {n: columns[n] for n in names} if names else {"row": rows}
        if taken := [name for name in head if name in told]:
            raise ValueError(
                f"{argument('id')}: predictions have a column {taken[0]!r} as well; "
                "rename yours."
            )
        return {**head, **told}

    def _told_labels(self, P: Array) -> dict[str, NDArray[Any]]:
        rows = np.arange(len(P))
        order = np.argsort(-self._decision(P), axis=1, kind="stable")
        best, second = order[:, 0], order[:, 1]
        return {
            "label": self.classes_[best],
            "probability": P[rows, best],
            "runner_up": self.classes_[second],
            "runner_up_probability": P[rows, second],
        }

    def _given_list(
        self, P: Array, columns: Columns, y: Any, bags: Any
    ) -> tuple[Array, dict[int, str]]:
        """Return probabilities of new rows given their candidates and their bags.

        Also the rows with a candidate that the model does not know.
        """
        place = {str(label): j for j, label in enumerate(self.classes_.tolist())}
        if isinstance(y, str):
            y = LabelColumns(label_columns(y, columns))
        if chosen := named_columns(columns, y):
            if (cell_codes(columns, chosen) < 0).all():
                return P, {}
            if len(chosen) > 1:  # in the form of the training table
                forms: dict[str, Any] = {
                    "raters": self.raters,
                    "weights": self.weights,
                    "marks": self.marks,
                }
                given = {form: chosen for form in forms if forms[form] is not None}
                y = label_choice(**given) or LabelColumns(chosen)
        evidence, _ = read_labels(columns, y, self.sep, bags=bags, known=list(place))
        names = [str(label) for label in evidence.classes.tolist()]
        known = [k for k, name in enumerate(names) if name in place]
        S, weights = np.zeros(P.shape, dtype=bool), np.zeros(P.shape)
        likelihood = evidence.weights
        for k in known:
            S[evidence.rows, place[names[k]]] = evidence.listed[:, k]
            weights[evidence.rows, place[names[k]]] = likelihood[:, k]
        strange = {}
        for k in sorted(set(range(len(names))) - set(known), reverse=True):
            for i in evidence.rows[evidence.listed[:, k]].tolist():
                strange[i] = names[k]
        listed = S.any(axis=1)
        P = P.copy()
        P[listed] = restrict_confidence(P[listed] * weights[listed], S[listed])
        if bags is None:
            return P, strange
        codes = np.full(len(P), None, dtype=object)
        codes[evidence.rows] = read_bags(bags, columns, evidence)
        return bag_confidence(P, codes, S, **learned_rule(self.estimator_)), strange

    def predict_frame(self, X: Any, y: Any = None, *, bags: Any = None) -> Any:
        """Return ``predictions`` as a pandas data frame.

        Parameters
        ----------
        X : table
            As for :meth:`predict_proba`.
        y, bags
            As for ``predictions``.

        Returns
        -------
        frame : DataFrame
            One line per row.
        """
        pandas = import_optional("pandas", "data frames")
        return pandas.DataFrame(self.predictions(X, y, bags=bags))

    def _unlike(
        self,
        columns: Columns,
        Z: Array,
        missing: Masks,
        unread: Masks,
        strange: dict[int, str],
    ) -> NDArray[Any]:
        reasons: list[list[str]] = [[] for _ in range(len(Z))]
        for name, mask in self.encoder_.unseen(columns).items():
            for i in np.flatnonzero(mask):
                reasons[i].append(name)
        said = [[f"unusual {', '.join(names)}"] if names else [] for names in reasons]
        for name, mask in unread.items():
            for i in np.flatnonzero(mask):
                cell = str(columns[name][i])[:40]
                said[i].append(f"{name} cannot be read: {cell!r}")
        gaps = np.stack([missing[name] | unread[name] for name in missing])
        nothing = gaps.all(axis=0)
        empty: dict[int, list[str]] = {}
        for name in self.always_known_:
            for row in np.flatnonzero(missing[name] & ~nothing).tolist():
                if name not in reasons[row]:
                    empty.setdefault(row, []).append(name)
        for row, names in empty.items():
            said[row].append(f"{', '.join(names)} empty")
        for i in np.flatnonzero(nothing):
            said[i].append("nothing is known")
        for row, name in strange.items():
            said[row].append(f"unknown candidate {name!r}")
        for i in np.flatnonzero(self.familiarity_.is_far(Z)):
            said[i].append(_FAR)
        return np.asarray(["; ".join(parts) for parts in said], dtype=object)
