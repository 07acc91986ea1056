"""PooledClassifier: probabilities of single learners before and after calibration.

    python -m benchmarks.pooled_classifier

Digits with three false labels and wine with one, at most 400 training rows: accuracy,
calibration error and log loss on the other rows. The exit code is 1 if pooling does not
lower every calibration error.
"""

import sys

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from partlearn.candidates import make_candidates
from partlearn.classification import PLAGGD, PLKNN, PLSVM, SURE, PooledClassifier
from partlearn.metrics import calibration_bins

DATA = {"digits": (load_digits, 3), "wine": (load_wine, 1)}
LEARNERS = (PLKNN(), SURE(), PLSVM(standardize=False, random_state=0), PLAGGD())


def calibration_error(P, truth) -> float:
    bins = calibration_bins(P.max(axis=1), P.argmax(axis=1) == truth)
    return float(
        np.average(np.abs(bins.confidence - bins.accuracy), weights=bins.n_rows)
    )


def main() -> int:
    worse = 0
    for name, (load, n_false) in DATA.items():
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        S = make_candidates(y, n_false=n_false, random_state=0)
        X, X_new, S, _, _, truth = train_test_split(
            X, S, y, train_size=min(400, len(X) // 2), random_state=0
        )

        def score(title, model, X=X, S=S, X_new=X_new, truth=truth, name=name):
            P = model.fit(X, S).predict_proba(X_new)
            error = calibration_error(P, truth)
            right = (P.argmax(axis=1) == truth).mean()
            loss = log_loss(truth, P, labels=np.arange(P.shape[1]))
            print(f"{name:7} {title:17} {right:.3f} {error:.3f} {loss:.3f}", flush=True)
            return error

        for learner in LEARNERS:
            title = type(learner).__name__
            plain = score(title, clone(learner))
            pooled = PooledClassifier([learner], random_state=0)
            worse += score(f"{title}, pooled", pooled) >= plain
        three = [LEARNERS[0], LEARNERS[1], LEARNERS[3]]
        for weights in ("equal", "held-out"):
            model = PooledClassifier(three, weights=weights, random_state=0)
            score(f"three, {weights}", model)
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main())
