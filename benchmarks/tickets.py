"""Labels of made tickets: the default beside logistic regression.

python -m benchmarks.tickets [rows] [seeds] [new rows]

``without the date``: encoded by hand, without the column that tells nothing.
``all columns alike``: the default with relevance=0.
"""

import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

from partlearn._registry import DEFAULT_METHOD
from partlearn.candidates import from_text
from partlearn.datasets import make_tickets
from partlearn.tables import TableEncoder, make_learner


def compare(n_samples: int, seed: int, n_new: int) -> dict[str, float]:
    """Share of right labels of new rows, by what each learner was given."""
    known = make_tickets(n_samples, random_state=seed)
    new = make_tickets(n_new, random_state=100 + seed)
    single = np.array(["|" not in cell for cell in known.columns["candidates"]])
    labels = from_text(known.columns["candidates"])
    scores = {}
    for name, ignored in (("", []), (", without the date", ["opened"])):
        encoder = TableEncoder(ignore=["candidates", *ignored]).fit(known.columns)
        Z, Z_new = encoder.transform(known.columns), encoder.transform(new.columns)

        def share(learner, rows, y, Z=Z, Z_new=Z_new):
            return float(np.mean(learner.fit(Z[rows], y).predict(Z_new) == new.truth))

        linear = LogisticRegression(max_iter=2000)
        scores |= {
            f"logistic regression, single candidates{name}": share(
                linear, single, known.truth[single]
            ),
            f"{DEFAULT_METHOD}{name}": share(
                make_learner(DEFAULT_METHOD), slice(None), labels
            ),
            f"{DEFAULT_METHOD}, all columns alike{name}": share(
                make_learner(DEFAULT_METHOD, {"relevance": 0.0}), slice(None), labels
            ),
            f"logistic regression, true labels{name}": share(
                linear, slice(None), known.truth
            ),
        }
    return scores


def main() -> None:
    """Print one line per seed, and the means."""
    given = [int(value) for value in sys.argv[1:]]
    rows, seeds, n_new = [*given, *[3000, 3, 3000][len(given) :]]
    warnings.simplefilter("ignore")
    table = []
    for seed in range(seeds):
        table.append(compare(rows, seed, n_new))
        cells = ", ".join(f"{name}: {s:.4f}" for name, s in table[-1].items())
        print(seed, cells, flush=True)
    for name in table[0]:
        print(f"{np.mean([scores[name] for scores in table]):.4f} {name}")


if __name__ == "__main__":
    main()
