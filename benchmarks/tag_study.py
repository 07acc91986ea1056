"""Write the tables of the page on classifiers for tags from a finished run.

partlearn bench pml-learners --data DATA --out RUN
python -m benchmarks.tag_study RUN docs/user_guide/pml_learners

``pml-selectors`` in the same way. STEM.csv has ranks and means over data sets, each of
which counts once; STEM_sets.csv average precision by set and level. The tests that the
page names are printed.
"""

import argparse
from pathlib import Path

from benchmarks.pml_table import save
from partlearn.benchmark import metric_sign
from partlearn.report import summarize


def by_method(summary, metric):
    """Mean over data sets by method, controls included."""
    cells = summary.select(metric=metric)
    cells = cells[cells["whole"]]
    return cells.groupby(["method", "data"])["mean"].mean().groupby("method").mean()


def means(summary):
    """Mean rank and sets on which a method is first, and its means of all scores."""
    first = summary.comparisons[0]
    ranked = first.table.set_index("method")
    columns = {m: by_method(summary, m) for m in summary.metrics}
    sign = metric_sign(summary.metric)
    order = (-sign * columns[summary.metric]).sort_values(kind="stable").index
    names = [metric.replace("_", " ") for metric in summary.metrics]
    rows = [["method", "mean rank", "first on", *names]]
    for method in order:
        place = ["", ""]  # controls have none
        if method in ranked.index:
            place = [f"{ranked['rank'][method]:.2f}", str(ranked["n_first"][method])]
        scores = [f"{columns[metric][method]:.3f}" for metric in summary.metrics]
        rows.append([method, *place, *scores])
    return rows


def sets(summary, n_methods):
    """Average precision of the first methods by data set and level of noise."""
    cells = summary.select(metric=summary.metric)
    wide = cells.pivot(index="set", columns="method", values="mean")
    chosen = list(summary.comparisons[0].methods[:n_methods])
    names = dict.fromkeys(cells["set"])
    return [
        ["data", *chosen],
        *([name, *(f"{wide[m][name]:.3f}" for m in chosen)] for name in names),
    ]


def told(summary, controls):
    """Print the tests: all methods at once, and the reference against each other."""
    first = summary.comparisons[0]
    print(f"{len(first.data)} data sets, {first.n_cells} combinations")
    print(f"Friedman p = {first.friedman_p:.2g}")
    for other in [*first.methods, *controls]:
        pair = first.pair(summary.reference, other)
        if pair is not None:
            print(
                f"{summary.reference} against {other}: {pair.difference:+.4f}, "
                f"{pair.win} of {pair.n_data} sets, p = {pair.p:.2g}"
                f"{' *' if pair.significant else ''}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="folder of the finished run")
    parser.add_argument("stem", type=Path, help="beginning of the names of the tables")
    args = parser.parse_args()
    summary = summarize(args.run)
    print(summary.facts["n_jobs"], "jobs,", summary.facts["n_failed"], "failed")
    save(args.stem.with_suffix(".csv"), means(summary))
    save(args.stem.with_name(f"{args.stem.name}_sets.csv"), sets(summary, 5))
    told(summary, summary.controls)


if __name__ == "__main__":
    main()
