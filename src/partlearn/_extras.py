"""Optional dependencies, imported where they are used."""

# SPDX-License-Identifier: BSD-3-Clause

from importlib import import_module
from typing import Any

__all__ = ["import_optional"]


def import_optional(module: str, purpose: str, extra: str = "data") -> Any:
    """Import an optional module, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(
            f'{purpose} need {package}: pip install "partlearn[{extra}]"'
        ) from error
