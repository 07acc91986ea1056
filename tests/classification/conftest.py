"""Problems that the tests of all classifiers share."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from partlearn.candidates import make_candidates


@pytest.fixture
def blobs(global_random_seed):
    """Well separated classes, two candidates each."""
    X, y = make_blobs(
        100, n_features=6, centers=4, cluster_std=1.0, random_state=global_random_seed
    )
    return X, make_candidates(y, 1, random_state=global_random_seed), y


@pytest.fixture
def noise(global_random_seed):
    """Features without any signal, up to four candidates of six."""
    rng = np.random.default_rng(global_random_seed)
    S = rng.random((40, 6)) < 0.4
    S[np.arange(40), rng.integers(0, 6, 40)] = True
    return rng.standard_normal((40, 5)), S


@pytest.fixture(scope="session")
def oracle(shared_dir):
    with np.load(shared_dir / "oracle" / "pll_synthetic.npz") as file:
        return {key: file[key] for key in file.files}
