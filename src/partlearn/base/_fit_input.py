"""Validation of rows and labels in `fit` and `predict`."""

# SPDX-License-Identifier: BSD-3-Clause

from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from partlearn._arguments import check_index
from partlearn._array_api import float_dtypes, follow, is_numpy, to_numpy
from partlearn._math.blocks import Rows, as_rows, framed, in_memory
from partlearn.candidates import (
    FLOATS,
    Evidence,
    Tags,
    check_candidates,
    check_evidence,
    check_tags,
)

_EXTREME = 1e304  # of which ten thousand can be added


def validate_evidence(
    estimator: Any, X: Any, y: Any, *, blocks: bool = False, **check_params: Any
) -> tuple[Any, Evidence]:
    """Validate the input of `fit` for a method that takes weights and votes.

    Parameters
    ----------
    estimator : estimator instance
        The estimator being fitted; ``classes_`` and ``n_features_in_`` are set.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Passed on to scikit-learn's ``validate_data`` with `check_params`.
    y : Evidence, or candidate labels in any form that :func:`check_candidates` reads
        The labels.
    blocks : bool, default=False
        Whether the estimator can be fitted on blocks of rows.
    **check_params : dict
        For ``validate_data``. Sparse matrices become CSR, and float64 and float32 are
        kept, unless these say more.

    Returns
    -------
    X : ndarray, CSR matrix or Rows
        Checked features; blocks are checked when they are loaded.
    labels : Evidence
        Checked labels.
    """
    return _validated(estimator, X, y, check_evidence, blocks, check_params)


def validate_tags(estimator: Any, X: Any, y: Any) -> tuple[Any, Tags]:
    """Validate the input of `fit` for a method that takes tags with weights.

    Parameters
    ----------
    estimator : estimator instance
        The estimator being fitted; ``classes_`` and ``n_features_in_`` are set.
    X : array-like or sparse matrix of shape (n_samples, n_features), or blocks of rows
        The features.
    y : tags in any form that :func:`check_tags` reads
        The tags.

    Returns
    -------
    X : ndarray, CSR matrix or Rows
        Checked features; blocks are checked when they are loaded.
    tags : Tags
        Checked tags.
    """
    options = {"order": "C", "ensure_min_samples": 2}
    return _validated(estimator, X, y, check_tags, True, options)


def _validated(
    estimator: Any, X: Any, y: Any, check: Any, blocks: bool, params: dict[str, Any]
) -> tuple[Any, Any]:
    """Check rows, in memory or in blocks, and labels by `check`; set ``classes_``."""
    rows = as_rows(X) if blocks else None
    if rows is None:
        check_index(X, y=y)
        X = _validate_features(estimator, X, params)
    else:
        X = _validate_blocks(estimator, rows, params)
    labels = check(to_numpy(in_memory(y)))
    estimator.classes_ = follow(labels.classes, X)
    check_same_length(X.shape[0], labels.shape[0])
    return X, labels


def validate_partial_data(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    empty: Literal["error", "all", "keep"] = "error",
    **check_params: Any,
) -> tuple[Any, NDArray[Any]]:
    """Validate the input of `fit`, and set ``classes_`` and ``n_features_in_``.

    For methods that use candidate sets only. Labels with weights or votes raise an
    error instead of being reduced to sets.

    Parameters
    ----------
    estimator : estimator instance
        The estimator being fitted.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Passed on to scikit-learn's ``validate_data`` with `check_params`.
    y : candidate labels in any form that :func:`check_candidates` reads
        The labels.
    empty : {"error", "all", "keep"}, default="error"
        What to do with rows without candidates; multi-label estimators keep them.
    **check_params : dict
        For ``validate_data``. Sparse matrices become CSR, and float64 and float32 are
        kept, unless these say more.

    Returns
    -------
    X : ndarray or CSR matrix
        Checked features.
    S : ndarray of bool, shape (n_samples, n_classes)
        Candidate matrix.
    """
    check_index(X, y=y)
    X = _validate_features(estimator, X, check_params)
    refuse_weights(estimator, y)
    estimator.classes_, S = check_candidates(y, empty=empty)
    check_same_length(X.shape[0], len(S))
    return X, S


def refuse_weights(estimator: Any, y: Any) -> None:
    """Raise if a method for candidate sets is given weights or votes.

    Parameters
    ----------
    estimator : estimator instance
        The estimator being fitted.
    y : labels in any form
        The argument of `fit`.
    """
    if isinstance(y, Evidence) and y.weighted:
        raise ValueError(
            f"{type(estimator).__name__} supports candidate sets only, not weights or "
            "votes. Use CRISPClassifier, CandidateClassifier, CRISP, KernelCRISP or "
            "CRISPSelector; the other methods for partial labels except PLECOC start "
            "from them. Or pass `y.candidates` to learn from the sets alone."
        )


