"""From a finished run to the records that every renderer reads."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from partlearn.benchmark import (
    Cell,
    Control,
    MethodSpec,
    Result,
    Run,
    Store,
    Timing,
    load_run,
)
from partlearn.report._compare import against, compare, mean_of_known, overview
from partlearn.report._records import (
    AmbiguousRow,
    Candidate,
    Failure,
    MethodCost,
    NamedRight,
    Point,
    Summary,
    Sweep,
    View,
    Warned,
)

LEAK_NOTE = (
    "The transductive protocol is the recipe behind the published tables: the reducer "
    "is fitted once on all rows and all candidate sets, those of the test rows "
    "included. True labels are never seen, but test features and test candidate sets "
    "are, so these accuracies are too high for new data. The inductive protocol fits "
    "everything on the training fold only; its figures are the ones to expect in use."
)
AREA_NOTE = (
    "Scores are areas under the curve over the shares of features, mean and deviation "
    "over folds and seeds. Selectors see candidates only; learners are trained on "
    "candidates or, to tell the worth of the features alone, on clean labels. Test "
    "labels are clean."
)
MAX_POINTS = 400
MAX_VIEWS = 4
N_BINS = 10
N_ROWS = 10
# Level lines: they do not depend on what a plan varies.
LEVELS = (Control.RANDOM, Control.ALL_FEATURES, Control.LABEL_FREQUENCY)


def summarize(folder: str | Path) -> Summary:
    """Summarise the run in ``folder``.

    Parameters
    ----------
    folder : str or Path
        As given to :func:`partlearn.benchmark.run_plan`.

    Returns
    -------
    Summary
        Frozen records, the source of all renderers. Fields are attributes;
        ``summary["cells"]`` gives them as in the JSON.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import load_plan, run_plan
    >>> from partlearn.report import summarize
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_plan(load_plan("demo-quick"), folder)
    ...     summary = summarize(folder)
    >>> summary.plan, summary.cells[0].method
    ('demo-quick', 'none')
    """
    run = load_run(folder)
    plan, many = run.plan, run.multilabel
    names = [spec.name for spec in plan.compared]
    unranked = {
        spec.name: "fitted with the true labels"
        if spec.supervised
        else "for comparison"
        for spec in plan.compared
        if not spec.ranked
    }
    ranked = [name for name in names if name not in unranked]
    tables = [
        part
        for metric in (plan.metrics if many else plan.metrics[:1])
        for protocol in plan.protocols
        if (part := run.select(metric, protocol=protocol))
    ]
    reference = plan.reference or ("" if many else _last(plan.compared))
    if many:
        flat = [spec.name for spec in getattr(plan, "classifiers", ())]
        methods = [*names, *flat, *Control]
        ends = (Control.ALL_FEATURES, Control.LABEL_FREQUENCY)
        ranked += [control for control in Control if control.orders_features]
        compared = (compare(part, ranked, controls=ends) for part in tables)
        counts = [
            against(part, ranked, [c], plan.folds, by_learner=False)
            for c in (Control.RANDOM, Control.LABEL_FREQUENCY)
            for part in tables
        ]
    else:
        methods = names
        compared = (
            compare(part, ranked, references=tuple(unranked)) for part in tables
        )
        counts = [against(part, [reference], names, plan.folds) for part in tables]
    notes = [AREA_NOTE] if many else []
    if "transductive" in plan.protocols:
        notes.append(LEAK_NOTE)
    costs = _costs(run)
    return Summary(
        schema="partlearn-report/2",
        task=plan.task,
        plan=plan.name,
        title=plan.title,
        citation=plan.citation,
        notes=(
            plan.criterion_text,
            *plan.notes,
            *notes,
            *(f"{d.name}: {d.note}" for d in plan.data if d.note),
        ),
        metric=plan.metrics[0],
        metrics=tuple(plan.metrics),
        protocols=tuple(plan.protocols),
        labels=tuple(dict.fromkeys(cell.labels for cell in run.cells)),
        methods=tuple(map(str, methods)),
        learners=tuple(spec.name for spec in plan.learners),
        reference=reference,
        unranked=unranked,
        controls=tuple(map(str, Control)) if many else (),
        data=run.data,
        absent=run.absent,
        cells=run.cells,
        comparisons=tuple(c for c in compared if c is not None),
        win_tie_loss=tuple(entry for part in counts for entry in part),
        overview=()
        if many
        else overview(plan.folds, tables, ranked, names, run.data, costs),
        named_right=() if plan.task != "partial" else _named_right(run),
        sweep=_sweep(plan.reducers, run.cells),
        costs=costs,
        views=() if many else _views(run),
        failures=_failures(run.results),
        warnings=_warnings(run.results),
        facts=run.facts,
    )


def _last(reducers: Sequence[MethodSpec]) -> str:
    """The method that a plan is about, if it does not say."""
    return next((s.name for s in reversed(reducers) if s.cls and s.ranked), "")


def _grouped(
    rows: Iterable[Any], *names: str
) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """Rows with equal values of some attributes, after these values by name."""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for row in rows:
        groups.setdefault(tuple(getattr(row, n) for n in names), []).append(row)
    for key, group in groups.items():
        yield dict(zip(names, key, strict=True)), group


def _named_right(run: Run) -> tuple[NamedRight, ...]:
    """By data set and method, over learners, where labels are named at all."""
    good = (row for row in run.results if row.ok)
    metric = run.plan.metrics[0]
    shares = (
        NamedRight(
            **which,
            by_reduction=mean_of_known(row.reducer_disambiguation for row in rows),
            by_learner=mean_of_known(row.scores.get("disambiguation") for row in rows),
            test=mean_of_known(row.scores.get(metric) for row in rows),
        )
        for which, rows in _grouped(good, "protocol", "data", "r", "reducer")
    )
    return tuple(shares)


def _sweep(reducers: Sequence[MethodSpec], cells: Iterable[Cell]) -> tuple[Sweep, ...]:
    """Curves for methods whose grid varies parameters, one per other setting."""
    points = {spec.name: spec.point for spec in reducers if spec.point}
    lines: dict[tuple[Any, ...], list[tuple[Any, float]]] = {}
    level: dict[tuple[Any, ...], float] = {}
    for c in cells:
        where = (c.protocol, c.labels, c.metric, c.data, c.r, c.learner)
        if c.mean is None:
            continue
        if c.method in LEVELS:
            level[*where, c.method] = c.mean
        for parameter, value in points.get(c.method, {}).items():
            others = {k: v for k, v in points[c.method].items() if k != parameter}
            label = c.method.split("[")[0]
            label += "".join(f", {k}={v}" for k, v in others.items())
            lines.setdefault((*where, parameter, label), []).append((value, c.mean))
    for (*place, parameter, _), line in list(lines.items()):
        for name in LEVELS:
            if (*place, name) in level:
                flat = [(x, level[*place, name]) for x, _ in line]
                lines[*place, parameter, str(name)] = flat
    return tuple(Sweep(*key, *zip(*line, strict=True)) for key, line in lines.items())


def _failures(results: Iterable[Result]) -> tuple[Failure, ...]:
    names = [field.name for field in fields(Failure)][:-2]
    groups = _grouped((row for row in results if not row.ok), *names)
    return tuple(
        Failure(**which, n_folds=len(rows), traceback=rows[0].traceback)
        for which, rows in groups
    )


def _warnings(results: Iterable[Result]) -> tuple[Warned, ...]:
    jobs: dict[tuple[str, str, str], set[str]] = {}
    for row in results:
        for text in row.warnings:
            jobs.setdefault((row.reducer, row.learner, text), set()).add(row.id)
    return tuple(Warned(*key, n_jobs=len(ids)) for key, ids in jobs.items())


def _costs(run: Run) -> tuple[MethodCost, ...]:
    """Reducers first, then learners; each reduction counts once."""
    plan = run.plan
    shared = {(t.reducer, t.reduction): t for t in run.timings if t.reduction}
    costs = []
    for kind, specs, timings, prefix, use in (
        ("reducer", plan.reducers, shared.values(), "reduce_", "reduce_transform_time"),
        ("learner", plan.learners, run.timings, "", "predict_time"),
    ):
        known = {which[kind]: rows for which, rows in _grouped(timings, kind)}
        names = [spec.name for spec in specs if spec.name in known]
        costs += [_cost(kind, name, known[name], prefix, use) for name in names]
    return tuple(costs)


def _cost(
    kind: str, name: str, rows: Sequence[Timing], prefix: str, use: str
) -> MethodCost:
    peaks = [getattr(row, f"{prefix}peak_mb") for row in rows]
    return MethodCost(
        kind,
        name,
        n_runs=len(rows),
        fit_time=mean_of_known(getattr(row, f"{prefix}fit_time") for row in rows),
        use_time=mean_of_known(getattr(row, use) for row in rows),
        peak_mb=max((peak for peak in peaks if peak is not None), default=None),
    )


def _views(run: Run) -> tuple[View, ...]:
    """One view per reducer that has confidences, on the first data set of the run."""
    store, first = Store(run.folder), run.data[0]
    here = (first.name, next(iter(first.r), None))
    chosen: dict[tuple[str, str], Timing] = {}
    for t in run.timings:
        if t.reduction and (t.data, t.r) == here:
            chosen.setdefault((t.protocol, t.reducer), t)
    views: list[View] = []
    for t in chosen.values():
        record = store.get_reduction(t.reduction) if len(views) < MAX_VIEWS else None
        if record is not None and "confidence" in record.arrays:
            right = record.disambiguation
            views.append(_view(t, record.arrays, right, first.classes))
    return tuple(views)


def _view(
    t: Timing,
    arrays: Mapping[str, np.ndarray],
    right: float | None,
    classes: Sequence[str],
) -> View:
    rows, F = arrays["rows"], arrays["confidence"]
    S, truth = arrays["candidates"].astype(bool), arrays["truth"]
    Z = arrays["Z"][rows]
    plane = Z[:, :2] if Z.shape[1] > 1 else np.column_stack([Z[:, 0], np.zeros(len(Z))])
    top = F.argmax(axis=1)
    level = F.max(axis=1)
    # Evenly spread rows: the picture does not depend on a random draw.
    shown = np.unique(np.linspace(0, len(Z) - 1, min(len(Z), MAX_POINTS)).astype(int))
    edges = np.linspace(0, 1, N_BINS + 1)
    start = 1.0 / S.sum(axis=1)
    doubtful = np.lexsort((np.arange(len(F)), level))[:N_ROWS]
    return View(
        protocol=t.protocol,
        data=t.data,
        r=t.r,
        reducer=t.reducer,
        fold=t.fold,
        disambiguation=right,
        points=[
            Point(
                x=float(plane[i, 0]),
                y=float(plane[i, 1]),
                label=classes[int(top[i])],
                confidence=float(level[i]),
                correct=bool(top[i] == truth[i]),
            )
            for i in shown
        ],
        histogram={
            "edges": edges.tolist(),
            "before": np.histogram(start, edges)[0].tolist(),
            "after": np.histogram(np.clip(level, 0, 1), edges)[0].tolist(),
        },
        ambiguous=[
            AmbiguousRow(
                row=int(rows[i]),
                candidates=[
                    Candidate(classes[j], float(F[i, j]))
                    for j in sorted(
                        np.flatnonzero(S[i]).tolist(), key=lambda j: -F[i, j]
                    )[:5]
                ],
                truth=classes[int(truth[i])],
            )
            for i in doubtful
        ],
    )
