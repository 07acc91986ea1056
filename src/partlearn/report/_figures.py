"""The report's figures as inline SVG, drawn by matplotlib from the summary alone."""

# SPDX-License-Identifier: BSD-3-Clause

import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from partlearn.report._overview import rows_per_feature

__all__ = ["Figure", "critical_differences", "figures", "make_figure", "sweep_figures"]

# Okabe and Ito's colours: told apart with any colour vision; marks and hatches repeat
# the distinction so that colour is never the only sign.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    # Labels come from data: a dollar sign is a dollar sign.
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
Figure = dict[str, str]


def _svg(draw: Callable[[Any], None], size: tuple[float, float], key: str) -> str:
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    settings: Any = {**SETTINGS, "svg.hashsalt": key}
    with rc_context(settings), warnings.catch_warnings():
        # Texts stay texts: the browser has fonts for what ours cannot draw.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Canvas(figsize=size, layout="constrained")
        draw(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _named(svg: str, alt: str, key: str) -> str:
    """Give the picture a name for screen readers and let it shrink with the page."""
    opening = svg[: svg.index(">") + 1]
    shorter = re.sub(r'\s(width|height)="[^"]*"', "", opening)
    width = re.search(r'\bwidth="([\d.]+)pt"', opening)
    limit = f' style="max-width: {float(width[1]) * 1.4:.0f}px"' if width else ""
    head = shorter[:-1] + f'{limit} role="img" aria-labelledby="{key}-title">'
    # Ids are unique in a file but not across several pictures on one page.
    body = svg[len(opening) :]
    ids = set(re.findall(r'\bid="([^"]+)"', body))
    for name in ids:
        body = body.replace(f'id="{name}"', f'id="{key}-{name}"')
        body = body.replace(f'"#{name}"', f'"#{key}-{name}"')
        body = body.replace(f"url(#{name})", f"url(#{key}-{name})")
    title = f'<title id="{key}-title">{escape(alt)}</title>'
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    return head + title + body


def make_figure(
    key: str,
    title: str,
    caption: str,
    alt: str,
    draw: Callable[[Any], None],
    size: tuple[float, float],
) -> Figure:
    svg = _named(_svg(draw, size, key), alt, key)
    return {"key": key, "title": title, "caption": caption, "svg": svg}


def figures(summary: Mapping[str, Any]) -> list[Figure]:
    """All figures that the summary has data for.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    list of dict
        With ``key``, ``title``, ``caption`` and ``svg``.
    """
    return [
        *_bars(summary),
        *sweep_figures(summary),
        *_regimes(summary),
        *critical_differences(summary),
        *_planes(summary),
        *_histograms(summary),
    ]


def _name(data: str, r: Any) -> str:
    return data if r is None else f"{data}, r={r}"


def _bars(summary: Mapping[str, Any]) -> list[Figure]:
    found: list[Figure] = []
    if summary["sweep"]:
        return found
    for p, protocol in enumerate(summary["protocols"]):
        cells = [c for c in summary["cells"] if c["protocol"] == protocol]
        sets = list(dict.fromkeys((c["data"], c["r"]) for c in cells))
        if not sets:
            continue
        for start in range(0, len(sets), 9):
            part = sets[start : start + 9]
            rows = (len(part) + 2) // 3
            size = (3.3 * min(len(part), 3) + 1.2, 2.6 * rows + 0.6)
            found.append(
                make_figure(
                    f"bars-{p}-{start}",
                    f"{summary['metric'].capitalize()} by method, {protocol}",
                    f"Mean {summary['metric']} over folds with one standard "
                    f"deviation, {protocol} protocol.",
                    _bars_alt(cells, part, summary["metric"]),
                    _bars_drawer(summary, cells, part),
                    size,
                )
            )
    return found


def _bars_alt(
    cells: Sequence[Mapping[str, Any]], sets: Sequence[tuple[str, Any]], metric: str
) -> str:
    texts = []
    for data, r in sets:
        block = [
            c
            for c in cells
            if (c["data"], c["r"]) == (data, r) and c["mean"] is not None
        ]
        if block:
            best = max(block, key=lambda c: c["mean"])
            texts.append(
                f"{_name(data, r)}: best {best['learner']} with {best['reducer']}, "
                f"{best['mean']:.3f}"
            )
    return f"Bar charts of {metric}. " + "; ".join(texts) + "."


def _bars_drawer(
    summary: Mapping[str, Any],
    cells: Sequence[Mapping[str, Any]],
    sets: Sequence[tuple[str, Any]],
) -> Callable[[Any], None]:
    reducers, learners = summary["reducers"], summary["learners"]

    def draw(figure: Any) -> None:
        columns = min(len(sets), 3)
        rows = (len(sets) + columns - 1) // columns
        axes = figure.subplots(rows, columns, squeeze=False, sharey=False).ravel()
        width = 0.8 / len(reducers)
        for axis, (data, r) in zip(axes, sets, strict=False):
            here = {
                (c["learner"], c["reducer"]): c
                for c in cells
                if (c["data"], c["r"]) == (data, r)
            }
            for i, reducer in enumerate(reducers):
                chosen = [here.get((learner, reducer), {}) for learner in learners]
                at = [
                    x + (i - (len(reducers) - 1) / 2) * width
                    for x in range(len(learners))
                ]
                axis.bar(
                    at,
                    [c.get("mean") or 0.0 for c in chosen],
                    width,
                    yerr=[c.get("std") or 0.0 for c in chosen],
                    color=COLOURS[i % len(COLOURS)],
                    hatch=HATCHES[i % len(HATCHES)],
                    edgecolor="white",
                    error_kw={"elinewidth": 1, "ecolor": "#333333"},
                    label=reducer,
                )
            axis.set_xticks(range(len(learners)), learners)
            axis.set_title(_name(data, r), fontsize=10)
            axis.set_ylim(bottom=0)
        for axis in axes[len(sets) :]:
            axis.set_visible(False)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)

    return draw


