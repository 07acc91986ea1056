"""How often the 90 % intervals from known labels hold.

    python -m benchmarks.gold_intervals [--draws 4000] [--out TABLE.csv]

Rows whose labels are right with a given probability, and a random sample of them whose
true label is known; no fit is needed. ``held`` is the share of intervals that hold the
share of right labels: of all rows, or of new rows. Labels of rows are right
independently, so each cell is exact up to the number of draws; the standard error is at
most .008. Coverage of an interval for a share goes up and down with the share, since
hits are whole numbers, so the last column is the mean over shares drawn uniformly
between .5 and 1. ``chosen``: the known rows are the least confident ones instead of
random ones. The exit code is 1 if, over random samples, a mean is not in .85 to .95 or
a cell is below .85.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from partlearn.metrics import gold_quality

SIZES = (10, 20, 50, 100)
SHARES = (0.6, 0.8, 0.9, 0.95, 0.98)
N_ROWS = 1000
HEAD = ("known rows", "estimate for", *map(str, SHARES), "mean of .5 to 1")


def held(n_gold: int, share: float, rng: np.random.RandomState, how: str) -> bool:
    """Whether one interval holds the share that it is for."""
    if how == "new rows":
        quality = gold_quality(rng.rand(n_gold) < share)
        return quality.low <= share <= quality.high
    # Confidences that are right on average, spread around the share.
    confidence = rng.beta(8 * share, 8 * (1 - share), N_ROWS)
    right = rng.rand(N_ROWS) < confidence
    order = np.argsort(confidence) if how == "chosen" else rng.permutation(N_ROWS)
    known = order[:n_gold]
    quality = gold_quality(right[known], N_ROWS)
    right[known] = True
    return quality.low <= right.mean() <= quality.high


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rng, lines, good = np.random.RandomState(0), [], True
    for how in ("all rows", "new rows", "chosen"):
        for n_gold in SIZES:
            cells = [
                np.mean([held(n_gold, p, rng, how) for _ in range(options.draws)])
                for p in SHARES
            ]
            drawn = rng.uniform(0.5, 1.0, options.draws)
            mean = np.mean([held(n_gold, p, rng, how) for p in drawn])
            good &= how == "chosen" or (mean <= 0.95 and min(*cells, mean) >= 0.85)
            lines.append((n_gold, how, *(f"{v:.3f}" for v in [*cells, mean])))
            print(*lines[-1], flush=True)
    if options.out is not None:
        with options.out.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([HEAD, *lines])
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
