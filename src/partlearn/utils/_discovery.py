"""Find every public estimator, so that no test has to list them."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import importlib
import inspect
from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["all_estimators"]

_PACKAGES = ("decomposition", "feature_selection", "classification", "multilabel")


def all_estimators() -> list[tuple[str, type[Any]]]:
    """List the public estimator classes of the library.

    Returns
    -------
    estimators : list of (str, class)
        Names and classes, sorted by name.

    Examples
    --------
    >>> from partlearn.utils import all_estimators
    >>> "CENDA" in dict(all_estimators())
    True
    """
    found: dict[str, type[Any]] = {}
    for package in _PACKAGES:
        module = importlib.import_module(f"partlearn.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
                found[name] = thing
    return sorted(found.items())
