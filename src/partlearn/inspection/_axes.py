"""Matplotlib axes for displays."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from partlearn._extras import import_optional


def axes(ax: Any, **figure: Any) -> Any:
    """Return `ax`, or the axes of a new figure."""
    if ax is not None:
        return ax
    plt = import_optional("matplotlib.pyplot", "Displays", "plot")
    return plt.subplots(layout="constrained", **figure)[1]
