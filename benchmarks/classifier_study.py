"""The study of CRISPClassifier and KernelCRISP as text for the documentation.

    partlearn bench crisp-classifier-study --data FOLDER
    python -m benchmarks.classifier_study results/crisp-classifier-study --figure x.svg

Every data set counts once, by its mean over folds. Printed are the ranks and means of
each reduction before each learner, CRISPClassifier on raw features beside every other
pair of reduction and learner, with Wilcoxon's test over data sets corrected by Holm,
and the data sets on which another pair is clearly better.
"""

import argparse
from collections import defaultdict

import numpy as np

from benchmarks.study import number, table
from partlearn.benchmark import average_ranks, load_run, wilcoxon_holm

OURS = ("none", "CRISPClassifier")
CLEARLY = 0.02  # a difference that a reader would not want to miss
SHOWN = 12


def accuracies(folder):
    """Mean accuracy by pair of reduction and learner, and data set."""
    scores = defaultdict(list)
    for row in load_run(folder).results:
        if row.status == "ok":
            key = (row.reducer, row.learner), (row.data, row.r)
            scores[key].append(row.scores["accuracy"])
    pairs = sorted({pair for pair, _ in scores})
    cells = sorted({cell for _, cell in scores}, key=str)
    grid = np.array([[np.mean(scores[p, c]) for c in cells] for p in pairs])
    return pairs, cells, grid


def before_learners(pairs, grid):
    """Rank / mean accuracy of every reduction before every learner."""
    reducers = sorted({r for r, _ in pairs})
    learners = sorted({learner for _, learner in pairs})
    rows = []
    for learner in learners:
        part = grid[[pairs.index((r, learner)) for r in reducers]]
        ranks = np.asarray(average_ranks(part.T))
        rows.append(
            [learner]
            + [
                f"{rank:.2f} / {number(mean)}"
                for rank, mean in zip(ranks, part.mean(axis=1), strict=True)
            ]
        )
    return table(["learner", *reducers], rows)


def beside_ours(pairs, grid):
    """CRISPClassifier against the other pairs, the best of them first."""
    own = pairs.index(OURS)
    others = [i for i in range(len(pairs)) if i != own and pairs[i][1] != OURS[1]]
    others = sorted(others, key=lambda i: -grid[i].mean())
    p_values = wilcoxon_holm(grid[[own, *others]].T, control=0)[1:]
    rows = [[OURS[1], number(grid[own].mean()), "", "", ""]]
    for i, p_value in list(zip(others, p_values, strict=True))[:SHOWN]:
        gap = grid[own] - grid[i]
        wins, losses = int((gap > 0).sum()), int((gap < 0).sum())
        rows.append(
            [
                " + ".join(pairs[i]),
                number(grid[i].mean()),
                f"{gap.mean():+.3f}",
                f"{wins} / {losses}",
                f"{p_value:.4f}",
            ]
        )
    head = ["pair", "mean accuracy", "ours minus it", "better / worse", "p (Holm)"]
    return table(head, rows)


def where_behind(pairs, cells, grid):
    own = pairs.index(OURS)
    others = [i for i in range(len(pairs)) if pairs[i][1] != OURS[1]]
    lines = []
    for c, (data, r) in enumerate(cells):
        best = max(others, key=lambda i: grid[i, c])
        if grid[best, c] - grid[own, c] > CLEARLY:
            name = data if r is None else f"{data}, r = {r}"
            lines.append(
                f"* {name}: {number(grid[own, c])}, {' + '.join(pairs[best])} "
                f"{number(grid[best, c])}"
            )
    return lines


def dots(pairs, grid, path):
    """Accuracy of some pairs minus the best of the others, one dot per data set."""
    from matplotlib.figure import Figure

    wanted = [
        OURS,
        ("KernelCRISP", "SURE"),
        ("KernelCRISP", "PL-KNN"),
        ("CRISP", "SURE"),
        ("none", "PL-AGGD"),
        ("none", "SURE"),
        ("none", "IPAL"),
        ("none", "PL-KNN"),
    ]
    part = grid[[pairs.index(pair) for pair in wanted]]
    axes = Figure(figsize=(7, 3.6), layout="constrained").add_subplot()
    for i, pair in enumerate(wanted):
        gap = part[i] - np.delete(part, i, axis=0).max(axis=0)
        height = len(wanted) - 1 - i + np.linspace(-0.22, 0.22, len(gap))
        colour = "#0b5394" if pair == OURS else "#7f8c8d"
        axes.scatter(gap, height, s=16, color=colour, linewidths=0)
        axes.plot([np.median(gap)] * 2, height[[0, -1]], color="#9a3412", linewidth=2)
    axes.axvline(0, color="0.3", linewidth=1)
    names = [
        learner if reducer == "none" else f"{reducer} + {learner}"
        for reducer, learner in wanted
    ]
    axes.set_yticks(range(len(wanted)), names[::-1])
    axes.set_xlabel("accuracy minus the best of the others, one dot per data set")
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.savefig(path, metadata={"Date": None})


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--figure", help="write the dots to this file")
    options = parser.parse_args(arguments)
    pairs, cells, grid = accuracies(options.folder)
    if options.figure:
        dots(pairs, grid, options.figure)
    print(f"{len(cells)} data sets, {len(pairs)} pairs of reduction and learner\n")
    print("Average rank / mean accuracy of the reductions before each learner\n")
    print("\n".join(before_learners(pairs, grid)))
    print("\n".join(beside_ours(pairs, grid)))
    print("\n".join(where_behind(pairs, cells, grid)))


if __name__ == "__main__":
    main()
