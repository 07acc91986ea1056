"""Sections of a report that do not depend on the task."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from partlearn.report import _figures
from partlearn.report._blocks import Block, Cell, Section, Table, Text
from partlearn.report._compare import ALPHA, PLACE, ROPE, Comparison
from partlearn.report._conclusion import conclusion
from partlearn.report._format import (
    EMPTY,
    capital,
    data_name,
    dims,
    is_missing,
    method_name,
    metric_name,
    plural,
    pvalue,
    rounded,
    score,
    signed,
)
from partlearn.report._summarize import Summary

SIGNIFICANT = f"p below {ALPHA} after Holm's correction"


def crossed(
    caption: str,
    head: Sequence[str],
    columns: Mapping[Any, str],
    cells: Iterable[tuple[tuple[str, ...], Any, str]],
    marks: str = "",
) -> Table:
    """Pivot cells, each after the names of its row and the key of its column."""
    rows: dict[tuple[str, ...], dict[Any, str]] = {}
    for row, key, cell in cells:
        rows.setdefault(row, {})[key] = cell
    texts = [
        [*row, *(here.get(k, EMPTY) for k in columns)] for row, here in rows.items()
    ]
    return Table.of(caption, [*head, *columns.values()], texts, len(head), marks)


def lead(summary: Summary) -> list[Block]:
    """Blocks under the title."""
    facts = summary.facts
    n_sets = len({d["name"] for d in summary.data})
    text = (
        f"{plural(facts['n_jobs'], 'job')}, {facts['n_failed']} failed, "
        f"{plural(n_sets, 'data set')}, {' and '.join(summary.protocols)} "
        f"protocol{'' if len(summary.protocols) == 1 else 's'}, {facts['folds']} folds."
    )
    cited = [Text(f"Published figures: {summary.citation}.")]
    return [Text(text), *(cited if summary.citation else [])]


def conclusion_section(summary: Summary, baselines: Sequence[str]) -> Section:
    """Sentences on the first metric of the plan, for each protocol."""
    blocks: list[Block] = []
    tables = [c for c in summary.comparisons if c.metric == summary.metric]
    for comparison in tables:
        first, *rest = conclusion(comparison, summary.reference, baselines)
        head = f"{comparison.protocol.capitalize()}: " if len(tables) > 1 else ""
        blocks += [Text(head + first, "lead"), Text(rest)]
    if not tables:
        blocks.append(Text("There are no two methods to compare; see the results."))
    return Section("Conclusion", blocks, "conclusion", brief=True)


def comparison_section(summary: Summary) -> Section:
    """Differences of all pairs of methods; ranks are folded away."""
    first = [c for c in summary.comparisons if c.metric == summary.metric]
    others = [c for c in summary.comparisons if c.metric != summary.metric]
    blocks: list[Block] = []
    if summary.comparisons:
        blocks.append(Text(_how(first or others)))
    for i, comparison in enumerate(first):
        blocks.append(_matrix(comparison))
        blocks += _figures.forest(comparison, i)
        blocks += _ranks(comparison, i)
    if others:
        more = [b for c in others for b in (_matrix(c), *_ranks(c, None))]
        blocks.append(Section("Other scores", more))
    return Section("Pairwise comparison", blocks, "comparison", brief=True)


def _how(comparisons: Sequence[Comparison]) -> str:
    text = (
        "Mean score of the row minus that of the column; positive if the row is better"
    )
    if any(len(c.data) > 1 for c in comparisons):
        text += ". Below it, the numbers of data sets that the row wins / ties / loses"
    text += ". Each data set counts once, by its mean over r and learners."
    if any(c.tested for c in comparisons):
        n = max(c.pairs["p"].notna().sum() // 2 for c in comparisons)
        text += (
            " p is from Wilcoxon's signed-rank test of two methods over data sets; it "
            "does not depend on the other methods. Pairs are marked if p stays below "
            f"{ALPHA} after Holm's correction for {plural(n, 'pair')}."
        )
    return text


def _matrix(c: Comparison) -> Table:
    n = len(c.data)
    # On one data set a method is first or not: count combinations instead.
    over, first = (n, "n_first") if n > 1 else (c.n_cells, "n_first_cells")
    head = ["method", f"mean {metric_name(c.metric)}"]
    head += ["first on" if n > 1 else "first in", "rank in combinations"]
    return Table.of(
        f"{_table_name(c)}: all pairs over {plural(n, 'data set')} and "
        f"{plural(c.n_cells, 'combination')}",
        [*head, *map(method_name, c.methods)],
        [
            [
                method_name(row["method"]),
                score(row["mean"]),
                f"{row[first]} of {over}",
                f"{row['cell_rank']:.2f}",
                *(_pair_cell(c.pair(row["method"], column)) for column in c.methods),
            ]
            for row in c.table.to_dict("records")
        ],
        marks=SIGNIFICANT,
    )


def _table_name(c: Comparison) -> str:
    return f"{capital(metric_name(c.metric))}, {c.protocol} protocol"


def _pair_cell(pair: Any) -> str:
    if pair is None:
        return EMPTY
    lines = [signed(pair.difference)]
    lines += [f"{pair.win}/{pair.tie}/{pair.loss}"] if pair.n_data > 1 else []
    lines += [] if is_missing(pair.p) else [f"p {pvalue(pair.p)}"]
    strength = 3 if pair.significant else 2 if pair.p < ALPHA else 1
    if strength == 1 and abs(pair.difference) <= ROPE:
        strength = 0
    tone = strength if pair.difference > 0 else -strength
    return Cell("\n".join(lines), best=pair.significant, tone=tone)


def _ranks(c: Comparison, number: int | None) -> list[Block]:
    """Average ranks, folded away."""
    if is_missing(c.friedman):
        return []
    text = (
        f"Average ranks depend on the methods that are compared. Friedman chi-square "
        f"{c.friedman:.2f}, p = {pvalue(c.friedman_p)} (Iman and Davenport: p = "
        f"{pvalue(c.iman_davenport_p)}) over {len(c.data)} data sets; critical "
        f"difference of ranks (Nemenyi, {ALPHA}): {c.critical_difference:.2f}."
    )
    ordered = c.table.sort_values("rank", kind="stable").itertuples()
    rows = [[method_name(row.method), f"{row.rank:.2f}"] for row in ordered]
    name = f"{_table_name(c)}: average rank, 1 is best"
    table = Table.of(name, ["method", "rank"], rows)
    figure = [] if number is None else _figures.critical_difference(c, number)
    return [Section(f"Ranks, {_table_name(c)}", [Text(text), table, *figure])]


def pair_table(c: Comparison, reference: str, others: Sequence[str]) -> Table:
    """One method against all others: differences, effect sizes, probabilities."""
    pairs = (c.pair(reference, other) for other in others)

    def known(text: str, value: float) -> str:
        return EMPTY if is_missing(value) else text

    return Table.by(
        f"{_table_name(c)}: {method_name(reference)} minus each other method",
        [pair for pair in pairs if pair],
        {
            "against": lambda p: method_name(p.second),
            "combinations": lambda p: str(p.n_cells),
            "mean over them": lambda p: signed(p.cell_difference),
            "data sets": lambda p: str(p.n_data),
            "mean difference": lambda p: signed(p.difference),
            "95 % interval": lambda p: known(
                f"{signed(p.low)} to {signed(p.high)}", p.low
            ),
            "win/tie/loss": lambda p: f"{p.win}/{p.tie}/{p.loss}",
            "rank-biserial": lambda p: (
                f"{p.rank_biserial:.2f}" if p.n_data > 1 else EMPTY
            ),
            "p": lambda p: pvalue(p.p),
            f"better / within {ROPE:g} / worse": lambda p: known(
                f"{p.better:.2f} / {p.equivalent:.2f} / {p.worse:.2f}", p.better
            ),
        },
    )


def published_section(
    summary: Summary, label: Callable[[str], str], beside: Sequence[str] = ()
) -> Section:
    """Published and measured scores of each protocol, with controls beside them."""
    cells = summary.cells
    known = cells[cells["published"].notna()]
    several = len(summary.metrics) > 1 or len(summary.labels) > 1
    names = ["data", "learner", "method"]
    names = ["score", *names, "trained on"] if several else names
    columns: dict[Any, str] = {"published": "published"}
    kinds = ["measured", "difference"]
    kinds += ["columns"] if cells["published_columns"].notna().any() else []
    for protocol in summary.protocols:
        suffix = f", {protocol}" if len(summary.protocols) > 1 else ""
        columns |= {(kind, protocol): f"{kind}{suffix}" for kind in kinds}
    columns |= {name: name for name in beside}
    first = cells[cells["protocol"] == summary.protocols[0]]
    controls = first.set_index(["metric", *PLACE, "method"])["printed"].to_dict()

    def texts(part: Any) -> Iterator[tuple[tuple[str, ...], Any, str]]:
        for c in part.itertuples():
            row: tuple[str, ...] = (c.set, c.learner, label(c.method))
            row = (metric_name(c.metric), *row, c.labels) if several else row
            n = c.published_columns
            small = "" if is_missing(n) else f"{n:.0f} published"
            yield row, "published", score(c.published, c.published_std)
            yield row, ("measured", c.protocol), score(c.printed, c.printed_std)
            yield row, ("difference", c.protocol), signed(c.difference)
            yield row, ("columns", c.protocol), Cell(dims(c.n_features), small=small)
            place = (c.metric, *(getattr(c, name) for name in PLACE))
            for name in beside:
                yield row, name, score(controls.get((*place, name)))

    caption = "Published mean, measured mean, and measured minus published"
    caption += "; the last columns are controls on the same data" if beside else ""
    main = known["metric"] == summary.metric
    tables, more = (
        [crossed(caption, names, columns, texts(part))] if len(part) else []
        for part in (known[main], known[~main])
    )
    folded = [Section("Other scores", more)] if more else []
    title = "Published and measured scores"
    return Section(title, [*tables, *folded], "published", brief=True)


def closing_sections(summary: Summary) -> list[Section]:
    """Notes, costs, data, failures, facts."""
    kinds = {"reducer": "selector"} if summary.task == "multilabel" else {}
    columns: dict[str, Any] = {
        "method": lambda c: method_name(c["name"]),
        "kind": lambda c: kinds.get(c["kind"], c["kind"]),
        "runs": lambda c: str(c["n_runs"]),
        "fit, s": lambda c: rounded(c["fit_time"], ".3g"),
        "use, s": lambda c: rounded(c["use_time"], ".3g"),
    }
    caption = "Mean seconds per run"
    if summary.costs["peak_mb"].fillna(0).any():  # small data leave no trace
        caption += " and highest memory above the start of a run"
        columns["peak memory, MB"] = lambda c: rounded(c["peak_mb"], ".0f")
    costs = Table.by(caption, summary.costs.to_dict("records"), columns, n_names=2)
    there: list[Block] = [_data(summary)]
    if summary.absent:
        there.append(Text("Data sets that were not found:"))
        absent = [f"{a['name']}: {a['reason']}" for a in summary.absent]
        there.append(Text(absent, "warn"))
    notes = [Text(note, "note") for note in summary.notes]
    facts = Table.of(
        "Versions and settings of this run", ["fact", "value"], _facts(summary), 2
    )
    return [
        Section("Notes", notes, "notes"),
        Section("Time and memory", [costs], "costs"),
        Section("Data", there, "data"),
        Section("Failures and warnings", _problems(summary), "failures"),
        Section(
            "Details of the run", [Section("Versions, seeds, limits", [facts])], "facts"
        ),
    ]


def _data(summary: Summary) -> Table:
    many = summary.task == "multilabel"

    def name(d: Mapping[str, Any]) -> str:
        return (
            str(d["name"]) if many else data_name(d["name"], next(iter(d["r"]), None))
        )

    columns: dict[str, Any] = {
        "name": name,
        "rows": lambda d: str(d["n_samples"]),
        "features": lambda d: str(d["n_features"]),
        "labels" if many else "classes": lambda d: str(len(d["classes"])),
        "labels per row" if many else "mean candidates": lambda d: (
            f"{d['mean_labels']:.2f}"
        ),
    }
    if many:
        columns["noise"] = lambda d: ", ".join(
            [d["noise"], *(f"{r:g}" for r in d["r"])]
        )
        columns["first labels"] = lambda d: ", ".join(d["classes"][:5])
    columns["fingerprint"] = lambda d: d["fingerprint"]
    return Table.by("Data sets of this run", summary.data, columns)


def _problems(summary: Summary) -> list[Block]:
    blocks: list[Block] = []
    for f in summary.failures.itertuples():
        error, _, message = f.text.partition(": ")
        where = f"{f.set}, {f.reducer}, {f.learner}, {f.protocol}, "
        where += f"trained on {f.labels}"
        count = plural(f.n_folds, "fold")
        blocks.append(Text(f"{error} in {count}: {where}. {message}", "warn"))
        if f.traceback:
            blocks.append(Section("Traceback", [Text(f.traceback, "code")]))
    if not blocks:
        blocks.append(Text("No job failed."))
    texts = [
        f"{plural(w.n_jobs, 'job')}, {w.reducer}, {w.learner}: {w.text}"
        for w in summary.warnings.itertuples()
    ]
    if texts:
        title = plural(len(texts), "kind") + " of warnings"
        blocks.append(Section(title, [Text(texts)]))
    return blocks


def _facts(summary: Summary) -> list[list[str]]:
    """Facts of the run as text, in a fixed order."""
    f = summary.facts
    versions = ", ".join(f"{k} {v}" for k, v in f["versions"].items())
    ratio = f["wall_time"] / max(f["work_time"], 1e-9)
    pairs = {
        "partlearn": f["partlearn"],
        "sources": f["sources"],
        "Python": f["python"],
        "packages": versions,
        "system": f"{f['system']}, {f['cores']} cores",
        "engine": f"{f['engine']}, {f['workers']} workers",
        "threads per job": f["threads_per_job"],
        "protocols": ", ".join(f["protocols"]),
        "folds": f"{f['folds']}, seed {f['fold_seed']}",
        "seed of the methods": f["seed"],
        "time limit per job": f["time_limit"] or "none",
        "memory limit per job": f["memory_limit"] or "none",
        "jobs": f"{f['n_jobs']}, {f['n_executed']} in the last session",
        "last session": f"{f['wall_time']:.1f} s of wall time, "
        f"{f['work_time']:.1f} s in estimators"
        + (f", ratio {ratio:.2f}" if f["work_time"] > 0 else ""),
    }
    return [[key, str(value)] for key, value in pairs.items()]
