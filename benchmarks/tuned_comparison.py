"""Tuned learners and the regret of truth-free criteria, as text for the documentation.

    partlearn bench tuned-comparison-quick --data FOLDER
    python -m benchmarks.tuned_comparison results/tuned-comparison-quick

Every data set counts once, by its mean over folds. Printed are the accuracy of every
learner by what its setting was chosen, CRISPClassifier with its defaults against every
tuned learner (Wilcoxon over data sets, corrected by Holm), the regret of each criterion
against the oracle choice, within a learner and over all learners, and other scores.
"""

import argparse

import numpy as np

from benchmarks.study import number, table
from partlearn.benchmark import (
    CHOICES,
    average_ranks,
    choose,
    load_run,
    wilcoxon_holm,
)

OURS = "CRISPClassifier"
CRITERIA = CHOICES[1:-1]
WORDS = {name: name.replace("_", " ") for name in CHOICES} | {"oracle": "oracle choice"}
OTHERS = {
    "disambiguation": "labels named right",
    "balanced_accuracy": "balanced accuracy",
    "worst_class_recall": "worst recall",
    "risk_coverage_area": "risk-coverage area",
}


def scores(results, by, metric="accuracy"):
    """Mean over folds of the chosen settings, by learner and data set."""
    chosen = choose(results, by)
    known = chosen[chosen["metric"] == metric].groupby(["learner", "data"])["value"]
    sizes = known.size()
    means = known.mean().where(sizes == folds_of(results).reindex(sizes.index))
    return {key: None if np.isnan(v) else v for key, v in means.to_dict().items()}


def folds_of(results):
    """Number of folds and seeds of the noise of each learner and data set."""
    first = results[results["draw"] == 0].drop_duplicates(
        ["learner", "data", "noise_seed", "fold"]
    )
    return first.groupby(["learner", "data"]).size()


def grid(results, learners, sets, by, metric="accuracy"):
    """Array of data sets by learners."""
    known = scores(results, by, metric)
    return np.array(
        [[known[learner, data] for learner in learners] for data in sets], dtype=float
    )


def by_choice(results, learners, sets):
    """Mean accuracy of every learner, by what chose its setting."""
    means = {by: grid(results, learners, sets, by).mean(axis=0) for by in CHOICES}
    order = np.argsort(-means["oracle"], kind="stable")
    rows = [[learners[i], *(number(means[by][i]) for by in CHOICES)] for i in order]
    return table(["learner", *(WORDS[by] for by in CHOICES)], rows)


def against_ours(results, learners, sets, by):
    """CRISPClassifier with defaults minus each learner, tuned by one criterion."""
    A = grid(results, learners, sets, by)
    own = learners.index(OURS)
    others = sorted(
        (i for i in range(len(learners)) if i != own), key=lambda i: -A[:, i].mean()
    )
    p_values = wilcoxon_holm(A[:, [own, *others]], control=0)[1:]
    ranks = np.asarray(average_ranks(A))
    rows = [[OURS, number(A[:, own].mean()), f"{ranks[own]:.2f}", "", "", ""]]
    for i, p in zip(others, p_values, strict=True):
        gap = A[:, own] - A[:, i]
        score = f"{int((gap > 0).sum())} / {int((gap < 0).sum())}"
        head = [learners[i], number(A[:, i].mean()), f"{ranks[i]:.2f}"]
        rows.append([*head, f"{gap.mean():+.3f}", score, f"{p:.4f}"])
    names = ["learner", "accuracy", "rank", "ours minus it", "better / worse"]
    return table([*names, "p (Holm)"], rows)


def settings_alike(results, learners, sets):
    """Mean accuracy over all settings of a learner: what a blind draw expects."""
    known = results[results["metric"] == "accuracy"]
    means = known.groupby(["learner", "data"])["value"].mean()
    return np.array([[means[k, d] for k in learners] for d in sets])


