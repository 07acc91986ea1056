"""From a summary to the blocks of its report, one function per kind of labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from partlearn.benchmark import Cell, Control
from partlearn.report import _figures, _sections
from partlearn.report._blocks import (
    Block,
    Details,
    Document,
    Section,
    Table,
    TableCell,
    Text,
)
from partlearn.report._compare import mean_of_known
from partlearn.report._format import (
    EMPTY,
    capital,
    data_name,
    dims,
    method_name,
    metric_name,
    pvalue,
    score,
    seconds,
    signed,
)
from partlearn.report._records import Summary

DAGGER = "\N{DAGGER}"


def document(summary: Summary) -> Document:
    """Blocks of a report.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    Document
        What every renderer shows.
    """
    if not isinstance(summary, Summary):
        raise TypeError(
            "A report is made from the result of partlearn.report.summarize; got "
            f"{type(summary).__name__}."
        )
    sections = _multilabel if summary.task == "multilabel" else _partial
    there = [section for section in sections(summary) if section.blocks]
    return Document(summary.title, _sections.lead(summary), there)


def _partial(s: Summary) -> list[Section]:
    drawn = [*_figures.sweeps(s.sweep), *_figures.regimes(s)]
    return [
        _sections.conclusion_section(s, ["none"]),
        _sections.comparison_section(s),
        _sections.published_section(s, lambda name: _label(s, name)),
        _results(s),
        _overview(s),
        _win_tie_loss(s),
        _differences(s),
        _side_by_side(s),
        _named_right(s),
        Section("figures", "What the scores depend on", drawn),
        _inside(s),
        *_sections.closing_sections(s),
    ]


def _crossed(
    caption: str,
    head: Sequence[str],
    columns: Mapping[Any, str],
    cells: Iterable[tuple[tuple[str, ...], Any, TableCell | str]],
) -> Table:
    """Table of cells, each after the names of its row and the key of its column."""
    rows: dict[tuple[str, ...], dict[Any, TableCell | str]] = {}
    for row, key, cell in cells:
        rows.setdefault(row, {})[key] = cell
    return Table(
        caption,
        [*head, *columns.values()],
        [[*row, *(here.get(k, EMPTY) for k in columns)] for row, here in rows.items()],
        n_names=len(head),
    )


def _label(s: Summary, name: str) -> str:
    """Name of a reducer as printed; references have a dagger."""
    shown = method_name(name)
    return f"{shown} {DAGGER}" if name in s.unranked else shown


def _results(s: Summary) -> Section:
    texts = [f"{method_name(name)} ({why})" for name, why in s.unranked.items()]
    blocks: list[Block] = []
    if texts:
        text = f"{DAGGER} Not ranked and not tested: {', '.join(texts)}."
        blocks.append(Text(text))
    for number, protocol in enumerate(s.protocols):
        cells = (
            ((data_name(c.data, c.r), c.learner), c.method, _result(c))
            for c in s.select(protocol=protocol, metric=s.metric)
        )
        caption = (
            f"{capital(metric_name(s.metric))} (mean ± standard deviation over "
            f"{s.facts.folds} folds), {protocol} protocol; a star marks the best of a "
            "row"
        )
        methods = {name: _label(s, name) for name in s.methods}
        blocks.append(_crossed(caption, ["data", "learner"], methods, cells))
        blocks += _figures.gaps(s, protocol, number)
    return Section("results", "Results", blocks, brief=True)


def _result(cell: Cell) -> TableCell:
    remarks = []
    if cell.n_features is not None:
        remarks.append(f"{dims(cell.n_features)} columns")
    if cell.n_failed:
        remarks.append(f"{cell.n_failed} failed")
    text = score(cell.mean, cell.std)
    return TableCell(text, small=", ".join(remarks), best=cell.best)


def _overview(s: Summary) -> Section:
    blocks: list[Block] = []
    for entry in s.overview:
        rows = []
        for name, time, cells in entry.rows:
            texts = [_label(s, name)]
            for rank, mean in cells:
                before = "" if rank is None else f"{rank:.2f} / "
                texts.append(before + score(mean))
            rows.append([*texts, seconds(time)])
        groups = [f"{name} ({n})" for name, n in entry.groups]
        blocks.append(
            Table(
                f"Average rank (1 is best) / mean {metric_name(s.metric)} over "
                "combinations of data set, r and learner (number in brackets), "
                f"{entry.protocol} protocol; rows per feature are those of a training "
                "fold",
                ["reduction", *groups, "fit, s"],
                rows,
            )
        )
    return Section("overview", "Overview", blocks, brief=True)


def _win_tie_loss(s: Summary) -> Section:
    names = list(dict.fromkeys(w.learner for w in s.win_tie_loss))
    # A learner that failed for some reducers must not come after the total.
    names.sort(key=lambda name: name == "all")
    text = (
        "Two-sided paired t-test over folds at 0.05 within each combination of data "
        "set and r, as in the papers; in brackets the corrected resampled test, which "
        "allows for overlapping training folds and finds fewer differences."
    )
    table = _crossed(
        f"{method_name(s.reference)} against each other reduction",
        ["protocol", "against"],
        {name: "all learners" if name == "all" else name for name in names},
        (
            ((w.protocol, _label(s, w.other)), w.learner, f"{w.plain} ({w.corrected})")
            for w in s.win_tie_loss
        ),
    )
    title = f"Win/tie/loss of {method_name(s.reference)}"
    blocks: list[Block] = [Text(text), table] if s.win_tie_loss else []
    return Section("wtl", title, blocks, brief=True)


def _differences(s: Summary) -> Section:
    tables = [
        _sections.pair_table(c, s.reference, s.methods)
        for c in s.comparisons
        if s.reference in c.methods and len(c.data) > 1
    ]
    return Section("effects", f"{method_name(s.reference)} against each other", tables)


def _named_right(s: Summary) -> Section:
    """Training labels named right beside test scores, where they were recorded."""
    metric = metric_name(s.metric)
    test = {(n.protocol, n.data, n.r, n.reducer): n.test for n in s.named_right}
    named = [n for n in s.named_right if (n.by_reduction, n.by_learner) != (None, None)]
    oracles = [n for n, why in s.unranked.items() if why.endswith("true labels")]
    text = (
        "Share of training rows whose most likely label is the true one, beside the "
        "score on test rows, over learners."
    )
    if oracles:
        text += (
            " An oracle reduces with the true labels and bounds what better "
            "disambiguation could bring."
        )
    columns: dict[str, Any] = {
        "data": lambda n: data_name(n.data, n.r),
        "reduction": lambda n: _label(s, n.reducer),
        "protocol": lambda n: n.protocol,
        "named right by the reduction": lambda n: score(n.by_reduction),
        "by the learner": lambda n: score(n.by_learner),
        f"test {metric}": lambda n: score(n.test),
    }
    if all(n.by_learner is None for n in named):
        del columns["by the learner"]
    for o in oracles:
        columns[f"test {metric}, {o} (oracle)"] = lambda n, o=o: score(
            test.get((n.protocol, n.data, n.r, o))
        )
    caption = f"Labels named right and test {metric}"
    table = Table.of(caption, named, columns, n_names=3)
    return Section("named", "Labels named right", [Text(text), table] if named else [])


def _side_by_side(s: Summary) -> Section:
    """All scores of the plan beside each other, where it has more than one."""
    columns = {metric: metric_name(metric) for metric in s.metrics}
    averages = []
    for name, metric in product(s.methods, s.metrics):
        average = mean_of_known(c.mean for c in s.select(method=name, metric=metric))
        averages.append(((_label(s, name),), metric, score(average)))
    means = (
        (
            (data_name(c.data, c.r), c.protocol, c.learner, _label(s, c.method)),
            c.metric,
            score(c.mean),
        )
        for c in s.cells
    )
    names = ["data", "protocol", "learner", "method"]
    rows = _crossed("Means over folds", names, columns, means)
    whole = _crossed("Means over all rows", ["method"], columns, averages)
    blocks: list[Block] = [whole, Details("By data set", [rows])]
    return Section("scores", "All scores", blocks if len(columns) > 1 else [])


def _inside(s: Summary) -> Section:
    blocks: list[Block] = []
    for number, v in enumerate(s.views):
        caption = f"Most ambiguous rows: {v.name}"
        if v.disambiguation is not None:
            share = 100 * v.disambiguation
            caption += f"; {share:.1f} % of the most likely labels are right"
        table = Table.of(
            caption,
            v.ambiguous,
            {
                "row": lambda a: str(a.row),
                "candidates (confidence)": lambda a: ", ".join(
                    f"{c.label} ({c.confidence:.2f})" for c in a.candidates
                ),
                "truth": lambda a: a.truth,
            },
            n_names=3,
        )
        figures = [_figures.plane(v, number), _figures.histogram(v, number)]
        blocks.append(Details(v.name, [*figures, table]))
    return Section("inside", "A look at reduced rows", blocks)


def _multilabel(s: Summary) -> list[Section]:
    swept = [curve for curve in s.sweep if curve.metric == s.metric]
    drawn = _figures.sweeps(swept) if swept else _figures.curves(s)
    more = [t for m in s.metrics if m != s.metric for t in _areas(s, m)]
    results: list[Block] = [*_areas(s, s.metric)]
    results += [Details("Other scores", more)] if more else []
    beside = (Control.RANDOM, Control.ALL_FEATURES, Control.LABEL_FREQUENCY)
    return [
        _sections.conclusion_section(s, beside[:2]),
        _sections.comparison_section(s),
        _sections.published_section(s, method_name, beside),
        Section("results", "Results", results, brief=True),
        _against_control(s, Control.RANDOM),
        _against_control(s, Control.LABEL_FREQUENCY),
        Section("figures", "What the scores depend on", drawn),
        *_sections.closing_sections(s),
    ]


def _areas(s: Summary, metric: str) -> list[Table]:
    """One table per kind of training labels and learner: methods by data sets."""
    shown = {m: f"{m} (control)" if m in s.controls else m for m in s.methods}
    tables = []
    for labels, learner in product(s.labels, s.learners):
        known = s.select(metric=metric, labels=labels, learner=learner)
        cells = [
            ((shown[method],), (c.data, c.r), _result(c))
            for method in s.methods
            for c in known
            if c.method == method
        ]
        caption = (
            f"{capital(metric_name(metric))}, {learner}, trained on {labels}: "
            "area under the curve (mean ± standard deviation over folds and "
            "seeds); a star marks the best order"
        )
        sets = {(c.data, c.r): data_name(c.data, c.r) for c in known}
        if cells:
            tables.append(_crossed(caption, ["method"], sets, cells))
    return tables


def _against_control(s: Summary, control: str) -> Section:
    compared = {c.metric: c for c in s.comparisons}
    rows: dict[bool, list[list[str]]] = {True: [], False: []}
    for e in (e for e in s.win_tie_loss if e.other == control):
        c = compared.get(e.metric)
        pair = c.pair(e.method, e.other) if c else None
        beats = EMPTY
        if pair is not None and pair.p is not None:
            beats = "yes" if pair.significant and pair.difference > 0 else "no"
        rows[e.metric == s.metric].append(
            [
                metric_name(e.metric),
                e.method,
                signed(e.difference),
                f"{e.n_above} of {e.n_cells}",
                str(e.corrected),
                pvalue(pair.p if pair else None),
                beats,
            ]
        )
    head = ["score", "method", "mean difference", "better in", "win/tie/loss", "p"]
    head.append("significantly better")
    title = f"Against {control}"
    text = (
        "Mean difference over combinations of data set, noise, labels and learner; "
        "win, tie and loss by the corrected resampled t-test over folds and seeds "
        "within a combination. Combinations on the same data are not independent: p is "
        "that of the comparison over data sets above, none where there are too few."
    )
    blocks: list[Block] = [Text(text), Table(title, head, rows[True], n_names=2)]
    if rows[False]:
        more = Table(f"{title}, other scores", head, rows[False], n_names=2)
        blocks.append(Details("Other scores", [more]))
    key = control.replace(" ", "-")
    return Section(key, title, blocks if rows[True] else [], brief=True)
