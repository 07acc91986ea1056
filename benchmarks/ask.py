"""Which rows to send back: labels right and accuracy against the rows asked.

    python -m benchmarks.ask --data FOLDER --out TABLE.csv [SET ...]

Rows are asked 50 at a time, the true labels come back as corrections, and the labels
are found anew by CRISPClassifier. ``labels``: share of right labels among all rows, by
rule and number of rows asked. ``new``: accuracy on a quarter of the rows that is never
asked nor trained on. Rules: random order, least confidence, entropy, rank_rows and,
where cleanlab is installed, its ActiveLab score for votes. The random order is the mean
of three. A data set that the table has already is not computed again. The exit code is
1 if rank_rows needs more than half of the rows that random order needs to reach .95 on
LabelMe, or if labels of LabelMe start below .855.
"""

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.candidate_classifier import cell
from benchmarks.prediction_sets import CROWDS, crowd
from partlearn import Disambiguation, disambiguate, rank_rows
from partlearn.candidates import Votes, check_evidence
from partlearn.classification import CRISPClassifier

SETS = {
    "labelme": 0,
    "music_genre": 0,
    "lost": 0,
    "birdsong": 0,
    "yeast_uci": 3,
    "usps": 2,
}
BATCH, MOST = 50, 700
GOAL, START = 0.95, 0.855
HEAD = ("data", "rows", "measure", "rule", "asked", "value")


def entropy(result: Disambiguation) -> np.ndarray:
    F = np.maximum(result.label_confidence, 1e-12)
    return -(F * np.log(F)).sum(axis=1)


def active_lab(labels: Any, result: Disambiguation) -> np.ndarray:
    """Scores of cleanlab, the lowest to be asked first; it sees votes and beliefs."""
    from cleanlab.multiannotator import get_active_learning_scores

    t = labels.table
    wide = np.full((t.n_rows, t.n_annotators), np.nan)
    wide[t.row, t.annotator] = t.label
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, _ = get_active_learning_scores(wide, result.label_confidence)
    return np.asarray(scores)


def rules(votes: bool) -> dict[str, Callable[[Any, Disambiguation, int], np.ndarray]]:
    def ordered(values: np.ndarray, known: np.ndarray) -> np.ndarray:
        return np.argsort(np.where(known, np.inf, values), kind="stable")

    def settled(result: Disambiguation) -> np.ndarray:
        return np.asarray(result.confidence >= 1)

    chosen: dict[str, Callable[[Any, Disambiguation, int], np.ndarray]] = {
        "random": lambda labels, result, seed: np.random.RandomState(seed).permutation(
            len(result.label)
        ),
        "least confidence": lambda labels, result, seed: ordered(
            result.confidence, settled(result)
        ),
        "entropy": lambda labels, result, seed: ordered(
            -entropy(result), settled(result)
        ),
        "rank_rows": lambda labels, result, seed: rank_rows(result, budget=BATCH),
    }
    if votes:
        try:
            import cleanlab  # noqa: F401
        except ImportError:
            print("(cleanlab is not installed: ActiveLab is left out)")
        else:
            chosen["ActiveLab"] = lambda labels, result, seed: ordered(
                active_lab(labels, result), settled(result)
            )
    return chosen


def curve(
    X: Any, labels: Any, y: Any, rule: Any, seed: int, new: tuple[Any, Any] | None
) -> Iterator[tuple[int, float]]:
    """Rows asked, and labels right or the accuracy on `new` rows."""
    known: dict[int, Any] = {}
    evidence = labels
    for asked in range(0, MOST + 1, BATCH):
        result = disambiguate(X, evidence)
        if new is None:
            yield asked, float((result.label == result.classes[y]).mean())
        elif asked % 100 == 0:
            model = CRISPClassifier(random_state=0).fit(X, evidence)
            yield asked, float((model.predict(new[0]) == new[1]).mean())
        order = [i for i in rule(evidence, result, seed).tolist() if i not in known]
        known |= {i: labels.classes[y[i]] for i in order[:BATCH]}
        evidence = labels.with_known(known)


def measure(folder: Path, name: str) -> Iterator[tuple[Any, ...]]:
    votes = name in CROWDS
    X, labels, y = crowd(folder, name) if votes else cell(folder, name, SETS[name])
    evidence = labels if votes else check_evidence(labels)
    assert votes == isinstance(evidence, Votes)
    order = np.random.RandomState(0).permutation(len(y))
    test, train = order[: len(y) // 4], np.sort(order[len(y) // 4 :])
    parts = {
        "labels": (X, evidence, y, None),
        "new": (X[train], evidence[train], y[train], (X[test], y[test])),
    }
    for rule, function in rules(votes).items():
        for what, (rows, given, truth, new) in parts.items():
            seeds = range(3) if rule == "random" and what == "labels" else range(1)
            runs = [
                dict(curve(rows, given, truth, function, seed, new)) for seed in seeds
            ]
            for asked in runs[0]:
                value = np.mean([run[asked] for run in runs])
                yield name, len(rows), what, rule, asked, f"{value:.4f}"


def needed(lines: list[dict[str, str]], rule: str) -> int:
    """Rows asked before .95 of LabelMe's labels are right."""
    mine = [
        int(line["asked"])
        for line in lines
        if (line["data"], line["measure"], line["rule"]) == ("labelme", "labels", rule)
        and float(line["value"]) >= GOAL
    ]
    return min(mine, default=1000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    lines: list[dict[str, str]] = []
    if options.out.exists():
        with options.out.open(encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
    for name in options.sets:
        if name in {line["data"] for line in lines}:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for row in measure(options.data, name):
                lines.append(dict(zip(HEAD, map(str, row), strict=True)))
                print(*row, flush=True)
        with options.out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, HEAD)
            writer.writeheader()
            writer.writerows(lines)
    ours, random = needed(lines, "rank_rows"), needed(lines, "random")
    start = next(float(x["value"]) for x in lines if x["data"] == "labelme")
    print(f"LabelMe: {start:.3f} right; .95 after {ours} rows, random {random}")
    return int(start < START or ours > random / 2)


if __name__ == "__main__":
    sys.exit(main())
