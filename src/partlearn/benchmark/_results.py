"""What a finished run says, as frozen records: rows, costs, facts, cells of tables."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from partlearn.benchmark._plan import MethodSpec, MultilabelPlan, Plan
from partlearn.benchmark._published import (
    PublishedFigure,
    published_figures,
    published_scores,
)

# The learner of methods that predict by themselves.
NO_LEARNER = "-"
_LOWER_IS_BETTER = ("ranking_loss", "coverage", "risk_coverage_area")


class Control(StrEnum):
    """What every multi-label comparison is held against.

    The first three order features, the others are used as they are.
    """

    RANDOM = "random order"
    NORM = "column norm"
    RIDGE = "ridge on candidates"
    ALL_FEATURES = "all features"
    LABEL_FREQUENCY = "label frequency"


def metric_sign(metric: str) -> int:
    """Sign by which a score is multiplied so that more is better.

    Parameters
    ----------
    metric : str
        Name of a score.

    Returns
    -------
    int
        1 or -1.

    Examples
    --------
    >>> from partlearn.benchmark import metric_sign
    >>> metric_sign("accuracy"), metric_sign("ranking_loss")
    (1, -1)
    """
    return -1 if metric in _LOWER_IS_BETTER else 1


@dataclass(frozen=True)
class _Row:
    """What says which job a row is about."""

    id: str
    data: str
    r: float | None
    noise_seed: int | None
    protocol: str
    labels: str
    reducer: str
    draw: int
    learner: str
    fold: int


@dataclass(frozen=True)
class Result(_Row):
    """Scores of one job, or of one point of its curve.

    Attributes
    ----------
    id : str
        Identity of the job.
    data, reducer, learner : str
        Names of the plan. A method that predicts by itself has the learner ``"-"``.
    r : int, float or None
        Amount of noise, as in the plan.
    noise_seed : int or None
        Seed of the synthetic candidates.
    protocol : str
        "inductive" or "transductive".
    labels : str
        What the learner was trained on: "candidates" or "clean".
    draw : int
        Number of a random order; 0 otherwise.
    fold : int
        Test fold.
    status : str
        "ok" or "failed".
    scores : mapping of str to float
        By metric; None where the method has no such score.
    percentage : float or None
        Share of the features, on a curve.
    n_features : int or None
        Columns that the learner got; None for the original ones.
    reducer_disambiguation : float or None
        Share of training rows whose label the reducer names right.
    reducer_n_iter : int or None
        Iterations of the reducer.
    n_train, n_test : int or None
        Numbers of rows.
    warnings : tuple of str
        Distinct warnings of reducer and learner.
    error, message, traceback : str
        Empty unless the job failed.
    """

    status: str
    scores: Mapping[str, float | None]
    percentage: float | None = None
    n_features: int | None = None
    reducer_disambiguation: float | None = None
    reducer_n_iter: int | None = None
    n_train: int | None = None
    n_test: int | None = None
    warnings: tuple[str, ...] = ()
    error: str = ""
    message: str = ""
    traceback: str = ""

    @property
    def ok(self) -> bool:
        """Whether the job gave scores."""
        return self.status == "ok"


@dataclass(frozen=True)
class Timing(_Row):
    """What one job cost; the first attributes are those of :class:`Result`.

    Attributes
    ----------
    reduction : str
        Identity of the reduction that the job used; empty without one.
    reduce_fit_time, reduce_transform_time, fit_time, predict_time : float or None
        Seconds; a reduction is shared by several jobs.
    reduce_peak_mb, peak_mb : float or None
        Megabytes above the size at the start.
    """

    reduction: str = ""
    reduce_fit_time: float | None = None
    reduce_transform_time: float | None = None
    reduce_peak_mb: float | None = None
    fit_time: float | None = None
    predict_time: float | None = None
    peak_mb: float | None = None


@dataclass(frozen=True)
class DataFacts:
    """One data set of a run.

    Attributes
    ----------
    name : str
        Name in the plan.
    n_samples, n_features : int
        Its size.
    classes : tuple of str
        Names of the classes, or labels.
    mean_labels : float
        Candidates per row; in a multi-label run, true labels per row.
    r : tuple of int or float
        Amounts of noise; empty where the candidates are those of the file.
    noise_seed : int or None
        Seed of synthetic candidates that belong to the data, not to the fold.
    noise : str
        How candidates were drawn.
    fingerprint : str
        Hash of the content.
    """

    name: str
    n_samples: int
    n_features: int
    classes: tuple[str, ...]
    mean_labels: float
    r: tuple[float, ...] = ()
    noise_seed: int | None = None
    noise: str = ""
    fingerprint: str = ""


@dataclass(frozen=True)
class AbsentData:
    """A data set of the plan that was not there.

    Attributes
    ----------
    name, source : str
        As in the plan.
    file : str
        A file name that would have been found.
    reason : str
        Where it was looked for.
    """

    name: str
    source: str
    file: str
    reason: str


@dataclass(frozen=True)
class Facts:
    """Versions, machine and settings of a run; no host or user name.

    Attributes
    ----------
    partlearn, sources, python : str
        Version, hash of the installed sources, version of Python.
    versions : mapping of str to str
        Versions of the packages that results depend on.
    system : str
        Operating system and processor.
    cores, workers, threads_per_job : int
        How much could run at once.
    engine : str
        Where jobs ran.
    protocols : tuple of str
        Those of the plan.
    folds, fold_seed, seed : int
        Those of the plan.
    time_limit, memory_limit : float or None
        Per job.
    wall_time, work_time : float
        Seconds of the last session, and those that estimators spent.
    n_jobs, n_executed, n_failed : int
        Jobs of the plan, those of the last session, those that failed.
    """

    partlearn: str
    sources: str
    python: str
    versions: Mapping[str, str]
    system: str
    cores: int | None
    engine: str
    workers: int
    threads_per_job: int
    protocols: tuple[str, ...]
    folds: int
    fold_seed: int
    seed: int
    time_limit: float | None
    memory_limit: int | None
    wall_time: float
    work_time: float
    n_jobs: int
    n_executed: int
    n_failed: int


@dataclass(frozen=True)
class FoldScore:
    """Score of one fold.

    Attributes
    ----------
    noise_seed : int or None
        Seed of the noise.
    fold : int
        The fold.
    value : float
        The score; on a curve, the area under it.
    """

    noise_seed: int | None
    fold: int
    value: float


@dataclass(frozen=True)
class Curve:
    """Mean score against the share of features.

    Attributes
    ----------
    x, y, std : tuple of float
        Percentages, mean scores, deviations over folds and seeds.
    mean, std_over_points : float or None
        Over the points of the curve, as papers print them.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    std: tuple[float, ...]
    mean: float | None
    std_over_points: float | None


