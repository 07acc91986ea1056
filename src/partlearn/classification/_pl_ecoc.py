"""PL-ECOC: error-correcting output codes without disambiguation."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from partlearn._math.linalg import too_large
from partlearn._math.neighbors import reference_rows
from partlearn._sklearn_compat import HasMethods, Interval, StrOptions, fit_context
from partlearn._typing import Array, Mask
from partlearn.base import (
    PARAMETERS,
    BaseScoreClassifier,
    check_two_classes,
    validate_partial_data,
)
from partlearn.candidates import warn_caller
from partlearn.classification._ridge import (
    Predictor,
    gaussian_kernel,
    squared_distances,
)

_DRAWS = 256  # columns tried at a time
_FEW_CLASSES = 12  # up to so many classes, all columns are tried
_ALONE = 0.05  # a kernel below this between nearest rows is as good as zero
_STEEP = 300.0  # exp() of a larger output would overflow when summed


class PLECOC(BaseScoreClassifier):
    """Error-correcting output codes for candidate labels.

    Each column of the code divides the labels in two. Each binary task uses the rows
    whose candidates all fall on one side; the other rows are left out. No label is
    disambiguated.

    Parameters
    ----------
    code_length : int or "auto", default="auto"
        Number of columns; "auto" is ``ceil(10 log2(n_classes))``.
    min_size : int or "auto", default="auto"
        Fewest rows a column must have; "auto" is a tenth of all rows.
    estimator : classifier, default=None
        Two-class machine with ``decision_function`` or ``predict_proba``. None is a
        support vector machine with Gaussian kernel and the parameters `C` and `gamma`.
    C : float, default=1.0
        Cost of the default machine.
    gamma : float or "auto", default="auto"
        Kernel coefficient of the default machine; "auto" is one over the number of
        features.
    max_samples : int or None, default=25000
        Maximum number of training rows of the default machines, drawn at random, since
        their time grows with the square of the rows; None is all. Other machines use
        all rows.
    max_tries : int, default=10000
        Maximum number of columns drawn, with more than 12 classes.
    memory_limit : float, default=4.0
        Largest kernel matrix, in GiB, that is computed once for all columns. Beyond it
        each machine computes its own kernel: slower, with the same result.
    random_state : int, RandomState or None, default=None
        Draws the columns.
    n_jobs : int, default=None
        Threads over the columns; the result does not depend on it. Each holds its own
        part of the kernel matrix.

    Attributes
    ----------
    code_ : ndarray of shape (n_classes, n_columns)
        The sides, -1 and 1, of each class in each column.
    performance_ : ndarray of shape (n_classes, n_columns)
        Accuracy of each machine on the rows with the class among their candidates; rows
        are scaled to sum to one.
    estimators_ : list
        The fitted machines of `estimator`; empty for the default.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    PLSVM : One linear machine for all labels.

    Notes
    -----
    A column and its complement are the same problem, so only one of them is used. With
    up to 12 classes all columns are tried in random order, so that the code is shorter
    than `code_length` only if no more valid columns exist. A label that is not a
    candidate of any row scores minus infinity and is never predicted.

    The papers that use PL-ECOC do not state kernel and cost; the defaults are LIBSVM's,
    which fit the published figures best on one of two data sets that were tried. Large
    candidate sets leave few valid columns: lower `min_size` then, or use another
    learner. Standardize the features first, since `gamma` does not adapt to their
    scale: on the pixels of digits the accuracy is .12 without and .84 with
    standardization. A warning is raised if rows are too far apart for the kernel.

    The code is drawn class by class, and depends on the order of the classes and of the
    rows.

    References
    ----------
    Min-Ling Zhang, Fei Yu and Cai-Zhi Tang. Disambiguation-Free Partial Label
    Learning. IEEE TKDE 29(10), 2017, 2155-2167.
    https://doi.org/10.1109/TKDE.2017.2721942

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLECOC
    >>> X, y = make_blobs(150, n_features=6, centers=5, random_state=0)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> model = PLECOC(random_state=0).fit(X, candidates)
    >>> model.code_.shape
    (5, 10)
    >>> model.score(X, y)
    1.0
    """

    # A code draws a side for every class; libsvm stops within its tolerance, at a
    # point that depends on the order of the rows.
    _order_matters = ("rows", "classes")
    __state_types__ = (Predictor,)
    _parameter_constraints = PARAMETERS | {
        "code_length": [
            Interval(Integral, 1, None, closed="left"),
            StrOptions({"auto"}),
        ],
        "min_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "gamma": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_samples": [Interval(Integral, 2, None, closed="left"), None],
        "max_tries": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        code_length: int | Literal["auto"] = "auto",
        *,
        min_size: int | Literal["auto"] = "auto",
        estimator: Any = None,
        C: float = 1.0,
        gamma: float | Literal["auto"] = "auto",
        max_samples: int | None = 25000,
        max_tries: int = 10000,
        memory_limit: float = 4.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.code_length = code_length
        self.min_size = min_size
        self.estimator = estimator
        self.C = C
        self.gamma = gamma
        self.max_samples = max_samples
        self.max_tries = max_tries
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Draw the code and fit its binary classifiers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes) or a sequence
            of candidate sets; see :func:`partlearn.candidates.check_candidates`.

        Returns
        -------
        self : PLECOC
            The fitted classifier.
        """
        X, S = validate_partial_data(self, X, y, order="C", ensure_min_samples=2)
        rng = check_random_state(self.random_state)
        if self.estimator is None:
            rows = reference_rows(X.shape[0], self.max_samples, rng)
            X, S = (X, S) if rows is None else (X[rows], S[rows])
        self.code_ = self._draw_code(S, rng)
        sides = column_sides(S, self.code_)
        self._forget("_machines")
        if self.estimator is None:
            outputs = self._fit_kernel_machines(X, sides)
        else:
            self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(_fit_side)(self.estimator, X, side) for side in sides.T
            )
            outputs = self._outputs(X)
        self.performance_ = performance(outputs, self.code_, S)
        self._seen = S.any(axis=0)
        return self

    def _draw_code(self, S: Mask, rng: np.random.RandomState) -> NDArray[np.int8]:
        seen = S.any(axis=0)  # a label without rows takes no part in the code
        m, q = S.shape[0], int(seen.sum())
        check_two_classes(self.classes_[seen], "PLECOC")
        auto = math.ceil(10 * math.log2(q))
        length = auto if self.code_length == "auto" else int(self.code_length)
        size = m // 10 if self.min_size == "auto" else int(self.min_size)
        drawn = draw_code(S[:, seen], length, size, self.max_tries, rng)
        if drawn.shape[1] == 0:
            raise ValueError(
                f"No division of the {q} classes has rows on both sides and at least "
                f"min_size={size} rows whose candidates all fall on one side: the "
                "candidate sets are too large, or all alike. Lower `min_size` or use "
                "another classifier."
            )
        if drawn.shape[1] < length and q > _FEW_CLASSES:
            warn_caller(
                f"Only {drawn.shape[1]} of {length} columns with at least "
                f"min_size={size} rows were found in {self.max_tries} draws; the code "
                "is shorter than asked for."
            )
        if len(np.unique(drawn, axis=0)) < q:
            warn_caller(
                "Some classes have the same code and cannot be distinguished, since no "
                f"column with at least min_size={size} rows divides them; lower "
                "`min_size` or use another classifier."
            )
        code = np.ones((S.shape[1], drawn.shape[1]), dtype=np.int8)
        code[seen] = drawn
        return code

    def _fit_kernel_machines(self, X: Any, sides: NDArray[np.int8]) -> Array:
        """Train the default machines; return their outputs on the training rows."""
        m, d = X.shape
        gamma = 1 / d if self.gamma == "auto" else float(self.gamma)
        similarity = nearest_similarity(X, gamma)
        if similarity < _ALONE:
            warn_caller(
                "Rows are far apart for the kernel (similarity of nearest rows "
                f"{similarity:.2g}), so that predictions for new rows are arbitrary. "
                "Standardize the features, or lower `gamma`."
            )
        sigma = math.sqrt(1 / (2 * gamma))
        fits = too_large(8 * m**2, self.memory_limit) is None
        K = gaussian_kernel(X, sigma).astype(np.float64, copy=False) if fits else None
        machine = SVC(
            C=self.C, kernel="rbf" if K is None else "precomputed", gamma=gamma
        )
        columns = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_dual_column)(machine, X if K is None else K, side)
            for side in sides.T
        )
        duals = np.stack([dual for dual, _ in columns], axis=1)
        offsets = np.array([offset for _, offset in columns])
        self.estimators_ = []
        self._machines = Predictor(X, sigma, duals.astype(X.dtype), offsets)
        return self._machines(X) if K is None else K @ duals + offsets

    def _square_side(self, n_samples: int, n_features: int) -> int:
        limit = self.memory_limit * 2**30
        m = min(n_samples, self.max_samples or n_samples)
        return m if self.estimator is None and 8 * m**2 <= limit else 0

    def _outputs(self, X: Any) -> Array:
        """Return real outputs of the machines, one column each."""
        if not self.estimators_:
            return self._machines(X)
        return np.stack([_output(machine, X) for machine in self.estimators_], axis=1)

    def _scores(self, X: Any) -> NDArray[Any]:
        X = self._validate_predict(X)
        scores = -decoding_loss(self._outputs(X), self.code_, self.performance_)
        scores[:, ~self._seen] = -np.inf
        return scores