def sweep_figures(summary: Mapping[str, Any]) -> list[Figure]:
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for curve in summary["sweep"]:
        if len(set(map(str, curve["x"]))) > 1:
            groups.setdefault((curve["protocol"], curve["parameter"]), []).append(curve)
    found = []
    for number, ((protocol, parameter), curves) in enumerate(groups.items()):
        sets = list(dict.fromkeys((c["data"], c["r"]) for c in curves))
        columns = min(len(sets), 3)
        rows = (len(sets) + columns - 1) // columns
        best = max(
            ((max(c["y"]), c) for c in curves), key=lambda pair: pair[0], default=None
        )
        alt = f"Curves of {summary['metric']} against {parameter}."
        if best:
            alt += (
                f" Highest: {best[0]:.3f} on {_name(best[1]['data'], best[1]['r'])} "
                f"with {best[1]['reducer']} and {best[1]['learner']}."
            )
        found.append(
            make_figure(
                f"sweep-{number}",
                f"{summary['metric'].capitalize()} against {parameter}, {protocol}",
                f"Mean {summary['metric']} over folds as {parameter} changes, "
                f"{protocol} protocol.",
                alt,
                _sweep_drawer(summary, parameter, curves, sets, (rows, columns)),
                (max(3.6 * columns + 1, 6.4), 2.8 * rows + 0.8),
            )
        )
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sweep_drawer(
    summary: Mapping[str, Any],
    parameter: str,
    curves: Sequence[Mapping[str, Any]],
    sets: Sequence[tuple[str, Any]],
    shape: tuple[int, int],
) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        axes = figure.subplots(*shape, squeeze=False).ravel()
        labels = list(dict.fromkeys((c["learner"], c["reducer"]) for c in curves))
        for axis, (data, r) in zip(axes, sets, strict=False):
            for curve in curves:
                if (curve["data"], curve["r"]) != (data, r):
                    continue
                i = labels.index((curve["learner"], curve["reducer"]))
                x = curve["x"]
                if not all(_is_number(v) for v in x):
                    x = [str(v) for v in x]
                elif min(x) > 0 and max(x) / min(x) >= 1000:
                    axis.set_xscale("log")
                    # Matplotlib would write powers as mathematics, which we show as is.
                    axis.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
                axis.plot(
                    x,
                    curve["y"],
                    color=COLOURS[i % len(COLOURS)],
                    marker=MARKS[i % len(MARKS)],
                    markersize=4,
                    label=f"{curve['learner']}, {curve['reducer']}",
                )
            axis.set_title(_name(data, r), fontsize=10)
            axis.set_xlabel(parameter)
            axis.set_ylabel(summary["metric"])
        for axis in axes[len(sets) :]:
            axis.set_visible(False)
        pairs: dict[str, Any] = {}
        for axis in axes:
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
                pairs.setdefault(label, handle)
        figure.legend(
            list(pairs.values()), list(pairs), loc="outside lower center", ncols=2
        )

    return draw


