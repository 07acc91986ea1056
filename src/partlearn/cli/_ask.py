"""``partlearn ask``: the rows whose true label would help most."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partlearn._registry import DEFAULT_METHOD
from partlearn.cli import _options, _tags
from partlearn.cli._disambiguate import labels_of_file

if TYPE_CHECKING:
    from partlearn import Disambiguation
    from partlearn._ask import Questions

_RATE = 0.1  # labels corrected by an answer, below which asking is not worth it


@_options.with_options()
def ask(
    data: _options.Input,
    *,
    output: _options.Output,
    options: _options.DataOptions,
    budget: Annotated[float, typer.Option(min=1)] = 50,
    cost: str | None = None,
    method: str = DEFAULT_METHOD,
    param: _options.Param = None,
    accuracy: float = 1.0,
    corrections: Path | None = None,
    annotator: str | None = None,
) -> None:
    """Choose the rows to label next, by the expected gain from their true label.

    The result has one line per row, the most helpful first: its number or id, an empty
    column label to fill in, the remaining candidates, the most likely one with its
    confidence, and the expected number of labels that the answer corrects. Pass the
    completed table to --corrections of ask or disambiguate. With --bag, the rows of a
    bag follow each other. With votes, the column votes says how many a row has. With
    --task tags: the rows with the most doubtful tags, and these tags.

    Parameters
    ----------
    budget
        Number of rows, or their total cost.
    cost
        Column with the cost of each row; not a feature.
    method
        Reducer, selector or learner with confidences.
    accuracy
        Expected accuracy of the answers: 1 for an expert, less for another annotator.
    corrections
        CSV with the columns row and label: the answers so far.
    annotator
        Name of the annotator who gave these answers: they count as votes, not as true
        labels.
    """
    output.check(data, options.votes, corrections)
    if options.several and (accuracy != 1 or cost is not None):
        which = "--accuracy" if cost is None else "--cost"
        raise ValueError(f"{which} is for single labels; leave it out")
    if cost is None and budget != int(budget):
        raise ValueError(f"--budget is a number of rows; got {budget:g}")
    with output.open() as writer:
        result, _, contents = labels_of_file(
            data,
            options,
            method,
            param,
            corrections,
            annotator,
            no_features={"cost": cost},
        )
        if options.several:
            columns, outcome, lines = _tags.questions(result, int(budget))
        else:
            price = None if cost is None else _prices(contents or {}, cost, data)
            columns, outcome, lines = _questions(
                result, budget, price, accuracy, options.sep or "|"
            )
        writer.write(columns)
    output.report(outcome, f"{lines[0]}: {output.out}", *lines[1:])


def _prices(contents: dict[str, Any], cost: str, data: Path) -> Any:
    """Return the cost of each row, from a column of the table."""
    from partlearn.io import DataFormatError
    from partlearn.tables import numbers_in

    price = numbers_in(contents[cost])
    if wrong := [i for i, value in enumerate(price) if not 0 < value < math.inf]:
        raise DataFormatError(
            f"{contents[cost][wrong[0]]!r} is no cost",
            path=data,
            where=f"row {wrong[0]} of column {cost!r}",
            advice="Costs are positive numbers.",
        )
    return price


def _questions(
    result: "Disambiguation", budget: float, price: Any, accuracy: float, sep: str
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return columns of the rows to label, facts about them, and lines to print."""
    from partlearn import plan_questions

    how: dict[str, Any] = {"cost": price, "accuracy": accuracy}
    further = plan_questions(result, budget=2 * budget, **how)
    if price is None:
        ranked, n = further, _whole(further.bag, min(int(budget), len(further)))
    else:  # the first questions of twice the budget may cost more than the budget
        ranked = plan_questions(result, budget=budget, **how)
        n = len(ranked)
    beside = {}
    if ranked.bag is not None:
        beside["bag"] = ranked.bag[:n]
    if ranked.n_votes is not None:
        beside["votes"] = ranked.n_votes[:n]
    if price is not None:
        beside["cost"] = price[ranked.rows[:n]]
    columns = {
        "row": ranked.index[:n],
        **beside,
        "label": [""] * n,
        "candidates": [sep.join(map(str, c)) for c in ranked.choices[:n]],
        "guess": ranked.guess[:n],
        "confidence": ranked.confidence[:n].round(6),
        "gain": ranked.gain[:n].round(6),
    }
    outcome = _outcome(ranked, n, further)
    if price is not None:
        outcome["cost"] = float(price[ranked.rows[:n]].sum())
    return columns, outcome, _lines(outcome)


def _whole(bag: Any, n: int) -> int:
    """Return the most questions, up to `n`, that do not split a bag."""
    if bag is None:
        return n
    for k in range(n, 0, -1):
        if k == len(bag) or not bag[k] or bag[k] != bag[k - 1]:
            return k
    return n


def _outcome(ranked: "Questions", n: int, further: "Questions") -> dict[str, Any]:
    after = [ranked.expected_right_now, *ranked.expected_right.tolist()]
    return {
        "asked": n,
        "expected_right": after[0],
        "expected_right_low": ranked.low_now,
        "expected_right_after": after[n],
        "expected_gain": float(ranked.gain[:n].sum()),
        "next_asked": len(further) - n,
        "next_expected_gain": float(further.gain.sum() - ranked.gain[:n].sum()),
        "worth_asking": min(ranked.worth_asking(_RATE), n),
        "worth_asking_at_most": min(ranked.worth_asking(_RATE, cautious=True), n),
    }


def _lines(outcome: dict[str, Any]) -> list[str]:
    n, more, cost = outcome["asked"], outcome["next_asked"], outcome.get("cost")
    if not n:
        return ["Every label is certain; no rows to label"]
    lines = [
        f"{n} rows to label" + (f" at a cost of {cost:g}" if cost else ""),
        f"Expected accuracy: {outcome['expected_right']:.1%} now, "
        f"{outcome['expected_right_after']:.1%} after these answers "
        f"(about {outcome['expected_gain']:.0f} labels corrected).",
    ]
    if more:
        gain = outcome["next_expected_gain"]
        lines.append(f"Another {more} answers would correct about {gain:.0f} more.")
    worth, at_most = outcome["worth_asking"], outcome["worth_asking_at_most"]
    if worth < n:
        lines.append(
            f"After the first {worth} rows, an answer is expected to correct less than "
            f"one label in ten; after the first {at_most}, if the accuracy is only "
            f"{outcome['expected_right_low']:.1%} now. You may stop there."
        )
    return lines