def nearest_similarity(X: Any, gamma: float) -> float:
    """Return the median kernel between a row and its nearest one, over a hundred rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (m, d)
        Rows, at least two.
    gamma : float
        Kernel coefficient.

    Returns
    -------
    similarity : float
        Between 0 and 1.
    """
    rows = np.unique(np.linspace(0, X.shape[0] - 1, 100).astype(int))
    squared = squared_distances(X[rows], X)
    squared[np.arange(len(rows)), rows] = np.inf
    return float(np.exp(-gamma * np.median(squared.min(axis=1))))


def draw_code(
    S: Mask, length: int, min_size: int, max_tries: int, rng: np.random.RandomState
) -> NDArray[np.int8]:
    """Draw columns of -1 and 1, each with enough rows on its two sides.

    Source: PLECOC, coding matrix.

    Parameters
    ----------
    S : ndarray of bool, shape (m, q)
        Candidates.
    length : int
        Number of columns wanted.
    min_size : int
        Fewest rows of a column.
    max_tries : int
        Maximum number of columns tried.
    rng : RandomState
        Draws.

    Returns
    -------
    code : ndarray of shape (q, l)
        At most `length` columns, no two of them equal or opposite.
    """
    q = S.shape[1]
    accepted: dict[bytes, NDArray[np.int8]] = {}
    for V in _trials(q, max_tries, rng):
        V = V * V[0]  # of a column and its opposite, the one that starts with 1
        sides = column_sides(S, V)
        positive = np.count_nonzero(sides > 0, axis=0)
        negative = np.count_nonzero(sides < 0, axis=0)
        enough = (positive > 0) & (negative > 0) & (positive + negative >= min_size)
        for column in V.T[enough]:
            accepted.setdefault(column.tobytes(), column)
        if len(accepted) >= length:
            break
    drawn = list(accepted.values())[:length]
    return np.array(drawn, dtype=np.int8).reshape(-1, q).T


