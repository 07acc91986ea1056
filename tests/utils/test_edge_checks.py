"""The checks at the edge find estimators that break there."""

import numpy as np
import pytest

from partlearn.classification import PLKNN
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
