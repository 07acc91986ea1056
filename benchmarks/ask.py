"""Which rows to send back: labels right and accuracy against the rows asked.

    python -m benchmarks.ask --data FOLDER --out FOLDER [--jobs 2] [--draws 1] [SET ...]

Four sets with candidate labels, 400 rows each, drawn anew in each draw, and the votes
of two crowds. Means over the draws, by rule and number of rows asked:

``labels``: share of right labels among all rows. 50 rows are asked at a time, the true
labels come back as corrections, and the labels are found anew by CRISPClassifier, until
200 are asked (500 of votes).
``at once``: the same, where all rows are asked in one round.
``new``: accuracy on a quarter of the rows that is never asked nor trained on.
``expected``, ``at most``, ``brought``: of rank_rows, the number of labels that the next
50 answers were expected to put right, the same if the share of right labels is at the
lower end of its range, and how many they did.

Rules: random order, least confidence, entropy, rank_rows and, where cleanlab is
installed, its ActiveLab score for votes; with ``--tried`` those of ask_orders.py. A run
that was stopped goes on where it stopped. ``ask.csv`` and ``ask_gain.csv`` of the guide
are written to the folder of the results. The exit code is 1 if rank_rows needs more
than half of the rows that random order needs to reach .95 on LabelMe, or if labels of
LabelMe start below .855.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ask_orders import clusters, drawn, hat_matrix
from benchmarks.candidate_classifier import cell
from benchmarks.pool import Cell, add_options, computed, share, write_table
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
TITLES = {"labelme": "LabelMe", "music_genre": "music", "lost": "Lost"}
TITLES |= {"birdsong": "Bird Song", "yeast_uci": "Yeast", "usps": "USPS"}
BATCH = 50
MOST, MOST_VOTES = 200, 500  # rows asked at most
ROUNDS = (50, 100, 200)  # rows asked at once, or where accuracy is measured
MOST_ROWS = 400
OURS = "rank_rows"
GOAL, START = 0.95, 0.855


def entropy(result: Disambiguation) -> np.ndarray:
    F = np.maximum(result.label_confidence, 1e-12)
    return -(F * np.log(F)).sum(axis=1)


def active_lab(labels: Any, result: Disambiguation) -> np.ndarray:
    """Scores of cleanlab, the lowest to be asked first; it sees votes and beliefs."""
    from cleanlab.multiannotator import get_active_learning_scores

    wide = cleanlab_array(labels, labels.rows.max() + 1)[labels.rows]
    scores, _ = get_active_learning_scores(wide, result.label_confidence)
    return np.asarray(scores)


Rule = Callable[[Any, Disambiguation, int], np.ndarray]


def open_first(values: np.ndarray, result: Disambiguation) -> np.ndarray:
    """Rows by their values, those with a certain label last."""
    return np.argsort(np.where(result.confidence >= 1, np.inf, values), kind="stable")


RULES: dict[str, Rule] = {
    "random": lambda labels, result, seed: np.random.RandomState(seed).permutation(
        len(result.label)
    ),
    "least confidence": lambda labels, result, seed: open_first(
        result.confidence, result
    ),
    "entropy": lambda labels, result, seed: open_first(-entropy(result), result),
    OURS: lambda labels, result, seed: rank_rows(result),
    "ActiveLab": lambda labels, result, seed: open_first(
        active_lab(labels, result), result
    ),
}

TRIED: dict[str, Rule] = {
    "hat matrix": lambda labels, result, seed: hat_matrix(result),
    "clusters": lambda labels, result, seed: clusters(result),
    "drawn by doubt": lambda labels, result, seed: drawn(result, seed),
}


def right(result: Disambiguation, y: Any) -> float:
    return float((result.label == result.classes[y]).mean())


def asked_in_turn(
    X: Any, labels: Any, y: Any, order: Callable[[Any, Any], np.ndarray], most: int
) -> Iterator[tuple[int, Any, Disambiguation]]:
    """Rows asked, labels with the answers so far, and what is found from them."""
    known: dict[int, Any] = {}
    evidence = labels
    for asked in range(0, most + 1, BATCH):
        result = disambiguate(X, evidence)
        yield asked, evidence, result
        rows = [i for i in order(evidence, result).tolist() if i not in known]
        known |= {i: labels.classes[y[i]] for i in rows[:BATCH]}
        evidence = labels.with_known(known)


def measure(folder: Path, job: Cell) -> Cell:
    """Values of all measures for a data set, a rule and a draw."""
    name, rule, draw = job["data"], job["rule"], job["draw"]
    votes = name in CROWDS
    X, labels, y = crowd(folder, name) if votes else cell(folder, name, SETS[name])
    evidence: Any = labels if votes else check_evidence(labels)
    if not votes:
        some = np.sort(np.random.RandomState(draw).permutation(len(y))[:MOST_ROWS])
        X, evidence, y = X[some], evidence[some], y[some]
    m = len(y)
    shuffled = np.random.RandomState(draw).permutation(m)
    test, train = shuffled[: m // 4], np.sort(shuffled[m // 4 :])

    def order(labels: Any, result: Disambiguation) -> np.ndarray:
        return (RULES | TRIED)[rule](labels, result, draw)

    values: Cell = {"rows": m, "labels": {}}
    values |= {"expected": {}, "at most": {}, "brought": {}}
    last, plan = np.nan, None
    turns = asked_in_turn(X, evidence, y, order, MOST_VOTES if votes else MOST)
    for asked, given, found in turns:
        value = right(found, y)
        values["labels"][asked] = value
        if asked == 0:
            first = order(given, found)
        if plan is not None:
            gain = float(plan.gain.sum())
            wrong, wrong_at_most = 1 - plan.expected_right_now, 1 - plan.low_now
            values["expected"][asked] = gain
            values["at most"][asked] = min(gain * wrong_at_most / wrong, BATCH)
            values["brought"][asked] = m * (value - last)
        if rule == OURS:
            last, plan = value, plan_questions(found, budget=BATCH)
    values["at once"] = {}
    for n in ROUNDS:
        answers = {int(i): evidence.classes[y[i]] for i in first[:n]}
        found = disambiguate(X, evidence.with_known(answers))
        values["at once"][n] = right(found, y)
    values["new"] = {}
    parts = (X[train], evidence[train], y[train])
    for asked, given, _ in asked_in_turn(*parts, order, max(ROUNDS)):
        if asked in (0, *ROUNDS):
            model = CRISPClassifier(random_state=0).fit(parts[0], given)
            values["new"][asked] = float((model.predict(X[test]) == y[test]).mean())
    return values


def mean(lines: list[Cell], measure: str, asked: int) -> float:
    """Mean over the draws; NaN where one has no value."""
    found = [line.get(measure, {}).get(str(asked), np.nan) for line in lines]
    return float(np.mean(found)) if found else np.nan


Curves = dict[tuple[str, str], list[Cell]]
COLUMNS = [
    ("0 answers", "labels", 0),
    *((str(n), "labels", n) for n in (50, 100, 200, 300)),
    *((f"{n} in one round", "at once", n) for n in (100, 200)),
    *((f"new rows: {n}", "new", n) for n in (0, 100, 200)),
]


def curves_table(curves: Curves) -> list[list[str]]:
    table = [["data (rows)", "order", *(head for head, *_ in COLUMNS)]]
    for (name, rule), lines in curves.items():
        row = [f"{TITLES[name]} ({lines[0]['rows']})", rule]
        table.append(row + [share(mean(lines, of, n)) for _, of, n in COLUMNS])
    return table


def gain_table(curves: Curves) -> list[list[str]]:
    ends = range(BATCH, 301, BATCH)
    table = [["data", "", *(f"{n - BATCH + 1} to {n}" for n in ends)]]
    for (name, rule), lines in curves.items():
        for measure in (
            ("expected", "at most", "brought") if rule == "rank_rows" else ()
        ):
            found = [mean(lines, measure, n) for n in ends]
            texts = ["" if np.isnan(value) else f"{value:.0f}" for value in found]
            table.append([TITLES[name], measure, *texts])
    return table


def needed(curves: Curves, rule: str) -> int:
    """Rows asked before .95 of LabelMe's labels are right."""
    labels = curves["labelme", rule][0]["labels"]
    return min((int(n) for n in labels if labels[n] >= GOAL), default=1000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--tried", action="store_true", help="further orders as well")
    add_options(parser)
    options = parser.parse_args()
    rules = [*RULES, *(TRIED if options.tried else ())]
    if not find_spec("cleanlab"):
        rules.remove("ActiveLab")
    jobs = [
        {"data": name, "rule": rule, "draw": draw}
        for draw in range(options.draws)
        for name in options.sets
        for rule in rules
        if name in CROWDS or rule != "ActiveLab"
    ]
    curves: Curves = {}
    for line in computed(jobs, measure, options):
        curves.setdefault((line["data"], line["rule"]), []).append(line)
    curves = {(d, r): curves[d, r] for d in SETS for r in rules if (d, r) in curves}
    tables = {"ask": curves_table(curves), "ask_gain": gain_table(curves)}
    for title, table in tables.items():
        write_table(options.out / f"{title}.csv", table)
    if not all(("labelme", rule) in curves for rule in (OURS, "random")):
        return 0
    start = curves["labelme", "random"][0]["labels"]["0"]
    ours, random = needed(curves, OURS), needed(curves, "random")
    print(f"LabelMe: {start:.3f} right; .95 after {ours} rows, random {random}")
    return int(start < START or ours > random / 2)


if __name__ == "__main__":
    sys.exit(main())