def _trials(
    q: int, max_tries: int, rng: np.random.RandomState
) -> Iterator[NDArray[np.int8]]:
    """Yield blocks of columns to try: all columns if they are few, or random ones."""
    if q <= _FEW_CLASSES:
        numbers = rng.permutation(2 ** (q - 1) - 1)  # one more would be all ones
        bits = numbers >> np.arange(q - 1)[:, None] & 1
        yield np.vstack([np.ones_like(numbers), 2 * bits - 1]).astype(np.int8)
        return
    for done in range(0, max_tries, _DRAWS):
        size = (min(_DRAWS, max_tries - done), q)
        yield (2 * rng.randint(0, 2, size=size) - 1).astype(np.int8).T


def column_sides(S: Mask, code: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the side of each row in each column: 1, -1, or 0 for split candidates.

    Source: PLECOC, binary training sets.
    """
    candidates = S.astype(np.float32)  # counts of labels are exact
    on_plus = candidates @ (code > 0).astype(np.float32)
    on_minus = candidates @ (code < 0).astype(np.float32)
    return (on_minus == 0).astype(np.int8) - (on_plus == 0).astype(np.int8)


def _dual_column(
    machine: SVC, data: Any, side: NDArray[np.int8]
) -> tuple[Array, float]:
    """Train on one column; return coefficients of all training rows, and the offset."""
    rows = np.flatnonzero(side)
    shared = machine.kernel == "precomputed"
    part = data[np.ix_(rows, rows)] if shared else data[rows]
    fitted = clone(machine).fit(part, side[rows])
    dual = np.zeros(len(side))
    coefficients = fitted.dual_coef_
    dense = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    dual[rows[fitted.support_]] = np.ravel(dense)
    return dual, float(fitted.intercept_[0])


def _fit_side(estimator: Any, X: Any, side: NDArray[np.int8]) -> Any:
    rows = np.flatnonzero(side)
    return clone(estimator).fit(X[rows], side[rows])


def _output(machine: Any, X: Any) -> Array:
    """Return the real output, positive on the side of 1."""
    if hasattr(machine, "decision_function"):
        return np.asarray(machine.decision_function(X), dtype=np.float64)
    if hasattr(machine, "predict_proba"):
        return 2 * np.asarray(machine.predict_proba(X), dtype=np.float64)[:, 1] - 1
    raise TypeError(
        "`estimator` needs decision_function or predict_proba; "
        f"{type(machine).__name__} has neither."
    )


def performance(outputs: Array, code: NDArray[np.int8], S: Mask) -> Array:
    """Return shares of right outputs on the rows of each label, scaled to sum to one.

    Source: PLECOC, performance matrix.

    ``H_jl`` is the share, among the rows with candidate j, of those that machine l puts
    on the side of j. A label without rows gets equal shares.
    """
    candidates = S.T.astype(np.float64)
    positive = candidates @ (outputs >= 0)
    count = candidates.sum(axis=1, keepdims=True)
    H = np.where(code > 0, positive, count - positive) / np.maximum(count, 1)
    total = H.sum(axis=1, keepdims=True)
    return np.where(total > 0, H / np.where(total > 0, total, 1), 1 / code.shape[1])


def decoding_loss(outputs: Array, code: NDArray[np.int8], weights: Array) -> Array:
    """Return the exponential loss ``sum_l weights_jl exp(-f_l code_jl)`` of each label.

    Source: PLECOC, decoding.
    """
    f = np.clip(outputs, -_STEEP, _STEEP, dtype=np.float64)
    return np.exp(-f) @ (weights * (code > 0)).T + np.exp(f) @ (weights * (code < 0)).T
