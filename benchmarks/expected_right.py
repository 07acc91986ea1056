"""Expected share of right labels beside the truth, for all sets with truth.

    python -m benchmarks.expected_right --data FOLDER --out FOLDER [--draws 1]

The labels of at most 1,100 rows of twelve sets and the votes of two crowds are found by
CRISPClassifier. ``low to high`` is what the label report says without the truth. ``50
known labels`` is the 90 % interval from fifty known labels drawn at random, in the
first draw, and ``hold`` the number of draws whose interval holds. A run that was
stopped goes on where it stopped; the table is written to the folder of the results.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.pool import Cell, add_options, computed, share, write_table
from benchmarks.prediction_sets import KNOWN, NAMES, load
from partlearn import disambiguate

HEAD = ("data", "right", "expected", "low to high", "holds", "50 known labels", "hold")


def measure(folder: Path, job: Cell) -> Cell:
    """Labels right beside the expected share, without or with known labels."""
    X, labels, y = load(folder, job["data"])
    draw, gold = job["draw"], None
    if draw is not None:
        rows = np.random.RandomState(draw).permutation(len(y))[:KNOWN]
        gold = {int(i): y[i] for i in rows}
    result = disambiguate(X, labels, gold=gold)
    right = float((result.label == result.classes[y]).mean())
    expected, low, high = result.expected_right
    values = {"right": right, "expected": expected, "low": low, "high": high}
    if result.halves is not None and gold is None:
        first, second = result.halves()
        values["agree"] = float((first == second).mean())
        values["wrong alike"] = float(((first == second) & (first != y)).mean())
    return values


def held(line: Cell) -> bool:
    return bool(line["low"] <= line["right"] <= line["high"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--draws", type=int, default=1)
    options = parser.parse_args()
    jobs = [
        {"data": name, "draw": draw}
        for draw in (None, *range(options.draws))
        for name in NAMES
    ]
    by_data: dict[str, list[Cell]] = {}
    for line in computed(jobs, measure, options):
        by_data.setdefault(line["data"], []).append(line)
    table = [list(HEAD)]
    for name in filter(by_data.get, NAMES):
        plain, *known = by_data[name]
        row = [name, share(plain["right"]), share(plain["expected"])]
        row += [between(plain), "yes" if held(plain) else "no"]
        if known:
            row += [between(known[0]), f"{sum(map(held, known))} of {len(known)}"]
        table.append(row)
        if "agree" in plain:
            print(
                f"{name}: labels from two halves of the annotators agree on "
                f"{plain['agree']:.3f} of the rows, on {plain['wrong alike']:.3f} they "
                "are alike and wrong"
            )
    write_table(options.out / "expected_right.csv", table)
    return 0


def between(line: Cell) -> str:
    return f"{share(line['low'])} to {share(line['high'])}"


if __name__ == "__main__":
    sys.exit(main())
