r"""The study of CRISPClassifier and KernelCRISP as text for the documentation.

    partlearn bench crisp-classifier-study --data FOLDER
    partlearn bench crisp-classifier-study-ecoc --data FOLDER
    partlearn bench crisp-classifier-study-learners --data FOLDER
    partlearn bench crisp-classifier-study-forest --data FOLDER
    python -m benchmarks.classifier_study results/crisp-classifier-study \
        results/crisp-classifier-study-ecoc results/crisp-classifier-study-learners \
        results/crisp-classifier-study-forest --out docs/user_guide/classifier_study

Runs over the same data sets are read together. Every data set counts once, by its mean
over folds and numbers of false candidates. A pair of reduction and learner that could
not be run everywhere is compared on what it has, and has no rank among all. Written
are ``classifier_study.inc``, which the user guide includes, and the figure
``classifier_study.svg``; without ``--out`` the text is printed.
"""

import argparse
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.study import number, table
from partlearn.benchmark import (
    average_ranks,
    holm,
    load_run,
    rank_biserial,
    wilcoxon_holm,
)

OURS = ("none", "CRISPClassifier")
REDUCERS = ("none", "PCA 95 %", "CENDA", "PLDA", "CRISP", "KernelCRISP")
LEARNERS = ("PL-KNN", "PL-SVM", "PL-ECOC", "IPAL", "SURE", "PL-AGGD")
CLEARLY = 0.02  # a difference that a reader would not want to miss
SHOWN = 10
MOSTLY = 0.9  # share of another pair's cells that a rank among all takes
FEW = 10  # rows of training per feature


@dataclass(frozen=True)
class Study:
    """Mean accuracy over folds of pairs in cells, which are data sets with an r."""

    pairs: list
    cells: list
    grid: np.ndarray  # pairs x cells, nan where not every fold was finished
    per_feature: np.ndarray  # rows of training per feature, by cell

    def part(self, mask):
        """The study on some of its cells."""
        cells = [c for c, kept in zip(self.cells, mask, strict=True) if kept]
        return Study(self.pairs, cells, self.grid[:, mask], self.per_feature[mask])

    def of(self, pairs):
        """Some pairs, on the cells that all of them have."""
        grid = self.grid[[self.pairs.index(pair) for pair in pairs]]
        some = Study(list(pairs), self.cells, grid, self.per_feature)
        return some.part(~np.isnan(grid).any(axis=0))

    def complete(self):
        """Pairs that have nearly all cells, on those that they have in common."""
        counts = (~np.isnan(self.grid)).sum(axis=1)
        own = self.pairs.index(OURS)
        enough = counts >= MOSTLY * np.delete(counts, own).max()
        return self.of([p for p, kept in zip(self.pairs, enough, strict=True) if kept])

    def by_set(self):
        """Data sets x pairs: every data set counts once."""
        names = np.array([data for data, _ in self.cells])
        order = list(dict.fromkeys(names.tolist()))
        return order, np.array([self.grid[:, names == n].mean(axis=1) for n in order])

    def regimes(self):
        """Parts of the study by name."""
        amounts = np.array([-1 if r is None else r for _, r in self.cells])
        masks = {
            "all": np.ones(len(self.cells), dtype=bool),
            f"< {FEW} rows per feature": self.per_feature < FEW,
            f"{FEW} or more": self.per_feature >= FEW,
            "own sets": amounts < 0,
        }
        numbers = sorted(set(amounts.tolist()) - {-1})
        masks |= {f"r = {r}": amounts == r for r in numbers}
        return {name: self.part(mask) for name, mask in masks.items() if mask.any()}


