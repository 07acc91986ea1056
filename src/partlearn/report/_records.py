"""What a report knows: frozen records over those of the benchmark."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from math import isfinite
from typing import Any

from partlearn import benchmark
from partlearn.report._format import data_name


@dataclass(frozen=True)
class Pair:
    """Two methods over the data sets that have both; more is better.

    ``difference`` is the mean over data sets of first minus second, with its 95 %
    interval by Student's t; win, tie and loss count data sets; ``cell_difference`` is
    the mean over combinations of data set, r and learner. ``p`` is Wilcoxon's
    signed-rank test of these two methods alone; ``significant`` says whether it stays
    below 0.05 after Holm's correction for all pairs of the comparison; ``belief`` has
    the probabilities of the Bayesian signed-rank test. None: not tested.
    """

    first: str
    second: str
    n_data: int
    n_cells: int
    difference: float
    cell_difference: float
    win: int
    tie: int
    loss: int
    rank_biserial: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    significant: bool | None = None
    belief: benchmark.Posterior | None = None

    def turned(self) -> "Pair":
        """Return the same pair with the other method first."""
        b = self.belief
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=-self.difference,
            cell_difference=-self.cell_difference,
            win=self.loss,
            loss=self.win,
            rank_biserial=-self.rank_biserial,
            low=None if self.high is None else -self.high,
            high=None if self.low is None else -self.low,
            belief=b and benchmark.Posterior(b.worse, b.equivalent, b.better),
        )


@dataclass(frozen=True)
class MethodComparison:
    """All methods of one protocol and metric over its data sets.

    ``methods`` are in the order of falling mean, and so are means, average ranks and
    the number of data sets on which each is first (ties count for each), all over the
    data sets that have every method; ``cell_ranks`` and ``n_first_cells`` are the same
    over combinations of data set, r and learner. The tests are None with too few data
    sets.
    """

    protocol: str
    metric: str
    methods: tuple[str, ...]
    data: tuple[str, ...]
    n_cells: int
    means: tuple[float, ...]
    ranks: tuple[float, ...]
    n_first: tuple[int, ...]
    cell_ranks: tuple[float, ...]
    n_first_cells: tuple[int, ...]
    tested: bool
    pairs: tuple[Pair, ...]
    friedman: float | None = None
    friedman_p: float | None = None
    iman_davenport_p: float | None = None
    critical_difference: float | None = None
    cliques: tuple[tuple[int, ...], ...] = ()

    def pair(self, first: str, second: str) -> Pair | None:
        """Return what is known of two methods, the wanted one first."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.second, pair.first) == (first, second):
                return pair.turned()
        return None


@dataclass(frozen=True)
class Against:
    """Wins of a method against another by t-tests over folds, place by place."""

    protocol: str
    metric: str
    method: str
    other: str
    learner: str
    n_cells: int
    n_above: int
    difference: float
    plain: benchmark.WinTieLoss
    corrected: benchmark.WinTieLoss


@dataclass(frozen=True)
class Overview:
    """Ranks and means of each method over groups of combinations.

    A row is a method with its seconds to fit and a (rank, mean) for each group.
    """

    protocol: str
    groups: tuple[tuple[str, int], ...]
    rows: tuple[
        tuple[str, float | None, tuple[tuple[float | None, float | None], ...]], ...
    ]


@dataclass(frozen=True)
class NamedRight:
    """Share of training labels named right beside the test score, over learners."""

    protocol: str
    data: str
    r: float | None
    reducer: str
    by_reduction: float | None
    by_learner: float | None
    test: float | None


@dataclass(frozen=True)
class Point:
    """A training row in the plane of the first two directions."""

    x: float
    y: float
    label: str
    confidence: float
    correct: bool


@dataclass(frozen=True)
class Candidate:
    """A candidate label of a row."""

    label: str
    confidence: float


@dataclass(frozen=True)
class AmbiguousRow:
    """A row without a confident label; its candidates are in order of confidence."""

    row: int
    candidates: list[Candidate]
    truth: str


@dataclass(frozen=True)
class View:
    """A look into one reduced data set."""

    protocol: str
    data: str
    r: float | None
    reducer: str
    fold: int | None
    disambiguation: float | None
    points: list[Point]
    histogram: dict[str, list[float]]
    ambiguous: list[AmbiguousRow]

    @property
    def name(self) -> str:
        """Which data set, reduced how."""
        return f"{data_name(self.data, self.r)}, {self.reducer}, {self.protocol}"


@dataclass(frozen=True)
class Sweep:
    """Scores against one parameter of a method."""

    protocol: str
    labels: str
    metric: str
    data: str
    r: float | None
    learner: str
    parameter: str
    method: str
    x: tuple[Any, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class MethodCost:
    """Mean seconds and highest memory of a method."""

    kind: str
    name: str
    n_runs: int
    fit_time: float | None
    use_time: float | None
    peak_mb: float | None


@dataclass(frozen=True)
class Failure:
    """One error, in how many folds, with the first traceback."""

    protocol: str
    labels: str
    data: str
    r: float | None
    reducer: str
    learner: str
    error: str
    message: str
    n_folds: int
    traceback: str


@dataclass(frozen=True)
class Warned:
    """One warning, in how many jobs."""

    reducer: str
    learner: str
    text: str
    n_jobs: int


@dataclass(frozen=True)
class Summary:
    """A finished run as the renderers see it.

    Fields are attributes; ``summary["cells"]`` gives them as in the JSON, plain lists
    and dicts. ``unranked`` names methods that are not compared, and why; ``controls``
    those that every multi-label comparison is held against.
    """

    schema: str
    task: str
    plan: str
    title: str
    citation: str
    notes: tuple[str, ...]
    metric: str
    metrics: tuple[str, ...]
    protocols: tuple[str, ...]
    labels: tuple[str, ...]
    methods: tuple[str, ...]
    learners: tuple[str, ...]
    reference: str
    unranked: Mapping[str, str]
    controls: tuple[str, ...]
    data: tuple[benchmark.DataFacts, ...]
    absent: tuple[benchmark.AbsentData, ...]
    cells: tuple[benchmark.Cell, ...]
    comparisons: tuple[MethodComparison, ...]
    win_tie_loss: tuple[Against, ...]
    overview: tuple[Overview, ...]
    named_right: tuple[NamedRight, ...]
    sweep: tuple[Sweep, ...]
    costs: tuple[MethodCost, ...]
    views: tuple[View, ...]
    failures: tuple[Failure, ...]
    warnings: tuple[Warned, ...]
    facts: benchmark.Facts

    def select(self, **where: Any) -> list[benchmark.Cell]:
        """Cells whose attributes are as given, in the order of the tables."""
        wanted = where.items()
        return [c for c in self.cells if all(getattr(c, k) == v for k, v in wanted)]

    def __getitem__(self, name: str) -> Any:
        if name not in {field.name for field in fields(self)}:
            raise KeyError(name)
        return plain(getattr(self, name))


def plain(value: Any) -> Any:
    """Make lists, dicts, strings and finite numbers of records."""
    if is_dataclass(value):
        content = {f.name: plain(getattr(value, f.name)) for f in fields(value)}
        if isinstance(value, benchmark.Cell):
            content |= {"reducer": value.method, "difference": value.difference}
        return content
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
