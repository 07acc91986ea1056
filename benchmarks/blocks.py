"""One fit in memory, in 20 blocks of this process, and on two Dask workers."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.crisp import make
from benchmarks.runner import Run, case

BLOCKS = 20


def methods(n_landmarks: int, n_reference: int) -> dict[str, Any]:
    """Methods that fit rows in blocks, with settings that they need for it."""
    from partlearn.classification import CRISPClassifier
    from partlearn.decomposition import CENDA, CRISP, TunedPCA
    from partlearn.feature_selection import SAUTE, MaxRelevance

    return {
        "CRISP": CRISP(votes=False),
        "CRISPClassifier": CRISPClassifier(votes=False, n_landmarks=n_landmarks),
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

    X, _, S = make(run.pick(40_000, 400), run.pick(50, 6), run.pick(20, 4), None)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
        Client(two),
    ):
        for i, part in enumerate(np.array_split(X, BLOCKS)):
            np.save(Path(folder) / f"{i:02}.npy", part)
        rows = open_rows(folder)
        for name, model in methods(*run.pick((500, 1000), (20, 100))).items():
            engines = {
                "memory": lambda model=model: model.fit(X, S),
                "20 blocks": lambda model=model: model.fit(rows, S),
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
