"""Sections of a report, one function per task."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from itertools import product
from typing import Any

from partlearn.benchmark import NO_LEARNER, Control
from partlearn.report import _figures, _sections
from partlearn.report._blocks import Block, Cell, Section, Table, Text
from partlearn.report._format import (
    EMPTY,
    capital,
    data_name,
    dims,
    is_missing,
    method_name,
    metric_name,
    pvalue,
    rounded,
    score,
    signed,
)
from partlearn.report._sections import crossed
from partlearn.report._summarize import Summary, rows_where

DAGGER = "\N{DAGGER}"
BEST = "best of its row"


def document(summary: Summary) -> list[Section]:
    """Sections of a report.

    Parameters
    ----------
    summary : Summary
        From :func:`partlearn.report.summarize`.

    Returns
    -------
    list of Section
        The sections that all renderers show.
    """
    if not isinstance(summary, Summary):
        raise TypeError(
            "Pass the result of partlearn.report.summarize; got "
            f"{type(summary).__name__}."
        )
    sections = _multilabel if summary.task == "multilabel" else _partial
    return [section for section in sections(summary) if section.blocks]


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
        Section("What the scores depend on", drawn, "figures"),
        _inside(s),
        *_sections.closing_sections(s),
    ]


def _label(s: Summary, name: str) -> str:
    """Printed name of a reducer; references have a dagger."""
    shown = method_name(name)
    return f"{shown} {DAGGER}" if name in s.unranked else shown


def _results(s: Summary) -> Section:
    texts = [f"{method_name(name)} ({why})" for name, why in s.unranked.items()]
    blocks: list[Block] = []
    if texts:
        text = f"{DAGGER} Neither ranked nor tested: {', '.join(texts)}."
        blocks.append(Text(text))
    for i, protocol in enumerate(s.protocols):
        cells = s.select(protocol=protocol, metric=s.metric)
        caption = (
            f"{capital(metric_name(s.metric))} (mean ± standard deviation over "
            f"{s.facts['folds']} folds), {protocol} protocol"
        )
        methods = {name: _label(s, name) for name in s.methods}
        rows = (((c.set, c.learner), c.method, _result(c)) for c in cells.itertuples())
        blocks.append(crossed(caption, ["data", "learner"], methods, rows, BEST))
        blocks += _figures.gaps(s, protocol, i)
    return Section("Results", blocks, "results", brief=True)


def _result(cell: Any) -> Cell:
    remarks = []
    if not is_missing(cell.n_features):
        remarks.append(f"{dims(cell.n_features)} columns")
    if cell.n_failed:
        remarks.append(f"{cell.n_failed} failed")
    return Cell(score(cell.mean, cell.std), small=", ".join(remarks), best=cell.best)


def _overview(s: Summary) -> Section:
    blocks: list[Block] = []
    times = dict(zip(s.costs["name"], s.costs["fit_time"], strict=True))
    for protocol in dict.fromkeys(s.overview["protocol"]):
        part = rows_where(s.overview, protocol=protocol)
        groups = {o.group: f"{o.group} ({o.n_cells})" for o in part.itertuples()}
        cells = [
            (
                (_label(s, o.method),),
                o.group,
                ("" if is_missing(o.rank) else f"{o.rank:.2f} / ") + score(o.mean),
            )
            for o in part.itertuples()
        ]
        cells += [
            ((_label(s, name),), None, rounded(times.get(name), ".3g"))
            for name in dict.fromkeys(part["method"])
        ]
        blocks.append(
            crossed(
                f"Average rank (1 is best) / mean {metric_name(s.metric)} over "
                "combinations of data set, r and learner (number in parentheses), "
                f"{protocol} protocol; rows per feature are counted in a training fold",
                ["reducer"],
                {**groups, None: "fit, s"},
                cells,
            )
        )
    return Section("Overview", blocks, "overview", brief=True)


def _win_tie_loss(s: Summary) -> Section:
    names = list(dict.fromkeys(s.win_tie_loss["learner"]))
    # A learner that failed for some reducers must not come after the total.
    names.sort(key=lambda name: name == "all")
    text = (
        "Two-sided paired t-test over folds at level 0.05, for each combination of "
        "data set and r, as in the papers. In parentheses: the corrected resampled "
        "t-test, which accounts for overlapping training folds."
    )
    table = crossed(
        f"{method_name(s.reference)} against each other reducer",
        ["protocol", "against"],
        {name: "all learners" if name == "all" else name for name in names},
        (
            ((w.protocol, _label(s, w.other)), w.learner, f"{w.plain} ({w.corrected})")
            for w in s.win_tie_loss.itertuples()
        ),
    )
    title = f"Win/tie/loss of {method_name(s.reference)}"
    blocks: list[Block] = [] if s.win_tie_loss.empty else [Text(text), table]
    return Section(title, blocks, "wtl", brief=True)


def _differences(s: Summary) -> Section:
    tables = [
        _sections.pair_table(c, s.reference, s.methods)
        for c in s.comparisons
        if s.reference in c.methods and len(c.data) > 1
    ]
    return Section(f"{method_name(s.reference)} against the others", tables, "effects")


def _named_right(s: Summary) -> Section:
    """Disambiguation of training rows beside test scores, where it was recorded."""
    metric, shares = metric_name(s.metric), s.named_right
    named = shares[shares[["by_reduction", "by_learner"]].notna().any(axis=1)]
    where = ["protocol", "set", "reducer"]
    test = shares.set_index(where)["test"].to_dict()
    oracles = [n for n, why in s.unranked.items() if why.endswith("true labels")]
    text = (
        "Disambiguation accuracy is the share of training rows whose most likely label "
        "is the true one. Scores on test rows are means over learners."
    )
    if oracles:
        text += (
            " An oracle is fitted with the true labels; its score is an upper "
            "reference for better disambiguation."
        )
    columns: dict[str, Any] = {
        "data": lambda n: n.set,
        "reducer": lambda n: _label(s, n.reducer),
        "protocol": lambda n: n.protocol,
        "disambiguation by the reducer": lambda n: score(n.by_reduction),
        "by the learner": lambda n: score(n.by_learner),
        f"test {metric}": lambda n: score(n.test),
    }
    if named["by_learner"].isna().all():
        del columns["by the learner"]
    for o in oracles:
        columns[f"test {metric}, {o} (oracle)"] = lambda n, o=o: score(
            test.get((n.protocol, n.set, o))
        )
    caption = f"Disambiguation accuracy on training rows and {metric} on test rows"
    table = Table.by(caption, named.itertuples(), columns, n_names=3)
    blocks: list[Block] = [] if named.empty else [Text(text), table]
    return Section("Disambiguation", blocks, "named")


def _side_by_side(s: Summary) -> Section:
    """All metrics of the plan side by side, if there is more than one."""
    columns = {metric: metric_name(metric) for metric in s.metrics}
    averages = (
        (
            (_label(s, name),),
            metric,
            score(s.select(method=name, metric=metric)["mean"].mean()),
        )
        for name, metric in product(s.methods, s.metrics)
    )
    means = (
        ((c.set, c.protocol, c.learner, _label(s, c.method)), c.metric, score(c.mean))
        for c in s.cells.itertuples()
    )
    names = ["data", "protocol", "learner", "method"]
    rows = crossed("Means over folds", names, columns, means)
    whole = crossed("Means over all rows", ["method"], columns, averages)
    blocks: list[Block] = [whole, Section("By data set", [rows])]
    return Section("All scores", blocks if len(columns) > 1 else [], "scores")


def _inside(s: Summary) -> Section:
    blocks: list[Block] = []
    for i, v in enumerate(s.views):
        name = f"{data_name(v['data'], v['r'])}, {v['reducer']}, {v['protocol']}"
        caption = f"Most ambiguous rows: {name}"
        if not is_missing(v["disambiguation"]):
            share = 100 * v["disambiguation"]
            caption += f"; disambiguation accuracy {share:.1f} %"
        table = Table.by(
            caption,
            v["ambiguous"],
            {
                "row": lambda a: str(a["row"]),
                "candidates (confidence)": lambda a: ", ".join(
                    f"{c['label']} ({c['confidence']:.2f})" for c in a["candidates"]
                ),
                "truth": lambda a: a["truth"],
            },
            n_names=3,
        )
        plane = _figures.plane(v["points"], name, i)
        blocks.append(
            Section(name, [plane, _figures.histogram(v["histogram"], name, i), table])
        )
    return Section("Reduced training rows", blocks, "inside")


def _multilabel(s: Summary) -> list[Section]:
    swept = rows_where(s.sweep, metric=s.metric)
    drawn = _figures.sweeps(swept)
    if swept.empty and s.learners != (NO_LEARNER,):
        drawn = _figures.curves(s)
    more = [t for m in s.metrics if m != s.metric for t in _areas(s, m)]
    results: list[Block] = [*_areas(s, s.metric)]
    results += [Section("Other scores", more)] if more else []
    beside = (Control.RANDOM, Control.ALL_FEATURES, Control.LABEL_FREQUENCY)
    return [
        _sections.conclusion_section(s, beside[:2]),
        _sections.comparison_section(s),
        _sections.published_section(s, method_name, beside),
        Section("Results", results, "results", brief=True),
        _against_control(s, Control.RANDOM),
        _against_control(s, Control.LABEL_FREQUENCY),
        Section("What the scores depend on", drawn, "figures"),
        *_sections.closing_sections(s),
    ]


def _areas(s: Summary, metric: str) -> list[Table]:
    """Methods by data sets: one table for each learner and its training labels."""
    shown = {m: f"{m} (control)" if m in s.controls else m for m in s.methods}
    tables = []
    for labels, learner in product(s.labels, s.learners):
        known = s.select(metric=metric, labels=labels, learner=learner)
        cells = [
            ((shown[method],), c.set, _result(c))
            for method in s.methods
            for c in rows_where(known, method=method).itertuples()
        ]
        of, what = f", {learner}", "area under the curve (mean"
        if learner == NO_LEARNER:
            of, what = "", "mean (and"
        caption = (
            f"{capital(metric_name(metric))}{of}, trained on {labels}: "
            f"{what} ± standard deviation over folds and seeds)"
        )
        sets = {name: name for name in known["set"]}
        if cells:
            order = (
                f"best {'method' if learner == NO_LEARNER else 'order'} of its column"
            )
            tables.append(crossed(caption, ["method"], sets, cells, order))
    return tables


def _against_control(s: Summary, control: str) -> Section:
    compared = {c.metric: c for c in s.comparisons}
    rows: dict[bool, list[Sequence[str]]] = {True: [], False: []}
    for e in rows_where(s.win_tie_loss, other=control).itertuples():
        c = compared.get(e.metric)
        pair = c.pair(e.method, e.other) if c else None
        p = pair.p if pair else None
        better = bool(pair and pair.significant and pair.difference > 0)
        rows[e.metric == s.metric].append(
            [
                metric_name(e.metric),
                e.method,
                signed(e.difference),
                f"{e.n_above} of {e.n_cells}",
                e.corrected,
                pvalue(p),
                EMPTY if is_missing(p) else "yes" if better else "no",
            ]
        )
    head = ["score", "method", "mean difference", "better in", "win/tie/loss", "p"]
    head.append("significantly better")
    title = f"Against {control}"
    text = (
        "Mean difference over combinations of data set, noise, labels and learner. "
        "Wins, ties and losses are by the corrected resampled t-test over folds and "
        "seeds of one combination. Combinations on one data set are not independent: "
        "p is taken from the pairwise comparison over data sets, if there are enough."
    )
    blocks: list[Block] = [Text(text), Table.of(title, head, rows[True], 2)]
    if rows[False]:
        more = Table.of(f"{title}, other scores", head, rows[False], 2)
        blocks.append(Section("Other scores", [more]))
    key = control.replace(" ", "-")
    return Section(title, blocks if rows[True] else [], key, brief=True)
