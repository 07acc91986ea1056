"""Data frames for the checks, of the kinds that are installed."""

# SPDX-License-Identifier: BSD-3-Clause

import importlib
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

__all__ = ["frames", "optional"]


def optional(name: str) -> Any:
    """Return a package, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def frames(X: NDArray[Any]) -> Iterator[tuple[str, Any]]:
    """Rows as data frames of all kinds whose names scikit-learn can read."""
    columns = [f"f{j}" for j in range(X.shape[1])]
    for name in ("pandas", "polars"):
        module = optional(name)
        if module is None:
            continue
        frame = module.DataFrame(dict(zip(columns, X.T.copy(), strict=True)))
        # They may be of different times: scikit-learn 1.8 knows no polars 2.
        if hasattr(StandardScaler().fit(frame), "feature_names_in_"):
            yield name, frame
