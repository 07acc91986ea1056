"""Optional dependencies, imported where they are used."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["compiled_twin", "import_optional"]


@cache
def compiled_twin(function: Callable[..., Any]) -> Callable[..., Any]:
    """Function of the same name in ``_x_numba`` for one in ``_x``; itself without."""
    try:
        module = import_module(f"{function.__module__}_numba")
    except ImportError:  # numba is not installed
        return function
    return getattr(module, function.__name__)


def import_optional(module: str, purpose: str, extra: str = "data") -> Any:
    """Import an optional module, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(
            f'{purpose} need {package}: pip install "partlearn[{extra}]"'
        ) from error