def _regimes(summary: Mapping[str, Any]) -> list[Figure]:
    """Scores against rows per feature, where there are enough data sets to see it."""
    found = []
    ratios = rows_per_feature(summary["data"], summary["facts"]["folds"])
    for number, entry in enumerate(summary["overview"]):
        names = [row["reducer"] for row in entry["rows"] if row["ranked"]]
        cells = [c for c in summary["cells"] if c["protocol"] == entry["protocol"]]
        sets = sorted({c["data"] for c in cells}, key=lambda name: ratios[name])
        if len(sets) < 3:
            continue
        means = {name: _means_by_data(cells, sets, name) for name in names}
        reference = summary["reference"]
        base = means.get(reference)
        if base is not None:
            means = {
                name: [y - z for y, z in zip(values, base, strict=True)]
                for name, values in means.items()
            }
        than = f" less that of {reference}" if base is not None else ""
        found.append(
            make_figure(
                f"regimes-{number}",
                f"{summary['metric'].capitalize()} against rows per feature, "
                f"{entry['protocol']}",
                f"Mean {summary['metric']} of each data set over r and learners{than}, "
                "by the number of training rows per feature.",
                f"{len(sets)} data sets from {sets[0]} with {ratios[sets[0]]:.2g} "
                f"training rows per feature to {sets[-1]} with "
                f"{ratios[sets[-1]]:.2g}; the overview table has the means.",
                _regime_drawer(
                    means, [ratios[d] for d in sets], summary["metric"] + than
                ),
                (7.0, 4.4),
            )
        )
    return found


def _means_by_data(
    cells: Sequence[Mapping[str, Any]], sets: Sequence[str], reducer: str
) -> list[float]:
    means: dict[str, list[float]] = {name: [] for name in sets}
    for cell in cells:
        if cell["reducer"] == reducer and cell["mean"] is not None:
            means[cell["data"]].append(cell["mean"])
    return [sum(m) / len(m) if m else float("nan") for m in means.values()]


def _regime_drawer(
    curves: Mapping[str, Sequence[float]], x: Sequence[float], label: str
) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        axis = figure.subplots()
        for i, (name, y) in enumerate(curves.items()):
            axis.plot(
                x,
                y,
                color=COLOURS[i % len(COLOURS)],
                marker=MARKS[i % len(MARKS)],
                markersize=5,
                # A line through the zeros of the reference only.
                linewidth=0.0 if any(y) else 1.0,
                label="no reduction" if name == "none" else name,
            )
        axis.set_xscale("log")
        # Matplotlib would write powers as mathematics, which we show as is.
        axis.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
        axis.set_xlabel("training rows per feature")
        axis.set_ylabel(label)
        figure.legend(loc="outside right center", fontsize=8)

    return draw


_OVER = {
    "combinations": "combinations of data set, r and learner",
    "data sets": "data sets, each by its mean over r and learners",
}


def critical_differences(summary: Mapping[str, Any]) -> list[Figure]:
    found = []
    for number, ranking in enumerate(summary["ranking"]):
        order = sorted(
            zip(ranking["ranks"], ranking["reducers"], strict=True), key=lambda p: p[0]
        )
        text = ", ".join(f"{name} {rank:.2f}" for rank, name in order)
        found.append(
            make_figure(
                f"ranks-{number}",
                f"Critical-difference diagram over {ranking['over']}, "
                f"{ranking['protocol']}",
                f"Average ranks over {ranking['n_blocks']} {_OVER[ranking['over']]}; "
                "1 is best. A bar joins methods whose ranks differ by "
                "less than the critical difference "
                f"{ranking['critical_difference']:.2f} (Nemenyi, 0.05).",
                f"Average ranks: {text}.",
                _rank_drawer(ranking),
                (7.0, 1.3 + 0.28 * len(order) + 0.15 * len(ranking["cliques"])),
            )
        )
    return found


def _rank_drawer(ranking: Mapping[str, Any]) -> Callable[[Any], None]:
    ranks, names = ranking["ranks"], ranking["reducers"]
    shown = ["no reduction" if name == "none" else name for name in names]

    def draw(figure: Any) -> None:
        axis = figure.subplots()
        k = len(names)
        axis.set_xlim(0.6, k + 0.4)
        order = sorted(range(k), key=lambda i: ranks[i])
        for line, members in enumerate(ranking["cliques"]):
            low = min(ranks[i] for i in members)
            high = max(ranks[i] for i in members)
            at = 0.55 + 0.35 * line
            axis.plot([low, high], [at, at], color="black", linewidth=4)
        depth = 0.9 + 0.35 * len(ranking["cliques"])
        for place, i in enumerate(order):
            y = depth + 0.7 * (place + 1)
            axis.plot([ranks[i], ranks[i]], [0, y], color="#444444", linewidth=1)
            left = place < (k + 1) // 2
            end = 0.6 if left else k + 0.4
            axis.plot([ranks[i], end], [y, y], color="#444444", linewidth=1)
            axis.text(
                end,
                y - 0.08,
                f"{shown[i]} ({ranks[i]:.2f})",
                ha="left" if left else "right",
                va="bottom",
            )
        axis.set_ylim(depth + 0.7 * (k + 0.6), 0)
        axis.xaxis.tick_top()
        axis.set_xticks(range(1, k + 1))
        axis.yaxis.set_visible(False)
        for side in ("left", "bottom", "right"):
            axis.spines[side].set_visible(False)
        axis.spines["top"].set_visible(True)

    return draw


