"""The checks at the edge find estimators that break there."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.settling import fit_briefly

from partlearn.classification import CC, CLPL, PLKNN, PRODEN
from partlearn.decomposition import CENDA, CRISP, PLDA, TunedPCA
from partlearn.feature_selection import SAUTE
from partlearn.multilabel import PMLNI, Schirn
from partlearn.utils._common_checks import check_huge_features, check_unhashable_labels


class Silent(PLKNN):
    """Gives NaN where it cannot compute."""

    def predict_proba(self, X):
        return np.full((len(X), 3), np.nan)

    decision_function = predict_proba


class Unclear(PLKNN):
    """Refuses without saying what is wrong."""

    def fit(self, X, y, confidence=None):
        raise ValueError("SVD did not converge")


class Trusting(PLKNN):
    """Takes whatever it is given for labels."""

    def fit(self, X, y, confidence=None):
        return self


def test_sound_estimators_pass():
    check_huge_features(PLKNN())
    check_unhashable_labels(PLKNN())


def test_nan_is_found():
    with pytest.raises(AssertionError, match="predict_proba with 1e300 everywhere"):
        check_huge_features(Silent())


def test_unclear_messages_are_found():
    with pytest.raises(AssertionError, match="unclear: SVD did not converge"):
        check_huge_features(Unclear())


def test_accepted_labels_are_found():
    with pytest.raises(AssertionError, match="should have raised"):
        check_unhashable_labels(Trusting())


# scikit-learn looks for NaN in the sum of all entries.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("cls", [CC, CENDA, CLPL, CRISP, PLDA, PRODEN, SAUTE, TunedPCA])
def test_the_largest_numbers_are_named(cls, store):
    """Sums of them once ended in "A has a NaN entry", or in probabilities of NaN."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.eye(3, dtype=bool)[np.arange(30) % 3]
    huge = np.clip(X, -1, 1) * 1.79e308
    with pytest.raises(ValueError, match=r"magnitude 1\.79e\+308.*Rescale"):
        cls().fit(store(huge), y)
    model = cls().fit(X, y)
    if hasattr(model, "predict_proba"):
        with pytest.raises(ValueError, match=r"magnitude 1\.79e\+308.*Rescale"):
            model.predict_proba(store(huge))


@pytest.mark.parametrize("cls", [PMLNI, Schirn])
def test_a_spread_without_an_inverse_counts_as_constant(cls):
    """The inverse of such a spread is infinite: "Eigenvalues did not converge"."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.random((30, 3)) < 0.5
    y[np.arange(30), np.arange(30) % 3] = True
    X[:, 1] *= 1e-309
    P = fit_briefly(cls(max_iter=5), X, y).decision_function(X)
    assert np.isfinite(P).all()
