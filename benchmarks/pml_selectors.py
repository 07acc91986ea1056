"""Compare the partial multi-label selectors under the sound protocol, with controls.

Scaling, noise and ranking see the training part only; test labels are clean. Every
selector has its defaults. Two learners on the selected columns, ridge regression and
ML-KNN, are trained on the candidates. Rows of the table are average precisions on the
test part, averaged over percentages of features; ranks are averaged over data sets.

    python -m benchmarks.pml_selectors --planted
    python -m benchmarks.pml_selectors --data DIR --sets yeast CHD_49 Water --seeds 3

Seeds below 5000 and the sets emotions, CAL500 and tmc2007-500 were used to develop
TRACE; seeds start at 5000 here.
"""

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.stats import friedmanchisquare, rankdata
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from partlearn.feature_selection import DRMFS, MIFS, PMLFSLA, PMLFSSO, TRACE
from partlearn.metrics import average_precision, coverage, ranking_loss
from partlearn.multilabel import MLKNN, add_noise_labels

FIRST_SEED = 5000
PERCENTAGES = (1, 2, 5, 10, 15, 20)
DEVELOPMENT = {"emotions", "CAL500", "tmc2007-500"}
Ranker = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def _selector(cls: type, **params: object) -> Ranker:
    def rank(X: np.ndarray, C: np.ndarray, seed: int) -> np.ndarray:
        selector = cls(None, random_state=seed, **params).fit(X, C)
        return np.argsort(selector.ranking_)

    return rank


def _trace(X: np.ndarray, C: np.ndarray, seed: int) -> np.ndarray:
    # The order of more features than will be looked at is not needed.
    top = max(1, round(PERCENTAGES[-1] * X.shape[1] / 100))
    return np.argsort(TRACE(top, random_state=seed).fit(X, C).ranking_)


def _ridge(X: np.ndarray, C: np.ndarray, seed: int) -> np.ndarray:
    W = Ridge(1.0).fit(X, C.astype(float)).coef_
    return np.argsort(-np.linalg.norm(W, axis=0))


def _norm(X: np.ndarray, C: np.ndarray, seed: int) -> np.ndarray:
    return np.argsort(-np.linalg.norm(X, axis=0))


