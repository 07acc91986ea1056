"""Calibration by the probabilities of held-out rows."""

# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from partlearn._arguments import argument
from partlearn._math.crossfit import log_linear_pool, log_linear_weights
from partlearn._typing import Array, Mask
from partlearn.candidates import Evidence, Votes, restrict_confidence, warn_caller
from partlearn.metrics import RiskCoverage, risk_coverage_curve

Calibrator = Literal["confidence", "gold", "all", "any", "votes"]
CALIBRATORS: tuple[Calibrator, ...] = get_args(Calibrator)

_SMOOTHING = 1e-3  # probability that every class keeps when confidences are found
ROUNDING = 1e-9  # relative to one row, when weights of rows are summed


class Abstention(NamedTuple):
    """Threshold above which predictions are accurate enough.

    Attributes
    ----------
    threshold : float
        Least probability of a label that is predicted; infinite if no threshold is high
        enough.
    coverage : float
        Share of held-out rows that get a label.
    accuracy : float
        Estimated accuracy of these labels; NaN without any.
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
        Shares of the votes or weights; None for candidate sets.
    gold : ndarray of bool, shape (n_rows,) or None
        Rows of a random sample whose evidence is their true label.
    """

    probability: Array
    evidence: Array
    shares: Array | None
    gold: Mask | None = None

    @classmethod
    def of(cls, P: NDArray[Any], labels: Evidence, gold: Mask | None = None) -> Self:
        """Make a calibration of held-out probabilities and labels.

        Parameters
        ----------
        P : ndarray of shape (n_rows, n_classes)
            Held-out probabilities.
        labels : Evidence
            Labels of the same rows.
        gold : ndarray of bool, shape (n_rows,), default=None
            Rows of a random sample whose true label is known in `labels`.

        Returns
        -------
        calibration : Calibration
            With shares if `labels` are votes or weights.
        """
        shares = None
        if isinstance(labels, Votes):
            shares = labels.certain(labels.table.shares())
        elif labels.weighted:
            shares = np.asarray(labels.confidence())
        weights = np.asarray(labels.weights, dtype=np.float64)
        return cls(np.clip(P, 0.0, 1.0).astype(np.float64), weights, shares, gold)

    def known_rows(self) -> int:
        """Count the rows of known true labels."""
        return 0 if self.gold is None else int(self.gold.sum())

    def confidence(self) -> Array:
        """Estimate the confidence in each candidate of the held-out rows.

        The probabilities are raised to the power that fits the candidates best.

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
        """Return the weight of each label of each row in the calibration.

        Source: PredictionSets, weights of the calibrators.

        Parameters
        ----------
        calibrator : {"confidence", "gold", "all", "any", "votes"}
            See :class:`PredictionSets`.

        Returns
        -------
        weights : ndarray of shape (n_rows, n_classes)
            Rows sum to one, or to zero if they are not used.
        """
        if calibrator == "confidence":
            return self.confidence()
        if calibrator == "gold":
            if self.gold is None:
                raise ValueError(
                    f"{argument('calibrator', 'gold')} needs known labels; train with "
                    f"{argument('gold')}."
                )
            true: Array = np.where(self.gold[:, None], self.evidence > 0, 0.0)
            return true
        if calibrator == "votes":
            if self.shares is None:
                raise ValueError(
                    f"{argument('calibrator', 'votes')} needs votes or weights, but "
                    "the labels are plain candidate sets. Use confidence or all."
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
        """Return the least probability with which each label enters a set.

        Parameters
        ----------
        coverage : float
            Wanted coverage, between 0 and 1.
        calibrator : {"confidence", "gold", "all", "any", "votes"}
            See :class:`PredictionSets`.
        per_class : bool, default=False
            Whether each class has its own threshold.

        Returns
        -------
        thresholds : ndarray of shape (n_classes,)
            Zero if there are too few rows; every label is then in every set.
        """
        check_calibrator(calibrator, per_class=per_class)
        weights = self.row_weights(calibrator)
        q = weights.shape[1]
        if per_class:
            columns = zip(self.probability.T, weights.T, strict=True)
            return np.array([conformal_threshold(p, w, coverage) for p, w in columns])
        one = conformal_threshold(self.probability.ravel(), weights.ravel(), coverage)
        return np.full(q, one)

    def best_calibrator(self, coverage: float) -> Calibrator:
        """Return "gold" where enough labels are known, else "confidence"."""
        enough = self.known_rows() >= rows_needed(coverage)
        return "gold" if enough else "confidence"

    def sets(
        self,
        P: NDArray[Any],
        coverage: float,
        calibrator: Calibrator | None = None,
        *,
        per_class: bool = False,
    ) -> Mask:
        """Predict sets of labels for new rows.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_classes)
            Probabilities of new rows.
        coverage : float
            Wanted coverage, between 0 and 1.
        calibrator : {"confidence", "gold", "all", "any", "votes"}, default=None
            See :class:`PredictionSets`; None is "gold" where enough labels are known,
            else "confidence".
        per_class : bool, default=False
            Whether each class has its own threshold.

        Returns
        -------
        sets : ndarray of bool, shape (n_samples, n_classes)
            Not empty. A warning says where too few rows can calibrate.
        """
        check_share(coverage, "coverage")
        chosen = calibrator or self.best_calibrator(coverage)
        thresholds = self.thresholds(coverage, chosen, per_class=per_class)
        warn_of_few_rows(thresholds, coverage)
        return probability_sets(P, thresholds)

    def is_answered(self, P: NDArray[Any], accuracy: float) -> Mask:
        """Return whether labels of new rows are certain enough for a given accuracy.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_classes)
            Probabilities of new rows.
        accuracy : float
            Wanted accuracy, between 0 and 1.

        Returns
        -------
        answered : ndarray of bool, shape (n_samples,)
            False if the model should abstain.
        """
        check_share(accuracy, "accuracy")
        return np.asarray(P.max(axis=1) >= self.abstention(accuracy).threshold)

    def abstention(self, accuracy: float) -> Abstention:
        """Find the threshold for a given accuracy of the rows that get a label.

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
        enough = np.flatnonzero(ends & (curve.risk <= 1 - accuracy + ROUNDING))
        if not enough.size:
            return Abstention(float("inf"), 0.0, float("nan"))
        k = enough[-1]
        return Abstention(
            float(curve.threshold[k]),
            float(curve.coverage[k]),
            1 - float(curve.risk[k]),
        )

    def risk_coverage(self) -> RiskCoverage:
        """Estimate risk against coverage, without true labels.

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
    """Return the least probability that enters a set of the given coverage.

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
        Zero if the sum of the weights is too small; every value enters then.
    """
    needed = (1 - coverage) * (weight.sum() + 1) - 1
    if needed < -ROUNDING:
        return 0.0
    counted = weight > 0
    order = np.argsort(p[counted], kind="stable")
    falling, total = p[counted][order], np.cumsum(weight[counted][order])
    # Equal values enter together, so the sum at the last of them counts.
    last = np.append(falling[:-1] < falling[1:], True)
    enters = last & (total > needed + ROUNDING)
    # The first is where the sum exceeds what is needed; the last always does.
    return float(falling[np.argmax(enters)]) if enters.any() else float("inf")


def probability_sets(P: NDArray[Any], thresholds: Array) -> Mask:
    """Return the labels above a threshold, and always the most probable label.

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


