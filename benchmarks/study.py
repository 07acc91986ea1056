"""Reducers and selectors under the honest protocol: where CRISP wins, where not.

Everything (scaling, reducer, learner) is fitted on the training rows of each fold.
Results are appended to a CSV file, one line per fold, method and learner; a run that
was stopped goes on where it stopped. Folders with ``lost.npz`` and so on are searched
in ``--data`` and its sub-folders.

    python -m benchmarks.study run reducers --data FOLDER --out study.csv --quick
    python -m benchmarks.study report study.csv

``--quick`` takes 300 rows, three folds, r = 2, eight data sets and three learners, and
leaves out the slowest methods. Without it: all rows, ten folds, all there is.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import wilcoxon
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from partlearn import feature_selection
from partlearn.benchmark import (
    average_ranks,
    friedman,
    holm,
    nemenyi_critical_difference,
)
from partlearn.candidates import make_candidates, uniform_confidence
from partlearn.classification import IPAL, PLAGGD, PLECOC, PLKNN, PLSVM, SURE
from partlearn.decomposition import CENDA, CRISP, DELIN, PLDA, WPLDR, TunedPCA
from partlearn.linalg import column_moments

FIELDS = [
    "data", "r", "rows", "features", "classes", "fold", "method", "learner",
    "accuracy", "disambiguation", "components", "fit_time",
]  # fmt: skip
OWN_SETS = ["lost", "birdsong", "fgnet", "slashdot_r1"]
DRAWN_SETS = [
    "isolet", "usps", "orl", "vowel", "vehicle", "segment", "umist", "cnae-9",
    "mfeat-fourier", "texture", "optdigits", "dermatology", "yeast_uci", "arrhythmia",
    "plant-species-leaves-margin", "synthetic-control",
]  # fmt: skip
QUICK_SETS = [
    "lost", "fgnet", "isolet", "usps", "vowel", "segment", "cnae-9", "dermatology"
]  # fmt: skip
UPPER = "LDA (truth)"
ABLATION = "CRISP, no background"
UNRANKED = (UPPER, ABLATION)  # for reference: left out of ranks and tests


def tuned(reducer: Any) -> TunedPCA:
    # Fewer numbers than by default: it is fitted some thousand times here.
    return TunedPCA(reducer, n_components=[10, 20, 40, 80, 160])


# 30 rounds for PLDA, as many as the figures that this study repeats were measured with.
REDUCERS: dict[str, Callable[[], Any]] = {
    "raw": FunctionTransformer,
    "PCA 95 %": lambda: PCA(0.95, svd_solver="full"),
    "CRISP": CRISP,
    ABLATION: lambda: CRISP(background="none"),
    "CENDA": CENDA,
    "DELIN": DELIN,
    "PLDA": lambda: PLDA(max_iter=30),
    "WPLDR": WPLDR,
    "PCA+CENDA": lambda: tuned(CENDA()),
    "PCA+PLDA": lambda: tuned(PLDA(max_iter=30)),
    "PCA+DELIN": lambda: tuned(DELIN()),
    "PCA+WPLDR": lambda: tuned(WPLDR()),
    UPPER: lambda: LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
}


def selectors() -> dict[str, Callable[[], Any]]:
    """Built when asked for: 15 % of the features each."""
    fs: Any = feature_selection
    return {
        "all features": FunctionTransformer,
        "random": lambda: fs.RandomSelection(random_state=0),
        "MJE": fs.MaxJointEntropy,
        "MR": fs.MaxRelevance,
        "SAUTE": fs.SAUTE,
        "SAUTE, literal": lambda: fs.SAUTE(var_floor=1e-6),
        "CRISPSelector": fs.CRISPSelector,
    }


# Learner, and whether it is given the confidences of the reducer.
LEARNERS: dict[str, tuple[Callable[[], Any], bool]] = {
    "PL-KNN": (PLKNN, False),
    "PL-KNN+F": (PLKNN, True),
    "SURE": (SURE, False),
    "IPAL": (IPAL, False),
    "PL-SVM": (lambda: PLSVM(0.1, random_state=0), False),
    "PL-ECOC": (lambda: PLECOC(random_state=0), False),
    "PL-AGGD": (PLAGGD, False),
}
SLOW = {"PCA+DELIN", "PCA+WPLDR", "PCA+PLDA", "WPLDR", "SAUTE, literal"}


@dataclass
class Data:
    """One data set with its candidate sets."""

    name: str
    r: int  # 0 for the sets of the file
    X: np.ndarray
    S: np.ndarray
    truth: np.ndarray


def load(folder: Path, name: str, r: int, rows: int) -> Data:
    path = next(folder.rglob(f"{name}.npz"))
    with np.load(path) as file:
        if "X" in file:
            X = file["X"].astype(float)
        else:
            parts = (
                file["X_data"].astype(float),
                file["X_indices"].astype(np.int32),
                file["X_indptr"],
            )
            X = sp.csr_array(parts, shape=tuple(file["X_shape"])).toarray()
        truth = file["y"].astype(int)
        S = file["S"] if r == 0 else None
    if rows and len(truth) > rows:
        part = np.random.RandomState(0).permutation(len(truth))[:rows]
        X, truth, S = X[part], truth[part], None if S is None else S[part]
    if S is None:
        truth = np.unique(truth, return_inverse=True)[1]
        S = make_candidates(truth, n_false=r, random_state=0)
    return Data(name, r, X, S, truth)


def tasks(options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Data sets and r, those of r = 2 and of the files first."""
    names = options.sets or (QUICK_SETS if options.quick else OWN_SETS + DRAWN_SETS)
    for r in [2] if options.quick else options.r:
        for name in names:
            if name in OWN_SETS:
                if r == options.r[0]:
                    yield name, 0
            else:
                yield name, r