def read(folders):
    """Results of runs, and the number of cells that some fold is missing of."""
    scores, facts, folds = defaultdict(list), {}, 0
    for folder in folders:
        run = load_run(folder)
        folds = max(folds, run.plan.folds)
        facts |= {item["name"]: item for item in run.data}
        frame = run.frame()
        for row in frame[frame["metric"] == "accuracy"].itertuples():
            r = None if np.isnan(row.r) else int(row.r)
            key = (row.reducer, row.learner), (row.data, r)
            scores[key].append(row.value)
    pairs = sorted({pair for pair, _ in scores})
    cells = sorted({cell for _, cell in scores}, key=str)
    grid = np.full((len(pairs), len(cells)), np.nan)
    for i, pair in enumerate(pairs):
        for j, cell in enumerate(cells):
            if len(scores[pair, cell]) == folds:
                grid[i, j] = np.mean(scores[pair, cell])
    rows = [(1 - 1 / folds) * facts[data]["n_samples"] for data, _ in cells]
    features = [facts[data]["n_features"] for data, _ in cells]
    return Study(pairs, cells, grid, np.array(rows) / np.array(features))


def called(pair):
    reducer, learner = pair
    return learner if reducer == "none" else f"{reducer} + {learner}"


def shown(p_value):
    return "< .0001" if p_value < 1e-4 else number(p_value, 4)


def before_learners(study):
    """Rank / mean accuracy of the reductions before each learner.

    The last column is the largest p of KernelCRISP against the other reductions.
    """
    rows, last = [], len(REDUCERS) - 1
    parts = list(study.regimes().items())[:3]
    for name, part in parts:
        for i, learner in enumerate(LEARNERS):
            pairs = [(reducer, learner) for reducer in REDUCERS]
            if not set(pairs) <= set(study.pairs):
                continue
            names, scores = part.of(pairs).by_set()
            ranks = np.asarray(average_ranks(scores))
            cells = [
                f"{rank:.2f} / {number(mean)}"
                for rank, mean in zip(ranks, scores.mean(axis=0), strict=True)
            ]
            p = shown(wilcoxon_holm(scores, control=last)[:last].max())
            regime = "\\ " if i else f"{name}, {len(names)} sets"
            rows.append([regime, learner, *cells, p])
    return table(["regime", "learner", *REDUCERS, "p"], rows)


def beside_ours(study):
    """CRISPClassifier against the other pairs, the best of them first."""
    found = []
    for pair in study.pairs:
        if pair == OURS:
            continue
        names, scores = study.of([OURS, pair]).by_set()
        ours, other = scores.T
        p_value = wilcoxon_holm(scores, control=0)[1]
        found.append((other.mean(), pair, len(names), ours, other, p_value))
    corrected = holm([item[-1] for item in found])
    found = [(*item[:-1], p) for item, p in zip(found, corrected, strict=True)]
    found.sort(key=lambda item: (item[4] - item[3]).mean(), reverse=True)
    rows = []
    for place, (mean, pair, count, ours, other, p_value) in enumerate(found):
        if place >= SHOWN and pair[0] != "none":
            continue
        gap = ours - other
        effect = rank_biserial(ours, other)
        rows.append(
            [
                called(pair),
                str(count),
                number(mean),
                number(ours.mean()),
                f"{gap.mean():+.3f}".replace("0.", "."),
                f"{(gap > 0).sum()} / {(gap < 0).sum()}",
                f"{effect.value:.2f} ({effect.low:.2f} to {effect.high:.2f})",
                shown(p_value),
            ]
        )
    head = ["pair", "sets", "accuracy", "ours", "gain", "better / worse"]
    largest = max(item[-1] for item in found)
    return [
        *table([*head, "effect (95 %)", "p (Holm)"], rows),
        f"The largest corrected `p` of all {len(found)} pairs is {shown(largest)}.",
        "",
    ]


def by_regime(study):
    """Mean accuracy of pairs by regime, and rank among all pairs, the best first."""
    parts = {name: part.by_set() for name, part in study.regimes().items()}
    order = np.argsort(-parts["all"][1].mean(axis=0))
    ranks = {name: np.asarray(average_ranks(v)) for name, (_, v) in parts.items()}
    rows = [["data sets", *(str(len(names)) for names, _ in parts.values())]]
    for i in order[:SHOWN]:
        cells = [
            f"{ranks[name][i]:.1f} / {number(scores[:, i].mean())}"
            for name, (_, scores) in parts.items()
        ]
        rows.append([called(study.pairs[i]), *cells])
    return [
        f"By regime, rank among the {len(study.pairs)} pairs that could be run nearly "
        "everywhere, and mean accuracy:",
        "",
        *table(["pair", *parts], rows),
    ]


