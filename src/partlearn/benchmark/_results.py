"""What a finished run says, as frozen records: rows, costs, facts, cells of tables."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from partlearn.benchmark._plan import Plan
from partlearn.benchmark._published import PublishedFigure

# The learner of methods that predict by themselves.
NO_LEARNER = "-"
_LOWER_IS_BETTER = ("ranking_loss", "coverage", "risk_coverage_area")


class Control(StrEnum):
    """What every multi-label comparison is held against."""

    RANDOM = "random order"
    NORM = "column norm"
    RIDGE = "ridge on candidates"
    ALL_FEATURES = "all features"
    LABEL_FREQUENCY = "label frequency"

    @property
    def orders_features(self) -> bool:
        """Whether it stands beside selectors; the others are used as they are."""
        return self in (Control.RANDOM, Control.NORM, Control.RIDGE)


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
