"""Figures as inline SVG that follows the colors of the page."""

# SPDX-License-Identifier: BSD-3-Clause

import io
import re
import warnings
from collections.abc import Callable
from functools import partial
from html import escape
from importlib.resources import files
from typing import Any

from partlearn._pages import visible
from partlearn.report._blocks import Draw, Figure

# Told apart with any color vision, and at least 3:1 against the light and the dark
# ground of the page; marks repeat the distinction: color is never the only sign.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6BC8", "#A07800", "#7F7F7F")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
LINES = ("-", "--", "-.", ":")
# Stands for the color of text: the page decides what that is.
INK = "#010203"
STYLE = files("partlearn.report") / "templates" / "figures.mplstyle"


def panels_svg(figure: Figure) -> list[str]:
    """Draw every panel, and one legend for all of them.

    Parameters
    ----------
    figure : Figure
        What to draw.

    Returns
    -------
    list of str
        SVG elements with names for screen readers and ids of their own.
    """
    legend: dict[str, Any] = {}

    def draw(title: str, part: Draw, canvas: Any) -> None:
        axes = canvas.subplots()
        part(axes)
        if title:
            axes.set_title(visible(title), fontsize=10)
        handles, labels = axes.get_legend_handles_labels()
        for handle, label in zip(handles, labels, strict=True):
            legend.setdefault(label, handle)

    def draw_legend(canvas: Any) -> None:
        canvas.legend(list(legend.values()), list(legend), loc="center", ncols=1)

    drawn = []
    for number, (title, part) in enumerate(figure.panels):
        name, key = title or figure.title, f"{figure.key}-{number}"
        drawn.append(_svg(partial(draw, title, part), figure.size, name, key))
    if len(legend) > 1:
        size = (figure.size[0], 0.35 + 0.2 * len(legend))
        drawn.append(_svg(draw_legend, size, "Legend", f"{figure.key}-legend"))
    return drawn


def _svg(
    draw: Callable[[Any], None], size: tuple[float, float], name: str, key: str
) -> str:
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    with rc_context({"svg.hashsalt": key}, str(STYLE)), warnings.catch_warnings():
        # Text stays text: the browser has fonts for what ours cannot draw.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        canvas = Canvas(figsize=size, layout="constrained")
        draw(canvas)
        buffer = io.StringIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return _named(text[text.index("<svg") :], name, key)


def _named(svg: str, name: str, key: str) -> str:
    """Name the picture, make its ids unique on the page, let it follow the page."""
    opening = svg[: svg.index(">") + 1]
    body = re.sub(
        r"\s*<metadata>.*?</metadata>", "", svg[len(opening) :], flags=re.DOTALL
    )
    for old in set(re.findall(r'\bid="([^"]+)"', body)):
        body = body.replace(f'id="{old}"', f'id="{key}-{old}"')
        body = body.replace(f'"#{old}"', f'"#{key}-{old}"')
        body = body.replace(f"url(#{old})", f"url(#{key}-{old})")
    body = body.replace(INK, "currentColor")
    shorter = re.sub(r'\s(width|height)="[^"]*"', "", opening)
    width = re.search(r'\bwidth="([\d.]+)pt"', opening)
    limit = f' style="max-width: {float(width[1]) * 4 / 3:.0f}px"' if width else ""
    label = escape(visible(name), quote=True)
    return f'{shorter[:-1]}{limit} role="img" aria-label="{label}">{body}'
