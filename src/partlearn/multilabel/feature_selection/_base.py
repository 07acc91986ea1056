"""What the selectors for partial multi-label data share."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.sparsefuncs import inplace_column_scale, min_max_axis

from partlearn._progress import iterations
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn._typing import Array, Mask
from partlearn.base import PARAMETERS, BaseSelector, validate_partial_data
from partlearn.candidates import warn_at_max_iter
from partlearn.multilabel._scaled_rows import scaled_rows

Factors = TypeVar("Factors")
Sweeps = Iterable[tuple[Factors, float]]
Tolerance = float | Callable[[float], float]

EPS = 2.0**-52  # keeps denominators of multiplicative updates positive


def unit_interval(X: Any) -> Any:
    """Scale each column to [0, 1]; a constant column becomes 0.

    A sparse matrix keeps its zeros: its columns are divided by their largest entry, so
    they must not hold negative ones.
    """
    if not sp.issparse(X):
        low = X.min(axis=0)
        spread = X.max(axis=0) - low
        return (X - low) / np.where(spread > 0, spread, 1)
    low, high = min_max_axis(X, axis=0)
    if (low < 0).any():
        raise ValueError(
            f"Column {int(np.argmax(low < 0))} of the sparse X has negative entries; "
            "scaling it to [0, 1] would fill it. Pass X.toarray() or shift it yourself."
        )
    X = sp.csr_array(X, copy=True)
    varies = high > low
    factor = np.divide(1.0, high, out=np.zeros_like(high), where=varies)
    inplace_column_scale(X, factor)
    return X


def check_init(
    init: Mapping[str, Any], shapes: Mapping[str, tuple[int, int]], sign: bool = True
) -> dict[str, Array]:
    """Factors to start from, in the order of `shapes`; copied, checked.

    Parameters
    ----------
    init : mapping of str to array-like
        What the user gave.
    shapes : mapping of str to (int, int)
        Names and shapes of the factors.
    sign : bool, default=True
        Whether negative entries are an error.

    Returns
    -------
    factors : dict of str to ndarray
        The factors.
    """
    if set(init) != set(shapes):
        raise ValueError(
            f"`init` must hold the factors {', '.join(shapes)}; got "
            f"{', '.join(map(str, init)) or 'none'}."
        )
    factors = {}
    for name, shape in shapes.items():
        factor = np.array(init[name], dtype=np.float64)
        if factor.shape != shape:
            raise ValueError(
                f"Factor {name} of `init` must have shape {shape}; got {factor.shape}."
            )
        if not np.isfinite(factor).all() or (sign and (factor < 0).any()):
            raise ValueError(
                f"Factor {name} of `init` must be finite"
                f"{' and not negative' if sign else ''}."
            )
        factors[name] = factor
    return factors


def descend(
    name: str,
    sweeps: Sweeps[Factors],
    max_iter: int,
    tol: Tolerance,
    least_iter: int = 3,
) -> tuple[Factors, list[float], bool]:
    """Sweep until the value changes by less than `tol` of it, or there are no more.

    Parameters
    ----------
    name : str
        Name of the fit in progress reports.
    sweeps : iterable of (factors, float)
        Factors and value of the objective after each sweep.
    max_iter : int
        Maximum number of sweeps.
    tol : float or callable
        Relative change at which to stop, or what gives it for a value.
    least_iter : int, default=3
        Sweeps before the value may stop the iteration.

    Returns
    -------
    factors : object
        The last factors.
    objective : list of float
        Value after every sweep.
    settled : bool
        Whether the change fell below `tol`.
    """
    objective: list[float] = []
    for _, (factors, value) in zip(iterations(name, max_iter), sweeps, strict=False):
        objective.append(value)
        if len(objective) >= least_iter:
            before = objective[-2]
            limit = tol(value) if callable(tol) else tol
            if abs(value - before) <= limit * abs(before):
                return factors, objective, True
    return factors, objective, False


class PMLSelector(BaseSelector):
    """Selector that scores every feature once, from candidate labels.

    A subclass writes `_fit`, which ends with `_rank`. It has the parameters `scale`,
    `random_state`, `must_keep` and `exclude`.
    """

    _parameter_constraints = PARAMETERS | {
        "init": [dict, None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "scale": ["boolean"],
        "t": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither")],
    }
    _non_negative = True  # whether the method needs features without a sign
    _symmetric = False  # whether `scale` brings columns to [-1, 1], not to [0, 1]
    _least_rows = 1

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the candidates and rank the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows; where the method's factors have no sign, not negative unless
            `scale` is set.
        y : candidate labels
            A binary matrix of shape (n_samples, n_classes), a sequence of sets, or
            1-D labels; rows may be without any candidate.

        Returns
        -------
        self : estimator
            The fitted selector.
        """
        X, C = self._validate(X, y)
        self._fit(X, C, check_random_state(self.random_state))
        return self

    def _start(
        self,
        shapes: Mapping[str, tuple[int, int]],
        rng: np.random.RandomState,
        sign: bool = True,
    ) -> tuple[Array, ...]:
        """Return the initial factors: `init`, or random ones."""
        if self.init is None:
            return tuple(rng.uniform(size=shape) for shape in shapes.values())
        return tuple(check_init(self.init, shapes, sign).values())

    def _init_size(self, factor: str) -> int:
        """Latent size of the factors in `init`: the columns of one of them."""
        return np.shape(self.init.get(factor, np.empty((0, 0))))[-1]

    def _descend(
        self,
        *starts: Sweeps[Factors],
        tol: Tolerance,
        max_iter: int = 0,
        **options: int,
    ) -> tuple[Factors, list[Factors]]:
        """Iterate from each start; return the best factors, and all factors."""
        name, max_iter = type(self).__name__, max_iter or self.max_iter
        try:
            runs = [descend(name, sweep, max_iter, tol, **options) for sweep in starts]
        except ValueError as error:
            if "infs or NaNs" not in str(error):  # of SciPy
                raise
            raise ValueError(
                f"The iterations of {name} overflow float64; very large feature values "
                "cause this. Rescale the features."
            ) from None
        best, objective, settled = min(runs, key=lambda run: run[1][-1])
        if not settled:
            warn_at_max_iter(
                max_iter,
                "The objective still changes",
                "the ranking may change with more",
            )
        self.objective_, self.n_iter_ = np.array(objective), len(objective)
        return best, [factors for factors, _, _ in runs]

    def _validate(self, X: Any, y: Any) -> tuple[Any, Mask]:
        """Features in float64, and candidates; rows may have none."""
        rows = {"order": "C", "ensure_min_samples": self._least_rows}
        X, C = validate_partial_data(self, X, y, empty="keep", **rows)
        X = X.astype(np.float64)
        if self.scale and self._symmetric:
            X = scaled_rows(X, bias=False)[0].dense()
        elif self.scale:
            X = unit_interval(X)
        elif self._non_negative and X.shape[0] and X.min() < 0:
            name = type(self).__name__
            raise ValueError(
                f"Negative values in data passed to {name}, whose factors are not "
                f"negative. Use {name}(scale=True) to bring every column to [0, 1]."
            )
        return X, C

    def _rank(self, scores: Array, rng: np.random.RandomState, unit: float) -> None:
        """Record scores and ranking; equal scores are ordered by a seeded shuffle.

        `unit` is the size of the features: scores far below it are no ranking.
        """
        if not np.isfinite(scores).all() or scores.max() <= 1e-12 * unit:
            raise ValueError(
                f"All feature scores of {type(self).__name__} vanished or overflowed, "
                "so there is no ranking. Check that features vary, that candidate sets "
                "are not empty and that rows differ in their labels. Otherwise use "
                "another update rule or smaller penalties."
            )
        self._rank_all(scores, rng.permutation(len(scores)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.positive_only = self._non_negative and not self.scale
        return tags


def row_penalties(W: Array, smooth: float) -> Array:
    """``1 / (2 sqrt(|w_i|² + smooth))``: weights that turn ridge into row sparsity."""
    return np.asarray(0.5 / np.sqrt(row_norms(W, squared=True) + smooth))


class ReweightedRidge:
    """Solves ``(X' H X + diag(r)) W = X' H V`` for many r and V.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        The data; sparse ones stay sparse.
    center : bool, default=False
        Whether H takes the column means out, or is the identity.
    """

    def __init__(self, X: Any, *, center: bool = False) -> None:
        self.X, self.center = X, center
        self.primal = X.shape[1] <= X.shape[0]
        if self.primal:
            self._XtX: Array = safe_sparse_dot(X.T, X, dense_output=True)
            if center:
                mean = np.asarray(X.mean(axis=0)).ravel()
                self._XtX = self._XtX - X.shape[0] * np.outer(mean, mean)

    def solve(self, r: Array, V: Array) -> Array:
        """Coefficients of shape (d, p) for targets V of shape (n, p)."""
        if self.center:
            V = V - V.mean(axis=0)
        if self.primal:
            A = self._XtX.copy()
            A[np.diag_indices_from(A)] += r
            right = np.asarray(self.X.T @ V)
            return np.asarray(cho_solve(cho_factor(A, overwrite_a=True), right))
        if sp.issparse(self.X):
            scaled = self.X @ sp.diags_array(1 / r)
            A = (scaled @ self.X.T).toarray()
        else:
            scaled = self.X / r
            A = scaled @ self.X.T
        if self.center:
            A = A - A.mean(axis=0)
            A -= A.mean(axis=1, keepdims=True)
        A[np.diag_indices_from(A)] += 1
        U = cho_solve(cho_factor(A, overwrite_a=True), V)
        return np.asarray(scaled.T @ (U - U.mean(axis=0) if self.center else U))