def _random(X: np.ndarray, C: np.ndarray, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(X.shape[1])


RANKERS: dict[str, Ranker] = {
    "TRACE": _trace,
    "TRACE, candidates only": lambda X, C, s: np.argsort(
        TRACE(
            max(1, round(PERCENTAGES[-1] * X.shape[1] / 100)),
            mu=np.inf,
            random_state=s,
        )
        .fit(X, C)
        .ranking_
    ),
    "PML-FSLA": _selector(PMLFSLA, max_iter=300, n_init=2),
    "PML-FSLA, code": _selector(PMLFSLA, updates="code", stop="code", n_init=1),
    "PML-FSSO": _selector(PMLFSSO, n_latent=20, max_iter=300),
    "MIFS": _selector(MIFS),
    "DRMFS": _selector(DRMFS, max_iter=300),
    "control: ridge": _ridge,
    "control: column norm": _norm,
    "control: random": _random,
}


def planted(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """600 rows, 100 features of which 20 decide 10 labels, two false candidates."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(600, 15)) @ rng.normal(size=(15, 100)) / np.sqrt(15)
    X = 0.9 * shared + rng.normal(size=(600, 100))
    relevant = rng.permutation(100)[:20]
    W = rng.normal(size=(20, 10)) * (rng.uniform(size=(20, 10)) < 0.5)
    W[~W.any(axis=1), 0] = 1.0
    S = X[:, relevant] @ W + rng.normal(size=(600, 10))
    Y = np.quantile(S, 0.8, axis=0) < S
    low = X.min(axis=0)
    return (X - low) / (X.max(axis=0) - low), Y, relevant


def compare_planted(names: list[str], seeds: int) -> dict[str, float]:
    """Share of the relevant features among the first twenty."""
    recall = defaultdict(list)
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        X, Y, relevant = planted(seed)
        C = add_noise_labels(Y, 2, random_state=seed)
        for name in names:
            first = RANKERS[name](X, C, seed)[:20]
            recall[name].append(len(set(first) & set(relevant)) / 20)
    return {name: float(np.mean(v)) for name, v in recall.items()}


def load(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Features and true labels of a stored set, dense."""
    with np.load(path, allow_pickle=False) as z:
        if "X" in z:
            X = z["X"]
        else:
            X = sp.csr_array(
                (z["X_data"], z["X_indices"], z["X_indptr"]), shape=tuple(z["X_shape"])
            ).toarray()
        return X.astype(float), z["Y"].astype(bool)


def compare_set(
    X: np.ndarray,
    Y: np.ndarray,
    names: list[str],
    seeds: int,
    r: int,
    most: int | None,
) -> dict[str, dict[str, float]]:
    """Mean scores of every ranker over seeds, percentages and both learners."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    some = Y.any(axis=1) & ~Y.all(axis=1)
    X, Y = X[some], Y[some]
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        order = np.random.default_rng(seed).permutation(len(X))[:most]
        train, test = order[: 2 * len(order) // 3], order[2 * len(order) // 3 :]
        low, high = X[train].min(axis=0), X[train].max(axis=0)
        spread = np.where(high > low, high - low, 1.0)
        A, B = (X[train] - low) / spread, np.maximum((X[test] - low) / spread, 0)
        C = add_noise_labels(Y[train], r, random_state=seed)
        prior = np.tile(C.mean(axis=0), (len(test), 1))
        found["no features"]["AP"].append(average_precision(Y[test], prior))
        found["no features"]["RL"].append(ranking_loss(Y[test], prior))
        found["no features"]["coverage"].append(coverage(Y[test], prior))
        for name in [*names, "all features"]:
            start = time.process_time()
            ranking = (
                np.arange(X.shape[1])
                if name == "all features"
                else RANKERS[name](A, C, seed)
            )
            found[name]["seconds"].append(time.process_time() - start)
            for p in PERCENTAGES if name != "all features" else (100,):
                columns = ranking[: max(1, round(p * X.shape[1] / 100))]
                ridge = Ridge(1.0).fit(A[:, columns], C.astype(float))
                knn = MLKNN(10).fit(A[:, columns], C)
                for scores in (
                    ridge.predict(B[:, columns]),
                    knn.predict_proba(B[:, columns]),
                ):
                    found[name]["AP"].append(average_precision(Y[test], scores))
                    found[name]["RL"].append(ranking_loss(Y[test], scores))
                    found[name]["coverage"].append(coverage(Y[test], scores))
    return {
        name: {score: float(np.mean(v)) for score, v in row.items()}
        for name, row in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--planted", action="store_true", help="the planted problem")
    parser.add_argument("--data", type=Path, help="folder of .npz sets")
    parser.add_argument("--sets", nargs="*", default=[], help="names of sets")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--noise", type=int, default=2, help="false labels a row")
    parser.add_argument("--rows", type=int, default=None, help="most rows of a set")
    parser.add_argument("--methods", nargs="*", default=list(RANKERS))
    parser.add_argument("--json", type=Path, help="where to write all figures")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    results: dict[str, object] = {}
    with threadpool_limits(1):
        if args.planted:
            recall = compare_planted(args.methods, args.seeds)
            results["planted"] = recall
            print("recall of 20 planted features among the first 20 (chance 0.20)")
            for name, value in recall.items():
                print(f"  {name:24s} {value:.3f}")
        tables = {}
        for name in args.sets:
            X, Y = load(args.data / f"{name}.npz")
            tables[name] = compare_set(
                X, Y, args.methods, args.seeds, args.noise, args.rows
            )
            mark = " (used in development)" if name in DEVELOPMENT else ""
            print(f"{name}{mark}: average precision, ranking loss, coverage, seconds")
            for method, row in tables[name].items():
                print(
                    f"  {method:24s} {row['AP']:.4f} {row['RL']:.4f} "
                    f"{row['coverage']:.4f} {row.get('seconds', 0):.2f}"
                )
        results["sets"] = tables
    if len(tables) > 2:
        AP = np.array([[t[m]["AP"] for m in args.methods] for t in tables.values()])
        ranks = rankdata(-AP, axis=1).mean(axis=0)
        p = friedmanchisquare(*AP.T).pvalue if len(args.methods) > 2 else float("nan")
        print(
            f"mean rank by average precision over {len(AP)} sets (Friedman p {p:.3g})"
        )
        for i in np.argsort(ranks):
            print(f"  {args.methods[i]:24s} {ranks[i]:.2f}")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