@dataclass(frozen=True)
class Cell:
    """One number of a table: a method with a learner on one data set.

    Attributes
    ----------
    protocol, data, labels, learner, method, metric : str
        What the number is about; `method` is the reducer, selector or classifier.
    r : int, float or None
        Amount of noise.
    mean, std : float or None
        Over folds and seeds; on a curve, of the areas under it.
    folds : tuple of FoldScore
        What mean and deviation are over.
    n_failed : int
        Jobs without a score.
    whole : bool
        Whether every fold has a score: a mean over the others compares with none.
    n_features : float or None
        Mean number of columns of the reduction.
    best : bool
        Best of its row, as printed with three decimals, among those that are ranked.
    published : PublishedFigure or None
        The figure of the paper.
    curve : Curve or None
        In a multi-label run.
    """

    protocol: str
    data: str
    r: float | None
    labels: str
    learner: str
    method: str
    metric: str
    mean: float | None
    std: float | None
    folds: tuple[FoldScore, ...]
    n_failed: int
    whole: bool
    n_features: float | None = None
    best: bool = False
    published: PublishedFigure | None = None
    curve: Curve | None = None

    @property
    def printed(self) -> float | None:
        """The number to put beside a published one."""
        return self.curve.mean if self.curve else self.mean

    @property
    def difference(self) -> float | None:
        """Ours less the published one."""
        if self.published is None or self.printed is None:
            return None
        return self.printed - self.published.mean


@dataclass(frozen=True)
class Run:
    """A finished run, read back from its folder.

    Attributes
    ----------
    folder : Path
        Where it is.
    plan : Plan
        As it ran.
    facts : Facts
        Versions, machine, settings, times.
    data : tuple of DataFacts
        Data sets that were there.
    absent : tuple of AbsentData
        Those that were not.
    results : tuple of Result
        Scores, in the order of the plan.
    timings : tuple of Timing
        Costs, one per job.
    cells : tuple of Cell
        The numbers of the tables, for every metric of the plan.
    """

    folder: Path
    plan: Plan
    facts: Facts
    data: tuple[DataFacts, ...]
    absent: tuple[AbsentData, ...]
    results: tuple[Result, ...] = field(repr=False)
    timings: tuple[Timing, ...] = field(repr=False)
    cells: tuple[Cell, ...] = field(repr=False)

    @property
    def multilabel(self) -> bool:
        """Whether rows have several true labels."""
        return self.plan.task == "multilabel"

    def select(self, metric: str, **where: Any) -> list[Cell]:
        """Cells of a metric whose attributes are as given.

        Parameters
        ----------
        metric : str
            Name of the score.
        **where : object
            Values of attributes of :class:`Cell`.

        Returns
        -------
        list of Cell
            In the order of the tables.
        """
        return [
            cell
            for cell in self.cells
            if cell.metric == metric
            and all(getattr(cell, key) == value for key, value in where.items())
        ]


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
    return with_best(cells, lambda c: c.curve is not None and len(c.curve.x) > 1)


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
