"""Comparisons over data sets, and within places over folds."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy import stats

from partlearn import benchmark
from partlearn.benchmark import Cell, DataFacts, metric_sign
from partlearn.report._records import (
    Against,
    MethodComparison,
    MethodCost,
    Overview,
    Pair,
)

# With fewer data sets no signed-rank test can reach 0.05.
FEWEST_DATA_SETS = 6
# Scores that differ by no more are the same in practice.
ROPE = 0.01
ALPHA = 0.05
DECIMALS = 12  # of scores; what lies behind them is rounding
REGIMES = (
    ("below 1 row per feature", 0.0, 1.0),
    ("1 to 5 rows per feature", 1.0, 5.0),
    ("5 rows per feature or more", 5.0, np.inf),
)

Place = tuple[Any, ...]
Blocks = dict[Place, dict[str, float]]


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are there."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def place(cell: Cell) -> Place:
    """Where in a table a cell is; the data set comes first, the learner last."""
    return (cell.data, cell.r, cell.labels, cell.learner)


def _blocks(cells: Iterable[Cell]) -> Blocks:
    """Scores by place and method, turned so that more is better."""
    blocks: Blocks = {}
    for cell in cells:
        if cell.whole and cell.mean is not None:
            value = metric_sign(cell.metric) * cell.mean
            blocks.setdefault(place(cell), {})[cell.method] = value
    return blocks


def complete_blocks(cells: Iterable[Cell], names: Sequence[str]) -> Blocks:
    """Scores by place and method, where every method has one; more is better.

    A method that failed everywhere does not count.
    """
    blocks = _blocks(cells)
    there = set().union(*blocks.values()) & set(names)
    return {at: b for at, b in blocks.items() if there <= b.keys()}


def by_data(blocks: Blocks, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Mean over the places of each data set, one number per method."""
    rows: dict[str, list[list[float]]] = {}
    for at, block in blocks.items():
        rows.setdefault(at[0], []).append([block[name] for name in names])
    return {data: np.mean(part, axis=0) for data, part in rows.items()}


def compare(
    cells: Sequence[Cell],
    names: Sequence[str],
    *,
    controls: Sequence[str] = (),
    references: Sequence[str] = (),
) -> MethodComparison | None:
    """Compare methods over data sets, each by its mean over r and learners.

    Combinations of one data set are no independent evidence, so that each data set
    counts once, and nothing is tested with fewer than six.

    Parameters
    ----------
    cells : sequence of cells
        Of one table.
    names : sequence of str
        Methods to compare.
    controls : sequence of str, default=()
        Methods that others are tested against but that are not ranked.
    references : sequence of str, default=()
        Methods whose differences are told without a test.

    Returns
    -------
    MethodComparison or None
        None without two methods that have a place in common.
    """
    blocks = complete_blocks(cells, names)
    there = [m for m in names if any(m in block for block in blocks.values())]
    if len(there) < 2:
        return None
    means = by_data(blocks, there)
    scores = np.round(list(means.values()), DECIMALS)
    order = np.argsort(-scores.mean(axis=0), kind="stable")
    scores, methods = scores[:, order], [there[i] for i in order]
    places = np.round([[b[m] for m in methods] for b in blocks.values()], DECIMALS)
    every = _blocks(cells)
    protocol, metric = cells[0].protocol, cells[0].metric
    wanted = [*combinations(methods, 2), *product(methods, controls)]
    pairs = (_pair(every, a, b, test=True) for a, b in wanted)
    told = (_pair(every, a, b, test=False) for a, b in product(methods, references))
    comparison = MethodComparison(
        protocol=protocol,
        metric=metric,
        methods=tuple(methods),
        data=tuple(means),
        n_cells=len(blocks),
        means=tuple((metric_sign(metric) * scores.mean(axis=0)).tolist()),
        ranks=tuple(benchmark.average_ranks(scores).tolist()),
        n_first=_n_first(scores),
        cell_ranks=tuple(benchmark.average_ranks(places).tolist()),
        n_first_cells=_n_first(places),
        tested=len(means) >= FEWEST_DATA_SETS,
        pairs=(*_verdicts([p for p in pairs if p]), *(p for p in told if p)),
    )
    if not comparison.tested or len(methods) < 3:
        return comparison
    test = benchmark.friedman(scores)
    critical = benchmark.nemenyi_critical_difference(len(methods), len(scores))
    return replace(
        comparison,
        friedman=test.statistic,
        friedman_p=test.p_value,
        iman_davenport_p=test.iman_davenport_p_value,
        critical_difference=critical,
        cliques=tuple(
            tuple(m) for *_, m in benchmark.nemenyi_cliques(comparison.ranks, critical)
        ),
    )


