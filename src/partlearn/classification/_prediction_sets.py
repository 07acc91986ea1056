"""Prediction sets calibrated on candidate labels, and when to abstain."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from partlearn._math.crossfit import log_linear_pool, log_linear_weights
from partlearn._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from partlearn._typing import Array, Indices, Mask
from partlearn.base import PARAMETERS, BasePartialClassifier, recoded
from partlearn.candidates import (
    Evidence,
    Votes,
    check_two_classes,
    restrict_confidence,
    validate_evidence,
)
from partlearn.classification._pooled_classifier import for_candidates
from partlearn.metrics import RiskCoverage, risk_coverage_curve
from partlearn.model_selection import CandidateKFold

__all__ = ["CALIBRATORS", "Calibration", "PredictionSets"]

Calibrator = Literal["confidence", "all", "any", "votes"]
CALIBRATORS: tuple[Calibrator, ...] = ("confidence", "all", "any", "votes")

_SMOOTHING = 1e-3  # probability that every class keeps when confidences are found
_ROUNDING = 1e-9  # relative to one row, when weights of rows are summed


class Abstention(NamedTuple):
    """Threshold above which predictions are accurate enough.

    Attributes
    ----------
    threshold : float
        Least probability of a label that is given; infinite where no threshold is
        enough.
    coverage : float
        Share of held-out rows that are given a label.
    accuracy : float
        Estimated accuracy of these labels; NaN where there are none.
    """

    threshold: float
    coverage: float
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """Held-out probabilities beside the evidence of the same rows.

    Attributes
    ----------
    probability : ndarray of shape (n_rows, n_classes)
        Probabilities by a classifier that was fitted without the row.
    evidence : ndarray of shape (n_rows, n_classes)
        Evidence for each label; zero outside the candidates.
    shares : ndarray of shape (n_rows, n_classes) or None
        Shares of the votes or weights, where the labels are votes or weights.
    """

    probability: Array
    evidence: Array
    shares: Array | None

    @classmethod
    def of(cls, P: NDArray[Any], labels: Evidence) -> Self:
        """Collect the probabilities of held-out rows and their labels.

        Parameters
        ----------
        P : ndarray of shape (n_rows, n_classes)
            Held-out probabilities.
        labels : Evidence
            Labels of the same rows.

        Returns
        -------
        calibration : Calibration
            With shares where `labels` are votes or weights.
        """
        shares = None
        if isinstance(labels, Votes):
            shares = labels.certain(labels.table.shares())
        elif labels.weighted:
            shares = np.asarray(labels.confidence())
        weights = np.asarray(labels.weights, dtype=np.float64)
        return cls(np.clip(P, 0.0, 1.0).astype(np.float64), weights, shares)

    def confidence(self) -> Array:
        """Confidence in each candidate, from the probabilities at their best power.

        Returns
        -------
        F : ndarray of shape (n_rows, n_classes)
            Rows sum to one.
        """
        P = self.probability
        P = (P + _SMOOTHING / P.shape[1]) / (1 + _SMOOTHING)
        weights = log_linear_weights([P], self.evidence)
        F: Array = self.evidence * log_linear_pool([P], weights)
        return restrict_confidence(F, self.evidence > 0)

    def row_weights(self, calibrator: Calibrator) -> Array:
        """Weight of each label of each row in the calibration.

        Source: PredictionSets, weights of the calibrators.

        Parameters
        ----------
        calibrator : {"confidence", "all", "any", "votes"}
            See :class:`PredictionSets`.

        Returns
        -------
        weights : ndarray of shape (n_rows, n_classes)
            Rows sum to one.
        """
        if calibrator == "confidence":
            return self.confidence()
        if calibrator == "votes":
            if self.shares is None:
                raise ValueError(
                    'calibrator="votes" needs votes or weights, but the labels are '
                    'plain candidate sets. Use "confidence" or "all".'
                )
            return self.shares
        S, P = self.evidence > 0, self.probability
        if calibrator == "all":
            chosen = np.where(S, P, np.inf).argmin(axis=1)
        else:
            chosen = np.where(S, P, -np.inf).argmax(axis=1)
        one = np.zeros_like(P)
        one[np.arange(len(P)), chosen] = 1.0
        return one

    def thresholds(
        self, coverage: float, calibrator: Calibrator, *, per_class: bool = False
    ) -> Array:
        """Least probability with which each label enters a set.

        Parameters
        ----------
        coverage : float
            Wanted coverage, between 0 and 1.
        calibrator : {"confidence", "all", "any", "votes"}
            See :class:`PredictionSets`.
        per_class : bool, default=False
            Whether each class has its own threshold.

        Returns
        -------
        thresholds : ndarray of shape (n_classes,)
            Zero where there are too few rows: every label is then in every set.
        """
        weights = self.row_weights(calibrator)
        q = weights.shape[1]
        if per_class:
            columns = zip(self.probability.T, weights.T, strict=True)
            return np.array([conformal_threshold(p, w, coverage) for p, w in columns])
        one = conformal_threshold(self.probability.ravel(), weights.ravel(), coverage)
        return np.full(q, one)

    def sets(self, P: NDArray[Any], coverage: float) -> Mask:
        """Sets of new rows by the calibrator "confidence".

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_classes)
            Probabilities of new rows.
        coverage : float
            Wanted coverage, between 0 and 1.

        Returns
        -------
        sets : ndarray of bool, shape (n_samples, n_classes)
            Not empty.
        """
        _check_share(coverage, "coverage")
        return probability_sets(P, self.thresholds(coverage, "confidence"))

    def is_answered(self, P: NDArray[Any], accuracy: float) -> Mask:
        """Whether the labels of new rows are certain enough for a wanted accuracy.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_classes)
            Probabilities of new rows.
        accuracy : float
            Wanted accuracy, between 0 and 1.

        Returns
        -------
        answered : ndarray of bool, shape (n_samples,)
            False where the model should abstain.
        """
        _check_share(accuracy, "accuracy")
        return np.asarray(P.max(axis=1) >= self.abstention(accuracy).threshold)

    def abstention(self, accuracy: float) -> Abstention:
        """Find the threshold for a wanted accuracy of the rows that get a label.

        Parameters
        ----------
        accuracy : float
            Wanted accuracy, between 0 and 1.

        Returns
        -------
        abstention : Abstention
            The lowest threshold at which the estimated accuracy is `accuracy` or more.
        """
        curve = self.risk_coverage()
        # Rows of equal probability are answered together.
        ends = np.append(curve.threshold[:-1] > curve.threshold[1:], True)
        enough = np.flatnonzero(ends & (curve.risk <= 1 - accuracy + _ROUNDING))
        if not enough.size:
            return Abstention(float("inf"), 0.0, float("nan"))
        k = enough[-1]
        return Abstention(
            float(curve.threshold[k]),
            float(curve.coverage[k]),
            1 - float(curve.risk[k]),
        )

    def risk_coverage(self) -> RiskCoverage:
        """Estimate the errors among the rows that are given a label, without truth.

        Returns
        -------
        curve : RiskCoverage
            Coverage, risk and threshold, the most probable labels first.
        """
        best = self.probability.argmax(axis=1)
        rows = np.arange(len(best))
        right = self.confidence()[rows, best]
        return risk_coverage_curve(self.probability[rows, best], right)


def conformal_threshold(p: Array, weight: Array, coverage: float) -> float:
    """Least probability that enters a set of the wanted coverage.

    Source: PredictionSets, rule of the sets.

    A value `x` enters if ``(sum of the weights with p <= x) + 1`` exceeds ``(1 -
    coverage) * (sum of the weights + 1)``.

    Parameters
    ----------
    p : ndarray of shape (n,)
        Held-out probabilities of labels.
    weight : ndarray of shape (n,)
        Their weights; the weights of a row sum to one.
    coverage : float
        Wanted coverage.

    Returns
    -------
    threshold : float
        Zero where the weights are too few: every value enters.
    """
    needed = (1 - coverage) * (weight.sum() + 1) - 1
    if needed < -_ROUNDING:
        return 0.0
    counted = weight > 0
    order = np.argsort(p[counted], kind="stable")
    falling, total = p[counted][order], np.cumsum(weight[counted][order])
    # Equal values enter together, so the sum at the last of them counts.
    last = np.append(falling[:-1] < falling[1:], True)
    enters = last & (total > needed + _ROUNDING)
    # The first is where the sum exceeds what is needed; the last always does.
    return float(falling[np.argmax(enters)]) if enters.any() else float("inf")


class PredictionSets(BasePartialClassifier):
    r"""Predict sets of labels that hold the true one with a wanted probability.

    A classifier is fitted on a part of the rows. The other rows, whose candidate labels
    it did not see, say how small a probability a label may have and still be needed.
    True labels are never used.

    Parameters
    ----------
    estimator : classifier
        Learner for candidate labels; other classifiers are put into a
        :class:`CandidateClassifier`.
    coverage : float, default=0.9
        Wanted share of sets that hold the true label.
    calibrator : {"confidence", "all", "any", "votes"}, default="confidence"
        How candidate labels stand for the true ones:

        - "confidence": each candidate counts by its estimated probability. Small sets.
          The coverage is approximate: it is as good as these probabilities.
        - "all": sets hold *all* candidates of a new row with probability `coverage`, so
          they hold the true label at least as often if it is among the candidates. A
          guarantee, with large sets.
        - "any": sets hold *at least one* candidate of a new row with probability
          `coverage`. A guarantee, but not for the true label, which is missed more
          often.
        - "votes": sets hold the vote of an annotator drawn at random with about
          probability `coverage` (never below ``2 * coverage - 1``). For votes and
          weights only.
    calibration_size : float, default=0.25
        Share of the rows that calibrate instead of training the classifier.
    cv : int or None, default=None
        Number of folds that are held out in turn, instead of one part. The classifier
        is then fitted on all rows: better with few rows, but no calibrator keeps a
        strict guarantee.
    per_class : bool, default=False
        Whether the coverage is to hold for the rows of each true class. For
        "confidence" and "votes".
    random_state : int, RandomState or None, default=None
        Draws the rows that calibrate.
    n_jobs : int or None, default=None
        Folds in parallel; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimator_ : classifier
        The fitted classifier; its classes are column numbers.
    calibration_ : Calibration
        Held-out probabilities and evidence of the rows that calibrate.
    thresholds_ : ndarray of shape (n_classes,) or dict
        Least probability with which each label enters a set; by subgroup where `fit`
        was given subgroups.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where `X` had any.

    See Also
    --------
    PooledClassifier : Calibrates the probabilities themselves.

    Notes
    -----
    With held-out probabilities :math:`p_{ij}` of :math:`n` rows and weights
    :math:`w_{ij}` that sum to one in each row, label :math:`j` of a new row with
    probability :math:`p` is in the set if

    .. math:: 1 + \sum_{ij} w_{ij} [p_{ij} \le p] > (1 - c) (n + 1)

    for the coverage :math:`c`. For single labels this is split conformal prediction.
    "all" gives the weight of a row to its least probable candidate, "any" to its most
    probable one, "confidence" shares it by the evidence times a power of the
    probabilities (mixed with 0.001 of uniform ones) that fits the held-out candidates
    best, "votes" by the votes. The
    most probable label is always in the set. Fewer than ``c / (1 - c)`` rows cannot
    calibrate: sets then hold every label, with a warning.

    Guarantees are averages over rows and over the draw of the calibrating rows, and
    need new rows that come from where the training rows came from. If candidate sets
    miss the true label in a share :math:`e` of the rows, "all" covers it in at least
    :math:`c - e`.

    References
    ----------
    Alireza Javanmardi, Yusuf Sale, Paul Hofman and Eyke Huellermeier. Conformal
    prediction with partially labeled data. COPA 2023, PMLR 204, 251-266.

    David Stutz, Abhijit Guha Roy, Tatiana Matejovicova, Patricia Strachan, Ali Taylan
    Cemgil and Arnaud Doucet. Conformal prediction under ambiguous ground truth. TMLR
    2023.

    Mauricio Sadinle, Jing Lei and Larry Wasserman. Least ambiguous set-valued
    classifiers with bounded error levels. JASA 114, 223-234, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN, PredictionSets
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> model = PredictionSets(PLKNN(), random_state=0).fit(X, candidates)
    >>> sets = model.predict_set(X)
    >>> sets.shape, bool(sets[range(150), y].mean() >= 0.9)
    ((150, 3), True)
    """

    _parameter_constraints = PARAMETERS | {
        "estimator": [HasMethods(["fit", "predict"])],
        "coverage": [Interval(Real, 0, 1, closed="neither")],
        "calibrator": [StrOptions(set(CALIBRATORS))],
        "calibration_size": [Interval(Real, 0, 1, closed="neither")],
        "cv": [*PARAMETERS["cv"], None],
        "per_class": ["boolean"],
    }
    # The rows that calibrate are drawn over the rows.
    _order_matters = ("rows",)
    __state_types__ = (Calibration,)

    def __init__(
        self,
        estimator: Any,
        *,
        coverage: float = 0.9,
        calibrator: Calibrator = "confidence",
        calibration_size: float = 0.25,
        cv: int | None = None,
        per_class: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.calibrator = calibrator
        self.calibration_size = calibration_size
        self.cv = cv
        self.per_class = per_class
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, groups: Any = None, subgroups: Any = None) -> Self:
        """Fit the classifier and calibrate on rows that it did not see.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            label sets, or weights and votes; see
            :func:`partlearn.candidates.check_evidence`.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as pictures of one person: held out
            together.
        subgroups : array-like of shape (n_samples,), default=None
            Parts of the rows that are to have the coverage each for itself, such as
            the hospital of a patient. :meth:`predict_set` then needs them too.

        Returns
        -------
        self : PredictionSets
            The fitted classifier.
        """
        if self.per_class and self.calibrator in ("all", "any"):
            raise ValueError(
                f'`per_class` needs calibrator="confidence" or "votes": '
                f'"{self.calibrator}" does not say which candidate is the true one.'
            )
        X, labels = validate_evidence(
            self, X, y, accept_sparse="csr", ensure_min_samples=2
        )
        check_two_classes(self.classes_, type(self).__name__)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        learner = for_candidates(self.estimator, seed)
        columns = recoded(labels)
        if self.cv is None:
            splitter = ShuffleSplit if groups is None else GroupShuffleSplit
            parts = splitter(1, test_size=self.calibration_size, random_state=seed)
            train, rows = next(parts.split(X, groups=groups))
            self.estimator_ = clone(learner).fit(X[train], columns[train])
            P = self.estimator_.predict_proba(X[rows])
        else:
            folds = CandidateKFold(min(self.cv, len(labels)), random_state=seed)
            pairs = list(folds.split(X, groups=groups))
            held_out = Parallel(n_jobs=self.n_jobs)(
                delayed(_held_out)(learner, X, columns, train, test)
                for train, test in pairs
            )
            P, rows = np.concatenate(held_out), np.concatenate([t for _, t in pairs])
            self.estimator_ = clone(learner).fit(X, columns)
        self.calibration_ = Calibration.of(P, labels[rows])
        self._parts = None
        if subgroups is not None:
            names = _names(subgroups, len(labels), "subgroups")[rows]
            parted = {name: labels[rows[names == name]] for name in np.unique(names)}
            self._parts = {
                str(name): Calibration.of(P[names == name], part)
                for name, part in parted.items()
            }
        self.thresholds_ = self._thresholds(self.coverage)
        return self

    def _thresholds(self, coverage: float) -> Any:
        def of(calibration: Calibration) -> Array:
            return calibration.thresholds(
                coverage, self.calibrator, per_class=self.per_class
            )

        if self._parts is None:
            return of(self.calibration_)
        return {name: of(part) for name, part in self._parts.items()}

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities by the fitted classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        P : ndarray of shape (n_samples, n_classes)
            Rows sum to one; columns in the order of ``classes_``.
        """
        X = self._validate_predict(X)
        return np.asarray(self.estimator_.predict_proba(X))

    def predict_set(
        self, X: Any, *, coverage: float | None = None, subgroups: Any = None
    ) -> Mask:
        """Predict a set of labels for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to classify.
        coverage : float, default=None
            Wanted coverage, between 0 and 1; the parameter `coverage` by default.
        subgroups : array-like of shape (n_samples,), default=None
            Subgroup of each row, where `fit` was given subgroups.

        Returns
        -------
        sets : ndarray of bool, shape (n_samples, n_classes)
            Labels in the set of each row; columns in the order of ``classes_``.
        """
        P = self.predict_proba(X)
        if coverage is not None:
            _check_share(coverage, "coverage")
        wanted = self.coverage if coverage is None else coverage
        thresholds = self.thresholds_ if coverage is None else self._thresholds(wanted)
        if self._parts is None:
            _warn_of_few_rows(thresholds, wanted)
            return probability_sets(P, thresholds)
        if subgroups is None:
            raise ValueError("`subgroups` are missing: `fit` was given some.")
        names = _names(subgroups, len(P), "subgroups").astype(str)
        unseen = set(names.tolist()) - set(thresholds)
        if unseen:
            raise ValueError(
                f"Subgroup {min(unseen)!r} had no calibrating row. There were: "
                f"{', '.join(map(repr, thresholds))}."
            )
        limits = np.array([thresholds[name] for name in names]).reshape(P.shape)
        _warn_of_few_rows(limits, wanted)
        return probability_sets(P, limits)