def scaled(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    mean, std = column_moments(X[train])
    return (X - mean) / np.where(std > 0, std, 1.0) * (std > 0)


def evaluate(
    data: Data, method: Callable[[], Any], train: np.ndarray, test: np.ndarray,
    learners: list[str], *, truth: bool,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    X = scaled(data.X, train)
    start = time.process_time()
    fitted = method().fit(X[train], data.truth[train] if truth else data.S[train])
    seconds = time.process_time() - start
    Z = fitted.transform(X)
    F = getattr(fitted, "label_confidence_", None)
    known = np.nan if F is None else (F.argmax(axis=1) == data.truth[train]).mean()
    confidence = uniform_confidence(data.S[train]) if F is None else F
    for name in learners:
        build, wants = LEARNERS[name]
        learner = build()
        if wants:
            learner.fit(Z[train], data.S[train], confidence=confidence)
        else:
            learner.fit(Z[train], data.S[train])
        accuracy = (learner.predict(Z[test]) == data.truth[test]).mean()
        yield {
            "learner": name,
            "accuracy": f"{accuracy:.6f}",
            "disambiguation": f"{known:.6f}",
            "components": Z.shape[1],
            "fit_time": f"{seconds:.4f}",
        }


def run(options: argparse.Namespace) -> None:
    methods = REDUCERS if options.kind == "reducers" else selectors()
    if options.methods:
        methods = {name: methods[name] for name in options.methods}
    elif options.quick:
        methods = {n: m for n, m in methods.items() if n not in SLOW}
    learners = options.learners or list(LEARNERS)[: 3 if options.quick else None]
    folds = options.folds or (3 if options.quick else 10)
    rows = options.rows if options.rows is not None else 300 if options.quick else 0
    out = Path(options.out)
    done = set()
    if out.exists():
        with out.open(newline="") as file:
            keys = ("data", "r", "fold", "method", "learner")
            done = {tuple(row[k] for k in keys) for row in csv.DictReader(file)}
    else:
        out.write_text(",".join(FIELDS) + "\n")
    for name, r in tasks(options):
        data = load(Path(options.data), name, r, rows)
        if r and r >= data.S.shape[1] - 1:
            print(f"{name}: r = {r} makes every label a candidate, left out")
            continue
        order = np.random.RandomState(0).permutation(len(data.truth))
        for b in range(folds):
            test = np.sort(order[b::folds])
            train = np.setdiff1d(order, test)
            for method, build in methods.items():
                left = [
                    learner
                    for learner in learners
                    if (name, str(r), str(b), method, learner) not in done
                ]
                if not left:
                    continue
                common = {
                    "data": name, "r": r, "rows": len(train),
                    "features": data.X.shape[1], "classes": data.S.shape[1],
                    "fold": b, "method": method,
                }  # fmt: skip
                try:
                    results = list(
                        evaluate(data, build, train, test, left, truth=method == UPPER)
                    )
                except (ValueError, np.linalg.LinAlgError) as error:
                    print(f"{name} r={r} fold {b} {method}: {error}", flush=True)
                    continue
                with out.open("a", newline="") as file:
                    writer = csv.DictWriter(file, FIELDS)
                    writer.writerows(common | result for result in results)
        print(f"{name} r={r} done", flush=True)


def mean_of(rows: list[dict[str, str]], field: str) -> float:
    return float(np.mean([float(row[field]) for row in rows]))


def table(path: Path) -> list[dict[str, Any]]:
    """Mean over folds of each cell: (data, r, learner) by method."""
    cells: dict[tuple[str, str, str], dict[str, list[dict[str, str]]]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            key = (row["data"], row["r"], row["learner"])
            cells.setdefault(key, {}).setdefault(row["method"], []).append(row)
    means = []
    for (data, r, learner), by in cells.items():
        one = next(iter(by.values()))[0]
        accuracy = {m: mean_of(rows, "accuracy") for m, rows in by.items()}
        seconds = {m: mean_of(rows, "fit_time") for m, rows in by.items()}
        ratio = float(one["rows"]) / float(one["features"])
        cell = {"data": data, "r": r, "learner": learner, "ratio": ratio}
        folds = {m: len(rows) for m, rows in by.items()}
        # A method that has not got through all folds yet is not compared.
        if len(set(folds.values())) > 1:
            most = max(folds.values())
            accuracy = {m: value for m, value in accuracy.items() if folds[m] == most}
        means.append(cell | {"accuracy": accuracy, "time": seconds})
    return means


def ranking(cells: list[dict[str, Any]], methods: list[str]) -> str:
    """Average rank, mean accuracy and fit time of each method, as a table."""
    scores = np.array([[cell["accuracy"][m] for m in methods] for cell in cells])
    ranks = average_ranks(scores)
    times = [np.mean([cell["time"][m] for cell in cells]) for m in methods]
    lines = [f"{'method':24s} rank  accuracy  fit seconds"]
    lines += [
        f"{methods[i]:24s} {ranks[i]:.2f}  {scores[:, i].mean():.3f}     {times[i]:.3f}"
        for i in np.argsort(ranks)
    ]
    return "\n".join(lines)


def by_data(cells: list[dict[str, Any]], methods: list[str]) -> np.ndarray:
    """Mean over learners and r of each data set: what the tests compare."""
    names = sorted({cell["data"] for cell in cells})
    return np.array(
        [
            [
                np.mean([c["accuracy"][m] for c in cells if c["data"] == name])
                for m in methods
            ]
            for name in names
        ]
    )


def report(options: argparse.Namespace) -> None:
    everything = table(Path(options.csv))
    methods = sorted({m for cell in everything for m in cell["accuracy"]})
    complete = [c for c in everything if len(c["accuracy"]) == len(methods)]
    ranked = [m for m in methods if m not in UNRANKED]
    names = sorted({c["data"] for c in complete})
    print(
        f"{len(complete)} of {len(everything)} cells have all {len(methods)} methods; "
        f"{len(names)} data sets: {', '.join(names)}\n"
    )
    print(ranking(complete, ranked))
    for name in set(UNRANKED) & set(methods):
        accuracy = np.mean([c["accuracy"][name] for c in complete])
        print(f"{name:24s}  -    {accuracy:.3f}")
    for title, chosen in groups(complete):
        if chosen:
            print(f"\n{title}: {len(chosen)} cells")
            print(ranking(chosen, ranked))
    scores = by_data(complete, ranked)
    ranks = average_ranks(scores)
    difference = nemenyi_critical_difference(len(ranked), len(scores))
    print(
        f"\nFriedman over {len(scores)} data sets: p = {friedman(scores).p_value:.2g}"
    )
    print(f"Critical difference of average ranks (Nemenyi, 0.05): {difference:.2f}")
    first, *others = np.argsort(ranks)
    p = holm([wilcoxon(scores[:, first], scores[:, i]).pvalue for i in others])
    print(f"Wilcoxon-Holm of {ranked[first]} (rank {ranks[first]:.2f}) against")
    for i, value in zip(others, p, strict=True):
        wins = int((scores[:, first] > scores[:, i]).sum())
        print(
            f"  {ranked[i]:24s} rank {ranks[i]:.2f}  p = {value:.2g}  "
            f"better on {wins} of {len(scores)}"
        )
    if options.diagram:
        diagram(ranked, ranks, difference, Path(options.diagram))


def groups(
    cells: list[dict[str, Any]],
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for learner in LEARNERS:
        yield learner, [c for c in cells if c["learner"] == learner]
    for title, low, high in [
        ("below 1 row per feature", 0, 1),
        ("1 to 5 rows per feature", 1, 5),
        ("5 rows per feature or more", 5, np.inf),
    ]:
        yield title, [c for c in cells if low <= c["ratio"] < high]


def diagram(
    methods: list[str], ranks: np.ndarray, difference: float, path: Path
) -> None:
    """Draw average ranks on a line; bars join what does not differ."""
    import matplotlib.pyplot as plt

    from partlearn.benchmark import nemenyi_cliques

    order = np.argsort(ranks)
    figure, axes = plt.subplots(figsize=(7, 0.3 * len(methods) + 1))
    for level, i in enumerate(order):
        axes.plot([ranks[i], ranks[i]], [0, -1 - level], color="0.6", lw=0.8)
        text = axes.text(ranks[i] + 0.08, -1 - level, f"{methods[i]}  {ranks[i]:.2f}")
        text.set_backgroundcolor("white")
    for height, (_, _, members) in enumerate(nemenyi_cliques(ranks, difference)):
        inside = ranks[members]
        y = 0.4 + 0.4 * height
        axes.plot([inside.min(), inside.max()], [y, y], color="black", lw=3)
    axes.set_xlim(1, ranks.max() + 1.5)
    axes.set_yticks([])
    axes.set_xlabel(
        f"average rank over data sets (critical difference {difference:.2f})"
    )
    figure.savefig(path, bbox_inches="tight")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("kind", choices=["reducers", "selectors"])
    runner.add_argument("--data", required=True, help="folder with npz files")
    runner.add_argument("--out", required=True, help="CSV file to append to")
    runner.add_argument("--quick", action="store_true")
    runner.add_argument("--rows", type=int, help="most rows of a data set, 0 for all")
    runner.add_argument("--folds", type=int)
    runner.add_argument("--r", type=int, nargs="+", default=[2, 1, 3])
    runner.add_argument("--sets", nargs="+")
    runner.add_argument("--methods", nargs="+")
    runner.add_argument("--learners", nargs="+", choices=list(LEARNERS))
    runner.set_defaults(call=run)
    reporter = commands.add_parser("report")
    reporter.add_argument("csv")
    reporter.add_argument("--diagram", help="file to draw the average ranks to")
    reporter.set_defaults(call=report)
    options = parser.parse_args(arguments)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        options.call(options)


if __name__ == "__main__":
    main()
