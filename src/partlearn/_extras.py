"""Optional dependencies, imported where they are used."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["compiled_loops", "compiled_twin", "import_optional"]


@cache
def compiled_loops(module: str) -> Any:
    """Return ``_x_numba``, the compiled loops of module ``_x``; None without numba."""
    try:
        return import_module(f"{module}_numba")
    except (ImportError, RuntimeError):  # no numba, or no place to keep its results
        return None


def compiled_twin(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the compiled function of the same name, or the function itself."""
    loops = compiled_loops(function.__module__)
    return function if loops is None else getattr(loops, function.__name__)


def import_optional(module: str, purpose: str, extra: str = "data") -> Any:
    """Import an optional module; raise with the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(
            f'{purpose} need {package}: pip install "partlearn[{extra}]"'
        ) from error