def _planes(summary: Mapping[str, Any]) -> list[Figure]:
    found = []
    for number, view in enumerate(summary["views"]):
        points = view["points"]
        wrong = sum(not p["correct"] for p in points)
        name = (
            f"{_name(view['data'], view['r'])}, {view['reducer']}, {view['protocol']}"
        )
        found.append(
            make_figure(
                f"plane-{number}",
                f"First two directions: {name}",
                "Each mark is a training row, drawn by its most likely label; the "
                "fainter, the less confident; rows whose most likely label is wrong "
                "have a ring.",
                f"Scatter plot of {len(points)} rows in the reduced plane; "
                f"{wrong} have a wrong most likely label.",
                _plane_drawer(points),
                (6.4, 4.2),
            )
        )
    return found


def _in_legend(label: str) -> str:
    """Short enough to leave room for the picture; matplotlib hides names in _."""
    short = label if len(label) <= 24 else label[:23] + "…"
    return f" {short}" if short.startswith("_") else short


def _plane_drawer(points: Sequence[Mapping[str, Any]]) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        axis = figure.subplots()
        labels = sorted({p["label"] for p in points})
        for i, label in enumerate(labels[:20]):
            mine = [p for p in points if p["label"] == label]
            axis.scatter(
                [p["x"] for p in mine],
                [p["y"] for p in mine],
                s=18,
                color=COLOURS[i % len(COLOURS)],
                marker=MARKS[(i // len(COLOURS) + i) % len(MARKS)],
                alpha=[0.25 + 0.75 * p["confidence"] for p in mine],
                linewidths=0,
                label=_in_legend(label),
            )
        rest = [p for p in points if p["label"] in labels[20:]]
        if rest:
            axis.scatter(
                [p["x"] for p in rest],
                [p["y"] for p in rest],
                s=10,
                color="#777777",
                linewidths=0,
                label="other labels",
            )
        wrong = [p for p in points if not p["correct"]]
        axis.scatter(
            [p["x"] for p in wrong],
            [p["y"] for p in wrong],
            s=60,
            facecolors="none",
            edgecolors="#B00020",
            linewidths=1,
            label="wrong",
        )
        axis.set_xlabel("direction 1")
        axis.set_ylabel("direction 2")
        figure.legend(loc="outside right center", fontsize=8)

    return draw


def _histograms(summary: Mapping[str, Any]) -> list[Figure]:
    found = []
    for number, view in enumerate(summary["views"]):
        histogram = view["histogram"]
        sure = histogram["after"][-1]
        total = sum(histogram["after"])
        name = (
            f"{_name(view['data'], view['r'])}, {view['reducer']}, {view['protocol']}"
        )
        found.append(
            make_figure(
                f"confidence-{number}",
                f"Confidence before and after: {name}",
                "Highest label confidence of each training row: before, every label "
                "of a set counts the same; after, as the method left it.",
                f"Histogram: after fitting, {sure} of {total} rows have a "
                "confidence above 0.9.",
                _histogram_drawer(histogram),
                (6.4, 2.6),
            )
        )
    return found


def _histogram_drawer(histogram: Mapping[str, Any]) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        axis = figure.subplots()
        edges = histogram["edges"]
        width = (edges[1] - edges[0]) * 0.45
        left = edges[:-1]
        axis.bar(
            left,
            histogram["before"],
            width,
            align="edge",
            color="#777777",
            hatch="//",
            edgecolor="white",
            label="before",
        )
        axis.bar(
            [x + width for x in left],
            histogram["after"],
            width,
            align="edge",
            color=COLOURS[0],
            edgecolor="white",
            label="after",
        )
        axis.set_xlabel("highest confidence of a row")
        axis.set_ylabel("rows")
        axis.legend()

    return draw
