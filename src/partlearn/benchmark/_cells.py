"""From rows of a run to the cells of its tables."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from partlearn.benchmark._plan import MethodSpec, MultilabelPlan, Plan
from partlearn.benchmark._published import (
    PublishedFigure,
    published_figures,
    published_scores,
)
from partlearn.benchmark._results import (
    NO_LEARNER,
    Cell,
    Control,
    Curve,
    FoldScore,
    Result,
    metric_sign,
)


def spread(values: Sequence[float]) -> float | None:
    """Standard deviation (ddof 1); None for a single value.

    Parameters
    ----------
    values : sequence of float
        The values.

    Returns
    -------
    float or None
        The deviation.
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def area_under_curve(x: Sequence[float], y: Sequence[float]) -> float:
    """Area under a curve by trapezia over the width: a height. One point is itself.

    Parameters
    ----------
    x, y : sequence of float
        Points in any order of `x`.

    Returns
    -------
    float
        Mean height.

    Examples
    --------
    >>> from partlearn.benchmark import area_under_curve
    >>> area_under_curve([1, 2, 5], [0.0, 1.0, 1.0])
    0.875
    """
    order = np.argsort(x, kind="stable")
    at, height = np.asarray(x, float)[order], np.asarray(y, float)[order]
    width = at[-1] - at[0]
    if width <= 0:
        return float(height.mean())
    return float(np.trapezoid(height, at) / width)


def grouped(rows: Iterable[Result], *names: str) -> dict[tuple[Any, ...], list[Result]]:
    """Rows by the values of some of their attributes."""
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for row in rows:
        groups.setdefault(tuple(getattr(row, n) for n in names), []).append(row)
    return groups


def fold_cells(plan: Plan, results: Sequence[Result]) -> tuple[Cell, ...]:
    """Cells of a run with one score per fold.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    results : sequence of Result
        Its rows.

    Returns
    -------
    tuple of Cell
        For every metric, in the order of the run.
    """
    names = ("protocol", "data", "r", "learner", "reducer")
    reducers = _published_names(plan.reducers)
    learners = _published_names(plan.learners)
    source = plan.published
    figures = published_figures(source["paper"], source["table"]) if source else {}
    groups = grouped(results, *names)
    cells = []
    for metric in plan.metrics:
        for (_, name, r, learner, reducer), rows in groups.items():
            figure = figures.get((name, r, reducers[reducer], learners[learner]))
            cells.append(fold_cell(metric, rows, figure))
    ranked = {spec.name for spec in plan.reducers if spec.ranked}
    return with_best(cells, lambda cell: cell.whole and cell.method in ranked)


def fold_cell(
    metric: str, rows: Sequence[Result], figure: PublishedFigure | None
) -> Cell:
    """Cell of rows that differ by fold and noise seed alone.

    Parameters
    ----------
    metric : str
        Score to take.
    rows : sequence of Result
        Of one data set, reduction and learner.
    figure : PublishedFigure or None
        What was published for it.

    Returns
    -------
    Cell
        Not marked as best.
    """
    scores = [
        FoldScore(row.noise_seed, row.fold, value)
        for row in rows
        if row.ok and (value := row.scores.get(metric)) is not None
    ]
    columns = [row.n_features for row in rows if row.n_features is not None]
    return _cell(
        metric,
        rows,
        scores,
        whole=len(scores) == len(rows),
        n_features=float(np.mean(columns)) if columns else None,
        published=figure,
    )


def _cell(
    metric: str, rows: Sequence[Result], folds: Sequence[FoldScore], **more: Any
) -> Cell:
    values = [score.value for score in folds]
    first = rows[0]
    return Cell(
        protocol=first.protocol,
        data=first.data,
        r=first.r,
        labels=first.labels,
        learner=first.learner,
        method=first.reducer,
        metric=metric,
        mean=float(np.mean(values)) if values else None,
        std=spread(values),
        folds=tuple(folds),
        n_failed=sum(not row.ok for row in rows),
        **more,
    )


