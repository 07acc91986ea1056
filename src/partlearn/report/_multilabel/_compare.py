"""Comparisons for multi-label runs: against the controls, and ranks."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partlearn.benchmark import (
    corrected_resampled_t,
    holm,
    wilcoxon_holm,
    win_tie_loss,
)
from partlearn.report._compare import FEWEST_DATA_SETS, rank_and_test
from partlearn.report._multilabel._areas import is_better, signed_areas

__all__ = ["against", "ranks"]

Cells = Sequence[Mapping[str, Any]]


def _by_block(
    cells: Cells, metric: str
) -> dict[tuple[Any, ...], dict[str, Mapping[str, Any]]]:
    blocks: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for cell in cells:
        if cell["metric"] == metric and cell["area"] is not None:
            key = tuple(cell[k] for k in ("data", "r", "labels", "learner"))
            blocks.setdefault(key, {})[cell["method"]] = cell
    return blocks


def against(
    cells: Cells, metric: str, methods: Sequence[str], control: str, folds: int
) -> list[dict[str, Any]]:
    """Compare every method with a control, over all blocks that have both.

    Parameters
    ----------
    cells : sequence of dict
        From :func:`cells`.
    metric : str
        The score.
    methods : sequence of str
        Methods to compare.
    control : str
        The control.
    folds : int
        Folds of the plan: how much of the rows a test part has.

    Returns
    -------
    list of dict
        Mean difference (more is better), wins, ties and losses by the corrected
        resampled t test within blocks, blocks above, and a Wilcoxon p value over
        blocks, corrected by Holm over the methods.
    """
    blocks = _by_block(cells, metric)
    found: list[dict[str, Any]] = []
    for method in methods:
        both = [b for b in blocks.values() if method in b and control in b]
        if not both or method == control:
            continue
        outcomes, differences = [], []
        for block in both:
            a, b = signed_areas(block[method]), signed_areas(block[control])
            keys = [key for key in a if key in b]
            ours, theirs = [a[key] for key in keys], [b[key] for key in keys]
            differences.append(float(np.mean(ours)) - float(np.mean(theirs)))
            if len(keys) > 1:
                outcomes.append(
                    corrected_resampled_t(ours, theirs, test_fraction=1 / folds)
                )
        count = win_tie_loss(outcomes)
        pair = np.column_stack([differences, np.zeros(len(differences))])
        raw = float(wilcoxon_holm(pair)[0, 1]) if len(differences) > 1 else 1.0
        found.append(
            {
                "metric": metric,
                "method": method,
                "control": control,
                "n_blocks": len(both),
                "n_above": int(np.sum(np.array(differences) > 0)),
                "difference": float(np.mean(differences)),
                "win": count.win,
                "tie": count.tie,
                "loss": count.loss,
                "p": raw,
            }
        )
    for entry, p in zip(found, holm([e["p"] for e in found]), strict=True):
        entry["p"] = float(p)
        entry["beats"] = bool(p < 0.05 and entry["difference"] > 0)
    return found


def ranks(
    cells: Cells, metric: str, methods: Sequence[str], reference: str = ""
) -> list[dict[str, Any]]:
    """Average ranks with Friedman, Wilcoxon-Holm and Nemenyi, for one score.

    Parameters
    ----------
    cells : sequence of dict
        From :func:`cells`.
    metric : str
        The score.
    methods : sequence of str
        Methods with an order of features.
    reference : str, default=""
        Method that the others are tested against.

    Returns
    -------
    list of dict
        One over the combinations that have every method, none with fewer than two of
        them or three methods; and one in which each data set counts once, by its mean.
    """
    # A mean over the folds that did not fail compares with no other.
    blocks = _by_block([c for c in cells if not c["n_failed"]], metric)
    # A method that failed everywhere must not empty the table.
    there = [m for m in methods if any(m in block for block in blocks.values())]
    whole = {k: b for k, b in blocks.items() if all(m in b for m in there)}
    if len(whole) < 2 or len(there) < 3:
        return []
    sign = is_better(metric)
    scores = np.array([[sign * b[m]["area"] for m in there] for b in whole.values()])
    head = {"protocol": metric, "metric": metric}
    found = [head | {"over": "combinations"} | rank_and_test(scores, there, reference)]
    data = [key[0] for key in whole]
    sets = list(dict.fromkeys(data))
    if FEWEST_DATA_SETS <= len(sets) < len(whole):
        means = [scores[[d == name for d in data]].mean(axis=0) for name in sets]
        tested = rank_and_test(np.array(means), there, reference)
        found.append(head | {"over": "data sets"} | tested)
    return found
