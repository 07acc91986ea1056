"""Tags on the command line: what listed tags are worth, in words and tables."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import TYPE_CHECKING, Any

from partlearn.cli import _input, _options
from partlearn.cli._console import say

if TYPE_CHECKING:
    from partlearn.tables import TagDisambiguation, TagQuality


def tag_score_table(scores: "list[TagQuality]", how: str) -> str:
    """How well tags of new rows are ranked, and what cannot be said."""
    from partlearn.tables import CANNOT

    title = "average precision of"
    width = max(len(title), *(len(score.name) for score in scores))
    known = any(score.true_precision is not None for score in scores)
    lines = [
        f"How well tags of new rows are ranked, on rows held out ({how}):",
        f"{title:<{width}}  listed tags" + "  true tags" * known,
    ]
    for score in scores:
        line = f"{score.name:<{width}}  {score.listed_precision:11.3f}"
        if score.true_precision is not None:
            line += f"  {score.true_precision:9.3f}"
        lines.append(line)
    if not known:
        lines.append(CANNOT)
    elif scores[0].false_found is not None:
        lines.append(
            "A true listed tag scores higher than a false one with probability "
            f"{scores[0].false_found:.2f} (one half: by chance)."
        )
    return "\n".join(lines)


def tags_of_file(
    data: Path, options: _options.DataOptions, learner: Any, fixed: Any
) -> "tuple[TagDisambiguation, Any]":
    """Scores of the tags of a table, and the table."""
    from partlearn import disambiguate as find_labels

    table = _input.read_data(data, options, table=True)
    with _input.notes():
        result: TagDisambiguation = find_labels(
            table.X,
            table.y,
            method=learner,
            corrections=fixed,
            encoder=table.new_encoder(),
            sep=options.sep,
            task="tags",
        )
    _input.echo_labels(result.tags.read_as)
    bare = table.n_rows - len(result.rows)
    if bare:
        say(f"Note: {bare} rows have no label and were left out.")
    return result, table


def ask_tags(
    data: Path,
    output: _options.Output,
    options: _options.DataOptions,
    learner: Any,
    fixed: Any,
    budget: int,
) -> None:
    """Write the rows whose tags look most doubtful, and the tags to ask about."""
    from partlearn import rank_rows
    from partlearn.io import ordered_tags

    with output.open() as writer:
        result, _ = tags_of_file(data, options, learner, fixed)
        rows = rank_rows(result, budget=budget)
        form, names = result.form, result.classes

        def told(tags: Any) -> list[str]:
            sets = ordered_tags(tags[rows], result.scores[rows], names)
            return [form.text(some) if some else "" for some in sets]

        writer.write(
            {
                "row": result.index[rows],
                "label": [""] * len(rows),
                "listed": told(result.tags.candidates),
                "doubtful": told(result.doubtful),
                "missing": told(result.missing),
            }
        )
    strike, add = int(result.doubtful[rows].sum()), int(result.missing[rows].sum())
    output.report(
        {"asked": len(rows), "doubtful": strike, "missing": add},
        f"{len(rows)} rows to label: {output.out}",
        f"{strike} of their listed tags are doubtful, and {add} tags look missing. "
        f"Fill in all right tags of a row, separated by {form.sep}, or [] for none.",
    )


def disambiguate_tags(
    data: Path,
    output: _options.Output,
    options: _options.DataOptions,
    learner: Any,
    fixed: Any,
    html: Path | None,
) -> None:
    """Score the tags of a table, and write them in the form of the table."""
    from partlearn.io import BLOCK_ROWS

    with output.open() as writer:
        result, table = tags_of_file(data, options, learner, fixed)
        name = (options.id or ["row"])[0]
        for start in range(0, len(result.rows), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            columns = result.columns(rows)
            if name in columns:
                raise ValueError(
                    f"--id: the result has a column {name!r} as well; rename yours"
                )
            writer.write({name: result.index[rows], **columns})
    truth = table.true_tags()
    if html is not None:
        contents = table.contents(result.rows)
        title = f"Tags of {data.name}"
        result.to_html(html, rows=contents, truth=truth, title=title)
    right = None if truth is None else result.agreement(truth)
    listed, doubtful = int(result.tags.candidates.sum()), int(result.doubtful.sum())
    believed, missing = int(result.believed.sum()), int(result.missing.sum())
    lines = [
        f"{len(result.rows)} rows, tags scored by {result.method}: {output.out}",
        f"{listed} tags are listed: {believed} believed, {doubtful} doubtful; "
        f"{missing} more look missing.",
    ]
    if html is not None:
        lines.append(f"Label report: {html}")
    if right is not None:
        lines.append(
            f"Right according to the true tags: {right.listed_right:.1%} of the listed "
            "tags"
            + (
                ""
                if right.kept_right is None
                else f", {right.kept_right:.1%} without the doubtful ones"
            )
        )
    facts = {
        "method": result.method,
        "rows": len(result.rows),
        "tags": result.classes.tolist(),
        "listed": listed,
        "believed": believed,
        "doubtful": doubtful,
        "missing": missing,
        "agreement": None if right is None else right._asdict(),
    }
    output.report(facts, *lines)
