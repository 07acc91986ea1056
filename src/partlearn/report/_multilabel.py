"""Summary of a run on partial multi-labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np

from partlearn.benchmark import Store
from partlearn.benchmark._multilabel._jobs import OWN
from partlearn.benchmark._multilabel._published import published_scores
from partlearn.benchmark._multilabel._rank import (
    ALL_FEATURES,
    CONTROLS,
    LABEL_FREQUENCY,
    NORM,
    RANDOM,
    RIDGE,
)
from partlearn.benchmark._multilabel._scores import area
from partlearn.benchmark._multilabel._tables import load_multilabel_rows
from partlearn.report._common import common, grouped, spread, sweep
from partlearn.report._compare import against, compare, mark_best
from partlearn.report._records import (
    Curve,
    MultilabelCell,
    MultilabelSummary,
    Published,
)

__all__ = ["cells_of", "summarize_multilabel"]

Row = Mapping[str, Any]
# What published figures are put beside.
BESIDE = (RANDOM, ALL_FEATURES, LABEL_FREQUENCY)
HOW = (
    "Scores are areas under the curve over the shares of features, mean and deviation "
    "over folds and seeds. Selectors see candidates only; learners are trained on "
    "candidates or, to tell the worth of the features alone, on clean labels. Test "
    "labels are clean."
)


def summarize_multilabel(store: Store, plan: Row, run: Row) -> MultilabelSummary:
    """Summarise the multi-label run in ``store``.

    Parameters
    ----------
    store : Store
        Folder of the run.
    plan, run : mapping
        Its ``plan.json`` and ``run.json``.

    Returns
    -------
    MultilabelSummary
        What the report shows.
    """
    results, timings = load_multilabel_rows(store.folder)
    selectors = [m["name"] for m in plan["reducers"]]
    flat = [m["name"] for m in plan["classifiers"]]
    methods = [*selectors, *flat, *CONTROLS, ALL_FEATURES, LABEL_FREQUENCY]
    found = cells_of(plan["metrics"], results, methods)
    # All features are no selection.
    eligible = {i: len(c.x) > 1 for i, c in enumerate(found)}
    cells = mark_best(found, eligible, plan["folds"])
    orders = [*selectors, *CONTROLS]
    folds, metric = plan["folds"], plan["metrics"][0]
    tables = {
        name: part
        for name in plan["metrics"]
        if (part := [c for c in cells if c.metric == name])
    }
    ends = (ALL_FEATURES, LABEL_FREQUENCY)
    compared = (
        compare(part, orders, name, controls=ends) for name, part in tables.items()
    )
    return MultilabelSummary(
        schema="partlearn-report-multilabel/2",
        task="multilabel",
        metrics=list(plan["metrics"]),
        protocols=["inductive"],
        labels=list(plan["labels"]),
        methods=methods,
        controls=[*CONTROLS, *ends],
        reference=plan["reference"],
        cells=cells,
        published=_published(plan, cells),
        comparisons=[c for c in compared if c is not None],
        against_random=[
            entry
            for part in tables.values()
            for entry in against(
                part, [*selectors, NORM, RIDGE], [RANDOM], folds, by_learner=False
            )
        ],
        against_frequency=against(
            tables.get(metric, []), orders, [LABEL_FREQUENCY], folds, by_learner=False
        ),
        sweep=_sweep(plan, cells),
        **common(plan, run, results, timings, [HOW], "labels"),
    )


def cells_of(
    metrics: Sequence[str], results: Sequence[Row], methods: Sequence[str]
) -> list[MultilabelCell]:
    """One cell per place, method and metric.

    Parameters
    ----------
    metrics : sequence of str
        Scores.
    results : sequence of dict
        Rows of the results table.
    methods : sequence of str
        Names in the order of the tables.

    Returns
    -------
    list of MultilabelCell
        With ``area`` (mean over folds and seeds of the area under the curve) and its
        deviation, ``mean`` and ``std`` over the points of the mean curve, as papers
        print them, the curve itself, and areas by seed and fold.
    """
    groups = grouped(results, ("data", "r", "labels", "learner", "reducer"))
    places = dict.fromkeys(key[:4] for key in groups if key[3] != OWN)
    found = []
    for place in places:
        for method in methods:
            # A method that predicts by itself stands beside every learner.
            rows = groups.get((*place, method)) or groups.get((*place[:3], OWN, method))
            if rows:
                found += [_cell(place, method, metric, rows) for metric in metrics]
    return found


def _cell(
    place: tuple[Any, ...], method: str, metric: str, rows: Sequence[Row]
) -> MultilabelCell:
    data, r, labels, learner = place
    good = [row for row in rows if row["status"] == "ok"]
    cell = MultilabelCell(
        data=data,
        r=r,
        labels=labels,
        learner=learner,
        method=method,
        metric=metric,
        mean=None,
        std=None,
        area=None,
        area_std=None,
        n_failed=len(rows) - len(good),
        whole=False,
        scores=[],
        best=False,
        behind=None,
        behind_low=None,
        behind_high=None,
        x=[],
        y=[],
        y_std=[],
    )
    # Draws of a random order are averaged first: they are not folds.
    curves: dict[tuple[int, int], dict[float, float]] = {
        key: {
            x: float(np.mean([row[metric] for row in same]))
            for (x,), same in grouped(part, ("percentage",)).items()
        }
        for key, part in grouped(good, ("noise_seed", "fold")).items()
    }
    if not curves:
        return cell
    areas = [(*k, area(list(c), list(c.values()))) for k, c in curves.items()]
    values = [a for *_, a in areas]
    xs = sorted({x for curve in curves.values() for x in curve})
    at = [[c[x] for c in curves.values() if x in c] for x in xs]
    ys = [float(np.mean(v)) for v in at]
    return replace(
        cell,
        area=float(np.mean(values)),
        area_std=spread(values),
        mean=float(np.mean(ys)),
        std=spread(ys),
        whole=not cell.n_failed,
        scores=areas,
        x=xs,
        y=ys,
        y_std=[spread(v) or 0.0 for v in at],
    )


def _published(plan: Row, cells: Iterable[MultilabelCell]) -> list[Published]:
    source = plan["published"]
    if not source:
        return []
    figures = published_scores(source["paper"], str(source["table"]))
    names = {
        m["name"]: m["published"] for m in (*plan["reducers"], *plan["classifiers"])
    }
    known = {(c.table, *c.place, c.method): c.mean for c in cells}
    rows = []
    for cell in cells:
        figure = figures.get((cell.data, names.get(cell.method) or "", cell.metric))
        if figure is None:
            continue
        difference = None if cell.mean is None else cell.mean - figure.mean
        rows.append(
            Published(
                data=cell.data,
                r=cell.r,
                learner=cell.learner,
                reducer=cell.method,
                metric=cell.metric,
                labels=cell.labels,
                published_mean=figure.mean,
                published_std=None if isnan(figure.std) else figure.std,
                published_n_components=None,
                measured={
                    "inductive": {
                        "mean": cell.mean,
                        "std": cell.std,
                        "difference": difference,
                    }
                },
                beside={
                    name: known.get((cell.table, *cell.place, name)) for name in BESIDE
                },
            )
        )
    return rows


def _sweep(plan: Row, cells: Sequence[MultilabelCell]) -> list[Curve]:
    """Areas against a parameter; controls are level lines in the same picture."""

    def place(c: MultilabelCell) -> tuple[Any, ...]:
        return (f"{c.metric}, {c.labels}", c.data, c.r, c.learner)

    known = [(c, c.area) for c in cells if c.area is not None]
    curves = sweep(plan, ((place(c), c.method, a, c.area_std) for c, a in known))
    level = {(*place(c), c.method): a for c, a in known if c.method in BESIDE}
    first = {(c.protocol, c.data, c.r, c.learner, c.parameter): c for c in curves}
    return curves + [
        replace(c, reducer=name, y=[level[key]] * len(c.x), std=[0.0] * len(c.x))
        for (*where, _), c in first.items()
        for name in BESIDE
        if (key := (*where, name)) in level
    ]
