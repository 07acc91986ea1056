r"""The study of reducers and selectors as text for the documentation.

    partlearn bench crisp-study-selectors --data FOLDER
    python -m benchmarks.study results/crisp-study-selectors \
        --out docs/user_guide/study_selectors

reads the tables of a finished run and writes ``study_selectors.inc``, which the user
guide includes, and the diagrams ``study_selectors_ranks.svg`` and
``study_selectors_regimes.svg``. Without ``--out`` the text is printed. A run of
``crisp-study`` gives the same tables for reducers.
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from partlearn.benchmark import average_ranks, wilcoxon_holm
from partlearn.report import Summary, summarize
from partlearn.report._compare import (
    Comparison,
    compare,
    complete_places,
    overview,
    rows_per_feature,
)
from partlearn.report._figures import critical_difference, regimes
from partlearn.report._svg import panels_svg

# On these the defaults of CRISP were fixed.
DEVELOPMENT = (
    "BirdSong", "isolet", "Lost", "leaves-margin", "segment", "usps", "vehicle", "vowel"
)  # fmt: skip
PROTOCOL = "inductive"
# A difference that a reader would not want to miss.
NOTEWORTHY = 0.02
LABELS = {"none": "no reduction"}

Row = Mapping[str, Any]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Simple table of reStructuredText, in which figures are not broken into lines."""
    texts = [list(head), *([unbroken(text) for text in row] for row in rows)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(head))]
    rule = "  ".join("=" * width for width in widths)

    def line(row: Sequence[str]) -> str:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        return "  ".join(cells).rstrip()

    return [rule, line(head), rule, *(line(row) for row in texts[1:]), rule, ""]


def unbroken(text: str) -> str:
    """Figures such as ``2.1 / .782`` with spaces at which no line ends."""
    words = re.search(r"[A-Za-z]{3}|\\", text)
    return text if words else text.replace(" ", "\u00a0")


def number(value: float | None, places: int = 3) -> str:
    """Without the zero before the point, as everywhere in the guide."""
    if value is None or np.isnan(value):
        return ""
    return f"{value:.{places}f}".removeprefix("0")


def label(name: str) -> str:
    return LABELS.get(name, name)


def complete_blocks(
    cells: pd.DataFrame, ranked: Sequence[str]
) -> dict[tuple[Any, ...], Row]:
    """Scores by (data, r, labels, learner) and method, where all ranked ones are."""
    amounts = {c.set: None if np.isnan(c.r) else int(c.r) for c in cells.itertuples()}
    return {
        (data, amounts[name], labels, learner): row.dropna().to_dict()
        for (data, name, labels, learner), row in complete_places(
            cells, ranked
        ).iterrows()
    }


def main_table(entry: pd.DataFrame, costs: pd.DataFrame) -> list[str]:
    times = dict(zip(costs["name"], costs["fit_time"], strict=True))
    rows = []
    for e in entry[entry["group"] == "all"].itertuples():
        place = "" if np.isnan(e.rank) else f"{e.rank:.2f}"
        time = number(times.get(e.method), 2)
        rows.append([label(e.method), place, number(e.mean), time])
    return table(["reduction", "rank", "accuracy", "seconds to fit"], rows)


def group_table(entry: pd.DataFrame, *, by_learner: bool) -> list[str]:
    regime = entry["group"].str.endswith(("feature", "or more"))
    part = entry[(entry["group"] != "all") & (regime != by_learner)]
    sizes = part.drop_duplicates("group")
    head = ["reduction", *sizes["group"].str.replace(" per feature", "")]
    rows = [["cells", *map(str, sizes["n_cells"])]]
    for name, cells in part.groupby("method", sort=False):
        texts = [label(str(name))]
        for c in cells.itertuples():
            place = "" if np.isnan(c.rank) else f"{c.rank:.2f} / "
            texts.append(place + number(c.mean))
        rows.append(texts)
    return table(head, rows)


def candidates_table(
    names: Sequence[str], ranked: Sequence[str], blocks: Mapping[Any, Row]
) -> list[str]:
    """Ranks and means where candidates are the source's own, and by drawn ones."""
    drawn = sorted({key[1] for key in blocks} - {None})
    groups = {"own sets": None} | {f"r = {r}": r for r in drawn}
    columns = {
        name: [block for key, block in blocks.items() if key[1] == r]
        for name, r in groups.items()
    }
    columns = {name: part for name, part in columns.items() if part}
    ranks = {
        name: average_ranks(np.array([[b[m] for m in ranked] for b in part]))
        for name, part in columns.items()
    }
    rows = [["cells", *(str(len(part)) for part in columns.values())]]
    for method in names:
        texts = [label(method)]
        for name, part in columns.items():
            known = [block[method] for block in part if method in block]
            mean = number(float(np.mean(known)) if len(known) == len(part) else None)
            if method in ranked:
                mean = f"{ranks[name][ranked.index(method)]:.2f} / {mean}"
            texts.append(mean)
        rows.append(texts)
    return table(["reduction", *columns], rows)


