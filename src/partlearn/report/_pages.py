"""From a summary to the blocks of its report, one function per kind of labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from typing import Any

from partlearn.benchmark import Cell as Result
from partlearn.benchmark import Control
from partlearn.report import _figures
from partlearn.report._blocks import (
    Block,
    Cell,
    Details,
    Document,
    Section,
    Table,
    Text,
)
from partlearn.report._compare import place
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
from partlearn.report._records import Against, Summary
from partlearn.report._sections import (
    closing_sections,
    comparison_section,
    conclusion_section,
    lead,
    pair_table,
    published_section,
)

__all__ = ["document"]

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
    return Document(summary.title, lead(summary), sections(summary))


def _partial(s: Summary) -> list[Section]:
    return [
        conclusion_section(s, ["none"]),
        *comparison_section(s),
        *published_section(s, lambda name: _label(s, name)),
        _results(s),
        *_overview(s),
        *_win_tie_loss(s),
        *_differences(s),
        *_side_by_side(s),
        *_named_right(s),
        *_section(
            "figures",
            "What the scores depend on",
            [*_figures.sweeps(s.sweep), *_figures.regimes(s)],
        ),
        *_inside(s),
        *closing_sections(s, _data(s), {}),
    ]


def _section(
    key: str, title: str, blocks: Sequence[Block], *, brief: bool = False
) -> list[Section]:
    """A section if there is anything in it."""
    return [Section(key, title, blocks, brief)] if blocks else []


def _label(s: Summary, name: str) -> str:
    """Name of a reducer as printed; references have a dagger."""
    shown = method_name(name)
    return f"{shown} {DAGGER}" if name in s.unranked else shown


def _unranked(s: Summary) -> list[Block]:
    """Sentence on the references, or nothing."""
    texts = [f"{method_name(name)} ({why})" for name, why in s.unranked.items()]
    if not texts:
        return []
    return [Text(f"{DAGGER} Not ranked and not tested: {', '.join(texts)}.")]


def _results(s: Summary) -> Section:
    blocks: list[Block] = _unranked(s)
    for number, protocol in enumerate(s.protocols):
        places: dict[Any, dict[str, Result]] = {}
        for c in s.cells:
            if (c.protocol, c.metric) == (protocol, s.metric):
                places.setdefault(place(c), {})[c.method] = c
        blocks.append(
            Table(
                f"{s.metric.capitalize()} (mean ± standard deviation over "
                f"{s.facts.folds} folds), {protocol} protocol; a star marks the best "
                "of a row",
                ["data", "learner", *(_label(s, name) for name in s.methods)],
                [
                    [
                        data_name(data, r),
                        learner,
                        *(_result(here.get(name)) for name in s.methods),
                    ]
                    for (data, r, _, learner), here in places.items()
                ],
                n_names=2,
            )
        )
        blocks += _figures.gaps(s, protocol, number)
    return Section("results", "Results", blocks, brief=True)


def _result(cell: Result | None) -> Cell:
    if cell is None:
        return Cell(EMPTY)
    remarks = []
    if cell.n_features is not None:
        remarks.append(f"{dims(cell.n_features)} columns")
    if cell.n_failed:
        remarks.append(f"{cell.n_failed} failed")
    text = score(cell.mean, cell.std)
    return Cell(text, small=", ".join(remarks), best=cell.best)


def _overview(s: Summary) -> list[Section]:
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
                f"Average rank (1 is best) / mean {s.metric} over combinations of data "
                f"set, r and learner (number in brackets), {entry.protocol} protocol; "
                "rows per feature are those of a training fold",
                ["reduction", *groups, "fit, s"],
                rows,
            )
        )
    return _section("overview", "Overview", blocks, brief=True)


def _win_tie_loss(s: Summary) -> list[Section]:
    columns = list(dict.fromkeys(w.learner for w in s.win_tie_loss))
    # A learner that failed for some reducers must not come after the total.
    columns.sort(key=lambda name: name == "all")
    rows: dict[tuple[str, str], dict[str, Against]] = {}
    for w in s.win_tie_loss:
        rows.setdefault((w.protocol, w.other), {})[w.learner] = w
    if not rows:
        return []
    text = (
        "Two-sided paired t-test over folds at 0.05 within each combination of data "
        "set and r, as in the papers; in brackets the corrected resampled test, which "
        "allows for overlapping training folds and finds fewer differences."
    )
    table = Table(
        f"{method_name(s.reference)} against each other reduction",
        [
            "protocol",
            "against",
            *("all learners" if name == "all" else name for name in columns),
        ],
        [
            [
                protocol,
                _label(s, other),
                *(
                    f"{e.plain} ({e.corrected})" if (e := here.get(name)) else EMPTY
                    for name in columns
                ),
            ]
            for (protocol, other), here in rows.items()
        ],
        n_names=2,
    )
    title = f"Win/tie/loss of {method_name(s.reference)}"
    return [Section("wtl", title, [Text(text), table], brief=True)]


def _differences(s: Summary) -> list[Section]:
    tables = [
        pair_table(c, s.reference, s.methods)
        for c in s.comparisons
        if s.reference in c.methods and len(c.data) > 1
    ]
    return _section("effects", f"{method_name(s.reference)} against each other", tables)


def _named_right(s: Summary) -> list[Section]:
    """Training labels named right beside test scores, where they were recorded."""
    test = {(n.protocol, n.data, n.r, n.reducer): n.test for n in s.named_right}
    named = [n for n in s.named_right if (n.by_reduction, n.by_learner) != (None, None)]
    if not named:
        return []
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
        f"test {s.metric}": lambda n: score(n.test),
    }
    if all(n.by_learner is None for n in named):
        del columns["by the learner"]
    for o in oracles:
        columns[f"test {s.metric}, {o} (oracle)"] = lambda n, o=o: score(
            test.get((n.protocol, n.data, n.r, o))
        )
    caption = f"Labels named right and test {s.metric}"
    table = Table.of(caption, named, columns, n_names=3)
    return [Section("named", "Labels named right", [Text(text), table])]


def _side_by_side(s: Summary) -> list[Section]:
    """All scores of the plan beside each other, where it has more than one."""
    if len(s.metrics) < 2:
        return []
    means = {(c.metric, c.protocol, place(c), c.method): c.mean for c in s.cells}
    rows = list(dict.fromkeys(key[1:] for key in means))
    columns: dict[str, Any] = {
        "data": lambda row: data_name(*row[1][:2]),
        "protocol": lambda row: row[0],
        "learner": lambda row: row[1][-1],
        "method": lambda row: _label(s, row[2]),
    }
    for m in s.metrics:
        columns[metric_name(m)] = lambda row, m=m: score(means.get((m, *row)))
    table = Table.of("Means over folds", rows, columns, n_names=4)
    averages: dict[str, Any] = {"method": lambda name: _label(s, name)}
    for m in s.metrics:
        averages[metric_name(m)] = lambda n, m=m: score(_average(means, m, n))
    mean = Table.of("Means over all rows", s.methods, averages, n_names=1)
    return _section("scores", "All scores", [mean, Details("By data set", [table])])


def _average(
    means: Mapping[tuple[Any, ...], float | None], metric: str, method: str
) -> float | None:
    known = [v for k, v in means.items() if (k[0], k[-1]) == (metric, method)]
    values = [v for v in known if v is not None]
    return sum(values) / len(values) if values else None


def _inside(s: Summary) -> list[Section]:
    blocks: list[Block] = []
    for number, v in enumerate(s.views):
        caption = f"Most ambiguous rows: {data_name(v.data, v.r)}, {v.reducer}, "
        caption += v.protocol
        if v.disambiguation is not None:
            share = 100 * v.disambiguation
            caption += f"; {share:.1f} % of the most likely labels are right"
        table = Table.of(
            caption,
            v.ambiguous,
            {
                "row": lambda a: str(a["row"]),
                "candidates (confidence)": lambda a: ", ".join(
                    f"{c['label']} ({c['confidence']:.2f})" for c in a["candidates"]
                ),
                "truth": lambda a: a["truth"],
            },
            n_names=3,
        )
        name = f"{data_name(v.data, v.r)}, {v.reducer}, {v.protocol}"
        figures = [_figures.plane(v, number), _figures.histogram(v, number)]
        blocks.append(Details(name, [*figures, table]))
    return _section("inside", "A look at reduced rows", blocks)


_SIZE: dict[str, Any] = {
    "rows": lambda d: str(d.n_samples),
    "features": lambda d: str(d.n_features),
}


def _data(s: Summary) -> Table:
    columns = {
        "name": lambda d: data_name(d.name, next(iter(d.r), None)),
        **_SIZE,
        "classes": lambda d: str(len(d.classes)),
        "mean candidates": lambda d: f"{d.mean_labels:.2f}",
        "fingerprint": lambda d: d.fingerprint,
    }
    return Table.of("Data sets of this run", s.data, columns)


def _multilabel(s: Summary) -> list[Section]:
    swept = [curve for curve in s.sweep if curve.metric == s.metric]
    drawn = _figures.sweeps(swept) if swept else _figures.curves(s)
    more = [t for m in s.metrics if m != s.metric for t in _areas(s, m)]
    results: list[Block] = [*_areas(s, s.metric)]
    results += [Details("Other scores", more)] if more else []
    beside = (Control.RANDOM, Control.ALL_FEATURES, Control.LABEL_FREQUENCY)
    return [
        conclusion_section(s, beside[:2]),
        *comparison_section(s),
        *published_section(s, method_name, beside),
        Section("results", "Results", results, brief=True),
        *_against_control(s, Control.RANDOM),
        *_against_control(s, Control.LABEL_FREQUENCY),
        *_section("figures", "What the scores depend on", drawn),
        *closing_sections(s, _multilabel_data(s), {"reducer": "selector"}),
    ]


def _areas(s: Summary, metric: str) -> list[Table]:
    """One table per kind of training labels and learner: methods by data sets."""
    name = metric_name(metric)
    tables = []
    for labels in s.labels:
        for learner in s.learners:
            known = {
                (c.method, c.data, c.r): c
                for c in s.cells
                if (c.metric, c.labels, c.learner) == (metric, labels, learner)
            }
            sets = list(dict.fromkeys((data, r) for _, data, r in known))
            rows: list[list[Cell | str]] = []
            for method in s.methods:
                cells = [known.get((method, *key)) for key in sets]
                if not any(cells):
                    continue
                control = " (control)" if method in s.controls else ""
                rows.append([method + control, *map(_result, cells)])
            if rows:
                caption = (
                    f"{capital(name)}, {learner}, trained on {labels}: "
                    "area under the curve (mean ± standard deviation over folds and "
                    "seeds); a star marks the best order"
                )
                head = ["method", *(data_name(*key) for key in sets)]
                tables.append(Table(caption, head, rows))
    return tables


def _against_control(s: Summary, control: str) -> list[Section]:
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
    if not rows[True]:
        return []
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
    return [Section(control.replace(" ", "-"), title, blocks, brief=True)]


def _multilabel_data(s: Summary) -> Table:
    columns = {
        "name": lambda d: d.name,
        **_SIZE,
        "labels": lambda d: str(len(d.classes)),
        "labels a row": lambda d: f"{d.mean_labels:.2f}",
        "noise": lambda d: ", ".join([d.noise, *(f"{r:g}" for r in d.r)]),
        "first labels": lambda d: ", ".join(d.classes[:5]),
        "fingerprint": lambda d: d.fingerprint,
    }
    return Table.of("Data sets of this run", s.data, columns)
