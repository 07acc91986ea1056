"""Bad and degenerate input, for every multi-label classifier."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from partlearn.multilabel import (
    FPML,
    MLKNN,
    PMLFP,
    PMLLC,
    ParticleMAP,
    ParticleVLS,
    add_noise_labels,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 5))
C = add_noise_labels(X[:, :4] > 0.5, 1, random_state=0)
SOME = C.any(axis=1)
FAST = {"max_iter": 3, "inner_iter": 20, "random_state": 0}
RANKERS = [
    ParticleVLS(random_state=0),
    ParticleMAP(random_state=0),
    PMLLC(**FAST),
    PMLFP(**FAST),
    FPML(random_state=0),
]


@pytest.fixture(params=[MLKNN(), *RANKERS], ids=lambda e: type(e).__name__)
def model(request):
    return request.param


@pytest.fixture(params=RANKERS, ids=lambda e: type(e).__name__)
def ranker(request):
    return request.param


@pytest.fixture(autouse=True)
def _quiet():
    """Degenerate data rightly draw warnings; they are not the point here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_values_that_are_no_numbers(model, value, word):
    rows = X.copy()
    rows[3, 2] = value
    with pytest.raises(ValueError, match=word):
        model.fit(rows, C)
    with pytest.raises(ValueError, match=word):
        model.fit(X, C).predict(rows)


def test_matrix_that_is_not_binary(model):
    bad = C.astype(int)
    bad[5, 1] = 2
    with pytest.raises(ValueError, match="found 2 at row 5, column 1"):
        model.fit(X, bad)


def test_another_number_of_features(model):
    model.fit(X, C)
    with pytest.raises(ValueError, match=r"4 features, but .* expecting 5"):
        model.predict(X[:, :4])


def test_unfitted(ranker):
    with pytest.raises(NotFittedError):
        clone(ranker).predict(X)


CASES = {
    "two rows": (X[[0, 1]], np.array([[1, 0], [0, 1]])),
    "three rows": (X[:3], C[:3]),
    "one feature": (X[:, :1], C),
    "a constant feature": (np.c_[X, np.full(40, 0.1)], C),
    "duplicate rows": (np.repeat(X[:10], 4, axis=0), C[np.repeat(np.arange(10), 4)]),
    "duplicate rows of other sets": (np.repeat(X[:10], 4, axis=0), C),
    "duplicate features": (np.c_[X, X], C),
    "more features than rows": (np.c_[X, X**2, np.sin(X)][:8], C[:8]),
    "huge scale": (X * [1e-9, 1, 1e9, 1, 1], C),
    "far from zero": (X + 1e6, C),
    "all sets full": (X, np.ones((40, 4), dtype=int)),
    "one candidate each": (X, np.eye(4, dtype=int)[np.arange(40) % 4]),
    "equal labels": (X, np.repeat(X[:, :1] > -1, 3, axis=1)),
    "sparse without entries in a column": (
        sp.csr_matrix(np.c_[np.where(X > 0, X, 0), np.zeros(40)]),
        C,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_degenerate_data(model, case):
    rows, candidates = CASES[case]
    model.fit(rows, candidates)
    P, Y = model.predict_proba(rows), model.predict(rows)
    assert P.shape == Y.shape == candidates.shape
    assert np.isfinite(P).all()
    assert ((P >= 0) & (P <= 1)).all()
    if model.__class__ is not MLKNN:
        d = rows.shape[1]
        assert np.isfinite(model.scores_).all()
        assert sorted(model.ranking_) == list(range(1, d + 1))
        order = np.argsort(model.ranking_)
        assert (np.diff(model.scores_[order]) <= 0).all()
        assert not model.labels_[np.asarray(candidates) == 0].any()


def test_a_useless_feature_comes_last(ranker):
    rows = np.c_[np.full(40, 7.0), X]
    assert ranker.fit(rows, C).scores_[0] == 0
    assert ranker.ranking_[0] == 6


def test_scores_do_not_measure_units(ranker):
    scores = ranker.fit(X, C).scores_
    other = ranker.fit(X * [1, 100, 0.01, 1e3, 1], C).scores_
    np.testing.assert_allclose(scores, other, rtol=1e-4)


def test_equal_scores_are_shuffled(ranker):
    rows = np.zeros((40, 30))
    rows[:, 0] = X[:, 0]
    orders = {
        tuple(ranker.set_params(random_state=seed).fit(rows, C).ranking_[1:])
        for seed in range(3)
    }
    ranker.set_params(random_state=0)
    assert len(orders) == 3


def test_ml_knn_ranks_no_features():
    assert not hasattr(MLKNN().fit(X, C), "ranking_")
