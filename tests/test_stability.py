"""Real data, written in another way, give the same result or nearly so."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from tests.settling import fit_briefly

from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN, CRISPClassifier
from partlearn.decomposition import CENDA, CRISP, DELIN, KernelCRISP, TunedPCA
from partlearn.feature_selection import SAUTE, CRISPSelector, MaxRelevance


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], make_candidates(y[:400], n_false=1, random_state=0)


@pytest.fixture
def glass(shared_dir):
    with np.load(shared_dir / "data" / "multiclass" / "glass.npz") as z:
        X, y = z["X"].astype(float), z["y"]
    return X, y, make_candidates(y, n_false=1, random_state=0)


def written_otherwise(X, S):
    rng = np.random.default_rng(0)
    yield np.asfortranarray(X), S
    yield sp.csr_array(X), S
    yield X * (1 + 2e-16 * rng.integers(-1, 2, size=X.shape)), S
    for _ in range(3):
        new = rng.permutation(len(X))
        yield X[new], S[new]


@pytest.mark.parametrize("selector", [MaxRelevance(5), SAUTE(5)], ids=["mr", "saute"])
def test_selectors_on_pixels(selector, digits):
    """Seventeen grey levels: most rows have more equally near rows than may vote."""
    plain = fit_briefly(clone(selector), *digits)
    turned = digits[0], digits[1][:, ::-1]  # classes in another order
    for X, S in [turned, *written_otherwise(*digits)]:
        other = fit_briefly(clone(selector), X, S)
        np.testing.assert_array_equal(other.selected_, plain.selected_)
        np.testing.assert_allclose(other.scores_, plain.scores_, atol=1e-10)
    single = fit_briefly(clone(selector), digits[0].astype(np.float32), digits[1])
    np.testing.assert_array_equal(single.selected_, plain.selected_)


@pytest.mark.parametrize("weights", ["distance", "rank"])
def test_neighbours_on_pixels(digits, weights):
    X, S = digits
    plain = PLKNN(weights=weights).fit(X, S).predict_proba(X)
    for other, T in written_otherwise(X, S):
        shares = PLKNN(weights=weights).fit(other, T).predict_proba(X)
        np.testing.assert_allclose(shares, plain, atol=1e-10)


def named_right(reducer, X, S, y):
    fitted = fit_briefly(clone(reducer), X, S)
    named = fitted.classes_[fitted.label_confidence_.argmax(axis=1)]
    return float((named == y).mean())


OURS = [CRISP(), CRISPSelector(5), KernelCRISP(), CRISPClassifier()]


@pytest.mark.shared
@pytest.mark.parametrize("estimator", OURS, ids=lambda e: type(e).__name__)
def test_cross_fits_on_small_data(estimator, glass):
    """The order of the rows changes the order of sums only."""
    X, _, S = glass
    plain = fit_briefly(clone(estimator), X, S).label_confidence_
    for new in (np.random.default_rng(seed).permutation(len(X)) for seed in range(3)):
        other = fit_briefly(clone(estimator), X[new], S[new]).label_confidence_
        np.testing.assert_allclose(other, plain[new], atol=1e-9)
    turned = fit_briefly(clone(estimator), X, S[:, ::-1]).label_confidence_
    np.testing.assert_allclose(turned[:, ::-1], plain, atol=1e-8)
    rng = np.random.default_rng(0)
    bits = X * (1 + 2e-16 * rng.integers(-1, 2, size=X.shape))
    for rows in (bits, X.astype(np.float32)):
        other = fit_briefly(clone(estimator), rows, S).label_confidence_
        assert np.abs(other - plain).max() < 0.05
        np.testing.assert_array_equal(other.argmax(axis=1), plain.argmax(axis=1))


@pytest.mark.shared
def test_votes_of_equal_rows_in_cenda(glass):
    """Two rows of glass are the same: either may be found before the other."""
    X, _, S = glass
    plain = fit_briefly(CENDA(), X, S)
    directions = np.abs(plain.components_)
    for other, T in written_otherwise(X, S):
        fitted = fit_briefly(CENDA(), other, T)
        np.testing.assert_allclose(np.abs(fitted.components_), directions, atol=1e-8)
        named = np.sort(fitted.label_confidence_.max(axis=1))
        expected = np.sort(plain.label_confidence_.max(axis=1))
        np.testing.assert_allclose(named, expected, atol=1e-10)


@pytest.mark.shared
def test_hard_choices_of_delin(glass):
    X, _, S = glass
    # Single precision loses nothing but the digits of the data themselves.
    single = X.astype(np.float32)
    fitted, wide = (
        fit_briefly(DELIN(), A, S) for A in (single, single.astype(np.float64))
    )
    np.testing.assert_allclose(
        fitted.label_confidence_, wide.label_confidence_, atol=1e-6
    )
    plain = fit_briefly(DELIN(), X, S)
    for other, T in itertools.islice(written_otherwise(X, S), 3):
        fitted = fit_briefly(DELIN(), other, T)
        np.testing.assert_allclose(
            fitted.label_confidence_, plain.label_confidence_, atol=1e-10
        )
    # Draws among tied labels go with the content of rows and labels.
    for new in (np.random.default_rng(seed).permutation(len(X)) for seed in (0, 2)):
        fitted = fit_briefly(DELIN(), X[new], S[new])
        np.testing.assert_allclose(
            fitted.label_confidence_, plain.label_confidence_[new], atol=1e-10
        )
    turned = fit_briefly(DELIN(), X[:, ::-1], S[:, ::-1]).label_confidence_[:, ::-1]
    np.testing.assert_allclose(turned, plain.label_confidence_, atol=1e-10)


def test_folds_of_tuned_pca_on_pixels(digits):
    """Folds follow the content of the rows."""
    plain = TunedPCA(n_components=[5, 20, 40]).fit(*digits)
    assert np.ptp(plain.hit_rates_) > 0
    for X, S in written_otherwise(*digits):
        other = TunedPCA(n_components=[5, 20, 40]).fit(X, S)
        np.testing.assert_allclose(other.hit_rates_, plain.hit_rates_, atol=1e-10)
        assert other.n_principal_ == plain.n_principal_
