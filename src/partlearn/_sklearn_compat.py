"""The private names of scikit-learn that this library uses, in one place.

scikit-learn offers no public way to declare parameter constraints, to index rows of any
container, to count them or to tell which library an array is of. When one of these
names moves, only this file changes; a test refuses private names of scikit-learn
anywhere else.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._array_api import _is_numpy_namespace as is_numpy_namespace
from sklearn.utils._array_api import array_api_compat, get_namespace, move_to
from sklearn.utils._array_api import device as array_device
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
)
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "array_device",
    "decision_tree_type",
    "fit_context",
    "get_namespace",
    "is_array",
    "is_numpy_namespace",
    "move_to",
    "num_samples",
    "safe_indexing",
]


def is_array(X: Any) -> bool:
    """Whether `X` is an array in memory, of any library."""
    known = array_api_compat.is_array_api_obj(X)
    return bool(known and not array_api_compat.is_dask_array(X))


def decision_tree_type() -> tuple[type[Any], np.dtype[Any]]:
    """Return the compiled tree of decision trees and forests, and its nodes' dtype.

    Imported when asked for: trees are slow to import, and few need them.
    """
    from sklearn.tree._tree import NODE_DTYPE, Tree

    return Tree, NODE_DTYPE