def test_table(c: Comparison, reference: str, blocks: Mapping[Any, Row]) -> list[str]:
    """Ranks over data sets, p and wins against the reference, best first."""
    means: dict[str, list[Row]] = {}
    for key, block in blocks.items():
        means.setdefault(key[0], []).append(block)
    scores = [[np.mean([b[m] for b in p]) for m in c.methods] for p in means.values()]
    p = wilcoxon_holm(scores, control=c.methods.index(reference))
    rows, ranks = [], list(c.table["rank"])
    for i in sorted(range(len(c.methods)), key=lambda i: ranks[i]):
        name = c.methods[i]
        pair = c.pair(reference, name)
        better = "" if pair is None else f"{pair.win} of {pair.n_data}"
        test = "" if pair is None else f"{p[i]:.2g}"
        rows.append([label(name), f"{ranks[i]:.2f}", test, better])
    text = (
        f"Over {len(c.data)} data sets, each by its mean over r and learners: "
        f"Friedman's p is {c.friedman_p:.1g}, the critical difference of ranks "
        f"(Nemenyi, .05) {c.critical_difference:.2f}; p of Wilcoxon's "
        f"signed-rank test against {reference}, corrected by Holm."
    )
    head = ["reduction", "rank", "p", f"{reference} is better on"]
    return [text, "", *table(head, rows)]


def losses(blocks: Mapping[Any, Row], ranked: Sequence[str], reference: str) -> Any:
    """Where another reducer is ahead: by data set, the widest gap first."""
    worst: dict[str, tuple[float, str]] = {}
    count: dict[str, int] = {}
    sizes: dict[str, int] = {}
    n_lost = 0
    for (data, r, _, learner), block in blocks.items():
        best = max(ranked, key=lambda name: block[name])
        gap = round(block[best] - block[reference], 12)  # rounding is no lead
        sizes[data] = sizes.get(data, 0) + 1
        if gap <= 0:
            continue
        n_lost += 1
        if gap < NOTEWORTHY:
            continue
        count[data] = count.get(data, 0) + 1
        where = learner if r is None else f"{learner}, r = {r}"
        text = f"{label(best)} by {number(gap, 2)} ({where})"
        worst[data] = max(worst.get(data, (0.0, "")), (gap, text))
    order = sorted(worst, key=lambda name: -worst[name][0])
    rows = [[name, f"{count[name]} of {sizes[name]}", worst[name][1]] for name in order]
    text = (
        f"In {n_lost} of the {len(blocks)} cells another reduction is ahead of "
        f"{reference}, in {sum(count.values())} of them by {number(NOTEWORTHY, 2)} or "
        "more:"
    )
    return [text, "", *table(["data", "cells", "widest gap"], rows)] if rows else [text]


def text_of(folder: Path) -> tuple[str, Summary]:
    summary = summarize(folder)
    entry, (compared,) = summary.overview, summary.comparisons
    ranked = [name for name in summary.methods if name not in summary.unranked]
    blocks = complete_blocks(summary.cells, ranked)
    sets = {d["name"] for d in summary.data}
    order = list(dict.fromkeys(entry["method"]))
    lines = [
        f".. Written by python -m benchmarks.study from a run of {summary.plan}.",
        "",
        f"{len(sets)} data sets, {summary.facts['folds']} folds, {len(blocks)} cells "
        "(data set, r, learner) in which every reduction could be scored.",
        "",
        *main_table(entry, summary.costs),
        *(
            test_table(compared, summary.reference, blocks)
            if compared.tested
            else ["Too few data sets to test.", ""]
        ),
        "Average rank / mean accuracy by rows of a training fold per feature:",
        "",
        *group_table(entry, by_learner=False),
        "Average rank / mean accuracy by the candidate sets, those of the source or "
        "with r false labels drawn for each row:",
        "",
        *candidates_table(order, [m for m in order if m in ranked], blocks),
        "Average rank / mean accuracy by learner:",
        "",
        *group_table(entry, by_learner=True),
        *losses(blocks, ranked, summary.reference),
        *unseen(summary, ranked),
    ]
    return "\n".join(lines).rstrip() + "\n", summary


def unseen(summary: Summary, ranked: Sequence[str]) -> list[str]:
    """The same on data that nothing was tuned on."""
    cells = summary.cells[~summary.cells["data"].isin(DEVELOPMENT)]
    ratios = rows_per_feature(summary.data, summary.facts["folds"])
    entry = overview(cells, ranked, summary.methods, ratios)
    compared = compare(cells, ranked)
    assert compared is not None
    blocks = complete_blocks(cells, ranked)
    names = sorted({key[0] for key in blocks})
    ranks = ", ".join(
        f"{label(e['method'])} {e['rank']:.2f}"
        for e in entry
        if e["group"] == "all" and e["method"] in ranked
    )
    lines = [
        f"The defaults of CRISP were fixed on {', '.join(sorted(DEVELOPMENT))}, so "
        f"figures on these are optimistic. On the others alone ({', '.join(names)}) "
        f"the average ranks over {len(blocks)} cells are: {ranks}.",
        "",
    ]
    if compared.tested:
        lines += test_table(compared, summary.reference, blocks)
    return lines


def diagrams(summary: Summary) -> dict[str, str]:
    """SVG of the ranks over data sets, if there are enough, and of the regimes."""
    figures = {"ranks": critical_difference(summary.comparisons[0], 0)[0]}
    figures["regimes"] = regimes(summary)[0]
    return {name: "\n".join(panels_svg(f)) for name, f in figures.items()}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of a finished run")
    parser.add_argument("--out", help="where to write, without suffix")
    options = parser.parse_args(arguments)
    text, summary = text_of(options.folder)
    if options.out is None:
        print(text)
        return
    Path(f"{options.out}.inc").write_text(text, encoding="utf-8")
    for name, svg in diagrams(summary).items():
        Path(f"{options.out}_{name}.svg").write_text(svg + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