def _n_first(scores: np.ndarray) -> tuple[int, ...]:
    return tuple((scores == scores.max(axis=1, keepdims=True)).sum(axis=0).tolist())


def _pair(blocks: Blocks, first: str, second: str, *, test: bool) -> Pair | None:
    """Two methods over the data sets that have both."""
    both = {at: b for at, b in blocks.items() if first in b and second in b}
    if not both:
        return None
    scores = np.array(list(by_data(both, (first, second)).values()))
    a, b = scores.T
    difference = np.round(a - b, DECIMALS)
    n = len(difference)
    mean = float(difference.mean())
    pair = Pair(
        first=first,
        second=second,
        n_data=n,
        n_cells=len(both),
        difference=mean,
        cell_difference=float(np.mean([c[first] - c[second] for c in both.values()])),
        win=int((difference > 0).sum()),
        tie=int((difference == 0).sum()),
        loss=int((difference < 0).sum()),
        rank_biserial=benchmark.rank_biserial(a, b, n_resamples=1).value
        if n > 1
        else 0.0,
    )
    if not test or n < FEWEST_DATA_SETS:
        return pair
    half = float(stats.t.ppf(0.975, n - 1)) * float(stats.sem(difference))
    return replace(
        pair,
        low=mean - half,
        high=mean + half,
        p=float(benchmark.wilcoxon_holm(scores)[0, 1]),
        belief=benchmark.bayesian_signed_rank(a, b, rope=ROPE),
    )


def _verdicts(pairs: Sequence[Pair]) -> list[Pair]:
    corrected = iter(benchmark.holm([p.p for p in pairs if p.p is not None]))
    return [
        p if p.p is None else replace(p, significant=bool(next(corrected) < ALPHA))
        for p in pairs
    ]


def _folds(a: Cell, b: Cell) -> tuple[list[float], list[float]]:
    """Scores on the folds that both have; more is better."""
    sign = metric_sign(a.metric)
    theirs = {(f.noise_seed, f.fold): sign * f.value for f in b.folds}
    ours = {(f.noise_seed, f.fold): sign * f.value for f in a.folds}
    both = [key for key in ours if key in theirs]
    return [ours[key] for key in both], [theirs[key] for key in both]


