"""Label errors found in single labels, beside cleanlab.

    python -m benchmarks.label_errors --data FOLDER [--out TABLE.csv] [SET ...]

FOLDER holds ``multiclass/SET.npz`` with arrays ``X`` and ``y``. Of each set 600 rows
are drawn, and .1 or .2 of the labels are replaced: by any other label ("uniform"), or
by one that depends on the true label ("class"). Printed are average precision and area
under the ROC curve of the order in which rows are to be looked at, precision among as
many first rows as there are errors, and the estimated share of errors. ``partlearn``:
``disambiguate(miss_rate="auto")``. ``cleanlab``, where it is installed: self-confidence
and normalized margin of five-fold cross-validated probabilities by logistic regression,
by a forest of 300 trees, and by the classifier that ``disambiguate`` fits; its share of
errors is that of ``filter.find_label_issues``. A cell that the table has already is not
computed again.
"""

import argparse
import csv
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from partlearn import disambiguate
from partlearn.classification import CRISPClassifier

SETS = ("segment", "texture", "usps", "mfeat-fourier", "pendigits")
CELLS = [(kind, rate) for kind in ("uniform", "class") for rate in (0.1, 0.2)]
ROWS = 600
HEAD = ("data", "errors", "rate", "finder", "AP", "AUC", "precision", "estimated")


def draw_errors(y: np.ndarray, kind: str, rate: float, seed: int) -> np.ndarray:
    """Labels of which some are replaced."""
    rng = np.random.RandomState(seed)
    q = y.max() + 1
    wrong = rng.rand(len(y)) < rate
    shift = rng.randint(1, q, len(y) if kind == "uniform" else q)
    if kind != "uniform":
        shift = shift[y]
    return np.where(wrong, (y + shift) % q, y)


def rows_of(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw the rows of a set and number their labels."""
    with np.load(folder / "multiclass" / f"{name}.npz", allow_pickle=True) as file:
        X, y = np.asarray(file["X"], dtype=float), file["y"]
    rows = np.random.RandomState(0).permutation(len(y))[:ROWS]
    return X[rows], np.unique(y[rows], return_inverse=True)[1].ravel()


def cleanlab_scores(X: np.ndarray, z: np.ndarray) -> Iterator[tuple[str, Any, float]]:
    """Name, scores (the lowest first) and share of errors, where cleanlab is there."""
    try:
        from cleanlab.filter import find_label_issues
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        print("(cleanlab is not installed: it is left out)")
        return
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "forest": RandomForestClassifier(300, random_state=0),
        "CRISPClassifier": make_pipeline(StandardScaler(), CRISPClassifier()),
    }
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, model in models.items():
        P = cross_val_predict(model, X, z, cv=folds, method="predict_proba")
        share = float(find_label_issues(z, P, n_jobs=1).mean())
        for method in ("self_confidence", "normalized_margin"):
            scores = get_label_quality_scores(z, P, method=method)
            yield f"cleanlab {name} {method}", scores, share


def scored(bad: np.ndarray, suspicion: np.ndarray) -> tuple[float, float, float]:
    """Average precision, AUC, and precision at the number of errors."""
    first = np.argsort(-suspicion, kind="stable")[: bad.sum()]
    return (
        float(average_precision_score(bad, suspicion)),
        float(roc_auc_score(bad, suspicion)),
        float(bad[first].mean()),
    )


def measure(folder: Path, name: str, kind: str, rate: float) -> Iterator[tuple]:
    X, y = rows_of(folder, name)
    z = draw_errors(y, kind, rate, seed=1)
    bad = z != y
    result = disambiguate(X, z, miss_rate="auto")
    found = [("partlearn", -result.wrong, result.miss_rate.rate)]
    for finder, scores, estimated in [*found, *cleanlab_scores(X, z)]:
        values = (*scored(bad, -np.asarray(scores)), estimated)
        yield name, kind, rate, finder, *(f"{value:.3f}" for value in values)


def summarize(lines: list[dict[str, str]]) -> None:
    """Print the means over sets, by kind and rate of errors."""
    for kind, rate in CELLS:
        print(f"\n{kind} errors, {rate:.0%}: mean over sets of AP, AUC, precision")
        mine = [x for x in lines if (x["errors"], x["rate"]) == (kind, str(rate))]
        for finder in dict.fromkeys(x["finder"] for x in mine):
            rows = [x for x in mine if x["finder"] == finder]
            means = [np.mean([float(x[k]) for x in rows]) for k in HEAD[4:]]
            print(f"  {finder:<36}", *(f"{value:.3f}" for value in means[:3]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines: list[dict[str, str]] = []
    if options.out is not None and options.out.exists():
        with options.out.open(encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
    done = {(x["data"], x["errors"], x["rate"]) for x in lines}
    for name in options.sets:
        for kind, rate in CELLS:
            if (name, kind, str(rate)) in done:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for row in measure(options.data, name, kind, rate):
                    lines.append(dict(zip(HEAD, map(str, row), strict=True)))
                    print(*row, flush=True)
            if options.out is not None:
                with options.out.open("w", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, HEAD)
                    writer.writeheader()
                    writer.writerows(lines)
    summarize(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
