"""Group the frame of a run into the cells of its tables."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partlearn._extras import import_optional
from partlearn.benchmark._plan import MultilabelPlan, Plan, TunedPlan
from partlearn.benchmark._published import Figure, published_figures
from partlearn.benchmark._results import NO_LEARNER, Control, metric_sign
from partlearn.benchmark._tuned import choose

if TYPE_CHECKING:
    from pandas import DataFrame

BLOCK = ["protocol", "data", "r", "labels", "learner"]
CELL = [*BLOCK, "method", "metric"]
NO_R = -1.0  # candidates of the file; NaN is no key
DECIMALS = 3  # of a score as printed: best is decided by them


def area_under_curve(x: Sequence[float], y: Sequence[float]) -> float:
    """Trapezoidal area divided by the range; the value itself for a single point.

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


@dataclass(frozen=True)
class Scores:
    """Frames of scores, grouped from the frame of a run.

    Attributes
    ----------
    folds : DataFrame
        Scores of each fold and seed; on a curve, areas under it.
    curves : DataFrame
        Means and deviations by percentage, over folds and seeds.
    cells : DataFrame
        Means and deviations over folds and seeds, one row per number of a table:
        ``mean``, ``std``, ``n_failed``, ``whole`` (every job has a score),
        ``n_features`` (mean number of reduced columns), ``best`` of its row as
        printed, the ``published`` figure with ``published_std`` and
        ``published_columns``, the number to put beside it (``printed``,
        ``printed_std``) and their ``difference``.
    """

    folds: "DataFrame"
    curves: "DataFrame"
    cells: "DataFrame"


def grouped(frame: "DataFrame", names: Sequence[str]) -> Any:
    """Group rows in order of appearance; missing values are a group of their own."""
    return frame.groupby(list(names), sort=False, dropna=False, observed=True)


def scores_of(plan: Plan, frame: "DataFrame") -> Scores:
    """Group the scores of a run into cells, folds and curves.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    frame : DataFrame
        Its frame, from :meth:`partlearn.benchmark.Run.frame`.

    Returns
    -------
    Scores
        Every metric of the plan.
    """
    pd = import_optional("pandas", "Tables of a run", "report")
    many, tuned = isinstance(plan, MultilabelPlan), isinstance(plan, TunedPlan)
    rows = frame.assign(method=frame["reducer"], r=frame["r"].fillna(NO_R))
    if isinstance(plan, TunedPlan):
        first = rows[rows["draw"] == 0].drop_duplicates("id")
        rows = pd.concat([choose(rows, plan.criterion), first.assign(metric="job")])
        fold = rows["noise_seed"].astype(str) + "/" + rows["fold"].astype(str)
        rows = rows.assign(method=rows["learner"], learner=NO_LEARNER, id=fold)
    elif many:
        rows = _beside_every_learner(pd, plan, rows)
    scores = rows[rows["metric"].isin(plan.metrics)]
    curve = [*CELL, "noise_seed", "fold"]
    columns = [*curve, "percentage", "value"]
    points, folds = scores[columns], scores[[*curve, "value"]]
    if many:
        # Draws of a random order are averaged first: they are not folds.
        points = grouped(scores, columns[:-1])["value"].mean().reset_index()
        areas = [
            (*key, area_under_curve(part["percentage"], part["value"]))
            for key, part in grouped(points, curve)
        ]
        folds = pd.DataFrame(areas, columns=[*curve, "value"])
    cells, curves = _cells(pd, plan, rows, scores, points, folds)
    if not many:
        place = {metric: i for i, metric in enumerate(plan.metrics)}
        cells = cells.sort_values(
            "metric", key=lambda column: column.map(place), kind="stable"
        )
    height = cells["mean"] * cells["metric"].map(metric_sign)
    ranked = {spec.name for spec in plan.compared if spec.ranked or tuned}
    if many and plan.reducers:
        ranked |= {control for control in Control if control.orders_features}
    height = height.round(DECIMALS).where(
        cells["whole"] & cells["method"].isin(ranked), -np.inf
    )
    top = grouped(cells.assign(height=height), [*BLOCK, "metric"])["height"]
    best = np.isfinite(height) & (height == top.transform("max"))
    frames = folds, curves, cells.assign(best=best).reset_index(drop=True)
    return Scores(*(part.assign(r=part["r"].replace(NO_R, np.nan)) for part in frames))


