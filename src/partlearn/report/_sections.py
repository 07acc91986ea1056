"""Sections of a report that do not depend on the kind of labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Sequence
from typing import Any

from partlearn.benchmark import Facts
from partlearn.report import _figures
from partlearn.report._blocks import (
    Block,
    Code,
    Details,
    Items,
    Section,
    Table,
    TableCell,
    Text,
)
from partlearn.report._compare import ALPHA, ROPE, place
from partlearn.report._conclusion import conclusion
from partlearn.report._format import (
    EMPTY,
    capital,
    data_name,
    dims,
    megabytes,
    method_name,
    metric_name,
    plural,
    pvalue,
    score,
    seconds,
    signed,
)
from partlearn.report._records import MethodComparison, Pair, Summary


def lead(summary: Summary) -> list[Block]:
    """Blocks under the title."""
    facts = summary.facts
    n_sets = len({d.name for d in summary.data})
    text = (
        f"{plural(facts.n_jobs, 'job')}, {facts.n_failed} failed, "
        f"{plural(n_sets, 'data set')}, {' and '.join(summary.protocols)} "
        f"protocol{'' if len(summary.protocols) == 1 else 's'}, {facts.folds} folds."
    )
    if not summary.citation:
        return [Text(text)]
    return [Text(text), Text(f"Published figures: {summary.citation}.")]


def conclusion_section(summary: Summary, baselines: Sequence[str]) -> Section:
    """Sentences on the leading score, for every protocol."""
    blocks: list[Block] = []
    tables = [c for c in summary.comparisons if c.metric == summary.metric]
    for comparison in tables:
        first, *rest = conclusion(comparison, summary.reference, baselines)
        head = f"{comparison.protocol.capitalize()}: " if len(tables) > 1 else ""
        blocks += [Text(head + first, "lead"), Items(rest)]
    if not tables:
        blocks.append(Text("There is nothing to compare: see the results."))
    return Section("conclusion", "Conclusion", blocks, brief=True)


def comparison_section(summary: Summary) -> Section:
    """Matrix of all pairs as the main figure; ranks folded away."""
    first = [c for c in summary.comparisons if c.metric == summary.metric]
    others = [c for c in summary.comparisons if c.metric != summary.metric]
    blocks: list[Block] = []
    if summary.comparisons:
        blocks.append(Text(_how(first or others)))
    for number, comparison in enumerate(first):
        blocks.append(_matrix(comparison))
        blocks += _figures.forest(comparison, number)
        blocks += _ranks(comparison, number)
    if others:
        more = [b for c in others for b in (_matrix(c), *_ranks(c, None))]
        blocks.append(Details("Other scores", more))
    return Section("comparison", "Who is better than whom", blocks, brief=True)


def _how(comparisons: Sequence[MethodComparison]) -> str:
    text = "Mean difference of the row minus the column (positive: the row is better)"
    if any(len(c.data) > 1 for c in comparisons):
        text += ", below it the data sets on which the row wins / ties / loses"
    text += "; each data set counts once, by its mean over r and learners."
    if any(c.tested for c in comparisons):
        n = max(sum(p.p is not None for p in c.pairs) for c in comparisons)
        text += (
            " p: Wilcoxon's signed-rank test of the two methods over data sets, which "
            f"no other method can change; a star where it stays below {ALPHA} after "
            f"Holm's correction for the {plural(n, 'pair')} compared."
        )
    return text


def _matrix(c: MethodComparison) -> Table:
    n = len(c.data)
    # One data set is first everywhere or nowhere: its combinations tell more.
    over, n_first = (n, c.n_first) if n > 1 else (c.n_cells, c.n_first_cells)
    return Table(
        f"{_table_name(c)}: all pairs over {plural(n, 'data set')} and "
        f"{plural(c.n_cells, 'combination')}",
        [
            "method",
            f"mean {metric_name(c.metric)}",
            "first on" if n > 1 else "first in",
            "rank in combinations",
            *map(method_name, c.methods),
        ],
        [
            [
                method_name(row),
                score(c.means[i]),
                f"{n_first[i]} of {over}",
                f"{c.cell_ranks[i]:.2f}",
                *(_pair_cell(c.pair(row, column)) for column in c.methods),
            ]
            for i, row in enumerate(c.methods)
        ],
    )


def _table_name(c: MethodComparison) -> str:
    return f"{capital(metric_name(c.metric))}, {c.protocol} protocol"


def _pair_cell(pair: Pair | None) -> TableCell:
    if pair is None:
        return TableCell(EMPTY)
    below = [f"{pair.win}/{pair.tie}/{pair.loss}"] if pair.n_data > 1 else []
    if pair.p is not None:
        below.append(f"p {pvalue(pair.p)}")
    strength = 3 if pair.significant else 2 if (pair.p or 1) < ALPHA else 1
    if strength == 1 and abs(pair.difference) <= ROPE:
        strength = 0
    tone = strength if pair.difference > 0 else -strength
    return TableCell(
        signed(pair.difference), below, best=bool(pair.significant), tone=tone
    )


def _ranks(c: MethodComparison, number: int | None) -> list[Block]:
    """Probabilities, effect sizes, ranks: folded, since the matrix tells the most."""
    if c.friedman is None or c.friedman_p is None:
        return []
    text = (
        f"Average ranks depend on which methods take part. Friedman chi-square "
        f"{c.friedman:.2f}, p = {pvalue(c.friedman_p)} (Iman and Davenport: p = "
        f"{pvalue(c.iman_davenport_p)}) over {len(c.data)} data sets; critical "
        f"difference of ranks (Nemenyi, {ALPHA}): {c.critical_difference:.2f}."
    )
    order = sorted(range(len(c.methods)), key=lambda i: c.ranks[i])
    rows = [[method_name(c.methods[i]), f"{c.ranks[i]:.2f}"] for i in order]
    table = Table(
        f"{_table_name(c)}: average rank, 1 is best", ["method", "rank"], rows
    )
    figure = [] if number is None else _figures.critical_difference(c, number)
    return [Details(f"Ranks, {_table_name(c)}", [Text(text), table, *figure])]


def pair_table(c: MethodComparison, reference: str, others: Sequence[str]) -> Table:
    """One method against each other: differences, effect sizes, probabilities."""
    pairs = (c.pair(reference, other) for other in others)
    return Table.of(
        f"{_table_name(c)}: {method_name(reference)} minus each other",
        [pair for pair in pairs if pair],
        {
            "against": lambda p: method_name(p.second),
            "combinations": lambda p: str(p.n_cells),
            "mean over them": lambda p: signed(p.cell_difference),
            "data sets": lambda p: str(p.n_data),
            "mean difference": lambda p: signed(p.difference),
            "95 % interval": lambda p: (
                f"{signed(p.low)} to {signed(p.high)}" if p.low is not None else EMPTY
            ),
            "win/tie/loss": lambda p: f"{p.win}/{p.tie}/{p.loss}",
            "rank-biserial": lambda p: (
                f"{p.rank_biserial:.2f}" if p.n_data > 1 else EMPTY
            ),
            "p": lambda p: pvalue(p.p),
            f"better / within {ROPE:g} / worse": lambda p: (
                f"{p.belief.better:.2f} / {p.belief.equivalent:.2f} / "
                f"{p.belief.worse:.2f}"
                if p.belief
                else EMPTY
            ),
        },
    )


def published_section(
    summary: Summary, label: Callable[[str], str], beside: Sequence[str] = ()
) -> Section:
    """Published, measured, difference, for every protocol; controls beside."""
    known = {(c.metric, *place(c), c.method, c.protocol): c for c in summary.cells}
    keys = dict.fromkeys(key[:-1] for key, c in known.items() if c.published)
    several = len(summary.metrics) > 1
    dimensions = any(c.published and c.published.n_components for c in summary.cells)
    names = ["data", "learner", "method"]
    names = ["score", *names, "trained on"] if several else names
    head = [*names, "published"]
    for protocol in summary.protocols:
        suffix = f", {protocol}" if len(summary.protocols) > 1 else ""
        head += [f"measured{suffix}", f"difference{suffix}"]
        head += [f"columns{suffix}"] if dimensions else []
    rows: dict[bool, list[list[TableCell | str]]] = {True: [], False: []}
    for key in keys:
        metric, data, r, labels, learner, method = key
        cells = [known.get((*key, protocol)) for protocol in summary.protocols]
        figure = next(c.published for c in cells if c and c.published)
        row: list[TableCell | str] = [data_name(data, r), learner, label(method)]
        row = [metric_name(metric), *row, labels] if several else row
        row.append(score(figure.mean, figure.std))
        for c in cells:
            std = None if c is None else c.curve.std_over_points if c.curve else c.std
            row += [score(c.printed, std) if c else EMPTY]
            row += [signed(c.difference) if c else EMPTY]
            if dimensions:
                n = figure.n_components
                text = dims(c.n_features) if c else EMPTY
                row.append(TableCell(text, small=f"{n} published" if n else ""))
        others = (known.get((*key[:-1], name, summary.protocols[0])) for name in beside)
        row += [score(c.printed if c else None) for c in others]
        rows[metric == summary.metric].append(row)
    text = "Published mean, ours, and ours minus published"
    text += "; the last columns are controls on the same data" if beside else ""
    first, more = (
        [Table(text, [*head, *beside], part, n_names=len(names))] if part else []
        for part in rows.values()
    )
    blocks: list[Block] = [*first]
    blocks += [Details("Other scores", more)] if more else []
    title = "Published, measured, difference"
    return Section("published", title, blocks, brief=True)


def closing_sections(summary: Summary) -> list[Section]:
    """Notes, costs, data, failures, facts."""
    kinds = {"reducer": "selector"} if summary.task == "multilabel" else {}
    columns: dict[str, Any] = {
        "method": lambda c: method_name(c.name),
        "kind": lambda c: kinds.get(c.kind, c.kind),
        "runs": lambda c: str(c.n_runs),
        "fit, s": lambda c: seconds(c.fit_time),
        "use, s": lambda c: seconds(c.use_time),
    }
    caption = "Mean seconds per run"
    if any(c.peak_mb for c in summary.costs):  # small data leave no trace
        caption += " and highest memory above the start of a run"
        columns["peak memory, MB"] = lambda c: megabytes(c.peak_mb)
    costs = Table.of(caption, summary.costs, columns, n_names=2)
    there: list[Block] = [_data(summary)]
    if summary.absent:
        there.append(Text("Not there, left out:"))
        absent = [f"{a.name}: {a.reason}" for a in summary.absent]
        there.append(Items(absent, "warn"))
    notes = [Text(note, "note") for note in summary.notes]
    facts = Table("How this run was made", ["fact", "value"], _facts(summary.facts), 2)
    return [
        Section("notes", "Notes", notes),
        Section("costs", "Time and memory", [costs]),
        Section("data", "Data", there),
        Section("failures", "Failures and warnings", _problems(summary)),
        Section("facts", "Run facts", [Details("Versions, seeds, limits", [facts])]),
    ]


def _data(summary: Summary) -> Table:
    many = summary.task == "multilabel"
    columns: dict[str, Any] = {
        "name": lambda d: d.name if many else data_name(d.name, next(iter(d.r), None)),
        "rows": lambda d: str(d.n_samples),
        "features": lambda d: str(d.n_features),
        "labels" if many else "classes": lambda d: str(len(d.classes)),
        "labels a row" if many else "mean candidates": lambda d: f"{d.mean_labels:.2f}",
    }
    if many:
        columns["noise"] = lambda d: ", ".join([d.noise, *(f"{r:g}" for r in d.r)])
        columns["first labels"] = lambda d: ", ".join(d.classes[:5])
    columns["fingerprint"] = lambda d: d.fingerprint
    return Table.of("Data sets of this run", summary.data, columns)


def _problems(summary: Summary) -> list[Block]:
    blocks: list[Block] = []
    for f in summary.failures:
        where = f"{data_name(f.data, f.r)}, {f.reducer}, {f.learner}, {f.protocol}"
        where += f", trained on {f.labels}"
        count = plural(f.n_folds, "fold")
        blocks.append(Text(f"{f.error} in {count}: {where}. {f.message}", "warn"))
        if f.traceback:
            blocks.append(Details("Traceback", [Code(f.traceback)]))
    if not summary.failures:
        blocks.append(Text("No job failed."))
    if summary.warnings:
        texts = [
            f"{plural(w.n_jobs, 'job')}, {w.reducer}, {w.learner}: {w.text}"
            for w in summary.warnings
        ]
        title = plural(len(texts), "kind") + " of warnings"
        blocks.append(Details(title, [Items(texts)]))
    return blocks


def _facts(facts: Facts) -> list[list[str]]:
    """Facts as words, in a fixed order."""
    versions = ", ".join(f"{k} {v}" for k, v in facts.versions.items())
    ratio = facts.wall_time / max(facts.work_time, 1e-9)
    pairs = {
        "partlearn": facts.partlearn,
        "sources": facts.sources,
        "Python": facts.python,
        "packages": versions,
        "system": f"{facts.system}, {facts.cores} cores",
        "engine": f"{facts.engine}, {facts.workers} workers",
        "threads per job": facts.threads_per_job,
        "protocols": ", ".join(facts.protocols),
        "folds": f"{facts.folds}, seed {facts.fold_seed}",
        "seed of the methods": facts.seed,
        "time limit per job": facts.time_limit or "none",
        "memory limit per job": facts.memory_limit or "none",
        "jobs": f"{facts.n_jobs}, {facts.n_executed} in the last session",
        "last session": f"{facts.wall_time:.1f} s of wall time, "
        f"{facts.work_time:.1f} s in estimators"
        + (f", ratio {ratio:.2f}" if facts.work_time > 0 else ""),
    }
    return [[key, str(value)] for key, value in pairs.items()]
