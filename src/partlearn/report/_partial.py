"""Summary of a run on partial labels."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from partlearn.benchmark import Store, load_rows, published_figures
from partlearn.report._common import common, grouped, mean_of, spread, sweep
from partlearn.report._compare import against, compare, mark_best
from partlearn.report._overview import overview
from partlearn.report._records import PartialCell, PartialSummary, Published
from partlearn.report._views import views

__all__ = ["summarize_partial"]

Row = Mapping[str, Any]

LEAK_NOTE = (
    "The transductive protocol is the recipe behind the published tables: the reducer "
    "is fitted once on all rows and all candidate sets, those of the test rows "
    "included. True labels are never seen, but test features and test candidate sets "
    "are, so these accuracies are too high for new data. The inductive protocol fits "
    "everything on the training fold only; its figures are the ones to expect in use."
)


def summarize_partial(store: Store, plan: Row, run: Row) -> PartialSummary:
    """Summarise the run in ``store``.

    Parameters
    ----------
    store : Store
        Folder of the run.
    plan, run : mapping
        Its ``plan.json`` and ``run.json``.

    Returns
    -------
    PartialSummary
        What the report shows.
    """
    results, timings = load_rows(store.folder)
    names = [m["name"] for m in plan["reducers"]]
    unranked = _unranked(plan)
    ranked = [name for name in names if name not in unranked]
    reference = _reference(plan)
    cells = _cells(plan, results, unranked)
    tables = [
        part
        for protocol in plan["protocols"]
        if (part := [c for c in cells if c.protocol == protocol])
    ]
    metric, folds = plan["metrics"][0], plan["folds"]
    notes = [LEAK_NOTE] if "transductive" in plan["protocols"] else []
    shared = common(plan, run, results, timings, notes, "protocol")
    compared = (
        compare(part, ranked, metric, references=list(unranked)) for part in tables
    )
    return PartialSummary(
        schema="partlearn-report/2",
        protocols=list(plan["protocols"]),
        reference=reference,
        reducers=names,
        unranked=unranked,
        cells=cells,
        published=_published(cells),
        comparisons=[c for c in compared if c is not None],
        win_tie_loss=[
            entry
            for part in tables
            for entry in against(part, [reference], names, folds)
        ],
        overview=overview(folds, tables, ranked, names, run["data"], shared["costs"]),
        sweep=sweep(
            plan,
            (
                ((c.protocol, c.data, c.r, c.learner), c.reducer, c.mean, c.std)
                for c in cells
                if c.mean is not None
            ),
        ),
        views=views(timings, run["data"], store),
        **shared,
    )


def _reference(plan: Row) -> str:
    if plan["reference"]:
        return str(plan["reference"])
    named = [m["name"] for m in plan["reducers"] if m["cls"] and m.get("ranked", True)]
    return str(named[-1]) if named else ""


def _unranked(plan: Row) -> dict[str, str]:
    """References, and what makes them so."""
    return {
        m["name"]: "fitted with the true labels"
        if m.get("supervised")
        else "for comparison"
        for m in plan["reducers"]
        if not m.get("ranked", True)
    }


def _cells(
    plan: Row, results: Iterable[Row], unranked: Mapping[str, str]
) -> list[PartialCell]:
    source = plan["published"]
    figures = published_figures(source["paper"], str(source["table"])) if source else {}
    names = {
        m["name"]: m["published"]
        for kind in ("reducers", "learners")
        for m in plan[kind]
    }
    keys = ("protocol", "data", "r", "learner", "reducer")
    cells = []
    for key, rows in grouped(results, keys).items():
        _, data, r, learner, reducer = key
        figure = figures.get((data, r, names[reducer], names[learner]))
        cells.append(_cell(key, rows, plan["metrics"][0], figure))
    eligible = {i: c.whole and c.reducer not in unranked for i, c in enumerate(cells)}
    return mark_best(cells, eligible, plan["folds"])


def _cell(
    key: tuple[Any, ...], rows: Sequence[Row], metric: str, figure: Any
) -> PartialCell:
    protocol, data, r, learner, reducer = key
    good = [row for row in rows if row["status"] == "ok" and row[metric] is not None]
    scores = [row[metric] for row in good]
    mean = mean_of(scores)
    return PartialCell(
        protocol=protocol,
        data=data,
        r=r,
        learner=learner,
        reducer=reducer,
        mean=mean,
        std=spread(scores),
        n_scores=len(scores),
        n_failed=sum(row["status"] != "ok" for row in rows),
        # A mean over the folds that did not fail compares with no other.
        whole=len(scores) == len(rows),
        scores=[(row["noise_seed"], row["fold"], row[metric]) for row in good],
        best=False,
        behind=None,
        behind_low=None,
        behind_high=None,
        n_components=mean_of(row["n_components"] for row in rows),
        disambiguation=mean_of(row["disambiguation"] for row in good),
        reducer_disambiguation=mean_of(row["reducer_disambiguation"] for row in good),
        candidate_hit=mean_of(row["candidate_hit"] for row in good),
        published_mean=figure.mean if figure else None,
        published_std=figure.std if figure else None,
        published_n_components=figure.n_components if figure else None,
        difference=mean - figure.mean if figure and mean is not None else None,
    )


def _published(cells: Iterable[PartialCell]) -> list[Published]:
    rows: dict[tuple[Any, ...], Published] = {}
    for cell in cells:
        if cell.published_mean is None:
            continue
        row = rows.setdefault(
            (*cell.place, cell.reducer),
            Published(
                data=cell.data,
                r=cell.r,
                learner=cell.learner,
                reducer=cell.reducer,
                metric="accuracy",
                labels="candidates",
                published_mean=cell.published_mean,
                published_std=cell.published_std,
                published_n_components=cell.published_n_components,
                measured={},
                beside={},
            ),
        )
        names = ("mean", "std", "difference", "n_components")
        row.measured[cell.protocol] = {k: cell[k] for k in names}  # type: ignore[index]
    return list(rows.values())
