"""``partlearn ask``: the rows whose true label would help most."""

# SPDX-License-Identifier: BSD-3-Clause

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
    budget: Annotated[int, typer.Option(min=1)] = 50,
    method: str = DEFAULT_METHOD,
    param: _options.Param = None,
    accuracy: float = 1.0,
    corrections: Path | None = None,
) -> None:
    """Choose the rows to label next, by the expected gain from their true label.

    The result has one line per row, the most helpful first: its number or id, an empty
    column label to fill in, the remaining candidates, the most likely one with its
    confidence, and the expected number of labels that the answer corrects. Pass the
    completed table to --corrections of ask or disambiguate. With --bag, the rows of a
    bag follow each other. With --task tags: the rows with the most doubtful tags, and
    these tags.

    Parameters
    ----------
    budget
        Number of rows.
    method
        Reducer, selector or learner with confidences.
    accuracy
        Expected accuracy of the answers: 1 for an expert, less for another annotator.
    corrections
        CSV with the columns row and label: the answers so far.
    """
    output.check(data, options.votes, corrections)
    if options.several and accuracy != 1:
        raise ValueError("--accuracy is for single labels; leave it out")
    with output.open() as writer:
        result, _, _ = labels_of_file(data, options, method, param, corrections)
        columns, outcome, (first, *lines) = (
            _tags.questions(result, budget)
            if options.several
            else _questions(result, budget, accuracy, options.sep or "|")
        )
        writer.write(columns)
    output.report(outcome, f"{first}: {output.out}", *lines)


def _questions(
    result: "Disambiguation", budget: int, accuracy: float, sep: str
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return columns of the rows to label, facts about them, and lines to print."""
    from partlearn import plan_questions

    ranked = plan_questions(result, budget=2 * budget, accuracy=accuracy)
    n = _whole(ranked.bag, min(budget, len(ranked)))
    bag = {} if ranked.bag is None else {"bag": ranked.bag[:n]}
    columns = {
        "row": ranked.index[:n],
        **bag,
        "label": [""] * n,
        "candidates": [sep.join(map(str, c)) for c in ranked.choices[:n]],
        "guess": ranked.guess[:n],
        "confidence": ranked.confidence[:n].round(6),
        "gain": ranked.gain[:n].round(6),
    }
    outcome = _outcome(ranked, n)
    return columns, outcome, _lines(outcome)


def _whole(bag: Any, n: int) -> int:
    """Return the most questions, up to `n`, that do not split a bag."""
    if bag is None:
        return n
    for k in range(n, 0, -1):
        if k == len(bag) or not bag[k] or bag[k] != bag[k - 1]:
            return k
    return n


def _outcome(ranked: "Questions", n: int) -> dict[str, Any]:
    after = [ranked.expected_right_now, *ranked.expected_right.tolist()]
    return {
        "asked": n,
        "expected_right": after[0],
        "expected_right_low": ranked.low_now,
        "expected_right_after": after[n],
        "expected_gain": float(ranked.gain[:n].sum()),
        "next_asked": len(ranked) - n,
        "next_expected_gain": float(ranked.gain[n:].sum()),
        "worth_asking": min(ranked.worth_asking(_RATE), n),
        "worth_asking_at_most": min(ranked.worth_asking(_RATE, cautious=True), n),
    }


def _lines(outcome: dict[str, Any]) -> list[str]:
    n, more = outcome["asked"], outcome["next_asked"]
    if not n:
        return ["Every label is certain; no rows to label"]
    lines = [
        f"{n} rows to label",
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
