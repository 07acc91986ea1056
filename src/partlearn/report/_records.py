"""What a report knows: frozen records, written to JSON as they are."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

__all__ = [
    "Against",
    "Comparison",
    "Cost",
    "Curve",
    "Failure",
    "MultilabelCell",
    "MultilabelSummary",
    "Overview",
    "Pair",
    "PartialCell",
    "PartialSummary",
    "Published",
    "Record",
    "Result",
    "Summary",
    "View",
    "Warned",
]

LOWER_IS_BETTER = ("ranking_loss", "coverage")
Place = tuple[Any, ...]


@dataclass(frozen=True)
class Record:
    """Fields are attributes; ``record["name"]`` reads the same as in the JSON."""

    def __getitem__(self, name: str) -> Any:
        if name not in {field.name for field in fields(self)}:
            raise KeyError(name)
        return getattr(self, name)


@dataclass(frozen=True)
class _Cell(Record):
    """Score of one method at one place of a table, with what it was made from.

    ``mean`` and ``std`` are those the papers print; ``scores`` has (noise seed, fold,
    score). ``best`` means that none at this place is higher, as printed; ``behind`` is
    the difference to it (negative is worse) with its 95 % interval over folds,
    corrected for overlapping training parts.
    """

    data: str
    r: float | None
    learner: str
    mean: float | None
    std: float | None
    n_failed: int
    scores: Sequence[tuple[int | None, int, float]]
    best: bool
    behind: float | None
    behind_low: float | None
    behind_high: float | None


@dataclass(frozen=True)
class PartialCell(_Cell):
    """Mean over folds for one protocol, data set, r, learner and reducer."""

    protocol: str
    reducer: str
    n_scores: int
    whole: bool
    n_components: float | None
    disambiguation: float | None
    reducer_disambiguation: float | None
    candidate_hit: float | None
    published_mean: float | None
    published_std: float | None
    published_n_components: float | None
    difference: float | None

    # What comparisons ask, whatever the kind of labels.
    table = property(lambda self: self.protocol)
    method = property(lambda self: self.reducer)
    place = property(lambda self: (self.data, self.r, self.learner))
    value = property(lambda self: self.mean)
    sign = 1


@dataclass(frozen=True)
class MultilabelCell(_Cell):
    """Area under the curve over shares of features, and the curve itself."""

    labels: str
    method: str
    metric: str
    whole: bool
    area: float | None
    area_std: float | None
    x: Sequence[float]
    y: Sequence[float]
    y_std: Sequence[float]

    table = property(lambda self: self.metric)
    place = property(lambda self: (self.data, self.r, self.labels, self.learner))
    value = property(lambda self: self.area)
    sign = property(lambda self: -1 if self.metric in LOWER_IS_BETTER else 1)


Result = PartialCell | MultilabelCell


@dataclass(frozen=True)
class Pair(Record):
    """Two methods over the data sets that have both; more is better.

    ``difference`` is the mean over data sets of first minus second, with its 95 %
    interval by Student's t; win, tie and loss count data sets; ``cell_difference`` is
    the mean over combinations of data set, r and learner. ``p`` is Wilcoxon's
    signed-rank test of these two methods alone; ``significant`` says whether it stays
    below 0.05 after Holm's correction for all pairs of the comparison. The last three
    are Bayesian probabilities with a region of practical equivalence. None: not tested.
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
    better: float | None = None
    equivalent: float | None = None
    worse: float | None = None

    def turned(self) -> "Pair":
        """Return the same pair with the other method first."""
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
            better=self.worse,
            worse=self.better,
        )


