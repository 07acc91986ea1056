"""Matplotlib axes for displays."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from partlearn._extras import import_optional


class Display:
    """Base class of displays, which draw on axes of their own or on given ones."""

    def _axes(self, ax: Any, figsize: tuple[float, float]) -> Any:
        """Set ``ax_`` and ``figure_``: to `ax`, or to a new figure of this size."""
        if ax is None:
            plt = import_optional("matplotlib.pyplot", "Displays", "plot")
            ax = plt.subplots(layout="constrained", figsize=figsize)[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax
