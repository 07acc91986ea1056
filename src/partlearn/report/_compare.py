"""Comparisons over data sets, and within places over folds."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import TypeVar

import numpy as np
from scipy import stats

from partlearn.benchmark import (
    average_ranks,
    bayesian_signed_rank,
    corrected_interval,
    corrected_resampled_t,
    friedman,
    holm,
    nemenyi_cliques,
    nemenyi_critical_difference,
    paired_t,
    rank_biserial,
    wilcoxon_holm,
    win_tie_loss,
)
from partlearn.report._records import (
    Against,
    Comparison,
    Pair,
    Place,
    Result,
)

__all__ = [
    "FEWEST_DATA_SETS",
    "ROPE",
    "against",
    "compare",
    "complete_blocks",
    "mark_best",
]

# With fewer data sets no signed-rank test can reach 0.05.
FEWEST_DATA_SETS = 6
# Scores that differ by no more are the same in practice.
ROPE = 0.01
ALPHA = 0.05
# Not between 0 and 1: a hundredth means nothing.
UNBOUNDED = ("coverage",)
DECIMALS = 12  # of scores; what lies behind them is rounding

Blocks = dict[Place, dict[str, float]]
AnyCell = TypeVar("AnyCell", bound=Result)


def _blocks(cells: Iterable[Result]) -> Blocks:
    """Scores by place and method, turned so that more is better."""
    blocks: Blocks = {}
    for cell in cells:
        if cell.whole:
            blocks.setdefault(cell.place, {})[cell.method] = cell.sign * cell.value
    return blocks


def complete_blocks(cells: Iterable[Result], names: Sequence[str]) -> Blocks:
    """Scores by place and method, where every method of ``names`` has one.

    Parameters
    ----------
    cells : iterable of cells
        Of one table.
    names : sequence of str
        Methods; one that failed everywhere does not count.

    Returns
    -------
    dict
        Turned so that more is better.
    """
    blocks = _blocks(cells)
    there = set().union(*blocks.values()) & set(names)
    return {place: b for place, b in blocks.items() if there <= b.keys()}


def _by_data(blocks: Blocks, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Mean over the places of each data set, one number per method."""
    rows: dict[str, list[list[float]]] = {}
    for place, block in blocks.items():
        rows.setdefault(place[0], []).append([block[name] for name in names])
    return {data: np.mean(part, axis=0) for data, part in rows.items()}


def compare(
    cells: Sequence[Result],
    names: Sequence[str],
    metric: str,
    *,
    controls: Sequence[str] = (),
    references: Sequence[str] = (),
) -> Comparison | None:
    """Compare methods over data sets, each by its mean over r and learners.

    Combinations of one data set are no independent evidence, so that each data set
    counts once, and nothing is tested with fewer than six.

    Parameters
    ----------
    cells : sequence of cells
        Of one table.
    names : sequence of str
        Methods to compare.
    metric : str
        Their score.
    controls : sequence of str, default=()
        Methods that others are tested against but that are not ranked.
    references : sequence of str, default=()
        Methods whose differences are told without a test.

    Returns
    -------
    Comparison or None
        None without two methods that have a place in common.
    """
    blocks = complete_blocks(cells, names)
    there = [m for m in names if any(m in block for block in blocks.values())]
    if len(there) < 2:
        return None
    by_data = _by_data(blocks, there)
    scores = np.round(list(by_data.values()), DECIMALS)
    order = np.argsort(-scores.mean(axis=0), kind="stable")
    scores, methods = scores[:, order], [there[i] for i in order]
    places = np.round([[b[m] for m in methods] for b in blocks.values()], DECIMALS)
    every = _blocks(cells)
    wanted = [*combinations(methods, 2), *product(methods, controls)]
    pairs = [p for a, b in wanted if (p := _pair(every, a, b, metric)) is not None]
    told = [p for a, b in product(methods, references) if (p := _pair(every, a, b))]
    found = Comparison(
        table=cells[0].table,
        metric=metric,
        methods=methods,
        data=list(by_data),
        n_cells=len(blocks),
        means=(cells[0].sign * scores.mean(axis=0)).tolist(),
        ranks=average_ranks(scores).tolist(),
        n_first=_n_first(scores),
        cell_ranks=average_ranks(places).tolist(),
        n_first_cells=_n_first(places),
        tested=len(by_data) >= FEWEST_DATA_SETS,
        pairs=[*_verdicts(pairs), *told],
    )
    if not found.tested or len(methods) < 3:
        return found
    test = friedman(scores)
    critical = nemenyi_critical_difference(len(methods), len(scores))
    return replace(
        found,
        friedman=test.statistic,
        friedman_p=test.p_value,
        iman_davenport_p=test.iman_davenport_p_value,
        critical_difference=critical,
        cliques=[m for *_, m in nemenyi_cliques(found.ranks, critical)],
    )


