"""Figures of a report, drawn from the summary."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from partlearn._pages import visible
from partlearn.benchmark import metric_sign
from partlearn.report import _compare
from partlearn.report._blocks import Block, Draw, Figure, Section
from partlearn.report._compare import PLACE, Comparison
from partlearn.report._format import capital, is_missing, method_name, metric_name
from partlearn.report._svg import COLORS, INK, LINES, MARKS

if TYPE_CHECKING:
    import pandas as pd

    from partlearn.report._summarize import Summary

MOST_PANELS = 9  # side by side; more are folded away
MOST_LABELS = 20  # with a mark of their own

DrawPart = Callable[[Any, Any], None]


def _look(i: int) -> dict[str, Any]:
    """Color and mark of the i-th of several things."""
    return {"color": COLORS[i % len(COLORS)], "marker": MARKS[i % len(MARKS)]}


def _short(label: str, most: int = 24) -> str:
    """Shorten a label to leave room for the plot; matplotlib hides names in _."""
    text = visible(label)
    short = text if len(text) <= most else text[: most - 1] + "…"
    return f" {short}" if short.startswith("_") else short


def _folded(figure: Figure) -> list[Block]:
    """The first panels; the others are folded away."""
    few, more = figure.panels[:MOST_PANELS], figure.panels[MOST_PANELS:]
    if not more:
        return [figure]
    title = f"{figure.title}, continued"
    rest = replace(figure, key=f"{figure.key}-more", title=title, panels=more)
    return [replace(figure, panels=few), Section(f"{len(more)} more panels", [rest])]


def _panels(rows: pd.DataFrame, draw: DrawPart) -> list[tuple[str, Draw]]:
    """One panel per data set and r."""
    groups = rows.groupby("set", sort=False)
    return [(str(name), partial(draw, part)) for name, part in groups]


def forest(comparison: Comparison, number: int) -> list[Figure]:
    """Differences to the method with the best mean over data sets, with intervals."""
    best, *others = comparison.methods
    pairs = {}
    for method in others:
        # In a pair higher is better, whatever the metric.
        order = (method, best)[:: metric_sign(comparison.metric)]
        if (p := comparison.pair(*order)) and not is_missing(p.low):
            pairs[method_name(method)] = p
    if not pairs:
        return []

    def draw(axes: Any) -> None:
        axes.axvspan(
            -_compare.ROPE, _compare.ROPE, color=COLORS[6], alpha=0.25, linewidth=0
        )
        axes.axvline(0, color=INK, linewidth=1)
        for y, p in enumerate(pairs.values()):
            axes.plot([p.low, p.high], [y, y], color=COLORS[0], linewidth=1.5)
            axes.plot(p.difference, y, linestyle="none", **_look(0))
        axes.set_yticks(range(len(pairs)), [_short(name) for name in pairs])
        axes.invert_yaxis()
        than = _short(method_name(best))
        axes.set_xlabel(f"{metric_name(comparison.metric)} minus that of {than}")

    told = "; ".join(
        f"{name} {p.difference:+.3f} ({p.low:+.3f} to {p.high:+.3f})"
        for name, p in pairs.items()
    )
    return [
        Figure(
            f"forest-{number}",
            f"Difference to {method_name(best)}, the best mean",
            "Mean difference over data sets with its 95 % interval. Differences inside "
            f"the gray band (up to {_compare.ROPE:g}) are practically equal.",
            f"{told}.",
            [("", draw)],
            (5.0, 1.0 + 0.3 * len(pairs)),
        )
    ]


def critical_difference(comparison: Comparison, number: int) -> list[Figure]:
    """Average ranks on a line; bars join ranks that do not differ significantly."""
    ranks, names = list(comparison.table["rank"]), comparison.methods
    k = len(names)
    order = sorted(range(k), key=lambda i: ranks[i])

    def draw(axes: Any) -> None:
        axes.set_xlim(0.6, k + 0.4)
        for line, members in enumerate(comparison.cliques):
            ends = [min(ranks[i] for i in members), max(ranks[i] for i in members)]
            axes.plot(ends, [0.55 + 0.35 * line] * 2, color=INK, linewidth=4)
        depth = 0.9 + 0.35 * len(comparison.cliques)
        for line, i in enumerate(order):
            y = depth + 0.7 * (line + 1)
            left = line < (k + 1) // 2
            end = 0.6 if left else k + 0.4
            axes.plot([ranks[i]] * 2 + [end], [0, y, y], color=COLORS[6], linewidth=1)
            text = f"{_short(method_name(names[i]))} ({ranks[i]:.2f})"
            axes.text(end, y - 0.08, text, ha="left" if left else "right", va="bottom")
        axes.set_ylim(depth + 0.7 * (k + 0.6), 0)
        axes.xaxis.tick_top()
        axes.set_xticks(range(1, k + 1))
        axes.yaxis.set_visible(False)
        for side in ("left", "bottom", "right"):
            axes.spines[side].set_visible(False)
        axes.spines["top"].set_visible(True)

    told = ", ".join(f"{method_name(names[i])} {ranks[i]:.2f}" for i in order)
    return [
        Figure(
            f"ranks-{number}",
            "Critical-difference diagram",
            f"Average ranks over {len(comparison.data)} data sets, each by its mean "
            "over r and learners; 1 is best. Bars join methods whose ranks differ by "
            f"less than the critical difference, {comparison.critical_difference:.2f}.",
            f"{told}.",
            [("", draw)],
            (5.0, 1.3 + 0.28 * k + 0.15 * len(comparison.cliques)),
        )
    ]


def gaps(summary: Summary, protocol: str, number: int) -> list[Block]:
    """Differences to the best of each data set and learner, with intervals."""
    here = {"protocol": protocol, "metric": summary.metric}
    cells = summary.select(**here).dropna(subset="mean")
    if not summary.sweep.empty or cells.empty:
        return []
    methods = [m for m in summary.methods if m in set(cells["method"])]
    learners = list(dict.fromkeys(cells["learner"]))
    tops = cells[cells["best"]]
    best = {tuple(c[k] for k in PLACE): c for c in tops[::-1].to_dict("records")}
    folds = summary.folds[summary.folds["protocol"] == protocol]
    folds = folds[folds["metric"] == summary.metric]
    wide = _compare.pivot(folds, "value", "noise_seed", "fold")
    at = dict(iter(wide.groupby(level=PLACE, sort=False)))
    sign = metric_sign(summary.metric)

    def draw(part: pd.DataFrame, axes: Any) -> None:
        axes.axvline(0, color=INK, linewidth=1)
        for cell in part.to_dict("records"):
            place = tuple(cell[k] for k in PLACE)
            top = best.get(place)
            if top is None:
                continue
            i = learners.index(cell["learner"])
            shift = (i - (len(learners) - 1) / 2) * 0.6 / len(learners)
            y = methods.index(cell["method"]) + shift
            look = _look(i)
            first, second = (cell["method"], top["method"])[::sign]
            cv = summary.facts["folds"]
            ends = _compare.interval(at[place], first, second, cv)
            if ends:
                axes.plot(ends, [y, y], color=look["color"], linewidth=1)
            x, label = cell["mean"] - top["mean"], _short(cell["learner"])
            axes.plot(x, y, linestyle="none", markersize=5, label=label, **look)
        names = [_short(method_name(m), 18) for m in methods]
        axes.set_yticks(range(len(methods)), names, fontsize=8)
        axes.set_ylim(len(methods) - 0.5, -0.5)
        axes.set_xlabel(f"{metric_name(summary.metric)} minus the best", fontsize=9)

    height = 0.9 + max(0.22, 0.12 * len(learners)) * len(methods)
    return _folded(
        Figure(
            f"gaps-{number}",
            f"Difference to the best method for each data set and learner, {protocol}",
            "The best method is at zero. Lines are 95 % intervals of the difference "
            "over folds, corrected for overlapping training folds. A difference may be "
            "due to chance if its line crosses zero.",
            _best_of_sets(tops.assign(height=sign * tops["mean"])),
            _panels(cells, draw),
            (3.6, height),
        )
    )


def _best_of_sets(tops: pd.DataFrame) -> str:
    """Best method and learner of each data set, as a sentence."""
    if tops.empty:
        return ""
    rows = tops.loc[tops.groupby("set", sort=False)["height"].idxmax()]
    told = [
        f"{c.set}: {method_name(c.method)} with {c.learner}, {c.mean:.3f}"
        for c in rows.itertuples()
    ]
    return f"Best: {'; '.join(told)}."


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def sweeps(swept: pd.DataFrame) -> list[Block]:
    """Scores as a function of a parameter."""
    figures: list[Block] = []
    keys = ["protocol", "labels", "metric", "parameter"]
    for (protocol, labels, metric, parameter), group in swept.groupby(keys, sort=False):
        if group["x"].astype(str).nunique() < 2:
            continue
        lines = list(dict.fromkeys(zip(group["learner"], group["method"], strict=True)))
        name = metric_name(metric)
        top = group.loc[(metric_sign(metric) * group["y"]).idxmax()]
        figures += _folded(
            Figure(
                f"sweep-{len(figures)}",
                f"{capital(name)} against {parameter}, {protocol}, trained on {labels}",
                f"Mean {name} over folds for each value of {parameter}.",
                f"Best: {top['y']:.3f} on {top['set']} with {top['method']} and "
                f"{top['learner']}.",
                _panels(group, partial(_draw_sweep, lines, parameter, name)),
            )
        )
    return figures


def _draw_sweep(
    lines: Sequence[tuple[str, str]],
    parameter: str,
    name: str,
    part: pd.DataFrame,
    axes: Any,
) -> None:
    for key, curve in part.groupby(["learner", "method"], sort=False):
        x = list(curve["x"])
        if not all(_is_number(v) for v in x):
            x = [str(v) for v in x]
        elif min(x) > 0 and max(x) / min(x) >= 1000:
            _logarithmic(axes)
        label = _short(", ".join(key), 48)
        axes.plot(x, curve["y"], markersize=4, label=label, **_look(lines.index(key)))
    axes.set_xlabel(parameter)
    axes.set_ylabel(name)


def _logarithmic(axes: Any) -> None:
    from matplotlib.ticker import LogLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    # Matplotlib would write powers in its math mode, which is switched off.
    axes.xaxis.set_major_formatter(lambda v, _: f"{v:g}")
    axes.xaxis.set_minor_formatter(lambda v, _: "")


def regimes(summary: Summary) -> list[Block]:
    """Scores against rows per feature, for three data sets or more."""
    figures: list[Block] = []
    ratios = _compare.rows_per_feature(summary.data, summary.facts["folds"])
    for number, c in enumerate(summary.comparisons):
        if len(c.data) < 3:
            continue
        cells = summary.select(protocol=c.protocol, metric=c.metric)
        places = _compare.complete_places(cells, c.methods)
        y = metric_sign(c.metric) * _compare.by_data(places[c.methods])
        x = [ratios[name] for name in y.index]
        name, than = metric_name(c.metric), ""
        if summary.reference in c.methods:
            y = y.sub(y[summary.reference], axis=0)
            than = f" minus that of {summary.reference}"
        low, *_, high = sorted(y.index, key=ratios.__getitem__)
        figures.append(
            Figure(
                f"regimes-{number}",
                f"{capital(name)} against rows per feature, {c.protocol}",
                f"Mean {name} of each data set over r and learners{than}, against the "
                "number of training rows per feature.",
                f"{len(x)} data sets from {low} with {ratios[low]:.2g} training rows "
                f"per feature to {high} with {ratios[high]:.2g}.",
                [("", partial(_draw_regimes, x, y, name + than))],
                (5.0, 3.6),
            )
        )
    return figures


def _draw_regimes(x: Sequence[float], y: pd.DataFrame, label: str, axes: Any) -> None:
    for i, name in enumerate(y.columns):
        # A line through the zeros of the reference only.
        if not y[name].any():
            axes.axhline(0, color=COLORS[i % len(COLORS)], linewidth=1)
        text = _short(method_name(name))
        axes.plot(x, y[name], markersize=5, linestyle="none", label=text, **_look(i))
    _logarithmic(axes)
    axes.set_xlabel("training rows per feature")
    axes.set_ylabel(label)


def plane(points: pd.DataFrame, name: str, number: int) -> Figure:
    """Reduced training rows along their first two directions."""
    labels = sorted(points["label"].unique())
    rest = points[points["label"].isin(labels[MOST_LABELS:])]
    wrong = points[~points["correct"].astype(bool)]

    def draw(axes: Any) -> None:
        def scatter(some: pd.DataFrame, **style: Any) -> None:
            axes.scatter(some["x"], some["y"], **style)

        for i, label in enumerate(labels[:MOST_LABELS]):
            mine = points[points["label"] == label]
            scatter(
                mine,
                s=18,
                color=COLORS[i % len(COLORS)],
                marker=MARKS[(i // len(COLORS) + i) % len(MARKS)],
                alpha=0.25 + 0.75 * mine["confidence"].to_numpy(),
                linewidths=0,
                label=_short(label),
            )
        if len(rest):
            scatter(rest, s=10, color=COLORS[6], label="other labels")
        if len(wrong):
            scatter(wrong, s=60, facecolors="none", edgecolors=INK, label="wrong")
        axes.set_xlabel("direction 1")
        axes.set_ylabel("direction 2")

    return Figure(
        f"plane-{number}",
        f"First two directions: {name}",
        "Each marker is a training row. Color and shape show its most likely label, "
        "fainter markers a lower confidence, and rings a wrong label.",
        f"{len(points)} rows in the reduced plane; the most likely label of "
        f"{len(wrong)} is wrong.",
        [("", draw)],
        (5.0, 4.0),
    )


def histogram(counts: Mapping[str, Sequence[float]], name: str, number: int) -> Figure:
    """Histogram of the highest confidence per row, before and after the fit."""
    edges = counts["edges"]
    width = (edges[1] - edges[0]) * 0.45

    def draw(axes: Any) -> None:
        for i, (when, color) in enumerate({"before": 6, "after": 0}.items()):
            left = [x + i * width for x in edges[:-1]]
            style = {"color": COLORS[color], "align": "edge", "linewidth": 0}
            axes.bar(left, counts[when], width, label=when, **style)
        axes.set_xlabel("highest confidence of a row")
        axes.set_ylabel("rows")

    return Figure(
        f"confidence-{number}",
        f"Confidence before and after the fit: {name}",
        "Highest label confidence of each training row: before the fit, when all its "
        "candidates have the same confidence, and after it.",
        f"After fitting, {counts['after'][-1]} of {sum(counts['after'])} rows have a "
        "confidence above 0.9.",
        [("", draw)],
        (5.0, 2.6),
    )


def curves(summary: Summary) -> list[Block]:
    """Scores against the share of features; all panels include the controls."""
    name = metric_name(summary.metric)
    figures: list[Block] = []
    for labels, learner in product(summary.labels, summary.learners):
        here = {"metric": summary.metric, "labels": labels, "learner": learner}
        points = summary.curves
        for column, value in here.items():
            points = points[points[column] == value]
        if points.empty:
            continue
        methods = [m for m in summary.methods if m in set(points["method"])]
        cells = summary.select(**here)
        best = cells[cells["best"]].drop_duplicates("set").itertuples()
        told = [f"{c.set}: {c.method}, {c.mean:.3f}" for c in best]
        figures += _folded(
            Figure(
                f"curves-{len(figures)}",
                f"{capital(name)}, {learner}, trained on {labels}",
                f"Mean {name} on clean test labels over folds and seeds against the "
                "share of features. Horizontal lines are all features and label "
                "frequency, which uses no features.",
                f"Best areas: {'; '.join(told)}.",
                _panels(points, partial(_draw_curves, methods, summary.controls, name)),
                (3.6, 3.2),
            )
        )
    return figures


def _draw_curves(
    methods: Sequence[str],
    controls: Sequence[str],
    name: str,
    part: pd.DataFrame,
    axes: Any,
) -> None:
    for method, curve in part.groupby("method", sort=False):
        i, control = methods.index(str(method)), method in controls
        look = _look(i)
        style = {
            "color": INK if control else look["color"],
            "linestyle": LINES[i % len(LINES)],
            "linewidth": 1.8 if control else 1.2,
            "label": _short(str(method)),
        }
        if len(curve) == 1:
            axes.axhline(curve["mean"].iloc[0], **style)
        else:
            sorted_curve = curve.sort_values("percentage")
            x, y = sorted_curve["percentage"], sorted_curve["mean"]
            axes.plot(x, y, marker=look["marker"], markersize=3, **style)
    axes.set_xlabel("features, %")
    axes.set_ylabel(name)
