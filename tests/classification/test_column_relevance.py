"""Columns of noise and constant columns in CRISPClassifier and KernelCRISP."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from tests.settling import fit_briefly

from partlearn._math.crossfit import (
    relevance_weights,
)
from partlearn._sizes import SIZES
from partlearn.candidates import (
    make_candidates,
)
from partlearn.classification import CRISPClassifier
from partlearn.decomposition import KernelCRISP


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        240, 10, n_informative=6, n_redundant=2, n_classes=4, random_state=1
    )
    return X, y, make_candidates(y, n_false=1, random_state=0)


def noisy(data, seed=0):
    """The rows, with as many columns of noise as there are features, twice."""
    X, y, S = data
    noise = np.random.RandomState(seed).standard_normal((len(X), 2 * X.shape[1]))
    return np.hstack([X, noise]), y, S


@pytest.mark.parametrize("Method", [KernelCRISP, CRISPClassifier])
def test_columns_of_noise_count_little(Method):
    X, y = make_classification(
        400, 10, n_informative=6, n_redundant=2, n_classes=4, random_state=1
    )
    X, y, S = noisy((X, y, make_candidates(y, n_false=1, random_state=0)))
    plain, weighted = (fit_briefly(Method(relevance=g), X, S) for g in (0.0, "auto"))
    v = weighted.feature_importances_
    assert_allclose(v.sum(), 1)
    assert_array_equal(v, plain.feature_importances_)
    assert v[:10].mean() > 2 * v[10:].mean()
    powers = {"linear": 0, "rbf": 0.5, "laplacian": 1}
    assert weighted.relevance_ == powers
    assert plain.relevance_ == dict.fromkeys(powers, 0)
    assert weighted.objective_[-1] > plain.objective_[-1]
    right = [
        (model.label_confidence_.argmax(axis=1) == y).mean()
        for model in (plain, weighted)
    ]
    assert right[1] > right[0]


@pytest.mark.parametrize("m", [2, 3, 6])
def test_half_of_few_rows_may_be_constant(m):
    X = np.zeros((m, 2))
    X[-1] = 1, 2
    y = np.arange(m) % 2
    model = fit_briefly(CRISPClassifier(random_state=0), X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert_allclose(model.feature_importances_.sum(), 1)


def test_weighted_columns_are_a_standardised_space(data):
    """With a given power the fit is one of columns multiplied by their weights."""
    X, _, S = noisy(data)
    fitted = CRISPClassifier(relevance=0.5, normal_scores=False)
    model = fit_briefly(fitted, X[:160], S[:160]).model_
    w = relevance_weights(fitted.feature_importances_, 0.5)
    Z = (X[:160] - X[:160].mean(axis=0)) / X[:160].std(axis=0, ddof=1) * w
    assert_allclose(model.rows, Z, atol=1e-10)
    assert_allclose(model.space(X[160:165]), model.space(X)[160:165])


def test_wide_columns_count_alike(data, monkeypatch):
    X, _, S = noisy(data)
    monkeypatch.setattr(SIZES, "relevant_columns", 20)
    for rows in (X, sp.csr_array(X)):
        model = fit_briefly(CRISPClassifier(max_iter=2), rows[:160], S[:160])
        assert set(model.relevance_.values()) == {0.0}
        assert_allclose(model.feature_importances_.sum(), 1)
        assert model.feature_importances_[:10].sum() > 0.5
