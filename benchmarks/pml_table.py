"""Write the tables of the page on published multi-label numbers from a finished run.

partlearn bench pml-sound --data FOLDER
python -m benchmarks.pml_table results/pml-sound docs/user_guide
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from partlearn.benchmark import average_ranks
from partlearn.report import summarize

LOWER = ("ranking_loss", "coverage")
DEVELOPMENT = "emotions"  # used when TRACE was developed
SHORT = {"linear SVM": "SVM", "ML-KNN": "kNN"}
FLAT = ("all features", "label frequency", "ML-KNN, all features")


def save(path: Path, rows: list[list[str]]) -> None:
    """Write one CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    print(path.name, len(rows) - 1, "rows")


def cell_of(summary, **wanted):
    """The one cell with these values, or None."""
    return next(summary.select(**wanted).itertuples(), None)


def blocks_of(summary, labels):
    """Data sets and learners of the table's columns."""
    cells = summary.select(labels=labels)
    return list(dict.fromkeys(zip(cells["data"], cells["learner"], strict=True)))


def wide(summary, metric, labels):
    """Methods by data set and learner."""
    blocks = blocks_of(summary, labels)
    rows = [["method", *(f"{data}, {SHORT[learner]}" for data, learner in blocks)]]
    for method in summary.methods:
        row = [method + (" (control)" if method in summary.controls else "")]
        for data, learner in blocks:
            cell = cell_of(
                summary,
                data=data,
                learner=learner,
                labels=labels,
                method=method,
                metric=metric,
            )
            if cell is None or np.isnan(cell.mean):
                row.append("")
            else:
                row.append(f"{cell.mean:.3f}{'*' if cell.best else ''}")
        rows.append(row)
    return rows


def long(summary):
    """Everything, one row per cell: areas, and what papers print."""
    names = ["data", "r", "labels", "learner", "method", "metric"]
    rows = [[*names, "area", "area_std", "mean", "std"]]
    for c in summary.cells.itertuples():
        numbers = (c.mean, c.std, c.printed, c.printed_std)
        values = ["" if np.isnan(v) else f"{v:.4f}" for v in numbers]
        about = (c.data, f"{c.r:g}", c.labels, c.learner, c.method, c.metric)
        rows.append([*about, *values])
    return rows


def published(summary):
    """Published PML-FSLA beside ours, with the controls, linear SVM on candidates."""
    ours = ["PML-FSLA", "PML-FSLA, program", "TRACE"]
    controls = ["random order", "ridge on candidates", "all features"]
    rows = [["data", "score", "published", *ours, "difference", *controls]]
    rows[0].append("label frequency")
    seen = set()
    shown = summary.select(method="PML-FSLA", labels="candidates")
    for c in shown.dropna(subset="published").itertuples():
        key = (c.data, c.metric)
        if key in seen:
            continue
        seen.add(key)
        here = {"data": c.data, "metric": c.metric, "learner": c.learner}
        beside = summary.select(**here, labels="candidates").dropna(subset="printed")
        known = dict(zip(beside["method"], beside["printed"], strict=True))
        name = c.metric.replace("_", " ").replace("f1", "F1")
        row = [f"{c.data}, {SHORT[c.learner]}", name, f"{c.published:.3f}"]
        row += [f"{known[m]:.3f}" if known.get(m) is not None else "" for m in ours]
        row.append(f"{known['PML-FSLA'] - c.published:+.3f}")
        row += [f"{known[m]:.3f}" for m in (*controls, "label frequency")]
        rows.append(row)
    return rows


def against_random(summary, metric):
    """Which methods beat a random order of features."""
    rows = [["method", "difference", "better in", "data sets better on"]]
    rows[0] += ["win/tie/loss", "better than label frequency in"]
    informed = {
        e.method: f"{e.n_above} of {e.n_cells}"
        for e in summary.win_tie_loss.itertuples()
        if (e.metric, e.other) == (metric, "label frequency")
    }
    (compared,) = [c for c in summary.comparisons if c.metric == metric]
    entries = [
        e
        for e in summary.win_tie_loss.itertuples()
        if (e.metric, e.other) == (metric, "random order")
    ]
    for e in sorted(entries, key=lambda e: -e.difference):
        pair = compared.pair(e.method, e.other)
        rows.append(
            [
                e.method,
                f"{e.difference:+.4f}",
                f"{e.n_above} of {e.n_cells}",
                f"{pair.win} of {pair.n_data}",
                str(e.corrected),
                informed[e.method],
            ]
        )
    return rows


def scores_of(summary, metric, methods, without=()):
    """Areas by block and method, turned so that more is better."""
    sign = -1 if metric in LOWER else 1
    blocks: dict[tuple, dict[str, float]] = {}
    for c in summary.cells.itertuples():
        if c.metric == metric and not np.isnan(c.mean) and c.data not in without:
            key = (c.data, c.labels, c.learner)
            blocks.setdefault(key, {})[c.method] = sign * c.mean
    whole = {k: b for k, b in blocks.items() if all(m in b for m in methods)}
    return list(whole), np.array([[b[m] for m in methods] for b in whole.values()])


def ranks(summary):
    """Average ranks by several scores, over combinations and over data sets."""
    methods = [m for m in summary.methods if m not in FLAT]
    scores = [scores_of(summary, metric, methods)[1] for metric in summary.metrics]
    keys, first = scores_of(summary, summary.metric, methods)
    _, fewer = scores_of(summary, summary.metric, methods, (DEVELOPMENT,))
    data = [key[0] for key in keys]
    sets = list(dict.fromkeys(data))
    by_set = np.array([first[[d == s for d in data]].mean(axis=0) for s in sets])
    columns = [average_ranks(table) for table in (*scores, fewer, by_set)]
    head = ["method", *(m.replace("_", " ") for m in summary.metrics)]
    rows = [[*head, "without emotions", "by data set"]]
    order = np.argsort(columns[0], kind="stable")
    return rows + [[methods[i], *(f"{c[i]:.2f}" for c in columns)] for i in order]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="folder of the finished run")
    parser.add_argument("out", type=Path, help="folder for the tables")
    args = parser.parse_args()
    summary = summarize(args.run)
    print(summary.facts["n_jobs"], "jobs,", summary.facts["n_failed"], "failed")
    tables = {
        "pml_sound": long(summary),
        "pml_sound_candidates": wide(summary, "average_precision", "candidates"),
        "pml_sound_clean": wide(summary, "average_precision", "clean"),
        "pml_sound_ranking_loss": wide(summary, "ranking_loss", "candidates"),
        "pml_sound_published": published(summary),
        "pml_sound_random": against_random(summary, "average_precision"),
        "pml_sound_ranks": ranks(summary),
    }
    for name, rows in tables.items():
        save(args.out / f"{name}.csv", rows)


if __name__ == "__main__":
    main()
