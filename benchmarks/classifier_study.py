r"""The study of CRISPClassifier and KernelCRISP as text for the documentation.

    partlearn bench crisp-classifier-study --data FOLDER
    partlearn bench crisp-classifier-study-learners --data FOLDER
    partlearn bench crisp-classifier-study-forest --data FOLDER
    python -m benchmarks.classifier_study results/crisp-classifier-study \
        results/crisp-classifier-study-learners --figure x.svg

Runs over the same data sets are read together. Every data set counts once, by its mean
over folds; those that not every pair has finished are left out and named. Printed are
the ranks and means of each reduction before each learner, for all data sets and by
regime (rows of training per feature, number of false candidates), CRISPClassifier on
raw features beside every other pair of reduction and learner, with Wilcoxon's test over
data sets corrected by Holm and its effect size, its means by regime, and the data sets
on which another pair is clearly better.
"""

import argparse
from collections import defaultdict

import numpy as np
from scipy.stats import rankdata

from benchmarks.study import number, table
from partlearn.benchmark import average_ranks, load_run, wilcoxon_holm

OURS = ("none", "CRISPClassifier")
CLEARLY = 0.02  # a difference that a reader would not want to miss
SHOWN = 14
FEW = 10  # rows of training per feature


def accuracies(folders):
    """Mean accuracy by pair of reduction and learner, and data set; facts; left out."""
    scores, facts, folds = defaultdict(list), {}, 0
    for folder in folders:
        run = load_run(folder)
        folds = max(folds, run.plan.folds)
        facts |= {item.name: item for item in run.data}
        for row in run.results:
            if row.status == "ok":
                key = (row.reducer, row.learner), (row.data, row.r)
                scores[key].append(row.scores["accuracy"])
    pairs = sorted({pair for pair, _ in scores})
    known = sorted({cell for _, cell in scores}, key=str)
    cells = [c for c in known if all(len(scores[p, c]) == folds for p in pairs)]
    grid = np.array([[np.mean(scores[p, c]) for c in cells] for p in pairs])
    share = 1 - 1 / folds
    per_feature = [
        share * facts[data].n_samples / facts[data].n_features for data, _ in cells
    ]
    return (
        pairs,
        cells,
        grid,
        np.array(per_feature),
        [c for c in known if c not in cells],
    )


def regimes(cells, per_feature):
    """Names of parts of the data sets, each with a mask."""
    amounts = np.array([-1 if r is None else r for _, r in cells])
    parts = {
        "all": np.ones(len(cells), dtype=bool),
        f"under {FEW} rows per feature": per_feature < FEW,
        f"{FEW} rows or more": per_feature >= FEW,
        "own candidate sets": amounts < 0,
    }
    parts |= {f"r = {r}": amounts == r for r in sorted(set(amounts.tolist()) - {-1})}
    return {name: mask for name, mask in parts.items() if mask.any()}


def before_learners(pairs, grid):
    """Rank / mean accuracy of the reductions before learners that have them all."""
    reducers = sorted({r for r, _ in pairs})
    learners = sorted({learner for _, learner in pairs})
    rows = []
    for learner in learners:
        if any((r, learner) not in pairs for r in reducers):
            continue
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


def by_regime(pairs, grid, parts):
    """Mean accuracy of pairs by regime, and rank among all pairs, the best first."""
    order = sorted(range(len(pairs)), key=lambda i: -grid[i].mean())
    ranks = {
        name: np.asarray(average_ranks(grid[:, mask].T)) for name, mask in parts.items()
    }
    rows = [["data sets", *(str(int(mask.sum())) for mask in parts.values())]]
    for i in order[:SHOWN]:
        cells = [
            f"{ranks[name][i]:.1f} / {number(grid[i, mask].mean())}"
            for name, mask in parts.items()
        ]
        rows.append([" + ".join(pairs[i]).removeprefix("none + "), *cells])
    return table(["pair", *parts], rows)


def beside_ours(pairs, grid):
    """CRISPClassifier against the other pairs, the best of them first."""
    own = pairs.index(OURS)
    others = [i for i in range(len(pairs)) if i != own and pairs[i][1] != OURS[1]]
    others = sorted(others, key=lambda i: -grid[i].mean())
    p_values = wilcoxon_holm(grid[[own, *others]].T, control=0)[1:]
    rows = [[OURS[1], number(grid[own].mean()), "", "", "", ""]]
    for i, p_value in list(zip(others, p_values, strict=True))[:SHOWN]:
        gap = grid[own] - grid[i]
        wins, losses = int((gap > 0).sum()), int((gap < 0).sum())
        rows.append(
            [
                " + ".join(pairs[i]),
                number(grid[i].mean()),
                f"{gap.mean():+.3f}".replace("0.", "."),
                f"{wins} / {losses}",
                f"{rank_biserial(gap):.2f}",
                "< .0001" if p_value < 1e-4 else number(p_value, 4),
            ]
        )
    head = ["pair", "accuracy", "ours minus it", "better / worse", "effect", "p (Holm)"]
    return table(head, rows)


def rank_biserial(gap):
    """Effect size of Wilcoxon's test: from -1 (always worse) to 1 (always better)."""
    gap = gap[gap != 0]
    if not len(gap):
        return 0.0
    ranks = rankdata(np.abs(gap))
    return float((ranks * np.sign(gap)).sum() / ranks.sum())


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
        ("none", "forest, cross-fitted"),
        ("none", "IPAL"),
        ("none", "PL-KNN"),
    ]
    wanted = [pair for pair in wanted if pair in pairs]
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
    parser.add_argument("folders", nargs="+", help="finished runs")
    parser.add_argument("--figure", help="write the dots to this file")
    options = parser.parse_args(arguments)
    pairs, cells, grid, per_feature, missing = accuracies(options.folders)
    parts = regimes(cells, per_feature)
    if options.figure:
        dots(pairs, grid, options.figure)
    print(f"{len(cells)} data sets, {len(pairs)} pairs of reduction and learner")
    if missing:
        print("left out:", ", ".join(data for data, _ in missing))
    for name in [n for n in parts if n == "all" or "rows" in n]:
        print(f"\nAverage rank / mean accuracy before each learner: {name}\n")
        print("\n".join(before_learners(pairs, grid[:, parts[name]])))
    print("\n".join(beside_ours(pairs, grid)))
    print("Rank among all pairs / mean accuracy by regime\n")
    print("\n".join(by_regime(pairs, grid, parts)))
    print("\n".join(where_behind(pairs, cells, grid)))


if __name__ == "__main__":
    main()
