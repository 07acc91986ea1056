"""``partlearn disambiguate``: the most likely label of each row."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Annotated, Any

import typer

from partlearn.cli._data_options import (
    Ignore,
    Json,
    Labels,
    Sep,
    refuse_overwriting_input,
)
from partlearn.cli._reduce import Input, Out, Param

__all__ = ["disambiguate"]


def disambiguate(
    data: Input,
    out: Out,
    method: Annotated[
        str, typer.Option(help="Reducer, selector or learner that leaves confidences.")
    ] = "crisp",
    labels: Labels = None,
    sep: Sep = None,
    truth: Annotated[
        str | None,
        typer.Option(help="Column with true labels: only to say how many are right."),
    ] = None,
    ignore: Ignore = None,
    param: Param = None,
    as_json: Json = False,
) -> None:
    """Choose one label from every candidate set, with a confidence.

    The table has one line per row of the data: its number, the most likely label,
    its confidence, the candidate set.
    """
    from partlearn._registry import build
    from partlearn.cli._console import print_json
    from partlearn.cli._models import fit_quietly, parse_params, read_input
    from partlearn.io import BLOCK_ROWS, TableWriter

    refuse_overwriting_input(data, out)
    with TableWriter(out) as writer:
        params = parse_params(param or [])
        estimator = build(method, params, "reducer", "selector", "learner", seed=0)
        bunch = read_input(data, labels=labels, sep=sep, truth=truth, ignore=ignore)
        fit_quietly(estimator, bunch)
        confidence = getattr(estimator, "label_confidence_", None)
        if confidence is None:
            raise ValueError(
                f"{type(estimator).__name__} leaves no confidences; use a method "
                "such as cenda, plda or ipal"
            )
        for start in range(0, len(confidence), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            writer.write(_lines(bunch, confidence[block], block, sep or "|"))
    outcome = _outcome(estimator, bunch, confidence, out)
    if as_json:
        print_json(outcome)
        return
    print(
        f"{outcome['method']}: {outcome['rows']} rows, mean confidence "
        f"{outcome['mean_confidence']:.3f}, {outcome['doubtful']} rows under 0.5: {out}"
    )
    if outcome["accuracy"] is not None:
        print(f"Right according to the true labels: {outcome['accuracy']:.1%}")


def _lines(bunch: Any, confidence: Any, block: slice, sep: str) -> dict[str, Any]:
    names = bunch.target_names
    top = confidence.argmax(axis=1)
    return {
        "row": list(range(block.start, block.start + len(confidence))),
        "label": [names[j] for j in top],
        "confidence": confidence.max(axis=1).round(6).tolist(),
        "candidates": [
            sep.join(names[j] for j in row.nonzero()[0])
            for row in bunch.candidates[block]
        ],
    }


def _outcome(estimator: Any, bunch: Any, confidence: Any, out: Path) -> dict[str, Any]:
    level = confidence.max(axis=1)
    accuracy = None
    if bunch.truth is not None and bunch.truth.ndim == 1:
        from partlearn.metrics import disambiguation_accuracy

        accuracy = disambiguation_accuracy(bunch.truth, confidence)
    return {
        "method": type(estimator).__name__,
        "rows": len(confidence),
        "classes": list(bunch.target_names),
        "mean_confidence": float(level.mean()),
        "doubtful": int((level < 0.5).sum()),
        "accuracy": accuracy,
        "out": str(out),
    }
