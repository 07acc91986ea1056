"""Tags on the command line: their estimated quality, and rows to label."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partlearn.tables import TagDisambiguation, TagQuality


def tag_score_table(scores: "list[TagQuality]", how: str) -> str:
    """Describe the ranking of the tags of new rows."""
    from partlearn.tables import CANNOT

    title = "average precision of"
    width = max(len(title), *(len(score.name) for score in scores))
    known = any(score.true_precision is not None for score in scores)
    lines = [
        f"Ranking of the tags of new rows, estimated on held-out rows ({how}):",
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


def questions(
    result: "TagDisambiguation", budget: int
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return columns of the rows with doubtful tags, facts, and lines to print."""
    from partlearn import rank_rows
    from partlearn.io import ordered_tags

    rows = rank_rows(result, budget=budget)
    form, names = result.form, result.classes

    def told(tags: Any) -> list[str]:
        sets = ordered_tags(tags[rows], result.scores[rows], names)
        return [form.text(some) if some else "" for some in sets]

    columns = {
        "row": result.index[rows],
        "label": [""] * len(rows),
        "listed": told(result.tags.candidates),
        "doubtful": told(result.doubtful),
        "missing": told(result.missing),
    }
    strike, add = int(result.doubtful[rows].sum()), int(result.missing[rows].sum())
    lines = [
        f"{len(rows)} rows to label",
        f"{strike} of their listed tags are doubtful, and {add} tags look missing. "
        f"Fill in all right tags of a row, separated by {form.sep}, or [] for none.",
    ]
    return columns, {"asked": len(rows), "doubtful": strike, "missing": add}, lines


def believed(
    result: "TagDisambiguation", truth: Any
) -> tuple[dict[str, Any], list[str]]:
    """Return facts about the tags of rows, and lines to print."""
    right = None if truth is None else result.agreement(truth)
    listed = result.tags.candidates
    counts = {
        "listed": int(listed.sum()),
        "believed": int(result.believed.sum()),
        "doubtful": int(result.doubtful.sum()),
        "missing": int(result.missing.sum()),
    }
    lines = [
        f"{len(listed)} rows, tags scored by {result.method}",
        "{listed} tags are listed: {believed} believed, {doubtful} doubtful; "
        "{missing} more look missing.".format(**counts),
    ]
    if right is not None:
        line = f"Right according to the true tags: {right.listed_right:.1%} of the "
        line += "listed tags"
        if right.kept_right is not None:
            line += f", {right.kept_right:.1%} without the doubtful ones"
        lines.append(line)
    facts = {
        "method": result.method,
        "rows": len(listed),
        "tags": result.classes.tolist(),
        **counts,
        "agreement": None if right is None else right._asdict(),
    }
    return facts, lines
