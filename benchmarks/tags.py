"""Average precision of CRISPMultiLabelClassifier and published learners on nine sets.

Three folds, at most 1,200 rows; own candidates where a set has them, otherwise false
tags drawn uniformly, two per row below ten labels and four above. Labels with fewer
than six rows and rows without a true label are left out; of sparse features, columns
with five non-zero rows or more count, at most the 2,000 most frequent ones. Run as
``python -m benchmarks.tags FOLDER [--learners] [--whole] [--reducers]``.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from partlearn.candidates import from_weights
from partlearn.decomposition import CRISP
from partlearn.metrics import average_precision, ranking_loss
from partlearn.multilabel import (
    FPML,
    MLKNN,
    PMLLC,
    CRISPMultiLabelClassifier,
    ParticleMAP,
    ParticleVLS,
    add_noise_labels,
)

ROWS, WORDS, LEAST = 1200, 2000, 0.01
# Average precision to reach: with the leading directions, and with all of them.
REACH = {
    "emotions_particle": (0.794, 0.794),
    "YeastCC": (0.520, 0.522),
    "yeast": (0.742, 0.742),
    "CHD_49": (0.779, 0.779),
    "Water": (0.681, 0.682),
    "enron": (0.678, 0.679),
    "slashdot": (0.541, 0.541),
    "CAL500": (0.513, 0.513),
    "flags": (0.790, 0.790),
}
WHOLE = {"YeastCC": 0.624, "YeastBP": 0.441}
OURS = {
    "rank .99": lambda: CRISPMultiLabelClassifier(random_state=0),
    "full rank": lambda: CRISPMultiLabelClassifier(rank=None, random_state=0),
}
LEARNERS = {
    "MLKNN": MLKNN,
    "FPML": lambda: FPML(random_state=0),
    "PMLLC": lambda: PMLLC(random_state=0),
    "ParticleVLS": lambda: ParticleVLS(random_state=0),
    "ParticleMAP": lambda: ParticleMAP(random_state=0),
}


def by_shares(A: Any, S: Any, B: Any) -> tuple[Any, Any]:
    """CRISP on the tags of a row as shares, as ``partlearn reduce --task tags``."""
    some = S.any(axis=1)
    model = CRISP(random_state=0).fit(A[some], from_weights(S[some] * 1.0))
    return model.transform(A), model.transform(B)


def by_directions(A: Any, S: Any, B: Any) -> tuple[Any, Any]:
    """Leading directions of the scores of tags; training rows by held-out scores."""
    model = CRISPMultiLabelClassifier(random_state=0).fit(A, S)
    G, means = model.held_out_scores_, S.mean(axis=0)
    V = np.linalg.svd(G - means, full_matrices=False)[2][: model.n_directions_].T
    return (G - means) @ V, (model.tag_scores(B) - means) @ V


def by_variance(A: Any, S: Any, B: Any) -> tuple[Any, Any]:
    """Principal components that hold 95 % of the variance."""
    model = PCA(0.95).fit(A)
    return model.transform(A), model.transform(B)


REDUCERS: dict[str, Any] = {
    "all features": lambda A, S, B: (A, B),
    "CRISP, shares": by_shares,
    "directions of tags": by_directions,
    "PCA, .95": by_variance,
}
REDUCED = ("flags", "CHD_49", "Water", "emotions_particle", "yeast", "CAL500")


def load(
    folder: Path, name: str, *, rows: int | None = ROWS, seed: int = 0
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Features, candidates and true labels of some rows of a set."""
    with np.load(folder / f"{name}.npz") as file:
        Y = file["Y"].astype(bool)
        S = file["S"].astype(bool) if "S" in file.files else None
        if "X" in file.files:
            X: Any = file["X"].astype(np.float64)
        else:
            parts = (file["X_data"], file["X_indices"], file["X_indptr"])
            X = sp.csr_array(parts, shape=tuple(file["X_shape"])).astype(np.float64)
    some = np.random.RandomState(seed).permutation(np.flatnonzero(Y.any(axis=1)))
    some = some[:rows]
    X, Y = X[some], Y[some]
    S = None if S is None else S[some]
    kept = Y.sum(axis=0) >= 6
    Y = Y[:, kept]
    full = Y.any(axis=1)
    X, Y = X[full], Y[full]
    if S is None:
        n_false = 2 if Y.shape[1] < 10 else 4
        S = add_noise_labels(Y, n_false, random_state=seed)
    else:
        S = S[:, kept][full]
    if sp.issparse(X):
        found = np.asarray((X != 0).sum(axis=0)).ravel()
        order = np.argsort(-found, kind="stable")[:WORDS]
        X = X[:, np.sort(order[found[order] >= 5])]
        X = X.toarray()
    return X, S, Y