def probability_sets(P: NDArray[Any], thresholds: Array) -> Mask:
    """Labels whose probability reaches a threshold, and always the most probable one.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_classes)
        Probabilities.
    thresholds : ndarray of shape (n_classes,) or (n_samples, n_classes)
        Least probabilities.

    Returns
    -------
    sets : ndarray of bool, shape (n_samples, n_classes)
        Not empty.
    """
    sets: Mask = thresholds <= P
    sets[np.arange(len(P)), P.argmax(axis=1)] = True
    return sets


def _held_out(
    learner: Any, X: Any, columns: Any, train: Indices, test: Indices
) -> Array:
    fitted = clone(learner).fit(X[train], columns[train])
    return np.asarray(fitted.predict_proba(X[test]), dtype=np.float64)


def _warn_of_few_rows(thresholds: Array, coverage: float) -> None:
    if (thresholds <= 0).any():
        needed = int(np.ceil(coverage / (1 - coverage) - _ROUNDING))
        warnings.warn(
            "Too few rows calibrate: some labels enter every set. A coverage of "
            f"{coverage:g} needs at least {needed} calibrating rows (of each class "
            "and subgroup, where these have their own coverage).",
            UserWarning,
            stacklevel=3,
        )


def _check_share(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise ValueError(f"`{name}` must lie between 0 and 1; got {value}.")


def _names(values: ArrayLike, n: int, what: str) -> NDArray[Any]:
    names = np.asarray(values)
    if names.shape != (n,):
        raise ValueError(
            f"`{what}` must hold {n} names, one per row; got shape {names.shape}."
        )
    return names