def interval(a: Cell, b: Cell, folds: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a minus b over folds, where there are several."""
    ours, theirs = _folds(a, b)
    if len(ours) < 2 or a is b:
        return None
    if metric_sign(a.metric) < 0:
        ours, theirs = theirs, ours
    return benchmark.corrected_interval(ours, theirs, test_fraction=1 / folds)


def against(
    cells: Sequence[Cell],
    methods: Sequence[str],
    others: Sequence[str],
    folds: int,
    *,
    by_learner: bool = True,
) -> list[Against]:
    """Count wins by t-tests over folds, the rule of the papers, for each learner.

    Parameters
    ----------
    cells : sequence of cells
        Of one table.
    methods, others : sequence of str
        Each method is compared with each other.
    folds : int
        Folds of the plan: how much of the rows a test part has.
    by_learner : bool, default=True
        Whether to count for each learner too.

    Returns
    -------
    list of Against
        One per pair for all learners together, after those for each.
    """
    places: dict[Place, dict[str, Cell]] = {}
    for cell in cells:
        if cell.folds:
            places.setdefault(place(cell), {})[cell.method] = cell
    learners = list(dict.fromkeys(c.learner for c in cells)) if by_learner else []
    if len(learners) != 1:
        learners.append("all")
    counts = []
    for method, other in product(methods, others):
        pairs = [
            (b[method].learner, *_folds(b[method], b[other]))
            for b in places.values()
            if method != other and method in b and other in b
        ]
        for learner in learners:
            part = [(a, b) for name, a, b in pairs if learner in ("all", name)]
            if not part:
                continue
            tested = [(a, b) for a, b in part if len(a) > 1]
            corrected = [
                benchmark.corrected_resampled_t(a, b, test_fraction=1 / folds)
                for a, b in tested
            ]
            differences = [float(np.mean(a) - np.mean(b)) for a, b in part if a]
            counts.append(
                Against(
                    protocol=cells[0].protocol,
                    metric=cells[0].metric,
                    method=method,
                    other=other,
                    learner=learner,
                    n_cells=len(differences),
                    n_above=sum(d > 0 for d in differences),
                    difference=mean_of_known(differences) or 0.0,
                    plain=benchmark.win_tie_loss(
                        benchmark.paired_t(a, b) for a, b in tested
                    ),
                    corrected=benchmark.win_tie_loss(corrected),
                )
            )
    return counts


def rows_per_feature(data: Iterable[DataFacts], folds: int) -> dict[str, float]:
    """Training rows per feature of each data set."""
    return {d.name: (1 - 1 / folds) * d.n_samples / d.n_features for d in data}


def overview(
    folds: int,
    tables: Iterable[Sequence[Cell]],
    ranked: Sequence[str],
    names: Sequence[str],
    data: Iterable[DataFacts],
    costs: Iterable[MethodCost],
) -> tuple[Overview, ...]:
    """Average rank and mean score of each method: all, by regime, by learner.

    Parameters
    ----------
    folds : int
        Folds of the plan.
    tables : iterable of sequence of Cell
        One per protocol.
    ranked, names : sequence of str
        Methods that are compared, and all of them.
    data : iterable of DataFacts
        Data sets.
    costs : iterable of MethodCost
        Times.

    Returns
    -------
    tuple of Overview
        One per protocol with at least two data sets; ranked methods by rank, then the
        others.
    """
    seconds = {c.name: c.fit_time for c in costs if c.kind == "reducer"}
    ratios = rows_per_feature(data, folds)
    overviews = []
    for cells in tables:
        blocks = complete_blocks(cells, ranked)
        there = [m for m in ranked if any(m in block for block in blocks.values())]
        if len({place[0] for place in blocks}) < 2 or len(there) < 2:
            continue
        groups = {
            name: [blocks[place] for place in places]
            for name, places in _groups(list(blocks), ratios).items()
        }
        sign = metric_sign(cells[0].metric)
        columns = [_column(part, there, names, sign) for part in groups.values()]
        order = sorted(there, key=lambda name: columns[0][name][0] or 0.0)
        rest = [name for name in names if name not in ranked]
        overviews.append(
            Overview(
                protocol=cells[0].protocol,
                groups=tuple((name, len(part)) for name, part in groups.items()),
                rows=tuple(
                    (name, seconds.get(name), tuple(column[name] for column in columns))
                    for name in [*order, *rest]
                ),
            )
        )
    return tuple(overviews)


def _groups(places: Sequence[Any], ratios: Mapping[str, float]) -> dict[str, list[Any]]:
    groups = {"all": list(places)}
    for name, low, high in REGIMES:
        groups[name] = [p for p in places if low <= ratios[p[0]] < high]
    learners = list(dict.fromkeys(place[-1] for place in places))
    if len(learners) > 1:
        groups |= {name: [p for p in places if p[-1] == name] for name in learners}
    return {name: part for name, part in groups.items() if part}


def _column(
    blocks: Sequence[Mapping[str, float]],
    ranked: Sequence[str],
    names: Sequence[str],
    sign: int,
) -> dict[str, tuple[float | None, float | None]]:
    """Ranks and means; none of a reference that failed, since it would not compare."""
    scores = np.array([[block[name] for name in ranked] for block in blocks])
    ranks = dict(zip(ranked, benchmark.average_ranks(scores).tolist(), strict=True))
    known = {name: [sign * b[name] for b in blocks if name in b] for name in names}
    return {
        name: (ranks.get(name), float(np.mean(v)) if len(v) == len(blocks) else None)
        for name, v in known.items()
    }
