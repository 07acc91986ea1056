"""Expected share of right labels beside the truth, for all sets with truth.

    python -m benchmarks.expected_right --data FOLDER --out TABLE.csv

The labels of at most 1,100 rows of twelve sets and the votes of two crowds are found by
CRISPClassifier. ``low`` to ``high`` is what the label report says without the truth;
``gold`` is the interval from fifty known labels drawn at random, at 90 %.
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path

import numpy as np

from benchmarks.candidate_classifier import CELLS, cell
from benchmarks.prediction_sets import CROWDS, crowd
from partlearn import disambiguate
from partlearn.inspection import label_report

HEAD = ("data", "right", "expected", "low", "high", "held", "gold", "gold held")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    lines = []
    for name, r in [*CELLS, *((name, None) for name in CROWDS)]:
        folder = options.data
        X, labels, y = crowd(folder, name) if r is None else cell(folder, name, r)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = disambiguate(X, labels)
            rows = np.random.RandomState(0).permutation(len(y))[:50]
            known = disambiguate(X, labels, gold={int(i): y[i] for i in rows})
            expected, low, high = label_report(result).expected_right
        right = float((result.label == result.classes[y]).mean())
        after = float((known.label == known.classes[y]).mean())
        assert known.quality is not None
        start, end = known.quality.low, known.quality.high
        line = (
            name, f"{right:.3f}", f"{expected:.3f}", f"{low:.3f}", f"{high:.3f}",
            "yes" if low <= right <= high else "no", f"{start:.3f} to {end:.3f}",
            "yes" if start <= after <= end else "no",
        )  # fmt: skip
        print(*line, flush=True)
        lines.append(line)
    with options.out.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEAD, *lines])
    return 0


if __name__ == "__main__":
    sys.exit(main())
