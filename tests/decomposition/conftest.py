"""Data for the tests of the reducers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from partlearn.candidates import make_candidates


def read(path):
    """Features, candidates and truth of a reference data set; sparse stays sparse."""
    with np.load(path, allow_pickle=False) as z:
        if "X" in z:
            X = z["X"].astype(float)
        else:
            X = sp.csr_array(
                (z["X_data"].astype(float), z["X_indices"].astype(int), z["X_indptr"]),
                shape=tuple(z["X_shape"]),
            )
        return X, z.get("S"), z["y"].astype(int)


@pytest.fixture
def oracle(shared_dir):
    """Inputs and the outputs of the authors' programs."""
    with np.load(shared_dir / "oracle" / "pll_synthetic.npz") as z:
        return dict(z)


@pytest.fixture
def lost(shared_dir):
    return read(shared_dir / "data" / "pll" / "lost.npz")


@pytest.fixture
def fgnet(shared_dir):
    return read(shared_dir / "data" / "pll" / "fgnet.npz")


@pytest.fixture
def slashdot(shared_dir):
    return read(shared_dir / "data" / "pll" / "slashdot_r1.npz")


@pytest.fixture
def problem(global_random_seed):
    """Overlapping classes, so that neighbours disagree: X, S, y."""
    X, y = make_blobs(
        90, n_features=8, centers=5, cluster_std=4.0, random_state=global_random_seed
    )
    return X, make_candidates(y, 2, random_state=global_random_seed), y