def _beside_every_learner(pd: Any, plan: Any, rows: "DataFrame") -> "DataFrame":
    """Repeat methods without a learner beside each learner, in table order."""
    alone = rows["learner"] == NO_LEARNER
    if not alone.all():
        blocks = rows.loc[~alone, BLOCK].drop_duplicates()
        copies = rows[alone].drop(columns="learner").merge(blocks, on=BLOCK[:-1])
        rows = pd.concat([rows[~alone], copies], ignore_index=True)
    names = [spec.name for spec in (*plan.reducers, *plan.classifiers)]
    place = {name: i for i, name in enumerate([*names, *map(str, Control)])}
    metric = {name: i for i, name in enumerate(plan.metrics)}
    keys = {
        "block": grouped(rows, BLOCK).ngroup(),
        "order": rows["method"].map(place),
        "score": rows["metric"].map(metric),
    }
    sorted_rows = rows.assign(**keys).sort_values(list(keys), kind="stable")
    return sorted_rows.drop(columns=list(keys))


def _cells(
    pd: Any, plan: Plan, rows: Any, scores: Any, points: Any, folds: Any
) -> tuple[Any, Any]:
    """Frames of the cells and of the points of their curves."""
    where = CELL[:-1]
    drawn = points if isinstance(plan, MultilabelPlan) else points.iloc[:0]
    curves = _described(drawn, [*CELL, "percentage"]).reset_index()
    heights = _described(curves.assign(value=curves["mean"]), CELL)
    errors, columns = (
        rows[rows["metric"] == name] for name in ("error", "reducer_n_components")
    )
    metrics = pd.DataFrame({"metric": plan.metrics})
    jobs = grouped(rows, where)["id"].nunique().rename("n_jobs").reset_index()
    cells = (
        jobs.merge(metrics, how="cross")
        .join(_described(folds, CELL), on=CELL)
        .join(grouped(scores, CELL)["id"].nunique().rename("n_scores"), on=CELL)
        .join(grouped(errors, where)["id"].nunique().rename("n_failed"), on=where)
        .join(_described(columns, where)["mean"].rename("n_features"), on=where)
        .join(heights.add_prefix("curve_"), on=CELL)
        .fillna({"n_scores": 0, "n_failed": 0})
    )
    figures = map(_figures(plan), cells[CELL].itertuples(index=False, name=None))
    named = ["published", "published_std", "published_columns"]
    flat = cells["curve_mean"].isna()
    printed = cells["mean"].where(flat, cells["curve_mean"])
    cells = cells.join(pd.DataFrame(figures, columns=named)).assign(
        n_failed=cells["n_failed"].astype(int),
        whole=cells["n_scores"] == cells["n_jobs"],
        printed=printed,
        printed_std=cells["std"].where(flat, cells["curve_std"]),
    )
    cells["difference"] = printed - cells["published"]
    names = ["mean", "std", "n_failed", "whole", "n_features", *named, "printed"]
    return cells[[*CELL, *names, "printed_std", "difference"]], curves


def _described(frame: Any, by: Sequence[str]) -> Any:
    """Mean and deviation of the values of each group."""
    return grouped(frame, by)["value"].agg(["mean", "std"])


def _figures(plan: Plan) -> Callable[[tuple[Any, ...]], Figure]:
    """Published mean, deviation and number of columns of a cell."""
    many = isinstance(plan, MultilabelPlan)
    methods = (*plan.reducers, *getattr(plan, "classifiers", ()))
    method = {spec.name: spec.published for spec in methods}
    learner = {} if many else {spec.name: spec.published for spec in plan.learners}
    known: dict[Any, Figure] = {}
    if source := plan.published:
        known = published_figures(source["paper"], source["table"])

    def find(cell: tuple[Any, ...]) -> Figure:
        _, data, r, _, by, name, metric = cell
        r = None if many or r == NO_R else r
        key = data, r, method.get(name, ""), learner.get(by, ""), metric
        return known.get(key, (np.nan, np.nan, np.nan))

    return find
