"""Curves over the shares of features, with the controls in every picture."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from partlearn.report._figures import (
    COLOURS,
    MARKS,
    Figure,
    critical_differences,
    make_figure,
    sweep_figures,
)
from partlearn.report._multilabel._areas import is_better
from partlearn.report._multilabel._tables import metric_name, set_name

__all__ = ["multilabel_figures"]

LINES = ("-", "--", "-.", ":")


def multilabel_figures(summary: Mapping[str, Any]) -> list[Figure]:
    """All figures of a multi-label run.

    Parameters
    ----------
    summary : dict
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    list of dict
        With ``key``, ``title``, ``caption`` and ``svg``.
    """
    ranked = [r for r in summary["ranking"] if r["metric"] == summary["metric"]]
    wanted = {**summary, "ranking": ranked}
    metric = summary["metric"]
    wanted["sweep"] = [
        curve for curve in summary["sweep"] if curve["protocol"].startswith(metric)
    ]
    drawn = [] if wanted["sweep"] else _curves(summary)
    return [*drawn, *sweep_figures(wanted), *critical_differences(wanted)]


def _curves(summary: Mapping[str, Any]) -> list[Figure]:
    metric = summary["metric"]
    found: list[Figure] = []
    for labels in summary["labels"]:
        for learner in summary["learners"]:
            cells = [
                c
                for c in summary["cells"]
                if (c["metric"], c["labels"], c["learner"]) == (metric, labels, learner)
                and c["x"]
            ]
            sets = list(dict.fromkeys((c["data"], c["r"]) for c in cells))
            if not sets:
                continue
            columns = min(len(sets), 3)
            rows = (len(sets) + columns - 1) // columns
            name = metric_name(metric)
            title = f"{name[0].upper()}{name[1:]}, {learner}, trained on {labels}"
            found.append(
                make_figure(
                    f"curves-{len(found)}",
                    title,
                    f"Mean {name} on clean test labels over folds and "
                    "seeds against the share of features; level lines are all features "
                    "and label frequency, which looks at none.",
                    _alt(cells, sets, metric),
                    _drawer(summary, cells, sets, (rows, columns)),
                    (3.6 * columns + 1, 2.9 * rows + 1.4),
                )
            )
    return found


def _alt(
    cells: Sequence[Mapping[str, Any]], sets: Sequence[tuple[Any, ...]], metric: str
) -> str:
    texts = []
    for data, r in sets:
        block = [
            c for c in cells if (c["data"], c["r"]) == (data, r) and len(c["x"]) > 1
        ]
        if block:
            best = max(block, key=lambda c: is_better(metric) * c["area"])
            name = set_name(data, r)
            texts.append(f"{name}: best area {best['area']:.3f}, {best['method']}")
    return f"Curves of {metric_name(metric)}. " + "; ".join(texts) + "."


def _drawer(
    summary: Mapping[str, Any],
    cells: Sequence[Mapping[str, Any]],
    sets: Sequence[tuple[Any, ...]],
    shape: tuple[int, int],
) -> Callable[[Any], None]:
    methods = [m for m in summary["methods"] if any(c["method"] == m for c in cells)]

    def draw(figure: Any) -> None:
        axes = figure.subplots(*shape, squeeze=False).ravel()
        handles: dict[str, Any] = {}
        for axis, (data, r) in zip(axes, sets, strict=False):
            here = {c["method"]: c for c in cells if (c["data"], c["r"]) == (data, r)}
            for i, method in enumerate(methods):
                if method not in here:
                    continue
                cell = here[method]
                control = method in summary["controls"]
                style = {
                    "color": "#555555" if control else COLOURS[i % len(COLOURS)],
                    "linestyle": LINES[i % len(LINES)],
                    "linewidth": 1.8 if control else 1.2,
                }
                if len(cell["x"]) == 1:
                    handle = axis.axhline(cell["y"][0], **style)
                else:
                    (handle,) = axis.plot(
                        cell["x"],
                        cell["y"],
                        marker=MARKS[i % len(MARKS)],
                        markersize=3,
                        **style,
                    )
                handles.setdefault(method, handle)
            axis.set_title(set_name(data, r), fontsize=10)
            axis.set_xlabel("features, %")
            axis.set_ylabel(metric_name(summary["metric"]))
        for axis in axes[len(sets) :]:
            axis.set_visible(False)
        figure.legend(
            list(handles.values()), list(handles), loc="outside lower center", ncols=3
        )

    return draw
