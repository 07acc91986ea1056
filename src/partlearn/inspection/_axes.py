"""Axes to draw on."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

__all__ = ["axes"]


def axes(ax: Any, **figure: Any) -> Any:
    """Give the axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'Displays need matplotlib: pip install "partlearn[plot]".'
        ) from error
    return plt.subplots(layout="constrained", **figure)[1]
