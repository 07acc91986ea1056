"""Base class of reducers: validation, standardization, projection of new rows."""

# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from partlearn._array_api import (
    contiguous,
    is_numpy_namespace,
    like,
    namespace,
    same_namespace,
)
from partlearn._math.blocks import lazy_rows, refuse_blocks
from partlearn._math.graphs import TiedNeighbors
from partlearn._math.linalg import (
    Standardized,
    column_moments,
    fix_signs,
    in_data_order,
    standardize,
)
from partlearn._math.neighbors import self_neighbors
from partlearn._progress import iterations
from partlearn._typing import Array, Mask
from partlearn.base._fit_input import (
    check_informative,
    refuse_weights,
    validate_evidence,
    validate_rows,
)
from partlearn.base._mixins import CandidateMixin, MemoryEstimateMixin
from partlearn.base._orders import Orders, content_orders
from partlearn.candidates import Evidence, labels_settled, warn_at_max_iter, warn_caller
from partlearn.model_selection import held_out_hits, one_standard_error_rule

# With a whole standard error the smallest number lost up to 0.03 accuracy on Lost.
_ERRORS = 0.5
_FOLDS, _NEIGHBORS = 5, 10


def most_directions(X: Any, S: Mask) -> int:
    """Return the largest number of directions: classes minus one, at most d."""
    return min(S.shape[1] - 1, X.shape[1])


def choose_dimension(reducer: Any, X: Any, labels: Evidence) -> int:
    """Choose a number of directions for `reducer` by cross-validation.

    The split is fixed; held-out rows are classified by their neighbors.

    Parameters
    ----------
    reducer : estimator
        Its clones are fitted with all directions (classes minus one), of which the
        first r are tried. The reducer itself should then learn all directions and keep
        the first r.
    X : ndarray or CSR matrix of shape (m, d)
        Training rows.
    labels : Evidence of shape (m, q)
        Labels.

    Returns
    -------
    r : int
        The number of directions.
    """
    S = labels.candidates
    m = len(S)
    most = most_directions(X, S)
    cv = min(_FOLDS, m)
    if most == 1 or m < 4:
        return 1
    fold = np.random.RandomState(0).permutation(m) % cv
    hits = np.zeros((most, m))
    for k in iterations("folds to choose n_components", cv):
        held, kept = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        inner = clone(reducer).set_params(n_components=most)
        inner.set_output(transform="default")  # a clone may have been told to frame
        with warnings.catch_warnings():
            # The fit on all rows, which follows, reports what there is to report.
            warnings.simplefilter("ignore")
            inner.fit(X[kept], labels[kept])
        Z, Q = inner.transform(X[kept]), inner.transform(X[held])
        hit_rates = held_out_hits(
            ((Z[:, :r], Q[:, :r]) for r in range(1, Z.shape[1] + 1)),
            inner.label_confidence_,
            S[held],
            _NEIGHBORS,
        )
        hits[: len(hit_rates), held] = hit_rates
        hits[len(hit_rates) :, held] = hit_rates[-1]
    return one_standard_error_rule(hits, 1.0 / S.sum(axis=1), n_errors=_ERRORS) + 1


def count_directions(values: Array, wanted: float | int | None) -> int:
    """Count the leading directions to keep.

    Source: CENDA, Eq. (7).

    Parameters
    ----------
    values : ndarray of shape (q,)
        Eigenvalues, largest first, none negative.
    wanted : int, float or None
        A number of directions, a fraction of the sum of the eigenvalues, or all.

    Returns
    -------
    r : int
        Directions with an eigenvalue below 1e-12 of the first are rounding errors and
        do not count. A fraction is reached within a relative 1e-12. Zero if no
        direction has signal.
    """
    xp = namespace(values)
    usable = int(xp.count_nonzero(values > 1e-12 * values[0]))
    if wanted is None or usable == 0:
        return usable
    if isinstance(wanted, (int, np.integer)):
        return min(int(wanted), usable)
    sums = xp.cumulative_sum(values)
    # Sums that differ by rounding are equal, whatever the order of their terms.
    short = sums < wanted * (1 - 1e-12) * sums[-1]
    # A fraction of 0 stands for every direction with a positive eigenvalue.
    return min(int(xp.count_nonzero(short)) + 1, usable) if wanted > 0 else usable


