"""Relevance of columns: accuracy as the data are, and with columns of noise.

    python -m benchmarks.noise_columns --data FOLDER --out TABLE.csv [SET ...]

Sets with two false candidates, or their own; at most 500 training rows and 600 new ones
per split; as many normal columns of noise as features. A line of the table is one
split: share of right labels of new rows and of training rows, with all columns alike
(``relevance=0``) and with relevance. Lines that the table has are not computed again.
"""

import argparse
import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.candidate_classifier import with_false_labels
from partlearn.classification import PLKNN, CRISPClassifier
from partlearn.decomposition import CRISP

TRAINING, NEW = 500, 600
OWN = ("lost", "birdsong", "fgnet")  # have candidates of their own
SETS = (
    *OWN, "glass", "vehicle", "vowel", "segment", "texture", "usps", "yeast_uci",
    "wine-quality-red", "wine-quality-white", "letter", "mfeat-fourier", "leaf",
    "dermatology", "optdigits", "pendigits", "ecoli", "synthetic-control", "zoo",
    "plant-species-leaves-margin", "plant-species-leaves-shape", "soybean-large",
    "arrhythmia", "isolet", "umist", "orl",
)  # fmt: skip
HEAD = ("data", "split", "noise", "method", "relevance", "new", "training")


def load(folder: Path, name: str, split: int) -> tuple[Any, Any, Any, Any, Any]:
    """Features, candidates, truth, training rows and new rows."""
    with np.load(next(folder.rglob(f"{name}.npz"))) as file:
        X, y = file["X"].astype(float), file["y"].astype(int)
        S = file["S"].astype(bool) if name in OWN else None
    if S is None:
        y = np.unique(y, return_inverse=True)[1]
        S = with_false_labels(y, 2, seed=split)
    order = np.random.RandomState(split).permutation(len(y))
    n = min(TRAINING, round(0.6 * len(y)))
    return X, S, y, np.sort(order[:n]), order[n : n + NEW]


def fitted(method: str, relevance: Any, X: Any, S: Any) -> Any:
    """CRISPClassifier, or CRISP and the classifier that follows it."""
    if method == "CRISPClassifier":
        model = CRISPClassifier(relevance=relevance).fit(X, S)
        return model, model.predict
    model = CRISP(relevance=relevance).fit(X, S)
    learner = PLKNN().fit(model.transform(X), S)
    return model, lambda Z: learner.predict(model.transform(Z))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    known = set()
    if options.out.exists():
        with options.out.open(encoding="utf-8", newline="") as file:
            known = {tuple(line[:5]) for line in csv.reader(file)}
    warnings.simplefilter("ignore")
    with options.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if not known:
            writer.writerow(HEAD)
        for split in range(options.splits):
            for name in options.sets:
                X, S, y, train, test = load(options.data, name, split)
                for noise in (0, 1):
                    rng = np.random.RandomState(1000 + split)
                    Z = np.hstack([X, rng.standard_normal(X.shape)]) if noise else X
                    for method in ("CRISPClassifier", "CRISP"):
                        for relevance in (0.0, "auto"):
                            key = (name, split, noise, method, relevance)
                            if tuple(map(str, key)) in known:
                                continue
                            model, predict = fitted(
                                method, relevance, Z[train], S[train]
                            )
                            new = float((predict(Z[test]) == y[test]).mean())
                            best = model.label_confidence_.argmax(axis=1)
                            right = float((best == y[train]).mean())
                            line = (*key, f"{new:.4f}", f"{right:.4f}")
                            writer.writerow(line)
                            file.flush()
                            print(*line, flush=True)
    summarize(options.out)


def summarize(path: Path) -> None:
    """Print means over the sets, each counting once."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    keys = sorted({(x["method"], x["noise"], x["relevance"]) for x in lines})
    print(f"{'method':16} noise relevance    new  training  sets")
    for method, noise, relevance in keys:
        cells: dict[str, list[tuple[float, float]]] = {}
        for x in lines:
            if (x["method"], x["noise"], x["relevance"]) == (method, noise, relevance):
                pair = (float(x["new"]), float(x["training"]))
                cells.setdefault(x["data"], []).append(pair)
        new, right = np.mean([np.mean(v, axis=0) for v in cells.values()], axis=0)
        what = f"{method:16} {noise:5} {relevance:9}"
        print(f"{what} {new:.4f}    {right:.4f}  {len(cells)}")


if __name__ == "__main__":
    main()
