"""``n_components="auto"`` beside every fixed number of directions.

    python -m benchmarks.auto_dimension --data FOLDER

Accuracy of PL-KNN in three folds, everything fitted on the training rows. Lost has its
own candidates; the other sets are cut to 600 rows with two false candidates each. The
best fixed number is chosen with the truth, among all from one to classes minus one.
PLDA has 30 rounds, all else are defaults.
"""

import argparse
import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

from benchmarks.reducers_table import read
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN
from partlearn.decomposition import CENDA, DELIN, PLDA, WPLDR
from partlearn.model_selection import cross_validate


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of npz files")
    parser.add_argument("--sets", nargs="*", default=["lost", "segment", "optdigits"])
    options = parser.parse_args(arguments)
    writer = csv.writer(sys.stdout)
    writer.writerow(
        ["Data", "Reducer", "Best fixed", "at", '"auto"', "Chosen in the folds", "Gap"]
    )
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.sets:
            X, S, y = read(options.data, name)
            if S is None:
                some = np.random.default_rng(0).permutation(len(y))[:600]
                X, y = X[some], y[some]
                S = make_candidates(y, 2, random_state=0)
            for reducer in (CENDA(), DELIN(), PLDA(max_iter=30), WPLDR()):
                found = compare(reducer, X, S, y)
                writer.writerow([name, type(reducer).__name__, *found])
                sys.stdout.flush()


def compare(reducer, X, S, y) -> list[str]:
    def evaluate(n_components):
        model = make_pipeline(
            clone(reducer).set_params(n_components=n_components), PLKNN()
        )
        found = cross_validate(model, X, S, y, cv=3, return_estimator=True)
        chosen = [steps[0].n_components_ for steps in found["estimator"]]
        return found["test_score"].mean(), chosen

    fixed = {r: evaluate(r)[0] for r in range(1, S.shape[1])}
    best = max(fixed, key=fixed.__getitem__)
    auto, chosen = evaluate("auto")
    gap = auto - fixed[best]
    shown = ", ".join(map(str, chosen))
    return [f"{fixed[best]:.3f}", str(best), f"{auto:.3f}", shown, f"{gap:+.3f}"]


if __name__ == "__main__":
    main()
