"""Published figures of CENDA beside ours under both protocols.

Run as ``python -m benchmarks.protocols FOLDER`` with ``lost.npz`` and ``fgnet.npz``.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from partlearn.classification import PLKNN
from partlearn.decomposition import CENDA
from partlearn.model_selection import cross_validate

# Table 7 of the CENDA paper, PL-KNN.
PUBLISHED = {
    "lost": {0.9: 0.718, 0.99: 0.804, 0.999: 0.810, None: 0.354},
    "fgnet": {0.9: 0.133, 0.99: 0.118, 0.999: 0.106, None: 0.032},
}


def main(folder: str) -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    learner = PLKNN(variant="lab")
    print("data     share  dims  published  transductive  inductive")
    for name, figures in PUBLISHED.items():
        with np.load(Path(folder) / f"{name}.npz") as file:
            data = file["X"].astype(float), file["S"], file["y"]
        for share, published in figures.items():
            if share is None:
                dims, leaky, honest = data[0].shape[1], learner, None
            else:
                reducer = CENDA(share, scaling="maxabs")
                dims = reducer.fit(*data[:2]).n_components_
                leaky = make_pipeline(reducer, learner)
                honest = make_pipeline(CENDA(share), learner)
            seen = cross_validate(leaky, *data, protocol="transductive")["test_score"]
            line = f"{name:8} {share or 'raw':<6} {dims:4}  {published:9.3f}"
            line += f"  {seen.mean():12.3f}"
            if honest is not None:
                unseen = cross_validate(honest, *data)["test_score"]
                line += f"  {unseen.mean():9.3f}"
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
