"""Learners beside the figures published for Lost and FG-NET, under both protocols.

Run as ``python -m benchmarks.learners_published FOLDER`` with ``lost.npz`` and
``fgnet.npz`` in the folder; ``--learner IPAL`` restricts to one.

Published figures: Table 7 of the CENDA paper, original features and share .999.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn.classification import IPAL, PLAGGD, PLECOC, PLKNN, PLSVM, SURE
from partlearn.decomposition import CENDA
from partlearn.model_selection import cross_validate

LEARNERS = {
    "PLKNN": PLKNN(variant="lab"),
    "PLSVM": PLSVM(1.0, standardize=False, random_state=0),
    "PLECOC": PLECOC(random_state=0),
    "IPAL": IPAL(),
    "SURE": SURE(),
    "PLAGGD": PLAGGD(),
}
# (original features, CENDA with share .999)
PUBLISHED = {
    "lost": {
        "PLKNN": (0.354, 0.810),
        "PLSVM": (0.736, 0.823),
        "PLECOC": (0.647, 0.846),
        "IPAL": (0.733, 0.850),
        "SURE": (0.780, 0.855),
    },
    "fgnet": {
        "PLKNN": (0.032, 0.106),
        "PLSVM": (0.061, 0.130),
        "PLECOC": (0.012, 0.086),
        "IPAL": (0.062, 0.130),
        "SURE": (0.070, 0.143),
    },
}
HEAD = "data   learner  original: publ. transd. induct.  CENDA: publ. transd. induct."


def figures(learner, data):
    """Accuracies: original and CENDA, each transductive and inductive."""
    reducer = CENDA(0.999, scaling="maxabs")
    cases = [
        (learner, "transductive"),
        (make_pipeline(StandardScaler(), learner), "inductive"),
        (make_pipeline(reducer, learner), "transductive"),
        (make_pipeline(reducer, StandardScaler(), learner), "inductive"),
    ]
    return [
        cross_validate(estimator, *data, protocol=protocol)["test_score"].mean()
        for estimator, protocol in cases
    ]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--learner", choices=LEARNERS, action="append")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print(HEAD)
    for name, published in PUBLISHED.items():
        with np.load(options.folder / f"{name}.npz") as file:
            data = file["X"].astype(float), file["S"], file["y"]
        for key in options.learner or LEARNERS:
            start = time.perf_counter()
            a, b, c, d = figures(LEARNERS[key], data)
            raw, reduced = published.get(key, (np.nan, np.nan))
            print(
                f"{name:6} {key:8} {raw:15.3f} {a:7.3f} {b:7.3f} {reduced:13.3f} "
                f"{c:7.3f} {d:7.3f}   [{time.perf_counter() - start:.0f} s]",
                flush=True,
            )


if __name__ == "__main__":
    main()
