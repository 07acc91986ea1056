"""What a comparison says, in sentences written from its numbers."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence

from partlearn.report._compare import FEWEST_DATA_SETS, ROPE
from partlearn.report._format import (
    method_name,
    metric_name,
    plural,
    pvalue,
    score,
    share,
    signed,
)
from partlearn.report._records import Comparison, Pair

__all__ = ["conclusion", "not_tested"]


def conclusion(
    comparison: Comparison, reference: str, baselines: Sequence[str]
) -> list[str]:
    """Say who is first, and whether it is ahead of what it should be ahead of.

    Parameters
    ----------
    comparison : Comparison
        Methods of one table.
    reference : str
        The method that the plan is about.
    baselines : sequence of str
        Methods that anything should beat: raw features, random order.

    Returns
    -------
    list of str
        Sentences; the first one can stand alone.
    """
    c = comparison
    n_first = c.n_first if len(c.data) > 1 else c.n_first_cells
    at = max(range(len(c.methods)), key=lambda i: (n_first[i], -i))
    leader = c.methods[at]
    sentences = [_first(c, leader)]
    rivals = [m for m in c.methods if m not in (leader, *baselines)]
    chosen = [*(b for b in baselines if b != leader), *rivals[:1]]
    sentences += [_against(p) for m in chosen if (p := c.pair(leader, m))]
    if reference in c.methods and reference != leader:
        n = c.n_first[c.methods.index(reference)]
        mean = score(c.means[c.methods.index(reference)])
        own = (
            f"{method_name(reference)}, which this plan is about, has a mean of {mean}"
        )
        if len(c.data) > 1:
            own += f" and is first on {n} of {len(c.data)} data sets"
        sentences.append(f"{own}.")
        if reference not in chosen and (pair := c.pair(reference, leader)):
            sentences.append(_against(pair))
    if not c.tested:
        sentences.append(not_tested(c))
    return [f"{text[0].upper()}{text[1:]}" for text in sentences]


def _first(c: Comparison, leader: str) -> str:
    name, words = method_name(leader), metric_name(c.metric)
    at = c.methods.index(leader)
    mean = score(c.means[at])
    if len(c.data) == 1:
        return (
            f"{name} is first in {c.n_first_cells[at]} of "
            f"{plural(c.n_cells, 'combination')} of r and learner on {c.data[0]}, with "
            f"a mean {words} of {mean}."
        )
    text = (
        f"{name} is first on {c.n_first[at]} of {len(c.data)} data sets; its mean "
        f"{words} is {mean}"
    )
    if at > 0:
        text += f" ({method_name(c.methods[0])}: {score(c.means[0])})"
    return f"{text}."


def _against(p: Pair) -> str:
    text = f"{method_name(p.first)} against {method_name(p.second)}: "
    text += f"{signed(p.difference)} on average"
    if p.n_data > 1:
        text += f", better on {p.win} of {p.n_data} data sets"
    if p.p is None or p.low is None or p.high is None:
        return f"{text}."
    verdict = "significant" if p.significant else "not significant"
    text += (
        f" (95 % interval {signed(p.low)} to {signed(p.high)}); p = {pvalue(p.p)}, "
        f"{verdict}"
    )
    if p.better is not None:
        text += (
            f". Probability of being better by more than {ROPE:g}: {share(p.better)}, "
            f"practically the same: {share(p.equivalent)}, worse: {share(p.worse)}"
        )
    return f"{text}."


def not_tested(c: Comparison) -> str:
    """Why there is no p value."""
    return (
        f"No test is made: {plural(len(c.data), 'data set')} cannot show a difference "
        f"beyond chance ({FEWEST_DATA_SETS} are needed), and combinations of r and "
        "learner on one data set are not independent samples."
    )