def where_behind(study):
    """Data sets and cells on which another pair is better."""
    names, scores = study.by_set()
    own = study.pairs.index(OURS)
    others = [i for i in range(len(study.pairs)) if i != own]
    best = [others[k] for k in scores[:, others].argmax(axis=1)]
    gaps = scores[:, own] - scores[np.arange(len(names)), best]
    cells = study.grid[own] - study.grid[others].max(axis=0)
    ahead, clearly = int((gaps >= 0).sum()), int((cells < -CLEARLY).sum())
    return [
        f"CRISPClassifier is first on {ahead} of {len(names)} data sets, against the "
        f"best of {len(others)} other pairs on each. On {clearly} of {len(cells)} "
        "cells (a data set with its own candidate sets, or with one, two or three "
        f"false candidates) that best is more than {number(CLEARLY, 2)} ahead. Data "
        "sets with a better pair:",
        "",
        *(
            f"* {names[k]}: {number(scores[k, own])}, "
            f"{called(study.pairs[best[k]])} {number(scores[k, best[k]])}"
            for k in np.argsort(gaps)
            if gaps[k] < 0
        ),
        "",
    ]


def dots(study, path):
    """Accuracy of some pairs minus the best of the others, one dot per data set."""
    from matplotlib import rc_context
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
    complete = study.complete()
    some = complete.of([pair for pair in wanted if pair in complete.pairs])
    _, scores = some.by_set()
    axes = Figure(figsize=(7, 3.6), layout="constrained").add_subplot()
    for i, pair in enumerate(some.pairs):
        gap = scores[:, i] - np.delete(scores, i, axis=1).max(axis=1)
        height = len(some.pairs) - 1 - i + np.linspace(-0.22, 0.22, len(gap))
        colour = "#0b5394" if pair == OURS else "#7f8c8d"
        axes.scatter(gap, height, s=16, color=colour, linewidths=0)
        axes.plot([np.median(gap)] * 2, height[[0, -1]], color="#9a3412", linewidth=2)
    axes.axvline(0, color="0.3", linewidth=1)
    axes.set_yticks(range(len(some.pairs)), [called(p) for p in some.pairs[::-1]])
    axes.set_xlabel("accuracy minus the best of the others, one dot per data set")
    axes.spines[["top", "right"]].set_visible(False)
    # Without a date and with names that are not drawn: the same data, the same file.
    with rc_context({"svg.hashsalt": "classifier study"}):
        axes.figure.savefig(path, metadata={"Date": None})


def text(study):
    """What the user guide includes."""
    complete = study.complete()
    return "\n".join(
        [
            ".. Written by python -m benchmarks.classifier_study.",
            "",
            "Average rank (1 is best) and mean accuracy of the reductions before each "
            "learner; `p` is the largest of KernelCRISP against the other reductions:",
            "",
            *before_learners(study),
            "CRISPClassifier on raw features beside the best other pairs and all "
            "other learners on raw features, each on the data sets and cells that it "
            "has. The effect is the rank-biserial correlation (1: better on every data "
            "set), `p` Wilcoxon's test over data sets, corrected by Holm over all "
            "pairs:",
            "",
            *beside_ours(study),
            *by_regime(complete),
            *where_behind(complete),
        ]
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", help="finished runs")
    parser.add_argument("--out", type=Path, help="write OUT.inc and OUT.svg")
    options = parser.parse_args(arguments)
    study = read(options.folders)
    if options.out is None:
        print(text(study))
        return
    options.out.with_suffix(".inc").write_text(text(study), encoding="utf-8")
    dots(study, options.out.with_suffix(".svg"))


if __name__ == "__main__":
    main()