def scores(model: Any, X: Any) -> np.ndarray:
    """Scores of the labels, in whichever way the model has them."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)


def evaluate(
    build: Any, X: Any, S: np.ndarray, Y: np.ndarray, n_folds: int = 3
) -> tuple[float, float, float]:
    """Mean average precision, ranking loss and seconds per fit over folds."""
    order = np.random.RandomState(0).permutation(len(Y))
    results = []
    for b in range(n_folds):
        test = order[b::n_folds]
        train = np.setdiff1d(order, test)
        began = time.process_time()
        model = build().fit(X[train], S[train])
        seconds = time.process_time() - began
        G = scores(model, X[test])
        precision, loss = average_precision(Y[test], G), ranking_loss(Y[test], G)
        results.append((precision, loss, seconds))
    precision, loss, seconds = np.mean(results, axis=0).tolist()
    return precision, loss, seconds


def after(reduce: Any, X: Any, S: np.ndarray, Y: np.ndarray) -> float:
    """Mean average precision of ML-KNN on reduced columns, three folds."""
    results = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        scaler = StandardScaler().fit(X[train])
        A, B = reduce(scaler.transform(X[train]), S[train], scaler.transform(X[test]))
        model = MLKNN().fit(A, S[train])
        results.append(average_precision(Y[test], scores(model, B)))
    return float(np.mean(results))


def main(arguments: list[str] | None = None) -> int:
    """Print the table; the exit status counts the figures that were missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of the .npz files")
    parser.add_argument("--sets", nargs="*", default=list(REACH), choices=list(REACH))
    parser.add_argument("--learners", action="store_true", help="published ones too")
    parser.add_argument("--reducers", action="store_true", help="ML-KNN after each")
    parser.add_argument("--whole", action="store_true", help="all rows, five folds")
    options = parser.parse_args(arguments)
    builds = OURS | (LEARNERS if options.learners else {})
    missed = 0
    if options.whole:
        for name, reach in WHOLE.items():
            data = load(options.folder, name, rows=None)
            precision, loss, seconds = evaluate(OURS["full rank"], *data, n_folds=5)
            missed += precision < reach - LEAST
            print(f"{name}: {precision:.3f} (reach {reach:.3f}), {loss:.3f}, ", end="")
            print(f"{seconds:.1f} s", flush=True)
        return missed
    if options.reducers:
        print("| data |", " | ".join(REDUCERS), "|")
        for name in REDUCED:
            data = load(options.folder, name)
            found = [after(reduce, *data) for reduce in REDUCERS.values()]
            print(f"| {name} |", " | ".join(f"{p:.3f}" for p in found), "|", flush=True)
        return 0
    print("| data | reach |", " | ".join(builds), "| ranking loss | seconds |")
    print("|---" * (len(builds) + 4) + "|")
    for name in options.sets:
        data = load(options.folder, name)
        found = [evaluate(build, *data) for build in builds.values()]
        cells = " | ".join(f"{precision:.3f}" for precision, _, _ in found)
        for (precision, _, _), reach in zip(found[:2], REACH[name], strict=True):
            missed += precision < reach - LEAST
        print(f"| {name} | {REACH[name][0]:.3f} | {cells} |", end="")
        print(f" {found[0][1]:.3f} | {found[0][2]:.1f} |", flush=True)
    print(f"Figures missed by more than {LEAST}: {missed}")
    return missed


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raise SystemExit(main())
