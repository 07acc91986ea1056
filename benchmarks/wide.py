"""Seconds and memory of fits on wide sparse text, beside a truncated decomposition.

    python -m benchmarks wide
    python -m benchmarks.wide [--rows N ...] [--methods NAME ...] [--store FILE]

20,000 documents of 50 words out of 50,000 and 20 classes: four words in ten are drawn
from 200 words of the class, the others from all; two false candidates a row. "SAUTE,
dense" gets 2,000 x 10,000 normal numbers with five classes instead. Every fit runs in a
process of its own with one thread. Seconds are of the processor and of the fit alone;
memory is the peak of the process, data included (the matrix would be 8 GB if it were
dense). scikit-learn's TruncatedSVD, 500 components of this matrix, is the yardstick.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import cells
from benchmarks.runner import Run, case

MODULE = "benchmarks.wide"
STORE = Path(__file__).parent / "results" / "wide.jsonl"
LIMIT = 30.0  # seconds
YARDSTICK, DENSE = "TruncatedSVD", "SAUTE, dense"
ROWS = 20_000


def methods() -> dict[str, Any]:
    """Every method, by a function that makes it."""
    from sklearn.decomposition import TruncatedSVD

    from partlearn.classification import CRISPClassifier
    from partlearn.decomposition import CENDA, CRISP, TunedPCA
    from partlearn.feature_selection import SAUTE, MaxJointEntropy, MaxRelevance
    from partlearn.multilabel import TRACE

    return {
        YARDSTICK: lambda: TruncatedSVD(500, random_state=0),
        "CRISP": CRISP,
        "CRISP without neighbors": lambda: CRISP(use_neighbors=False),
        "CRISPClassifier, linear": lambda: CRISPClassifier(geometries=("linear",)),
        "TunedPCA": TunedPCA,
        "MaxRelevance": MaxRelevance,
        "MaxJointEntropy": MaxJointEntropy,
        "SAUTE": SAUTE,
        "CENDA": CENDA,
        "TRACE": TRACE,
        DENSE: SAUTE,
    }


def text(m: int, d: int, q: int = 20) -> tuple[Any, Any]:
    """Documents and classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(q, size=m)
    length = max(5, d // 1000)
    words = rng.integers(d, size=(q, 200))
    own = words[y[:, None], rng.integers(200, size=(m, length))]
    any_word = rng.integers(d, size=(m, length))
    columns = np.where(rng.random((m, length)) < 0.4, own, any_word)
    rows = np.repeat(np.arange(m), length)
    X = sp.csr_array((np.ones(m * length), (rows, columns.ravel())), shape=(m, d))
    X.sum_duplicates()
    return X, y


def measure(method: str, m: int) -> dict[str, Any]:
    """Fit one method to `m` documents in this process."""
    from partlearn.candidates import make_candidates

    if method == DENSE:
        rng = np.random.default_rng(0)
        y = rng.integers(5, size=m // 10)
        X: Any = rng.standard_normal((m // 10, m // 2))
        X[:, :200] += rng.standard_normal((5, 200))[y]
    else:
        X, y = text(m, m * 5 // 2)
    candidates = make_candidates(y, n_false=2, random_state=0)
    found = cells.fitted(method, methods()[method](), X, candidates, y)
    return {**found, "rows": m}


def compare(run: Run, names: list[str], rows: list[int], store: Path) -> None:
    """Measure every method, and give its time as a multiple of the yardstick's."""
    for m in rows:
        yardstick = cells.cell(MODULE, YARDSTICK, m, store)["seconds"]
        for method in names:
            try:
                found = cells.cell(MODULE, method, m, store)
            except cells.CellError as error:
                run.show(f"  {method}: {error}")
                continue
            line = f"{method}, {found['megabytes']:.0f} MB"
            if found["right"] is not None:
                line += f", {found['right']:.3f} right"
            run.ratio(f"{line}, over {YARDSTICK}", found["seconds"] / yardstick)
            line = f"{method}, {found['seconds']:.1f} s, over {LIMIT:.0f} s"
            run.ratio(line, found["seconds"] / LIMIT, at_most=1)


@case("wide", slow=True)
def wide(run: Run) -> None:
    """Wide sparse text, 20,000 x 50,000, for everything that takes it (G19)."""
    names = run.pick(list(methods()), [YARDSTICK, "MaxRelevance", "MaxJointEntropy"])
    store = STORE.with_name("wide-quick.jsonl") if run.quick else STORE
    compare(run, names, [run.pick(ROWS, 600)], store)


def main(arguments: list[str] | None = None) -> int:
    return cells.main(MODULE, methods(), measure, compare, [ROWS], STORE, arguments)


if __name__ == "__main__":
    sys.exit(main())