def _validate_features(estimator: Any, X: Any, check_params: dict[str, Any]) -> Any:
    if as_rows(X) is not None:
        raise ValueError(
            f"{type(estimator).__name__} is fitted on all rows at once, not on blocks "
            "of rows. Load them into memory (`X.compute()`), or fit one of the methods "
            "that the user guide lists under blocks."
        )
    options = {"accept_sparse": "csr", "dtype": float_dtypes(X), **check_params}
    return _sound(estimator, X, options)


def _validate_blocks(estimator: Any, rows: Rows, check_params: dict[str, Any]) -> Rows:
    """Check the shape now, and every block when it is loaded."""
    least = check_params.get("ensure_min_samples", 1)
    if len(rows) < least:
        raise ValueError(
            f"Found {len(rows)} rows, while a minimum of {least} is required by "
            f"{type(estimator).__name__}."
        )
    # Two rows that stand for all set what an estimator knows of its columns.
    validate_data(estimator, framed(np.zeros((2, rows.shape[1])), rows.names))
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    return rows.apply(
        partial(_checked_block, dtype=dtype),
        n_features=rows.shape[1],
        dtype=dtype,
        numbered=True,
    )


def _checked_block(block: Any, first: int, last: int, dtype: Any) -> Any:
    try:
        X = check_array(block, accept_sparse="csr", dtype=dtype, order="C")
    except ValueError as error:
        raise ValueError(f"In the block of rows {first} to {last}: {error}") from None
    return canonical(X)


def check_same_length(n_rows: int, n_labels: int) -> None:
    """Raise if there are not as many labels as rows."""
    if n_labels != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{n_rows} rows, y has {n_labels}."
        )


def check_two_classes(classes: NDArray[Any], name: str) -> None:
    """Raise if all labels are the same.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    name : str
        Name of the estimator, for the message.
    """
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise ValueError(
            f"{name} needs at least two classes; y has 1 class ({only!r})."
        )


def check_informative(S: NDArray[Any], classes: NDArray[Any], name: str) -> None:
    """Raise if all rows have the same candidates.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_classes)
        Candidates.
    classes, name
        As in :func:`check_two_classes`.
    """
    check_two_classes(classes, name)
    if (S[0] == S).all():
        raise ValueError(
            "The candidate sets carry no information: all rows have the same "
            "candidates."
        )


def validate_rows(estimator: Any, X: Any, *, order: Any = "C") -> Any:
    """Check rows to predict or transform by a fitted estimator.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows as the caller passed them.
    order : {"C", None}, default="C"
        Order of memory; with "C", sums over arrays and over data frames round alike.

    Returns
    -------
    X : ndarray or CSR matrix
        Checked rows.
    """
    check_is_fitted(estimator)
    options = {"accept_sparse": "csr", "dtype": float_dtypes(X), "order": order}
    return _sound(estimator, X, {"reset": False, **options})


def check_matrix(X: Any) -> Any:
    """Check features without a fitted estimator.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows as the caller passed them.

    Returns
    -------
    X : ndarray or CSR matrix
        Checked rows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        checked = check_array(X, accept_sparse="csr", dtype=FLOATS)
    return refuse_extremes(checked)


def _sound(estimator: Any, X: Any, options: dict[str, Any]) -> Any:
    """Check that rows are finite and their sums do not overflow."""
    # scikit-learn finds missing values by a sum, which may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        checked = validate_data(estimator, X, **options)
    return canonical(refuse_extremes(checked))


def refuse_extremes(X: Any) -> Any:
    """Raise if features are so large that their sums would overflow.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Checked features.

    Returns
    -------
    X : ndarray or CSR matrix
        The same.
    """
    values = X.data if sp.issparse(X) else X
    if not is_numpy(values) or values.dtype != np.float64 or not values.size:
        return X
    largest = max(float(values.max()), -float(values.min()))
    if largest > _EXTREME:
        raise ValueError(
            f"A feature has a value of magnitude {largest:.3g}; sums of such values "
            "overflow float64. Rescale the features."
        )
    return X


def canonical(X: Any) -> Any:
    """Sum duplicate entries of a sparse matrix, which squares would count separately.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Checked features.

    Returns
    -------
    X : ndarray or CSR matrix
        The same rows, copied only if something had to change.
    """
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
