"""Summarize a finished run in the frames that all renderers use."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from partlearn.benchmark import (
    NO_LEARNER,
    Control,
    DamagedStoreError,
    MethodSpec,
    Run,
    Store,
    fitting,
    load_run,
    scores_of,
)
from partlearn.report._compare import (
    Comparison,
    against,
    compare,
    overview,
    rows_per_feature,
    with_sets,
)

if TYPE_CHECKING:
    import pandas as pd

LEAK_NOTE = (
    "The published tables use the transductive protocol: the reducer is fitted once on "
    "all rows and all candidate sets, including those of the test rows. It never sees "
    "true labels, but it sees the features and candidates of test rows, so these "
    "accuracies are too high for new data. The inductive protocol fits everything on "
    "the training fold; its scores are to be expected in use."
)
AREA_NOTE = (
    "Scores are areas under the curve over the shares of features: mean and standard "
    "deviation over folds and seeds. Selectors see candidates only. Learners are "
    "trained on candidates, or on clean labels to evaluate the features alone. Test "
    "labels are clean."
)
MAX_POINTS = 400
MAX_VIEWS = 4
N_BINS = 10
N_ROWS = 10
# Horizontal lines: they do not depend on the parameter that varies.
LEVELS = (Control.RANDOM, Control.ALL_FEATURES, Control.LABEL_FREQUENCY)


@dataclass(frozen=True)
class Summary:
    """Frames, names and facts of a finished run, the input of all renderers.

    Fields are attributes; ``summary["cells"]`` returns them as plain lists and dicts,
    as in the JSON. ``unranked`` maps methods that are not compared to the reason;
    ``controls`` are the controls of a multi-label comparison. ``cells``, ``folds`` and
    ``curves`` are described at :class:`partlearn.benchmark.Scores`.
    """

    schema: str
    task: str
    plan: str
    title: str
    citation: str
    notes: tuple[str, ...]
    metric: str
    metrics: tuple[str, ...]
    protocols: tuple[str, ...]
    labels: tuple[str, ...]
    methods: tuple[str, ...]
    learners: tuple[str, ...]
    reference: str
    unranked: Mapping[str, str]
    controls: tuple[str, ...]
    facts: Mapping[str, Any]
    data: tuple[dict[str, Any], ...]
    absent: tuple[dict[str, str], ...]
    cells: pd.DataFrame
    folds: pd.DataFrame
    curves: pd.DataFrame
    comparisons: tuple[Comparison, ...]
    win_tie_loss: pd.DataFrame
    overview: pd.DataFrame
    named_right: pd.DataFrame
    sweep: pd.DataFrame
    costs: pd.DataFrame
    views: tuple[dict[str, Any], ...]
    failures: pd.DataFrame
    warnings: pd.DataFrame

    def select(self, **where: Any) -> pd.DataFrame:
        """Cells whose columns are as given, in the order of the tables."""
        return rows_where(self.cells, **where)

    def __getitem__(self, name: str) -> Any:
        if name not in {field.name for field in fields(self)}:
            raise KeyError(name)
        return plain(getattr(self, name))


def rows_where(frame: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """Rows whose columns are as given."""
    for name, value in where.items():
        frame = frame[frame[name] == value]
    return frame


def plain(value: Any) -> Any:
    """Convert frames and records to lists, dicts, strings and finite numbers."""
    if hasattr(value, "to_dict"):
        return [plain(row) for row in value.to_dict("records")]
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def summarize(folder: str | Path) -> Summary:
    """Summarize a finished run.

    Parameters
    ----------
    folder : str or Path
        As given to :func:`partlearn.benchmark.run_plan`.

    Returns
    -------
    Summary
        Input of all renderers. Its fields are attributes; ``summary["cells"]`` returns
        them as plain lists and dicts, as in the JSON.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import load_plan, run_plan
    >>> from partlearn.report import summarize
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_plan(load_plan("demo-quick"), folder)
    ...     summary = summarize(folder)
    >>> summary.plan, summary.cells["method"].iloc[0]
    ('demo-quick', 'none')
    """
    run = load_run(folder)
    with fitting(run.folder):
        return _summary(run)


def _summary(run: Run) -> Summary:
    frame = run.frame()
    scores = scores_of(run.plan, frame)
    plan, many = run.plan, run.multilabel
    cells, folds = with_sets(scores.cells), with_sets(scores.folds)
    names = [spec.name for spec in plan.compared]
    unranked = {
        spec.name: "fitted with the true labels"
        if spec.supervised
        else "for comparison"
        for spec in plan.compared
        if not spec.ranked
    }
    ranked = [name for name in names if name not in unranked]
    reference = plan.reference or ("" if many else _last(plan.compared))
    methods, controls = names, tuple[str, ...]()
    held: tuple[Sequence[str], Sequence[str]] = ((reference,), names)
    pairs = {"references": tuple(unranked)}
    if many:
        flat = [spec.name for spec in getattr(plan, "classifiers", ())]
        alone, levels = [Control.LABEL_FREQUENCY.value], [Control.LABEL_FREQUENCY.value]
        if plan.reducers:
            ranked += [str(control) for control in Control if control.orders_features]
            alone.insert(0, Control.ALL_FEATURES.value)
            levels.insert(0, Control.RANDOM.value)
        controls = tuple(c.value for c in Control if c in (*ranked, *alone))
        methods = [*dict.fromkeys([*names, *flat]), *controls]
        pairs = {"controls": tuple(alone)}
        held = (ranked, levels)
    ratios = rows_per_feature(run.data, plan.folds)
    compared, counts, ranks = [], [], []
    for metric in plan.metrics if many else plan.metrics[:1]:
        for protocol in plan.protocols:
            here = {"metric": metric, "protocol": protocol}
            part = rows_where(cells, **here)
            if part.empty:
                continue
            compared.append(compare(part, ranked, **pairs))
            by_fold = rows_where(folds, **here)
            counts.append(against(by_fold, *held, plan.folds, by_learner=not many))
            if not many:
                ranks.append(overview(part, ranked, names, ratios))
    notes = [AREA_NOTE] if many and plan.reducers else []
    if "transductive" in plan.protocols:
        notes.append(LEAK_NOTE)
    return Summary(
        schema="partlearn-report/3",
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
        labels=tuple(dict.fromkeys(cells["labels"])),
        methods=tuple(methods),
        learners=tuple(spec.name for spec in plan.learners) or (NO_LEARNER,),
        reference=reference,
        unranked=unranked,
        controls=controls,
        facts=run.facts,
        data=run.data,
        absent=run.absent,
        cells=cells,
        folds=folds,
        curves=with_sets(scores.curves),
        comparisons=tuple(c for c in compared if c is not None),
        win_tie_loss=_frame(chain(*counts), "protocol metric method other learner"),
        overview=_frame(chain(*ranks), "protocol group n_cells method rank mean"),
        named_right=_named_right(frame, plan.metrics[0], plan.task == "partial"),
        sweep=_sweep(plan.reducers, cells),
        costs=_costs(run, frame),
        views=() if many else tuple(_views(run, frame)),
        failures=_failures(frame),
        warnings=_counted(frame, "warning", ["reducer", "learner"], "n_jobs"),
    )


def _frame(rows: Any, columns: str) -> pd.DataFrame:
    """Frame of rows, which has its columns also without any."""
    import pandas as pd

    rows = list(rows)
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns.split())


def _last(reducers: Sequence[MethodSpec]) -> str:
    """Default reference: the last reducer that is ranked."""
    return next((s.name for s in reversed(reducers) if s.cls and s.ranked), "")


def _means(frame: pd.DataFrame, metrics: Mapping[str, str], by: list[str]) -> Any:
    """Means of metrics over jobs, as columns of the names given."""
    import pandas as pd

    rows = frame[frame["metric"].isin(list(metrics))]
    # NaN would be no key of an index.
    rows = rows.assign(r=rows["r"].fillna(-1.0)) if "r" in by else rows
    means = rows.groupby([*by, "metric"], sort=False)["value"].mean().unstack()
    order = pd.MultiIndex.from_frame(rows[by].drop_duplicates())
    order = order if len(by) > 1 else order.get_level_values(0)
    means = means.reindex(order).reindex(columns=list(metrics)).rename(columns=metrics)
    known = means.reset_index()
    return known.assign(r=known["r"].replace(-1.0, np.nan)) if "r" in by else known


def _named_right(frame: pd.DataFrame, metric: str, wanted: bool) -> pd.DataFrame:
    """Disambiguation and test scores by data set and reducer, over learners."""
    shares = {"reducer_disambiguation": "by_reduction", "disambiguation": "by_learner"}
    rows = frame if wanted else frame.iloc[:0]
    by = ["protocol", "data", "r", "reducer"]
    return with_sets(_means(rows, {**shares, metric: "test"}, by))


def _sweep(reducers: Sequence[MethodSpec], cells: pd.DataFrame) -> pd.DataFrame:
    """Curves of methods over the values of their grid, and horizontal lines."""
    import pandas as pd

    place = ["protocol", "labels", "metric", "data", "r", "set", "learner"]
    head, at = ["method", "parameter", "shown", "x"], [*place, "parameter", "x"]
    grid = [
        (spec.name, parameter, _without(spec, parameter), value)
        for spec in reducers
        for parameter, value in spec.point.items()
    ]
    varied = pd.DataFrame(grid, columns=head).astype(dict.fromkeys(head, object))
    known = cells[cells["mean"].notna()].rename(columns={"mean": "y"})
    points = known.merge(varied, on="method").assign(method=lambda p: p["shown"])
    levels = known[known["method"].isin(LEVELS)]
    levels = levels.sort_values("method", key=lambda m: m.map(LEVELS.index))
    lines = points[at].merge(levels[[*place, "method", "y"]], on=place)
    keys = lines.astype(str).drop_duplicates().index
    columns = [*place, "parameter", "method", "x", "y"]
    return pd.concat([points[columns], lines.loc[keys, columns]], ignore_index=True)


def _without(spec: MethodSpec, parameter: str) -> str:
    """Name of a method with all parameters of its grid but one."""
    others = (f", {k}={v}" for k, v in spec.point.items() if k != parameter)
    return spec.name.split("[")[0] + "".join(others)


def _counted(
    frame: pd.DataFrame, metric: str, by: list[str], count: str
) -> pd.DataFrame:
    """Distinct texts of a metric with their number of jobs."""
    rows = frame[frame["metric"] == metric]
    groups = rows.groupby([*by, "text"], sort=False, dropna=False)["id"]
    return groups.nunique().rename(count).reset_index()


def _failures(frame: pd.DataFrame) -> pd.DataFrame:
    by = ["protocol", "labels", "data", "r", "reducer", "learner"]
    failures = with_sets(_counted(frame, "error", by, "n_folds"))
    traces = frame[frame["metric"] == "traceback"].set_index("id")["text"]
    first = frame[frame["metric"] == "error"].drop_duplicates([*by, "text"])
    return failures.assign(traceback=traces.reindex(first["id"]).to_numpy())


def _costs(run: Run, frame: pd.DataFrame) -> pd.DataFrame:
    """Times and memory of reducers, classifiers and learners."""
    import pandas as pd

    parts = []
    reduced = frame[frame["reduction"] != ""]
    reduced = reduced.drop_duplicates(["reducer", "reduction", "metric"])
    alone = frame[frame["learner"] == NO_LEARNER]
    alone = alone.assign(classifier=alone["reducer"])
    classifiers = getattr(run.plan, "classifiers", ())
    for kind, specs, rows, prefix, use, key in (
        ("reducer", run.plan.reducers, reduced, "reducer_", "transform", "reduction"),
        ("classifier", classifiers, alone, "", "predict", "id"),
        ("learner", run.plan.learners, frame, "", "predict", "id"),
    ):
        names = {f"{prefix}fit_time": "fit_time", f"{prefix}{use}_time": "use_time"}
        means = _means(rows, names, [kind]).set_index(kind)
        peaks = rows[rows["metric"] == f"{prefix}peak_mb"].groupby(kind)["value"].max()
        n_runs = rows.groupby(kind)[key].nunique()
        found = means.assign(peak_mb=peaks).join(n_runs.rename("n_runs"), how="right")
        found = found.loc[[s.name for s in specs if s.name in found.index]]
        found = found.rename_axis("name").reset_index()
        parts.append(found.assign(kind=kind))
    columns = ["kind", "name", "n_runs", "fit_time", "use_time", "peak_mb"]
    return pd.concat(parts, ignore_index=True)[columns]


def _views(run: Run, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """One view per reducer that has confidences, on the first data set of the run."""
    store, first = Store(run.folder), run.data[0]
    here = frame[(frame["data"] == first["name"]) & (frame["reduction"] != "")]
    for r in first["r"][:1]:
        here = here[here["r"] == r]
    views: list[dict[str, Any]] = []
    for job in here.drop_duplicates(["protocol", "reducer"]).itertuples():
        name = f"reductions/{job.reduction}"
        record = store.get(name) if len(views) < MAX_VIEWS else None
        for file, reason in store.damaged.items():
            raise DamagedStoreError(reason, path=run.folder / file)
        if record is not None and "confidence" in record.arrays:
            right = {name: value for name, value, _ in record.values}
            about = {
                "protocol": job.protocol,
                "data": job.data,
                "r": job.r,
                "reducer": job.reducer,
                "fold": job.fold,
                "disambiguation": right.get("disambiguation", np.nan),
            }
            views.append({**about, **_view(record.arrays, first["classes"])})
    return views


def _view(arrays: Mapping[str, np.ndarray], classes: Sequence[str]) -> dict[str, Any]:
    """A plane of rows, histograms of confidences, and the most ambiguous rows."""
    import pandas as pd

    rows, F = arrays["rows"], arrays["confidence"]
    S, truth = arrays["candidates"].astype(bool), arrays["truth"]
    Z, names = arrays["Z"][rows], np.asarray(classes, dtype=object)
    top, level = F.argmax(axis=1), F.max(axis=1)
    # Evenly spread rows: the picture does not depend on a random draw.
    shown = np.unique(np.linspace(0, len(Z) - 1, min(len(Z), MAX_POINTS)).astype(int))
    edges = np.linspace(0, 1, N_BINS + 1)
    doubtful = np.lexsort((np.arange(len(F)), level))[:N_ROWS]
    points = {
        "x": Z[:, 0],
        "y": Z[:, 1] if Z.shape[1] > 1 else np.zeros(len(Z)),
        "label": names[top],
        "confidence": level,
        "correct": top == truth,
    }

    def candidates(i: int) -> list[dict[str, Any]]:
        order = sorted(np.flatnonzero(S[i]).tolist(), key=lambda j: -F[i, j])[:5]
        return [{"label": names[j], "confidence": float(F[i, j])} for j in order]

    return {
        "points": pd.DataFrame(points).iloc[shown],
        "histogram": {
            "edges": edges.tolist(),
            "before": np.histogram(1.0 / S.sum(axis=1), edges)[0].tolist(),
            "after": np.histogram(np.clip(level, 0, 1), edges)[0].tolist(),
        },
        "ambiguous": [
            {"row": int(rows[i]), "candidates": candidates(i), "truth": names[truth[i]]}
            for i in doubtful
        ],
    }