def curve_cells(plan: MultilabelPlan, results: Sequence[Result]) -> tuple[Cell, ...]:
    """Cells of a run with one curve per fold and seed.

    Parameters
    ----------
    plan : MultilabelPlan
        The plan of the run.
    results : sequence of Result
        Its rows, one per point of a curve.

    Returns
    -------
    tuple of Cell
        By data set, noise, labels and learner; in these by method, then by metric.
    """
    names = ("protocol", "data", "r", "labels", "learner")
    groups = grouped(results, *names, "reducer")
    published = _published_names((*plan.reducers, *plan.classifiers))
    source = plan.published
    figures = published_scores(source["paper"], source["table"]) if source else {}
    learners = grouped((row for row in results if row.learner != NO_LEARNER), *names)
    cells = []
    for block in learners:
        for method in (*published, *Control):
            # A method that predicts by itself stands beside every learner.
            own = (*block[:-1], NO_LEARNER, method)
            rows = groups.get((*block, method)) or groups.get(own)
            for metric in plan.metrics if rows else ():
                key = (str(block[1]), published.get(method, ""), metric)
                cell = _curve_cell(metric, rows or [], figures.get(key))
                cells.append(replace(cell, learner=str(block[-1])))
    # All features are no selection.
    orders = {spec.name for spec in plan.reducers}
    orders.update(control for control in Control if control.orders_features)
    return with_best(cells, lambda cell: cell.whole and cell.method in orders)


def _curve_cell(
    metric: str, rows: Sequence[Result], figure: PublishedFigure | None
) -> Cell:
    good = [row for row in rows if row.ok]
    curves: dict[tuple[Any, ...], dict[float, float]] = {}
    # Draws of a random order are averaged first: they are not folds.
    for (*fold, x), draws in grouped(good, "noise_seed", "fold", "percentage").items():
        values: list[Any] = [row.scores[metric] for row in draws]
        curves.setdefault(tuple(fold), {})[x or 0.0] = float(np.mean(values))
    folds = [
        FoldScore(seed, fold, area_under_curve(list(curve), list(curve.values())))
        for (seed, fold), curve in curves.items()
    ]
    xs = sorted({x for curve in curves.values() for x in curve})
    at = [[curve[x] for curve in curves.values() if x in curve] for x in xs]
    ys = [float(np.mean(values)) for values in at]
    return _cell(
        metric,
        rows,
        folds,
        whole=len(rows) == len(good),
        published=figure,
        curve=Curve(
            x=tuple(xs),
            y=tuple(ys),
            std=tuple(spread(values) or 0.0 for values in at),
            mean=float(np.mean(ys)) if ys else None,
            std_over_points=spread(ys),
        ),
    )


def _published_names(specs: Iterable[MethodSpec]) -> dict[str, str]:
    return {spec.name: spec.published for spec in specs}


def with_best(
    cells: Sequence[Cell], takes_part: Callable[[Cell], bool]
) -> tuple[Cell, ...]:
    """Mark the best of each row, as printed: three decimals.

    Parameters
    ----------
    cells : sequence of Cell
        The cells.
    takes_part : callable
        Whether a cell may be the best.

    Returns
    -------
    tuple of Cell
        In the same order.
    """
    names = ("protocol", "data", "r", "labels", "learner", "metric")
    rows = [tuple(getattr(cell, name) for name in names) for cell in cells]
    heights = [
        round(metric_sign(cell.metric) * cell.mean, 3)
        if cell.mean is not None and takes_part(cell)
        else -np.inf
        for cell in cells
    ]
    top: dict[tuple[Any, ...], float] = {}
    for row, height in zip(rows, heights, strict=True):
        top[row] = max(height, top.get(row, -np.inf))
    return tuple(
        replace(cell, best=bool(np.isfinite(height) and height == top[row]))
        for cell, row, height in zip(cells, rows, heights, strict=True)
    )