def rows_needed(coverage: float) -> int:
    """Return the least number of rows that can calibrate a coverage."""
    return int(np.ceil(coverage / (1 - coverage) - ROUNDING))


def warn_of_few_rows(thresholds: Array, coverage: float) -> None:
    """Warn if some labels enter every set because too few rows calibrate."""
    if (thresholds <= 0).any():
        needed = rows_needed(coverage)
        warn_caller(
            "Some labels are in every set: there are too few calibration rows, or the "
            "estimator gives true labels a probability of zero. A coverage of "
            f"{coverage:g} needs at least {needed} calibration rows (of each class "
            "and subgroup, where these are calibrated separately)."
        )


def check_calibrator(calibrator: str, *, per_class: bool) -> None:
    """Raise if a calibrator is unknown, or cannot tell the classes of rows apart."""
    if calibrator not in CALIBRATORS:
        raise ValueError(
            f"{argument('calibrator')} must be one of {', '.join(CALIBRATORS)}; got "
            f"{calibrator!r}."
        )
    if per_class and calibrator in ("all", "any"):
        raise ValueError(
            f"{argument('per_class')} needs the calibrator confidence, gold or votes: "
            f"{calibrator} does not identify the true candidate."
        )


def check_share(value: float, name: str) -> None:
    """Raise if a wanted coverage or accuracy is not between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{argument(name)} must lie between 0 and 1; got {value}.")
