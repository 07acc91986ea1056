"""Sentences that state the result of a comparison."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from typing import Any

from partlearn.report._compare import FEWEST_DATA_SETS, ROPE, Comparison
from partlearn.report._format import (
    capital,
    is_missing,
    method_name,
    metric_name,
    plural,
    pvalue,
    score,
    signed,
)


def conclusion(
    comparison: Comparison, reference: str, baselines: Sequence[str]
) -> list[str]:
    """State which method is first, and how it compares with baselines and rivals.

    ``reference`` is the reference method of the plan, ``baselines`` are methods that
    any other should beat. The first sentence can stand alone.
    """
    c = comparison
    n_first = _times_first(c)
    at = max(range(len(c.methods)), key=lambda i: (n_first[i], -i))
    leader = c.methods[at]
    rivals = [m for m in c.methods if m not in (leader, *baselines)]
    chosen = [*(b for b in baselines if b != leader), *rivals[:1]]
    pairs = [pair for m in chosen if (pair := c.pair(leader, m))]
    sentences = [f"{_first(c, at)}; {_short_verdict(pairs)}.", *map(_against, pairs)]
    if reference in c.methods and reference != leader:
        own = c.methods.index(reference)
        text = f"{method_name(reference)}, the reference of this plan, has a mean of "
        text += score(c.table["mean"][own])
        if len(c.data) > 1:
            text += f" and is first on {n_first[own]} of {len(c.data)} data sets"
        sentences.append(f"{text}.")
        if reference not in chosen and (pair := c.pair(reference, leader)):
            sentences.append(_against(pair))
    if not c.tested:
        sentences.append(
            f"No significance test: it needs at least {FEWEST_DATA_SETS} data sets, "
            f"and there {'is' if len(c.data) == 1 else 'are'} {len(c.data)}. "
            "Combinations of r and learner on one data set are not independent samples."
        )
    return [capital(text) for text in sentences]


def _times_first(c: Comparison) -> list[int]:
    """Count data sets; of a single one, combinations."""
    return list(c.table["n_first" if len(c.data) > 1 else "n_first_cells"])


def _first(c: Comparison, at: int) -> str:
    """State how often the leading method is first, and which methods tie with it."""
    words, n = metric_name(c.metric), len(c.data)
    n_first = _times_first(c)
    over = plural(n, "data set") if n > 1 else plural(c.n_cells, "combination")
    text = f"{method_name(c.methods[at])} is first {'on' if n > 1 else 'in'} "
    text += f"{n_first[at]} of {over}"
    text += "" if n > 1 else f" of r and learner on {c.data[0]}"
    also = [
        method_name(m)
        for i, m in enumerate(c.methods)
        if i != at and n_first[i] == n_first[at]
    ]
    text += f", tied with {' and '.join(also)}" if also else ""
    best = (
        f"; {method_name(c.methods[0])}: {score(c.table['mean'][0])}" if at > 0 else ""
    )
    return f"{text} (mean {words} {score(c.table['mean'][at])}{best})"


def _short_verdict(pairs: Sequence[Any]) -> str:
    """State the tests of the pairs that matter, in half a sentence."""
    texts = []
    for verdict, words in ((True, "significant"), (False, "not significant")):
        names = [
            method_name(p.second)
            for p in pairs
            if not is_missing(p.p) and bool(p.significant) is verdict
        ]
        if names:
            texts.append(f"the difference to {' and '.join(names)} is {words}")
    untested = [
        f"{signed(p.difference)} to {method_name(p.second)}"
        for p in pairs
        if is_missing(p.p)
    ]
    if untested:
        texts.append(f"difference {', '.join(untested)} (not tested)")
    return ", ".join(texts)


def _against(p: Any) -> str:
    text = f"{method_name(p.first)} against {method_name(p.second)}: "
    text += f"mean difference {signed(p.difference)}"
    if p.n_data > 1:
        text += f", better on {p.win} of {p.n_data} data sets"
    if is_missing(p.p):
        return f"{text}."
    verdict = "significant" if p.significant else "not significant"
    text += f" (95 % interval {signed(p.low)} to {signed(p.high)}); "
    text += f"p = {pvalue(p.p)}, {verdict}"
    text += (
        f". Probability of being better by more than {ROPE:g}: {p.better:.2f}, "
        f"practically the same: {p.equivalent:.2f}, worse: {p.worse:.2f}"
    )
    return f"{text}."