@dataclass(frozen=True)
class Comparison(Record):
    """All methods of one table (a protocol or a metric) over its data sets.

    ``methods`` are in the order of falling mean, and so are means, average ranks and
    the number of data sets on which each is first (ties count for each), all over the
    data sets that have every method; ``cell_ranks`` and ``n_first_cells`` are the same
    over combinations of data set, r and learner. The tests are None with too few data
    sets.
    """

    table: str
    metric: str
    methods: Sequence[str]
    data: Sequence[str]
    n_cells: int
    means: Sequence[float]
    ranks: Sequence[float]
    n_first: Sequence[int]
    cell_ranks: Sequence[float]
    n_first_cells: Sequence[int]
    tested: bool
    pairs: Sequence[Pair]
    friedman: float | None = None
    friedman_p: float | None = None
    iman_davenport_p: float | None = None
    critical_difference: float | None = None
    cliques: Sequence[Sequence[int]] = ()

    def pair(self, first: str, second: str) -> Pair | None:
        """Return what is known of two methods, the wanted one first."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.second, pair.first) == (first, second):
                return pair.turned()
        return None


@dataclass(frozen=True)
class Against(Record):
    """Wins of a method against another by t-tests over folds, place by place."""

    table: str
    method: str
    other: str
    learner: str
    n_cells: int
    n_above: int
    difference: float
    win: int
    tie: int
    loss: int
    corrected_win: int
    corrected_tie: int
    corrected_loss: int


@dataclass(frozen=True)
class Published(Record):
    """A published figure, and what was measured under its conditions.

    ``measured`` is by protocol for partial labels; ``beside`` has the controls of a
    multi-label run.
    """

    data: str
    r: float | None
    learner: str
    reducer: str
    metric: str
    labels: str
    published_mean: float
    published_std: float | None
    published_n_components: float | None
    measured: Mapping[str, Mapping[str, float | None]]
    beside: Mapping[str, float | None]


@dataclass(frozen=True)
class Overview(Record):
    """Ranks and means of each reducer over groups of combinations."""

    protocol: str
    groups: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class View(Record):
    """A look into one reduced data set."""

    protocol: str
    data: str
    r: float | None
    reducer: str
    fold: int | None
    disambiguation: float | None
    points: Sequence[Mapping[str, Any]]
    histogram: Mapping[str, Sequence[float]]
    ambiguous: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Curve(Record):
    """Scores against one parameter of a method."""

    protocol: str
    data: str
    r: float | None
    learner: str
    parameter: str
    reducer: str
    x: Sequence[Any]
    y: Sequence[float]
    std: Sequence[float]


@dataclass(frozen=True)
class Cost(Record):
    """Mean seconds and highest memory of a method."""

    kind: str
    name: str
    n_runs: int
    fit_time: float | None
    use_time: float | None
    peak_mb: float | None


@dataclass(frozen=True)
class Failure(Record):
    """One error, in how many folds, with the first traceback."""

    protocol: str
    data: str
    r: float | None
    reducer: str
    learner: str
    error: str
    message: str
    n_folds: int
    traceback: str


@dataclass(frozen=True)
class Warned(Record):
    """One warning, in how many jobs."""

    reducer: str
    learner: str
    text: str
    n_jobs: int


@dataclass(frozen=True)
class Summary(Record):
    """A finished run as the renderers see it."""

    schema: str
    plan: str
    title: str
    citation: str
    notes: Sequence[str]
    metric: str
    protocols: Sequence[str]
    learners: Sequence[str]
    reference: str
    data: Sequence[Mapping[str, Any]]
    absent: Sequence[Mapping[str, Any]]
    published: Sequence[Published]
    comparisons: Sequence[Comparison]
    sweep: Sequence[Curve]
    costs: Sequence[Cost]
    failures: Sequence[Failure]
    warnings: Sequence[Warned]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class PartialSummary(Summary):
    """A run on partial labels."""

    cells: Sequence[PartialCell]
    reducers: Sequence[str]
    unranked: Mapping[str, str]
    win_tie_loss: Sequence[Against]
    overview: Sequence[Overview]
    views: Sequence[View]


@dataclass(frozen=True)
class MultilabelSummary(Summary):
    """A run on partial multi-labels."""

    task: str
    metrics: Sequence[str]
    labels: Sequence[str]
    methods: Sequence[str]
    controls: Sequence[str]
    cells: Sequence[MultilabelCell]
    against_random: Sequence[Against]
    against_frequency: Sequence[Against]
