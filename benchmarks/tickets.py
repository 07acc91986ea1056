"""Labels of made tickets: the default beside logistic regression.

python -m benchmarks.tickets [rows] [seeds]
"""

import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

from partlearn._registry import DEFAULT_METHOD
from partlearn.candidates import from_text
from partlearn.datasets import make_tickets
from partlearn.tables import TableEncoder, make_learner


def compare(n_samples: int, seed: int) -> dict[str, float]:
    """Share of right labels of new rows, by what each learner was given."""
    known = make_tickets(n_samples, random_state=seed)
    new = make_tickets(n_samples, random_state=100 + seed)
    encoder = TableEncoder(ignore="candidates").fit(known.columns)
    Z, Z_new = encoder.transform(known.columns), encoder.transform(new.columns)
    single = np.array(["|" not in cell for cell in known.columns["candidates"]])
    labels = from_text(known.columns["candidates"])

    def share(learner, rows, y):
        return float(np.mean(learner.fit(Z[rows], y).predict(Z_new) == new.truth))

    linear = LogisticRegression(max_iter=2000)
    return {
        "logistic regression, single candidates": share(
            linear, single, known.truth[single]
        ),
        DEFAULT_METHOD: share(make_learner(DEFAULT_METHOD), slice(None), labels),
        "logistic regression, true labels": share(linear, slice(None), known.truth),
    }


def main() -> None:
    """Print one line per seed."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    warnings.simplefilter("ignore")
    for seed in range(seeds):
        scores = compare(rows, seed)
        print(seed, ", ".join(f"{name}: {s:.4f}" for name, s in scores.items()))


if __name__ == "__main__":
    main()
