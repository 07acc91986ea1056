"""Prediction sets calibrated on candidate labels."""

# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from partlearn._arguments import check_one_per_row
from partlearn._math.blocks import lazy_rows
from partlearn._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from partlearn._typing import Array, Indices, Mask
from partlearn.base import (
    PARAMETERS,
    BaseCandidateClassifier,
    check_two_classes,
    recoded,
    validate_evidence,
)
from partlearn.candidates import known_labels, named_codes
from partlearn.classification._calibration import (
    CALIBRATORS,
    Calibration,
    Calibrator,
    check_calibrator,
    check_share,
    probability_sets,
    warn_of_few_rows,
)
from partlearn.classification._pooled_classifier import for_candidates
from partlearn.model_selection import CandidateKFold


@lazy_rows
class PredictionSets(BaseCandidateClassifier):
    r"""Predict sets of labels that contain the true one with a given probability.

    A classifier is fitted on a part of the rows. The held-out rows give the smallest
    probability at which a label enters the set. True labels are not needed, but a
    guarantee for small sets takes a few: see `calibrator`.

    Parameters
    ----------
    estimator : classifier
        Learner for candidate labels; other classifiers are put into a
        :class:`CandidateClassifier`.
    coverage : float, default=0.9
        Share of sets that shall contain the true label.
    calibrator : {"confidence", "gold", "all", "any", "votes"}, default="confidence"
        How candidate labels stand for the true ones:

        - "confidence": each candidate counts by its estimated probability. Small sets.
          The coverage is approximate: it is as good as these probabilities, and was
          .87 instead of .9 where false labels come with certain true ones.
        - "gold": true labels of a random sample of rows, the `gold` of :meth:`fit`.
          These rows calibrate, the others train. A guarantee for the true label, with
          small sets. A coverage of .9 needs at least 9 known labels.
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
        Share of the rows that calibrate instead of training the classifier. With
        calibrator "gold" the known rows do.
    cv : int or None, default=None
        Number of folds that are held out in turn, instead of one part. The classifier
        is then fitted on all rows: better with few rows, but no calibrator keeps a
        strict guarantee.
    per_class : bool, default=False
        Whether to calibrate for each true class separately. For "confidence", "gold"
        and "votes".
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
        Least probability with which each label enters a set; by subgroup if subgroups
        were passed to `fit`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

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
    best, "votes" by the votes, and "gold" gives it to the true label of the known
    rows. The most probable label is always in the set. Fewer than ``c / (1 - c)`` rows
    cannot calibrate: sets then hold every label, with a warning.

    Guarantees are averages over rows and over the draw of the calibration rows. They
    need new rows of the same distribution as the training rows. If candidate sets
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
    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        subgroups: Any = None,
        gold: Any = None,
        bags: Any = None,
    ) -> Self:
        """Fit the classifier and calibrate it on held-out rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes; see
            :func:`partlearn.candidates.check_evidence`.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as pictures of one person: held out
            together.
        subgroups : array-like of shape (n_samples,), default=None
            Parts of the rows that are calibrated separately, such as the hospital of a
            patient. :meth:`predict_set` then needs them too.
        gold : mapping or array-like of shape (n_samples,), default=None
            True labels of a random sample of rows, for calibrator "gold": by the number
            of the row, or one per row, None where it is not known.
        bags : array-like of shape (n_samples,), default=None
            Bag of each row, where rows share one list of labels: whole bags are held
            out, and the classifier is fitted with the bags. For estimators whose `fit`
            takes bags.

        Returns
        -------
        self : PredictionSets
            The fitted classifier.
        """
        check_calibrator(self.calibrator, per_class=self.per_class)
        X, labels = validate_evidence(self, X, y, ensure_min_samples=2)
        check_two_classes(self.classes_, type(self).__name__)
        if (gold is None) != (self.calibrator != "gold"):
            raise ValueError(
                '`gold`, the true labels of some rows, goes with calibrator="gold"; '
                "pass both or neither."
            )
        known = np.zeros(len(labels), dtype=bool)
        if gold is not None:
            given = known_labels(gold, len(labels))
            known[list(given)] = True
            labels = labels.with_known(given)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        classifier = for_candidates(self.estimator, seed)
        columns = recoded(labels)
        if bags is not None:
            if not has_fit_parameter(classifier, "bags"):
                raise ValueError(
                    f"{type(classifier).__name__} does not use bags; leave out `bags`, "
                    "or pass them as `groups`."
                )
            codes, named = named_codes(bags, len(labels), "bags")
            bags = codes.astype(object)
            bags[~named] = None  # rows without a bag
            groups = codes if groups is None else groups
        if self.cv is None:
            if gold is not None:
                train, rows = _apart(known, groups)
            else:
                splitter = ShuffleSplit if groups is None else GroupShuffleSplit
                parts = splitter(1, test_size=self.calibration_size, random_state=seed)
                train, rows = next(parts.split(X, groups=groups))
            self.estimator_ = _fitted(classifier, X, columns, train, bags)
            P = self.estimator_.predict_proba(X[rows])
        else:
            folds = CandidateKFold(min(self.cv, len(labels)), random_state=seed)
            pairs = list(folds.split(X, groups=groups))
            held_out = Parallel(n_jobs=self.n_jobs)(
                delayed(_held_out)(classifier, X, columns, train, test, bags)
                for train, test in pairs
            )
            P, rows = np.concatenate(held_out), np.concatenate([t for _, t in pairs])
            self.estimator_ = _fitted(classifier, X, columns, slice(None), bags)
        sample = None if gold is None else known[rows]
        self.calibration_ = Calibration.of(P, labels[rows], sample)
        self._parts = None
        if subgroups is not None:
            names = _names(subgroups, len(labels), "subgroups")[rows]
            self._parts = {}
            for name in np.unique(names):
                own = names == name
                part = None if sample is None else sample[own]
                self._parts[str(name)] = Calibration.of(P[own], labels[rows[own]], part)
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
        """Predict probabilities by the fitted classifier.

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
            Subgroup of each row, if subgroups were passed to `fit`.

        Returns
        -------
        sets : ndarray of bool, shape (n_samples, n_classes)
            Labels in the set of each row; columns in the order of ``classes_``.
        """
        P = self.predict_proba(X)
        if coverage is not None:
            check_share(coverage, "coverage")
        wanted = self.coverage if coverage is None else coverage
        thresholds = self.thresholds_ if coverage is None else self._thresholds(wanted)
        if self._parts is None:
            warn_of_few_rows(thresholds, wanted)
            return probability_sets(P, thresholds)
        if subgroups is None:
            raise ValueError("`subgroups` are missing: `fit` was given some.")
        names = _names(subgroups, len(P), "subgroups").astype(str)
        unseen = set(names.tolist()) - set(thresholds)
        if unseen:
            raise ValueError(
                f"Subgroup {min(unseen)!r} has no calibration rows. Known subgroups: "
                f"{', '.join(map(repr, thresholds))}."
            )
        limits = np.array([thresholds[name] for name in names]).reshape(P.shape)
        warn_of_few_rows(limits, wanted)
        return probability_sets(P, limits)


def _fitted(classifier: Any, X: Any, columns: Any, rows: Any, bags: Any) -> Any:
    params = {} if bags is None else {"bags": bags[rows]}
    return clone(classifier).fit(X[rows], columns[rows], **params)


def _held_out(
    classifier: Any, X: Any, columns: Any, train: Indices, test: Indices, bags: Any
) -> Array:
    fitted = _fitted(classifier, X, columns, train, bags)
    return np.asarray(fitted.predict_proba(X[test]), dtype=np.float64)


def _apart(known: Mask, groups: Any) -> tuple[Indices, Indices]:
    """Return training rows and known calibration rows that share no group."""
    train = ~known
    if groups is not None:
        names = _names(groups, len(known), "groups")
        train &= ~np.isin(names, names[known])
    if train.sum() < 2:
        raise ValueError(
            'calibrator="gold" trains on the rows whose true label is not known; '
            f"there are {int(train.sum())}. Pass fewer known labels, or `cv`."
        )
    return np.flatnonzero(train), np.flatnonzero(known)


def _names(values: ArrayLike, n: int, what: str) -> NDArray[Any]:
    names = np.asarray(values)
    check_one_per_row(what, names.shape, n)
    return names
