"""One fit in memory, in 20 blocks of this process, and on two Dask workers."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.crisp import make
from benchmarks.runner import Run, case

BLOCKS = 20
# A fit in memory keeps up to 1e8 numbers of a kernel's features, a fit of blocks none:
# they are compared where both compute them in every pass, as for large data.
MANY = "CRISPClassifier"


def methods(n_landmarks: int, n_reference: int) -> dict[str, Any]:
    """Methods that fit rows in blocks, with settings that they need for it."""
    from partlearn.classification import CRISPClassifier
    from partlearn.decomposition import CENDA, CRISP, TunedPCA
    from partlearn.feature_selection import SAUTE, MaxRelevance

    return {
        "CRISP": CRISP(use_neighbors=False),
        "CRISPClassifier": CRISPClassifier(
            use_neighbors=False, n_landmarks=n_landmarks
        ),
        "CENDA": CENDA(n_reference=n_reference),
        "SAUTE": SAUTE(n_reference=n_reference),
        "MaxRelevance": MaxRelevance(n_reference=n_reference),
        "TunedPCA": TunedPCA(n_components=3),
    }


@case("blocks", slow=True)
def blocks(run: Run) -> None:
    """20 blocks, in this process and on two workers, beside the fit in memory (G18)."""
    from distributed import Client, LocalCluster

    from partlearn.io import open_rows

    most, fewer = run.pick((120_000, 40_000), (800, 400))
    X_all, _, S_all = make(most, run.pick(50, 6), run.pick(20, 4), None)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
        Client(two),
    ):
        for name, model in methods(*run.pick((1000, 1000), (20, 100))).items():
            m = most if name == MANY else fewer
            X, S = X_all[:m], S_all[:m]
            parts = Path(folder) / str(m)
            parts.mkdir(exist_ok=True)
            for i, part in enumerate(np.array_split(X, BLOCKS)):
                np.save(parts / f"{i:02}.npy", part)
            rows = open_rows(parts)
            engines = {
                "memory": partial(model.fit, X, S),
                "20 blocks": partial(model.fit, rows, S),
            }
            expected, ours, dask = (
                learnt(model.fit(data, S)) for data in (X, rows, rows.with_dask())
            )
            run.agree(f"{name}, 20 blocks", ours, expected, tolerance=1e-8)
            run.agree(f"{name}, two workers", dask, expected, tolerance=1e-8)
            seconds = run.time(name, engines, repeats=1)
            run.ratio(
                f"{name}, 20 blocks / memory",
                seconds["20 blocks"] / seconds["memory"],
                at_most=1.5,
            )


def learnt(model: Any) -> np.ndarray:
    """What a fit says of the features, or, of kernels, of the labels."""
    for attribute in ("components_", "scores_", "label_confidence_"):
        if hasattr(model, attribute):
            return np.asarray(getattr(model, attribute)).copy()
    raise TypeError(f"{type(model).__name__} has no attribute to compare")