def reduced_rows(reducer: Any, X: Any, fitted: Any = None) -> Any:
    """Return the rows for a classifier after a fitted reducer.

    Parameters
    ----------
    reducer : transformer or Pipeline
        Fitted reducer. If its ``cross_fits`` is true, as for KernelCRISP, training rows
        are projected by models without them (``cross_fitted_``).
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    fitted : ndarray of int, default=None
        Which of the rows, in their order, the reducer was fitted on; all by default.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_components)
        Reduced rows.
    """
    Z = reducer.transform(X)
    last = reducer[-1] if isinstance(reducer, Pipeline) else reducer
    if getattr(last, "cross_fits", False):
        Z = np.array(Z)
        Z[slice(None) if fitted is None else fitted] = last.cross_fitted_
    return Z


def project_standardized(X: Any, mean: Any, scale: Any, P: Any) -> NDArray[Any]:
    """``((X - mean) / scale) @ P`` in the precision of the rows."""
    xp = namespace(P)
    mean, scale, P = (xp.astype(a, X.dtype, copy=False) for a in (mean, scale, P))
    if sp.issparse(X):  # centering stays implicit
        P = P / scale[:, None]
        return np.asarray(X @ P) - mean @ P
    return ((X - mean) / scale) @ P


@lazy_rows
class BaseReducer(
    CandidateMixin,
    MemoryEstimateMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Base class of linear reducers that learn from candidate labels.

    A subclass sets ``components_`` (n_components, n_features), ``mean_``, ``scale_``
    and ``label_confidence_`` in `fit`.
    """

    #: Whether `fit` looks at the rows through sums and maps only.
    _fits_blocks = False

    def _square_side(self, n_samples: int, n_features: int) -> int:
        return min(n_samples, n_features)

    def _check_fit(self, X: Any, y: Any) -> tuple[Any, Evidence]:
        """Check the input of `fit`; raise if all features are constant."""
        X, labels = validate_evidence(
            self, X, y, ensure_min_samples=2, blocks=self._fits_blocks
        )
        check_informative(labels.weights, labels.classes, type(self).__name__)
        std = column_moments(X)[1]
        if not bool(namespace(std).any(std)):
            raise ValueError(
                "No direction depends on the labels: every feature is constant."
            )
        self._chosen: int | None = None
        return X, labels

    def _validate_fit(self, X: Any, y: Any) -> tuple[Standardized, Mask]:
        """Check the input of `fit`, standardize, and store mean and scale.

        Weights and votes raise an error; see `_validate_evidence`.
        """
        refuse_weights(self, y)
        matrix, labels = self._validate_evidence(X, y)
        return matrix, labels.candidates

    def _validate_evidence(
        self, X: Any, y: Any, *, center: bool = False
    ) -> tuple[Standardized, Evidence]:
        """Do the same as `_validate_fit` for reducers that start from weights or votes.

        With `center` the returned matrix has zero column means even if columns are not
        standardized, for scatter matrices about the mean; new rows are not centered
        then.
        """
        X, labels = self._check_wanted(X, y)
        return self._standardize_fit(X, center), labels

    def _validate_in_order(
        self, X: Any, y: Any, *, center: bool = False
    ) -> tuple[Standardized, Mask, NDArray[Any], Orders]:
        """Do the same as `_validate_evidence`, in orders given by the content.

        Returns rows, candidates, first confidences, and the orders, which `_finish`
        undoes.
        """
        X, evidence = self._check_wanted(X, y)
        orders = content_orders(X, evidence.weights)
        rows, columns, labels = orders
        matrix = self._standardize_fit(X[rows][:, columns], center)
        for name in ("mean_", "scale_"):
            setattr(self, name, in_data_order(getattr(self, name), columns))
        evidence = evidence[rows]
        F = evidence.first_confidence()
        return matrix, evidence.candidates[:, labels], F[:, labels], orders

    def _check_wanted(self, X: Any, y: Any) -> tuple[Any, Evidence]:
        """Check the input of `fit`, and choose the number of directions for "auto"."""
        X, labels = self._check_fit(X, y)
        self._wanted = self.n_components
        if isinstance(self.n_components, str):
            refuse_blocks(
                X,
                'n_components="auto" tries directions on rows held out',
                "n_components to a number or a share",
            )
            self._chosen = choose_dimension(self, X, labels)
            self._wanted = most_directions(X, labels.candidates)
        return X, labels

    def _standardize_fit(self, X: Any, center: bool) -> Standardized:
        """Standardize the rows of `fit`, and store mean and scale."""
        on = self.standardize
        matrix, mean, self.scale_ = standardize(X, center=on or center, scale=on)
        self.mean_ = mean if on else namespace(mean).zeros_like(mean)
        return matrix

    def _count(self, values: NDArray[Any], wanted: float | int | None = None) -> int:
        """Count the directions to keep; raise if none depends on the confidences."""
        r = count_directions(values, self._wanted if wanted is None else wanted)
        if r == 0:
            raise ValueError(
                "No direction depends on the labels: the features vary in the same "
                "way whatever the candidates are."
            )
        return r

    def _neighbors(
        self, Z: NDArray[Any], last: NDArray[np.int64] | None
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Find neighbors of embedded rows, warm-started from the previous ones."""
        distances, neighbors = self_neighbors(
            Z,
            self.n_neighbors,
            search=self.search,
            warm_start=last,
            n_jobs=self.n_jobs,
            return_distance=True,
        )
        return distances, neighbors

    def _votes(
        self, Z: NDArray[Any], last: TiedNeighbors | None, reference: Any = None
    ) -> TiedNeighbors:
        """Return an object that sums over the neighbors of embedded rows."""
        return TiedNeighbors(
            Z,
            self.n_neighbors,
            search=self.search,
            reference=reference,
            warm_start=None if last is None else last.neighbors,
            n_jobs=self.n_jobs,
        )

    def _set_components(self, P: NDArray[Any], values: Array) -> None:
        """Store the directions, the columns of `P`, or the chosen number of them."""
        r = min(P.shape[1], self._chosen or P.shape[1])
        self.components_ = contiguous(fix_signs(P[:, :r]).T)
        self.n_components_ = r
        self.eigenvalues_ = values[: min(r, values.shape[0])]

    def _finish(
        self,
        P: NDArray[Any],
        values: Array,
        F: Any,
        objective: Any,
        why: str = "",
        orders: Orders | None = None,
    ) -> Self:
        """Store directions, the columns of `P`, confidences and objective."""
        if orders is not None:
            F = in_data_order(F, orders.rows)[:, np.argsort(orders.labels)]
            P = in_data_order(P, orders.columns)
        self._warn_if_fewer(P.shape[1], why)
        self._set_components(P, values)
        self.label_confidence_ = namespace(F).astype(F, P.dtype, copy=False)
        self.objective_ = like(np.asarray(objective), F)
        self.n_iter_ = len(objective)
        return self

    def _warn_if_fewer(self, r: int, why: str = "") -> None:
        wanted, q = self.n_components, self.classes_.shape[0]
        why = why or (
            f"directions depend on the labels ({q} classes allow at most {q - 1})"
        )
        if isinstance(wanted, Integral) and r < int(wanted):
            warn_caller(f"Only {r} of n_components={wanted} {why}; {r} are kept.")

    def _warn_unless_settled(self, F: NDArray[Any], before: NDArray[Any]) -> None:
        if not labels_settled(F, before):
            warn_at_max_iter(self.max_iter)

    def transform(self, X: Any) -> NDArray[Any]:
        """Project rows onto the learned directions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows in the units of the training data.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            ``((X - mean_) / scale_) @ components_.T``.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, order=None)
        same_namespace(self, X, self.components_, "transform")
        return project_standardized(X, self.mean_, self.scale_, self.components_.T)

    def inverse_transform(self, Z: Any) -> NDArray[Any]:
        """Return the rows of least norm that project to `Z`, in the units of the data.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Projected rows.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Least-norm standardized rows whose projection is `Z`, in the units of the
            training data. Other components of the data are lost.
        """
        check_is_fitted(self)
        xp = namespace(self.components_)
        if is_numpy_namespace(xp):
            Z = np.asarray(Z)
        if Z.ndim != 2 or Z.shape[1] != self.components_.shape[0]:
            raise ValueError(
                f"Z must have {self.components_.shape[0]} columns, one per component; "
                f"got shape {Z.shape}."
            )
        rows = Z @ xp.linalg.pinv(self.components_).T
        return rows * self.scale_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])
