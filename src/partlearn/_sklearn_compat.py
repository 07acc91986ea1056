"""Private names of scikit-learn that this library uses.

scikit-learn offers no public way to declare parameter constraints, to index rows of any
container, to count them or to find the library of an array. When one of these names
moves, only this file changes; a test rejects private names of scikit-learn elsewhere.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._array_api import _is_numpy_namespace as is_numpy_namespace
from sklearn.utils._array_api import array_api_compat, get_namespace, move_to
from sklearn.utils._array_api import device as array_device
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import _check_method_params as method_params
from sklearn.utils.validation import _num_samples as num_samples
from threadpoolctl import threadpool_limits

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "array_device",
    "complete_encoder",
    "decision_tree_type",
    "fit_context",
    "get_namespace",
    "is_array",
    "is_numpy_namespace",
    "method_params",
    "move_to",
    "num_samples",
    "safe_indexing",
    "validate_parameter_constraints",
]


_FEW_ROWS = 5000  # rows of which products are too small for several threads
_LARGE_FACTOR = 2000  # side of a factored matrix from which threads pay


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Any], Any]:
    """Validate parameters before `fit`, and fit with one thread of BLAS.

    Several threads pay for many rows if a large matrix is factored. In smaller products
    they take many times as long while another process is busy, and save little on an
    idle machine.
    """
    validated = _fit_context(
        prefer_skip_nested_validation=prefer_skip_nested_validation
    )

    def decorate(fit: Any) -> Any:
        @wraps(fit)
        def limited(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
            rows, columns = (*(getattr(X, "shape", None) or (_length(X),)), 1)[:2]
            side = getattr(self, "_factor_side", None)
            if not isinstance(rows, int) or (  # unknown rows of Dask
                rows > _FEW_ROWS
                and (side is None or side(rows, columns) >= _LARGE_FACTOR)
            ):
                return fit(self, X, *args, **kwargs)
            with threadpool_limits(1, user_api="blas"):
                return fit(self, X, *args, **kwargs)

        return validated(limited)

    return decorate


def _length(X: Any) -> int:
    return len(X) if hasattr(X, "__len__") else _FEW_ROWS + 1


def is_array(X: Any) -> bool:
    """Whether `X` is an array in memory, of any library."""
    known = array_api_compat.is_array_api_obj(X)
    return bool(known and not array_api_compat.is_dask_array(X))


def decision_tree_type() -> tuple[type[Any], np.dtype[Any]]:
    """Return the compiled tree of decision trees and forests, and its nodes' dtype.

    Imported on use, since trees are slow to import and rarely needed.
    """
    from sklearn.tree._tree import NODE_DTYPE, Tree

    return Tree, NODE_DTYPE


def boosted_tree_type() -> tuple[type[Any], np.dtype[Any]]:
    """Return the trees of histogram-based boosting, and the dtype of their nodes."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    return TreePredictor, PREDICTOR_RECORD_DTYPE


def complete_booster(booster: Any) -> None:
    """Set the attributes besides trees that boosting needs to predict.

    Parameters
    ----------
    booster : HistGradientBoostingClassifier
        With ``_predictors``, ``n_trees_per_iteration_`` and ``n_features_in_``.
    """
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

    booster.is_categorical_ = booster._preprocessor = None
    booster._is_categorical_remapped = None
    booster._n_features = booster.n_features_in_
    booster._loss = booster._get_loss(sample_weight=None)
    mapper = booster._bin_mapper = _BinMapper()
    # All that prediction asks of it: which features are categories.
    mapper.is_categorical_ = np.zeros(booster.n_features_in_, dtype=np.uint8)
    mapper.bin_thresholds_ = []


def complete_encoder(encoder: Any) -> None:
    """Set the attributes that an encoder derives from its categories.

    Parameters
    ----------
    encoder : OneHotEncoder or OrdinalEncoder
        With ``categories_`` and, if it groups rare ones, ``_infrequent_indices``.
    """
    encoder._check_infrequent_enabled()
    if encoder._infrequent_enabled:
        encoder._default_to_infrequent_mappings = [
            None if rare is None else _grouped(len(values), rare)
            for values, rare in zip(
                encoder.categories_, encoder._infrequent_indices, strict=True
            )
        ]
    if hasattr(encoder, "drop"):  # one-hot
        encoder._set_drop_idx()
        encoder._n_features_outs = encoder._compute_n_features_outs()
    else:
        encoder._missing_indices = {
            i: len(values) - 1
            for i, values in enumerate(encoder.categories_)
            if len(values) and values[-1] != values[-1]
        }


def _grouped(count: int, rare: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of each category; rare ones share the last number."""
    mapping = np.full(count, count - len(rare), dtype=np.int64)
    mapping[np.setdiff1d(np.arange(count), rare)] = np.arange(count - len(rare))
    return mapping
