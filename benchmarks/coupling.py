"""Whether it helps to hand a reducer's confidences to the learner.

Run as ``python -m benchmarks.coupling FOLDER [--rows N] [--folds K]``. The folder holds
``pll/{lost,birdsong,fgnet}.npz`` and ``multiclass/{dermatology,vowel,
mfeat-fourier}.npz``. Prints, for each data set and learner, the inductive accuracy of
``CoupledClassifier(CENDA(), learner)`` without and with ``pass_confidence=True``, and
the two-sided paired t-test over the folds at 0.05.

The reducer does not depend on the learner, so each fold fits it once for all of them.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import ttest_rel
from sklearn.base import clone

from partlearn.candidates import make_candidates
from partlearn.classification import IPAL, PLAGGD, PLKNN, PLSVM, SURE
from partlearn.decomposition import CENDA
from partlearn.model_selection import CandidateKFold

LEARNERS = {
    "PLKNN": PLKNN(),
    "PLSVM": PLSVM(standardize=False, random_state=0),
    "IPAL": IPAL(),
    "SURE": SURE(),
    "PLAGGD": PLAGGD(),
}
REAL = ("lost", "fgnet", "birdsong")
SYNTHETIC = ("dermatology", "vowel", "mfeat-fourier")


def problems(folder, rows):
    """Yield name, X, S, y; larger sets are cut to `rows` rows at random."""
    for name in (*REAL, *SYNTHETIC):
        real = name in REAL
        with np.load(
            folder / ("pll" if real else "multiclass") / f"{name}.npz"
        ) as file:
            X, y = file["X"].astype(float), file["y"]
            S = file["S"] if real else None
        if len(X) > rows:
            kept = np.random.RandomState(0).permutation(len(X))[:rows]
            X, y, S = X[kept], y[kept], S[kept] if real else None
        if real:
            yield name, X, S, y
        else:
            for r in (1, 2, 3):
                yield f"{name} r={r}", X, make_candidates(y, r, random_state=r), y


def compare(X, S, y, folds):
    """Accuracies of each learner without and with confidences, one per fold."""
    scores = {name: ([], []) for name in LEARNERS}
    for train, test in CandidateKFold(folds).split(X):
        reducer = CENDA().fit(X[train], S[train])
        Z, T = reducer.transform(X[train]), reducer.transform(X[test])
        for name, learner in LEARNERS.items():
            for which, given in enumerate((None, reducer.label_confidence_)):
                fitted = clone(learner).fit(Z, S[train], confidence=given)
                right = fitted.predict(T) == y[test]
                scores[name][which].append(float(right.mean()))
    return scores


def verdict(without, having):
    """Win, tie or loss of passing the confidences."""
    difference = np.subtract(having, without)
    if not difference.any():
        return "tie", 1.0
    p = 0.0 if np.ptp(difference) == 0 else float(ttest_rel(having, without).pvalue)
    return ("tie" if p >= 0.05 else "win" if difference.mean() > 0 else "loss"), p


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    kept = {}
    print(f"{'data':20} {'learner':8} without  with     p      verdict")
    for name, X, S, y in problems(options.folder, options.rows):
        kept[name] = compare(X, S, y, options.folds)
        for learner, (without, having) in kept[name].items():
            word, p = verdict(without, having)
            print(
                f"{name:20} {learner:8} {np.mean(without):.3f}    "
                f"{np.mean(having):.3f}    {p:.4f} {word}",
                flush=True,
            )
        if options.json:
            options.json.write_text(json.dumps(kept))


if __name__ == "__main__":
    main()
