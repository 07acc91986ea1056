"""How many columns a row gets on its way through an estimator."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder

# Of these arrays the rows may be what a new row becomes, not what it was.
_LONG = ("components_", "statistics_")


def row_width(estimator: Any) -> int:
    """Return an upper bound of the columns that a new row has at any step.

    Small files may hold estimators that make wide rows: unions that repeat their
    columns, one after the other, or arrays of zeros, which compress well.

    Parameters
    ----------
    estimator : estimator
        Any, fitted or not.

    Returns
    -------
    width : int
        Columns, most of them of eight bytes.
    """
    return _copies(estimator) * _widest(estimator)


def _contents(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, (list, tuple)):
        return value
    return vars(value).values() if hasattr(value, "__dict__") else ()


def _widest(value: Any) -> int:
    """Return the columns of the widest dense array; sparse ones are not made dense."""
    if isinstance(value, np.ndarray):
        return value.shape[-1] if value.ndim > 1 else 1
    if isinstance(value, type) or issparse(value):
        return 1
    state = vars(value) if hasattr(value, "__dict__") else {}
    sizes = [n for name in _LONG for n in np.shape(state.get(name, ()))]
    sizes.append(int(state.get("n_features_in_", 1)))
    if isinstance(value, OneHotEncoder):
        sizes.append(sum(map(len, state.get("categories_", ()))))
    return max(*sizes, *map(_widest, _contents(value)), 1)


def _copies(value: Any) -> int:
    """How often a column may be repeated."""
    if isinstance(value, type):
        return 1
    if isinstance(value, Pipeline):
        return math.prod(_copies(step) for _, step in value.steps)
    if isinstance(value, FeatureUnion):
        return sum(_copies(step) for _, step in value.transformer_list)
    if isinstance(value, ColumnTransformer) and hasattr(value, "transformers_"):
        n = max(1, int(vars(value).get("n_features_in_", 1)))
        handed = sum(
            _copies(step) * (n if isinstance(columns, slice) else np.size(columns))
            for _, step, columns in value.transformers_
        )
        return max(1, math.ceil(handed / n))
    return max(map(_copies, _contents(value)), default=1)
