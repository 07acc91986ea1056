"""Selectors under the honest protocol: the paper's comparison, and the variance floor.

    python -m benchmarks.selection_study compare --data FOLDER
    python -m benchmarks.selection_study floor --data FOLDER

``compare`` cross-validates PL-KNN on 15 % of the features, ten folds, everything fitted
on the training rows, with paired t-tests over the folds; a random selection is the mean
of ten draws per fold. ``floor`` does three folds of at most 600 rows for several floors
of the spread inside a class, on sets with two false candidates per row (or their own
candidates) and three seeds. Folders with ``lost.npz`` and so on are searched in
``--data`` and its sub-folders; results go to stdout as they come.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import ttest_rel
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN
from partlearn.feature_selection import (
    SAUTE,
    MaxJointEntropy,
    MaxRelevance,
    RandomSelection,
)
from partlearn.model_selection import cross_validate

COMPARED = ["lost", "fgnet", "slashdot_r1"]
FLOORED = [
    "usps", "isolet", "segment", "orl", "umist", "lost", "fgnet", "mfeat-fourier",
    "cnae-9", "texture", "optdigits", "dermatology", "vehicle", "vowel",
    "soybean-large", "synthetic-control", "arrhythmia", "plant-species-leaves-margin",
    "birdsong", "slashdot_r1",
]  # fmt: skip
FLOORS = [1e-6, 0.1, 0.3, 0.6, 1.0]
DRAWS = 10


def load(folder: Path, name: str, seed: int) -> tuple[Any, Any, Any]:
    """Features, candidates, truth; two false candidates where the set has none."""
    z = np.load(next(folder.rglob(f"{name}.npz")), allow_pickle=False)
    if "X" in z:
        X = z["X"].astype(float)
    else:
        parts = z["X_data"].astype(float), z["X_indices"].astype(int), z["X_indptr"]
        X = sp.csr_array(parts, shape=tuple(z["X_shape"])).toarray()
    y = z["y"].astype(int)
    if "S" in z:
        return X, z["S"], y
    y = np.unique(y, return_inverse=True)[1]
    return X, make_candidates(y, n_false=2, random_state=seed), y


def accuracy(selector: Any, X: Any, S: Any, y: Any, folds: int, seed: int) -> Any:
    steps = [StandardScaler(), PLKNN()]
    if selector is not None:
        steps.insert(0, selector)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = cross_validate(
            make_pipeline(*steps), X, S, y, cv=folds, random_state=seed
        )
    return result["test_score"]


def random_accuracy(X: Any, S: Any, y: Any, folds: int, seed: int) -> Any:
    scores = [
        accuracy(RandomSelection(random_state=draw), X, S, y, folds, seed)
        for draw in range(DRAWS)
    ]
    return np.mean(scores, axis=0)


def compare(folder: Path, names: list[str]) -> None:
    for name in names:
        X, S, y = load(folder, name, 0)
        print(
            f"\n{name}: {X.shape[0]} x {X.shape[1]}, {S.shape[1]} classes", flush=True
        )
        scores = {"RandomSelection, mean of 10": random_accuracy(X, S, y, 10, 0)}
        for label, selector in [
            ("SAUTE", SAUTE()),
            ("SAUTE var_floor=1e-6 (literal)", SAUTE(var_floor=1e-6)),
            ("MaxRelevance", MaxRelevance()),
            ("MaxJointEntropy", MaxJointEntropy()),
            ("all features", None),
        ]:
            scores[label] = accuracy(selector, X, S, y, 10, 0)
        ours = scores["SAUTE"]
        for label, value in scores.items():
            line = f"  {label:32s} {value.mean():.3f} +- {value.std(ddof=1):.3f}"
            if label != "SAUTE":
                gap = ours.mean() - value.mean()
                same = np.allclose(ours, value)
                p = 1.0 if same else ttest_rel(ours, value).pvalue
                verdict = "tie" if p >= 0.05 else ("win" if gap > 0 else "loss")
                line += f"   SAUTE {gap:+.3f}, t-test p = {p:.2g}: {verdict}"
            print(line, flush=True)


def floor(folder: Path, names: list[str], seeds: int) -> None:
    head = ["all", "random"] + [f"{f:g}" for f in FLOORS] + ["MR .6"]
    print("data seed " + " ".join(head), flush=True)
    means = []
    for name in names:
        rows = []
        for seed in range(seeds):
            X, S, y = load(folder, name, seed)
            some = np.random.RandomState(seed).permutation(len(X))[:600]
            X, S, y = X[some], S[some], y[some]
            values = [accuracy(None, X, S, y, 3, seed).mean()]
            values.append(random_accuracy(X, S, y, 3, seed).mean())
            selectors = [SAUTE(var_floor=f) for f in FLOORS] + [MaxRelevance()]
            values += [accuracy(s, X, S, y, 3, seed).mean() for s in selectors]
            rows.append(values)
            print(name, seed, " ".join(f"{v:.3f}" for v in values), flush=True)
        means.append(np.mean(rows, axis=0))
    table = np.array(means)
    print("\nmean over seeds")
    for name, row in zip(names, table, strict=True):
        print(name, " ".join(f"{v:.3f}" for v in row))
    print("mean of all", " ".join(f"{v:.3f}" for v in table.mean(axis=0)))
    above = (table > table[:, [1]]).sum(axis=0)
    print(f"sets above random, of {len(names)}:", " ".join(map(str, above)))
    worst = (table - table[:, [1]]).min(axis=0)
    print("worst gap to random:", " ".join(f"{v:+.3f}" for v in worst))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["compare", "floor"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    start = time.process_time()
    with threadpool_limits(1):
        if options.what == "compare":
            compare(options.data, options.sets or COMPARED)
        else:
            floor(options.data, options.sets or FLOORED, options.seeds)
    print(f"\n{time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()
