"""How many planted features the partial multi-label selectors find, beside controls.

    python -m benchmarks.pml_planted

600 rows, 100 features of which 20 decide ten labels, two false candidates per row; the
share of the 20 among the first 20 of each ranking. Every selector has its defaults.
Seeds below 5000 were used to develop TRACE; seeds start at 5000 here. Real data are
compared by ``partlearn bench pml-sound``.
"""

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from partlearn.benchmark._protocol import RANKINGS, order_of, ordered
from partlearn.multilabel import (
    DRMFS,
    MIFS,
    PMFSLRS,
    PMLFSLA,
    PMLFSMIR,
    PMLFSSO,
    TRACE,
    add_noise_labels,
)

FIRST_SEED = 5000
RELEVANT = 20
SELECTORS = {
    "TRACE": lambda seed: TRACE(RELEVANT, random_state=seed),
    "TRACE, mu=inf": lambda seed: TRACE(RELEVANT, mu=np.inf, random_state=seed),
    "PML-FSLA": lambda seed: PMLFSLA(None, random_state=seed),
    "PML-FSLA, program": lambda seed: PMLFSLA(
        None, updates="code", stop="code", n_init=1, random_state=seed
    ),
    "PML-FSSO": lambda seed: PMLFSSO(None, random_state=seed),
    "MIFS": lambda seed: MIFS(None, random_state=seed),
    "DRMFS": lambda seed: DRMFS(None, random_state=seed),
    "PMFS-LRS": lambda seed: PMFSLRS(None, random_state=seed),
    "PMFS-LRS, program": lambda seed: PMFSLRS(
        None, variant="package", random_state=seed
    ),
    "PML-FSMIR": lambda seed: PMLFSMIR(None, random_state=seed),
}


def planted(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features in [0, 1], true labels, and the features that decide them."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(600, 15)) @ rng.normal(size=(15, 100)) / np.sqrt(15)
    X = 0.9 * shared + rng.normal(size=(600, 100))
    relevant = rng.permutation(100)[:RELEVANT]
    W = rng.normal(size=(RELEVANT, 10)) * (rng.uniform(size=(RELEVANT, 10)) < 0.5)
    W[~W.any(axis=1), 0] = 1.0
    S = X[:, relevant] @ W + rng.normal(size=(600, 10))
    Y = np.quantile(S, 0.8, axis=0) < S
    low = X.min(axis=0)
    return (X - low) / (X.max(axis=0) - low), Y, relevant


def recalls(seed: int) -> dict[str, float]:
    X, Y, relevant = planted(seed)
    C = add_noise_labels(Y, 2, random_state=seed)
    orders = {
        name: order_of(build(seed).fit(X, C), seed) for name, build in SELECTORS.items()
    }
    orders |= {name: ordered(score(X, C), seed) for name, score in RANKINGS.items()}
    return {
        name: len(set(order[:RELEVANT]) & set(relevant)) / RELEVANT
        for name, order in orders.items()
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args(arguments).seeds
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [recalls(FIRST_SEED + i) for i in range(seeds)]
    print(f"share of {RELEVANT} planted features among the first (chance 0.20)")
    for name in found[0]:
        print(f"  {name:24s} {np.mean([row[name] for row in found]):.3f}")


if __name__ == "__main__":
    main()
