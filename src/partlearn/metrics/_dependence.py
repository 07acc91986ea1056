"""Labels that share candidate sets more often than chance."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from partlearn._typing import Array, Mask
from partlearn.candidates import check_evidence

_LIFT = 1.3  # times as often as by chance
_DEVIATIONS = 4.0  # standard deviations above chance
_FEW_LABELS = 3  # too few to tell dependence from the shares of the labels
_SINGLE = 0.1  # share of rows with a single candidate that speak for themselves
_FITS = 50  # iterations of proportional fitting
_MOST_OVERCONFIDENT = 8.0  # factor of the logarithms of probabilities


class Dependence(NamedTuple):
    """Pairs of labels that share sets more often than independent false labels would.

    Attributes
    ----------
    pairs : list of (first, second, lift)
        Labels, and how many times as often as by chance they share a set; the largest
        lift first.
    partners : ndarray of bool, shape (n_classes, n_classes)
        Symmetric; the same pairs by their columns. All pairs if nothing could be
        tested.
    tested : bool
        Whether independence could be tested. It cannot with three labels or fewer,
        unless one row in ten has a single candidate.
    """

    pairs: list[tuple[Any, Any, float]]
    partners: Mask
    tested: bool = True


def candidate_dependence(candidates: Any, confidence: ArrayLike) -> Dependence:
    """Test whether false candidates are drawn independently of the true label.

    Parameters
    ----------
    candidates : candidate labels
        In any form that :func:`partlearn.candidates.check_evidence` reads.
    confidence : array-like of shape (n_samples, n_classes)
        Estimated probability of each label, such as cross-fitted confidences.

    Returns
    -------
    dependence : Dependence
        Pairs that share at least 1.3 times as many sets as expected, by at least four
        standard deviations. Empty if the sets do not contradict independence.

    Notes
    -----
    Rows of label ``j`` with the candidate ``i`` are counted by confidence and compared
    with the counts of the same margins in which row and column are independent, fitted
    by iterative proportional scaling without the diagonal. With three labels the
    margins leave next to nothing to test.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import cooccurring_candidates
    >>> from partlearn.metrics import candidate_dependence
    >>> truth = np.arange(500) % 5
    >>> S = cooccurring_candidates(truth, 0.9, random_state=0)
    >>> len(candidate_dependence(S, np.eye(5)[truth]).pairs)
    5
    """
    evidence = check_evidence(candidates)
    S = evidence.candidates.astype(np.float64)
    size = S.sum(axis=1)
    if S.shape[1] <= _FEW_LABELS and (size > 1).any() and (size == 1).mean() < _SINGLE:
        return Dependence([], ~np.eye(S.shape[1], dtype=bool), tested=False)
    F = np.asarray(confidence, dtype=np.float64)
    together = F.T @ S  # rows of true j (estimated) with candidate i
    np.fill_diagonal(together, 0)
    expected = _independent(together)
    partners = (together > _LIFT * expected) & (
        together - expected > _DEVIATIONS * np.sqrt(np.maximum(expected, 1.0))
    )
    first, second = np.nonzero(partners)
    lift = together[first, second] / np.maximum(expected[first, second], 1e-9)
    names = evidence.classes.tolist()
    pairs = [
        (names[first[k]], names[second[k]], float(lift[k]))
        for k in np.argsort(-lift, kind="stable")
    ]
    return Dependence(pairs, partners)


def _independent(together: Array) -> Array:
    """Return the counts expected under independence, without diagonal."""
    expected = 1.0 - np.eye(len(together))
    rows, columns = together.sum(axis=1), together.sum(axis=0)
    for _ in range(_FITS):
        expected *= (rows / np.maximum(expected.sum(axis=1), 1e-12))[:, None]
        expected *= columns / np.maximum(expected.sum(axis=0), 1e-12)
    return expected


def cautious_share(inside: Array, S: Mask, best: NDArray[Any], partners: Mask) -> Array:
    """Return the chance of right labels if partner candidates may be true.

    Parameters
    ----------
    inside : ndarray of shape (n_samples,)
        Chance under the assumption that false candidates are independent.
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidates.
    best : ndarray of int, shape (n_samples,)
        Chosen labels.
    partners : ndarray of bool, shape (n_classes, n_classes)
        Labels that share sets more often than chance.

    Returns
    -------
    chance : ndarray of shape (n_samples,)
        At most one over the number of candidates that are the label or its partners,
        which the data cannot tell apart.
    """
    n_alike = 1 + (S & partners[:, best].T).sum(axis=1)
    return np.minimum(inside, 1 / n_alike)


def hit_accuracy(S: Mask, best: NDArray[Any], inside: Array) -> tuple[float, float]:
    """Estimate the accuracy from the covering rate, with its standard error.

    Wrong labels are candidates by chance only. Unlike a mean of confidences, the
    estimate does not depend on their calibration.

    Parameters
    ----------
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidates of held-out rows.
    best : ndarray of int, shape (n_samples,)
        Predicted labels.
    inside : ndarray of shape (n_samples, n_classes)
        Confidences restricted to the candidates, for the number of rows of each label.

    Returns
    -------
    accuracy, error : float
        Estimate, which may lie a little outside of 0 and 1, and its standard error;
        infinite if every row has all labels.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.metrics import hit_accuracy
    >>> truth = np.arange(1000) % 5
    >>> S = make_candidates(truth, 1, random_state=0)
    >>> predicted = np.where(np.arange(1000) < 600, truth, (truth + 1) % 5)
    >>> accuracy, error = hit_accuracy(S, predicted, np.eye(5)[truth])
    >>> round(accuracy, 2), round(error, 2)
    (0.59, 0.02)
    """
    rows = np.arange(len(S))
    total, others = S.sum(axis=0), S.sum(axis=1) - 1.0
    true = inside.sum(axis=0)
    share = (total - true) / np.maximum(len(S) - true, 1.0)
    # Larger sets hold a wrong label more often.
    size = others / max(float(others.mean()), np.finfo(float).tiny)
    chance = np.where(S.all(axis=1), 1.0, np.clip(share[best] * size, 0.0, 1.0))
    weight = float((1 - chance).sum())
    if not weight:
        return float("nan"), float("inf")
    accuracy = float((S[rows, best] - chance).sum()) / weight
    hit = chance + (1 - chance) * min(max(accuracy, 0.0), 1.0)
    return accuracy, float((hit * (1 - hit)).sum()) ** 0.5 / weight


def overconfidence(P: Array, S: Mask) -> float:
    """Find by which factor the logarithms of held-out probabilities are too large.

    Probabilities that say how often a label is true also say how often it is a
    candidate. The factor is the temperature at which the candidate sets of the rows are
    most likely, if false candidates are independent of the true label.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_classes)
        Probabilities of rows that were held out in training.
    S : ndarray of bool, shape (n_samples, n_classes)
        Their candidates.

    Returns
    -------
    factor : float
        Between 1, if the probabilities are not too high, and 8.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.metrics._dependence import overconfidence
    >>> rng = np.random.default_rng(0)
    >>> P = rng.dirichlet(np.ones(5), size=2000)
    >>> truth = np.array([rng.choice(5, p=row) for row in P])
    >>> S = make_candidates(truth, 1, random_state=0)
    >>> sharper = P**3 / (P**3).sum(axis=1, keepdims=True)
    >>> round(overconfidence(P, S), 1), round(overconfidence(sharper, S), 1)
    (1.0, 3.0)
    """
    logarithms = np.log(np.maximum(P, np.finfo(float).tiny))

    def misfit(power: float) -> float:
        sets = logsumexp(power * logarithms, axis=1, b=S)
        return -float((sets - logsumexp(power * logarithms, axis=1)).sum())

    bounds = (1 / _MOST_OVERCONFIDENT, 1.0)
    power = minimize_scalar(misfit, bounds=bounds, method="bounded").x
    return 1 / float(power if misfit(power) < misfit(1.0) else 1.0)