def _n_first(scores: np.ndarray) -> list[int]:
    best: list[int] = (scores == scores.max(axis=1, keepdims=True)).sum(axis=0).tolist()
    return best


def _pair(
    blocks: Blocks, first: str, second: str, metric: str | None = None
) -> Pair | None:
    """Two methods where both are; tested if the metric is told."""
    both = {place: b for place, b in blocks.items() if first in b and second in b}
    if not both:
        return None
    scores = np.array(list(_by_data(both, (first, second)).values()))
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
        rank_biserial=rank_biserial(a, b, n_resamples=1).value if n > 1 else 0.0,
    )
    if metric is None or n < FEWEST_DATA_SETS:
        return pair
    half = float(stats.t.ppf(0.975, n - 1)) * float(stats.sem(difference))
    pair = replace(
        pair, low=mean - half, high=mean + half, p=float(wilcoxon_holm(scores)[0, 1])
    )
    if metric in UNBOUNDED:
        return pair
    belief = bayesian_signed_rank(a, b, rope=ROPE)
    return replace(
        pair,
        better=belief.better,
        equivalent=belief.equivalent,
        worse=belief.worse,
    )


def _verdicts(pairs: Sequence[Pair]) -> list[Pair]:
    corrected = iter(holm([p.p for p in pairs if p.p is not None]))
    return [
        p if p.p is None else replace(p, significant=bool(next(corrected) < ALPHA))
        for p in pairs
    ]


def _folds(a: Result, b: Result) -> tuple[list[float], list[float]]:
    """Scores on the folds that both have; more is better."""
    known = {(seed, fold): a.sign * s for seed, fold, s in a.scores}
    pairs = [
        (known[seed, fold], b.sign * s)
        for seed, fold, s in b.scores
        if (seed, fold) in known
    ]
    return [x for x, _ in pairs], [y for _, y in pairs]


def against(
    cells: Sequence[Result],
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
    places: dict[Place, dict[str, Result]] = {}
    for cell in cells:
        if cell.scores:
            places.setdefault(cell.place, {})[cell.method] = cell
    learners = list(dict.fromkeys(c.learner for c in cells)) if by_learner else []
    if len(learners) != 1:
        learners.append("all")
    found = []
    for method in methods:
        for other in others:
            both = [
                (b[method], b[other])
                for b in places.values()
                if method != other and method in b and other in b
            ]
            pairs = [(a.learner, *_folds(a, b)) for a, b in both]
            for learner in learners:
                part = [
                    (a, b) for name, a, b in pairs if a and learner in ("all", name)
                ]
                if part:
                    head = (cells[0].table, method, other, learner)
                    found.append(_count(head, part, folds))
    return found


def _count(
    head: tuple[str, str, str, str],
    pairs: Sequence[tuple[list[float], list[float]]],
    folds: int,
) -> Against:
    tested = [(a, b) for a, b in pairs if len(a) > 1]
    plain = win_tie_loss(paired_t(a, b) for a, b in tested)
    corrected = win_tie_loss(
        corrected_resampled_t(a, b, test_fraction=1 / folds) for a, b in tested
    )
    differences = [float(np.mean(a) - np.mean(b)) for a, b in pairs]
    return Against(
        *head,
        n_cells=len(pairs),
        n_above=sum(d > 0 for d in differences),
        difference=float(np.mean(differences)),
        win=plain.win,
        tie=plain.tie,
        loss=plain.loss,
        corrected_win=corrected.win,
        corrected_tie=corrected.tie,
        corrected_loss=corrected.loss,
    )


def mark_best(
    cells: Sequence[AnyCell], eligible: Mapping[int, bool], folds: int
) -> list[AnyCell]:
    """Mark the best of every place, and how far the others are behind it.

    Parameters
    ----------
    cells : sequence of cells
        All of them.
    eligible : mapping of int to bool
        By position in ``cells``: which may be best.
    folds : int
        Folds of the plan.

    Returns
    -------
    list of cells
        In the same order.
    """
    top: dict[Place, AnyCell] = {}
    for i, c in enumerate(cells):
        key = (c.table, *c.place)
        if eligible[i] and c.value is not None:
            known = top.get(key)
            if known is None or c.sign * c.value > c.sign * known.value:
                top[key] = c
    found: list[AnyCell] = []
    for i, cell in enumerate(cells):
        best = top.get((cell.table, *cell.place))
        if best is None or cell.value is None:
            found.append(cell)
            continue
        marked = replace(
            cell,
            # As printed: three decimals.
            best=eligible[i] and round(cell.value, 3) == round(best.value, 3),
            behind=cell.sign * (cell.value - best.value),
        )
        ours, theirs = _folds(cell, best)
        if cell is not best and len(ours) > 1:
            low, high = corrected_interval(ours, theirs, test_fraction=1 / folds)
            marked = replace(marked, behind_low=low, behind_high=high)
        found.append(marked)
    return found