def regrets(results, learners, sets):
    """Accuracy lost against the oracle choice of the same learner."""
    best = grid(results, learners, sets, "oracle")
    lost = {by: best - grid(results, learners, sets, by) for by in CHOICES[:-1]}
    lost["a setting at random"] = best - settings_alike(results, learners, sets)
    over_sets = np.array([values.mean(axis=1) for values in lost.values()]).T
    names = list(lost)
    first = names.index("approximated_accuracy")
    p_values = wilcoxon_holm(over_sets, control=first)
    rows = []
    for k, name in enumerate(names):
        p = "" if k == first else f"{p_values[k]:.4f}"
        near = np.mean(lost[name] <= 0.01)
        rows.append([WORDS.get(name, name), number(lost[name].mean()), number(near), p])
    head = ["chosen by", "mean regret", "within .01 of the oracle", "p (Holm)"]
    each = [
        [learner, *(number(lost[name][:, i].mean()) for name in names)]
        for i, learner in enumerate(learners)
    ]
    by_learner = table(["learner", *(WORDS.get(n, n) for n in names)], each)
    return [*table(head, rows), *by_learner]


def over_all(results, sets):
    """One setting among all of all learners, by one criterion."""
    rows = []
    for by in (*CRITERIA, "oracle"):
        key = "accuracy" if by == "oracle" else by
        known = results[results["metric"] == key].sort_values("draw", kind="stable")
        best = known.loc[known.groupby(["data", "fold"])["value"].idxmax()]
        right = results[results["metric"] == "accuracy"].set_index("id")["value"]
        by_data = best.assign(right=right.reindex(best["id"]).to_numpy())
        means = by_data.groupby("data")["right"].mean()[sets]
        often = best["learner"].value_counts()[:3]
        text = ", ".join(f"{name} {n}" for name, n in often.items())
        rows.append([WORDS[by], number(float(np.mean(means))), text])
    return table(["chosen by", "mean accuracy", "learners taken most often"], rows)


def other_scores(results, learners, sets, by):
    rows = []
    for learner in learners:
        cells = []
        for metric in OTHERS:
            known = scores(results, by, metric)
            values = [known.get((learner, data)) for data in sets]
            cells.append(number(None if None in values else float(np.mean(values))))
        rows.append([learner, *cells])
    return table(["learner", *OTHERS.values()], rows)


def by_set(results, learners, sets, by):
    """Accuracies on every data set; the best is marked."""
    A = grid(results, learners, sets, by)
    rows = [
        [data]
        + [
            number(value) + (" *" if value == A[d].max() else "")
            for value in A[d].tolist()
        ]
        for d, data in enumerate(sets)
    ]
    return table(["data set", *learners], rows)


def answer(results, learners, sets, by):
    A = grid(results, learners, sets, by)
    means = A.mean(axis=0)
    own = learners.index(OURS)
    others = [i for i, name in enumerate(learners) if not name.startswith(OURS)]
    best = max(others, key=lambda i: means[i])
    leads = "still leads" if means[own] > means[best] else "does not lead"
    return (
        f"Tuned by {WORDS[by]}: {OURS} with defaults {leads} the other learners, "
        f"{number(means[own])} on average; the best of them is {learners[best]} with "
        f"{number(means[best])}."
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    run = load_run(parser.parse_args(arguments).folder)
    results = run.frame()
    learners = [spec.name for spec in run.plan.learners]
    sets = [item["name"] for item in run.data]
    criterion = run.plan.criterion
    print(
        f"{run.plan.criterion_text}\n{len(sets)} data sets, {run.facts['folds']} folds"
    )
    failed = (results["metric"] == "error").sum()
    print(f"{failed} of {results['id'].nunique()} settings failed\n")
    for by in CRITERIA:
        print(answer(results, learners, sets, by))
    print("\nMean accuracy by what chose the setting\n")
    print("\n".join(by_choice(results, learners, sets)))
    for by in CRITERIA:
        print(f"{OURS} with defaults, others tuned by {WORDS[by]}\n")
        print("\n".join(against_ours(results, learners, sets, by)))
    print("Regret against the oracle choice of the same learner\n")
    searched = [spec.name for spec in run.plan.learners if spec.search]
    print("\n".join(regrets(results, searched, sets)))
    print("One setting among all learners\n")
    print("\n".join(over_all(results, sets)))
    print(f"Other scores, settings chosen by {WORDS[criterion]}\n")
    print("\n".join(other_scores(results, learners, sets, criterion)))
    print(f"By data set, settings chosen by {WORDS[criterion]}\n")
    print("\n".join(by_set(results, learners, sets, criterion)))


if __name__ == "__main__":
    main()
