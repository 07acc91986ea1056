"""Which rows to send back: labels right and accuracy against the rows asked.

    python -m benchmarks.ask --data FOLDER --out TABLE.csv [SET ...]

Four sets with candidate labels, at most 400 rows each, and the votes of two crowds.
Measures, by rule and number of rows asked:

``labels``: share of right labels among all rows. 50 rows are asked at a time, the true
labels come back as corrections, and the labels are found anew by CRISPClassifier, until
200 are asked (500 of votes) or .99 are right.
``at once``: the same, where all rows are asked in one round.
``new``: accuracy on a quarter of the rows that is never asked nor trained on.
``expected``, ``brought``: of rank_rows, the number of labels that the next 50 answers
were expected to put right, and how many they did.

Rules: random order, least confidence, entropy, rank_rows and, where cleanlab is
installed, its ActiveLab score for votes. A data set that the table has already is not
computed again. The exit code is 1 if rank_rows needs more than half of the rows that
random order needs to reach .95 on LabelMe, or if labels of LabelMe start below .855.
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
from partlearn import Disambiguation, disambiguate, plan_questions, rank_rows
from partlearn.candidates import check_evidence
from partlearn.classification import CRISPClassifier
from partlearn.io import cleanlab_array

SETS = {
    "labelme": 0,
    "music_genre": 0,
    "lost": 0,
    "birdsong": 0,
    "yeast_uci": 3,
    "usps": 2,
}
BATCH, ENOUGH = 50, 0.99
MOST, MOST_VOTES = 200, 500  # rows asked at most
ROUNDS = (50, 100, 200)  # rows asked at once, or where accuracy is measured
MOST_ROWS = 400
GOAL, START = 0.95, 0.855
HEAD = ("data", "rows", "measure", "rule", "asked", "value")


def entropy(result: Disambiguation) -> np.ndarray:
    F = np.maximum(result.label_confidence, 1e-12)
    return -(F * np.log(F)).sum(axis=1)


def active_lab(labels: Any, result: Disambiguation) -> np.ndarray:
    """Scores of cleanlab, the lowest to be asked first; it sees votes and beliefs."""
    from cleanlab.multiannotator import get_active_learning_scores

    wide = cleanlab_array(labels, labels.rows.max() + 1)[labels.rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, _ = get_active_learning_scores(wide, result.label_confidence)
    return np.asarray(scores)


Rule = Callable[[Any, Disambiguation], np.ndarray]


def rules(votes: bool) -> dict[str, Rule]:
    def ordered(values: np.ndarray, known: np.ndarray) -> np.ndarray:
        return np.argsort(np.where(known, np.inf, values), kind="stable")

    def settled(result: Disambiguation) -> np.ndarray:
        return np.asarray(result.confidence >= 1)

    chosen: dict[str, Rule] = {
        "random": lambda labels, result: np.random.RandomState(0).permutation(
            len(result.label)
        ),
        "least confidence": lambda labels, result: ordered(
            result.confidence, settled(result)
        ),
        "entropy": lambda labels, result: ordered(-entropy(result), settled(result)),
        "rank_rows": lambda labels, result: rank_rows(result),
    }
    if votes:
        try:
            import cleanlab  # noqa: F401
        except ImportError:
            print("(cleanlab is not installed: ActiveLab is left out)")
        else:
            chosen["ActiveLab"] = lambda labels, result: ordered(
                active_lab(labels, result), settled(result)
            )
    return chosen


def right(result: Disambiguation, y: Any) -> float:
    return float((result.label == result.classes[y]).mean())


def asked_in_turn(
    X: Any, labels: Any, y: Any, rule: Rule, most: int
) -> Iterator[tuple[int, Any, Disambiguation]]:
    """Rows asked, labels with the answers so far, and what is found from them."""
    known: dict[int, Any] = {}
    evidence = labels
    for asked in range(0, most + 1, BATCH):
        result = disambiguate(X, evidence)
        yield asked, evidence, result
        order = [i for i in rule(evidence, result).tolist() if i not in known]
        known |= {i: labels.classes[y[i]] for i in order[:BATCH]}
        evidence = labels.with_known(known)


def measure(folder: Path, name: str) -> Iterator[tuple[Any, ...]]:
    votes = name in CROWDS
    X, labels, y = crowd(folder, name) if votes else cell(folder, name, SETS[name])
    evidence: Any = labels if votes else check_evidence(labels)
    if not votes:
        some = np.sort(np.random.RandomState(0).permutation(len(y))[:MOST_ROWS])
        X, evidence, y = X[some], evidence[some], y[some]
    m = len(y)
    order = np.random.RandomState(0).permutation(m)
    test, train = order[: m // 4], np.sort(order[m // 4 :])
    most = MOST_VOTES if votes else MOST
    for rule, function in rules(votes).items():
        expected = last = None
        for asked, given, found in asked_in_turn(X, evidence, y, function, most):
            value = right(found, y)
            yield name, m, "labels", rule, asked, f"{value:.4f}"
            if asked == 0:
                first = function(given, found)
            if expected is not None:
                yield name, m, "expected", rule, asked, f"{expected:.1f}"
                yield name, m, "brought", rule, asked, f"{m * (value - last):.0f}"
            if value >= ENOUGH:
                break
            if rule == "rank_rows":
                last, expected = value, plan_questions(found, budget=BATCH).gain.sum()
        for n in ROUNDS:
            answers = {int(i): evidence.classes[y[i]] for i in first[:n]}
            found = disambiguate(X, evidence.with_known(answers))
            yield name, m, "at once", rule, n, f"{right(found, y):.4f}"
        if rule == "entropy":
            continue
        parts = (X[train], evidence[train], y[train])
        for asked, given, _ in asked_in_turn(*parts, function, max(ROUNDS)):
            if asked in (0, *ROUNDS):
                model = CRISPClassifier(random_state=0).fit(parts[0], given)
                accuracy = float((model.predict(X[test]) == y[test]).mean())
                yield name, len(train), "new", rule, asked, f"{accuracy:.4f}"


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
    start = next((float(x["value"]) for x in lines if x["data"] == "labelme"), None)
    if start is None:
        return 0
    ours, random = needed(lines, "rank_rows"), needed(lines, "random")
    print(f"LabelMe: {start:.3f} right; .95 after {ours} rows, random {random}")
    return int(start < START or ours > random / 2)


if __name__ == "__main__":
    sys.exit(main())
