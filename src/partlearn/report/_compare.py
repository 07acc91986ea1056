"""Comparisons for the report: win/tie/loss, ranks, effect sizes."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partlearn.benchmark import (
    average_ranks,
    corrected_resampled_t,
    friedman,
    nemenyi_cliques,
    nemenyi_critical_difference,
    paired_t,
    rank_biserial,
    wilcoxon_holm,
    win_tie_loss,
)

__all__ = [
    "complete_blocks",
    "effects",
    "rank_and_test",
    "ranked_reducers",
    "ranking",
    "win_tie_loss_table",
]

# With fewer data sets no signed-rank test can reach 0.05.
FEWEST_DATA_SETS = 6

Row = Mapping[str, Any]
Block = tuple[str, int | None, str]


def _fold_scores(
    results: Sequence[Row], metric: str
) -> dict[tuple[Any, ...], dict[tuple[Any, Any], float]]:
    """Scores by (protocol, data, r, learner, reducer), then by noise seed and fold."""
    scores: dict[tuple[Any, ...], dict[tuple[Any, Any], float]] = {}
    for row in results:
        if row["status"] != "ok" or row[metric] is None:
            continue
        key = tuple(row[k] for k in ("protocol", "data", "r", "learner", "reducer"))
        scores.setdefault(key, {})[row["noise_seed"], row["fold"]] = row[metric]
    return scores


def win_tie_loss_table(
    plan: Mapping[str, Any], results: Sequence[Row], metric: str, reference: str
) -> list[dict[str, Any]]:
    """Count wins of the reference reducer against each other, per learner.

    Returns
    -------
    list of dict
        One per protocol, other reducer and learner (and one for all learners).
    """
    scores = _fold_scores(results, metric)
    blocks = list(dict.fromkeys(key[:4] for key in scores))
    table = []
    for protocol in plan["protocols"]:
        for other in (m["name"] for m in plan["reducers"]):
            if other == reference:
                continue
            total = []
            for learner in (m["name"] for m in plan["learners"]):
                pairs = [
                    pair
                    for block in blocks
                    if block[0] == protocol
                    and block[3] == learner
                    and (pair := _paired(scores, block, reference, other)) is not None
                ]
                if pairs:
                    table.append(_count(protocol, other, learner, pairs, plan["folds"]))
                    total += pairs
            if total and len(plan["learners"]) > 1:
                table.append(_count(protocol, other, "all", total, plan["folds"]))
    return table


def _paired(
    scores: Mapping[tuple[Any, ...], Mapping[tuple[Any, Any], float]],
    block: tuple[Any, ...],
    reference: str,
    other: str,
) -> tuple[list[float], list[float]] | None:
    a, b = scores.get((*block, reference)), scores.get((*block, other))
    if a is None or b is None:
        return None
    folds = [fold for fold in a if fold in b]
    if len(folds) < 2:
        return None
    return [a[fold] for fold in folds], [b[fold] for fold in folds]


def _count(
    protocol: str,
    other: str,
    learner: str,
    pairs: Sequence[tuple[list[float], list[float]]],
    folds: int,
) -> dict[str, Any]:
    plain = win_tie_loss(paired_t(a, b) for a, b in pairs)
    corrected = win_tie_loss(
        corrected_resampled_t(a, b, test_fraction=1 / folds) for a, b in pairs
    )
    return {
        "protocol": protocol,
        "other": other,
        "learner": learner,
        "win": plain.win,
        "tie": plain.tie,
        "loss": plain.loss,
        "corrected_win": corrected.win,
        "corrected_tie": corrected.tie,
        "corrected_loss": corrected.loss,
    }


def ranked_reducers(plan: Mapping[str, Any]) -> list[str]:
    """Names of the reducers that are compared; references are not."""
    return [m["name"] for m in plan["reducers"] if m.get("ranked", True)]


def complete_blocks(
    plan: Mapping[str, Any], cells: Sequence[Row], protocol: str
) -> dict[Block, dict[str, float]]:
    """Means by (data, r, learner) and reducer, where every ranked reducer has one."""
    names = set(ranked_reducers(plan))
    blocks = _blocks(cells, protocol)
    return {key: block for key, block in blocks.items() if names <= set(block)}


def _blocks(cells: Sequence[Row], protocol: str) -> dict[Block, dict[str, float]]:
    """Means over all folds by (data, r, learner) and reducer."""
    blocks: dict[Block, dict[str, float]] = {}
    for cell in cells:
        if cell["protocol"] == protocol and cell["whole"]:
            key = (cell["data"], cell["r"], cell["learner"])
            blocks.setdefault(key, {})[cell["reducer"]] = cell["mean"]
    return blocks


def ranking(
    plan: Mapping[str, Any], cells: Sequence[Row], reference: str
) -> list[dict[str, Any]]:
    """Average ranks, Friedman, Wilcoxon-Holm and Nemenyi, per protocol.

    Combinations of one data set are no independent evidence, so that with enough data
    sets each one counts once, by its mean over r and learners, in a second entry.

    Returns
    -------
    list of dict
        Empty with fewer than three reducers or two complete blocks.
    """
    found = []
    names = ranked_reducers(plan)
    for protocol in plan["protocols"]:
        blocks = complete_blocks(plan, cells, protocol)
        if len(blocks) < 2 or len(names) < 3:
            continue
        scores = np.array([[b[n] for n in names] for b in blocks.values()])
        tested = rank_and_test(scores, names, reference)
        found.append({"protocol": protocol, "over": "combinations"} | tested)
        data = [key[0] for key in blocks]
        sets = list(dict.fromkeys(data))
        if FEWEST_DATA_SETS <= len(sets) < len(blocks):
            means = [scores[[d == name for d in data]].mean(axis=0) for name in sets]
            tested = rank_and_test(np.array(means), names, reference)
            found.append({"protocol": protocol, "over": "data sets"} | tested)
    return found


def rank_and_test(
    scores: np.ndarray, names: list[str], reference: str = ""
) -> dict[str, Any]:
    test = friedman(scores)
    control = names.index(reference) if reference in names else None
    critical = nemenyi_critical_difference(len(names), scores.shape[0])
    ranks = average_ranks(scores)
    return {
        "reducers": names,
        "ranks": ranks.tolist(),
        "n_blocks": int(scores.shape[0]),
        "friedman": test.statistic,
        "friedman_p": test.p_value,
        "iman_davenport_p": test.iman_davenport_p_value,
        "wilcoxon_holm": wilcoxon_holm(scores).tolist(),
        # Fewer comparisons, a smaller correction: all that the reference is asked.
        "against_reference": None
        if control is None
        else wilcoxon_holm(scores, control=control).tolist(),
        "critical_difference": critical,
        "cliques": [m for *_, m in nemenyi_cliques(ranks, critical)],
    }


def effects(
    plan: Mapping[str, Any], cells: Sequence[Row], reference: str
) -> list[dict[str, Any]]:
    """Mean difference and rank-biserial effect of the reference over each other.

    Returns
    -------
    list of dict
        One per protocol and other reducer, over blocks that have both.
    """
    found = []
    for protocol in plan["protocols"]:
        blocks = _blocks(cells, protocol)
        for other in (m["name"] for m in plan["reducers"]):
            both = [b for b in blocks.values() if reference in b and other in b]
            if other == reference or len(both) < 2:
                continue
            a = [b[reference] for b in both]
            b = [b[other] for b in both]
            effect = rank_biserial(a, b)
            found.append(
                {
                    "protocol": protocol,
                    "other": other,
                    "n_blocks": len(both),
                    "mean_difference": float(np.mean(np.subtract(a, b))),
                    "rank_biserial": effect.value,
                    "low": effect.low,
                    "high": effect.high,
                }
            )
    return found
