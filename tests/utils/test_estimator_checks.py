"""The checks of estimators for candidate labels can fail."""

import numpy as np
import pytest

from partlearn.classification import PLKNN, PLSVM, CoupledClassifier
from partlearn.decomposition import CENDA
from partlearn.utils import check_partial_label_estimator, partial_label_checks
from partlearn.utils._common_checks import order_matters


class Positional(PLKNN):
    """Favours the first class."""

    def predict_proba(self, X):
        P = super().predict_proba(X)
        P[:, 0] += 1
        return P / 2


class Forgetful(PLKNN):
    """Loses the names of the classes."""

    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = np.arange(len(self.classes_))
        return self


class FirstRows(PLKNN):
    """Learns from the first half of the rows alone, and has a seed."""

    def __init__(self, n_neighbors=10, *, random_state=None):
        super().__init__(n_neighbors)
        self.random_state = random_state

    def fit(self, X, y):
        return super().fit(X[: len(X) // 2], y[: len(X) // 2])


class Touching(PLKNN):
    """Writes into what it is given."""

    def fit(self, X, y):
        X[:] = 0
        return super().fit(X, y)


class Unsure(CENDA):
    """Gives confidence to labels that are no candidates."""

    def fit(self, X, y):
        super().fit(X, y)
        self.label_confidence_ = np.full_like(self.label_confidence_, 0.2)
        return self


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (Positional, "check_permuted_classes"),
        (Positional, "check_full_rows"),
        (Forgetful, "check_candidate_sets"),
        (FirstRows, "check_permuted_rows"),
        (Touching, "check_inputs_untouched"),
        (Unsure, "check_unused_label"),
    ],
)
def test_faults_are_found(cls, name):
    check = dict(partial_label_checks(cls()))[name]
    with pytest.raises(AssertionError):
        check(cls())
    sound = cls.__mro__[1]()
    check(sound)


def test_estimators_inside_may_declare_that_order_matters():
    """What a pipeline part solves class by class changes the whole."""
    inside = CoupledClassifier(CENDA(), PLSVM())
    assert order_matters(inside, "classes")
    assert not order_matters(inside, "rows")
    assert not order_matters(CoupledClassifier(CENDA(), PLKNN()), "classes")


def test_all_checks_are_run():
    names = check_partial_label_estimator(PLKNN())
    assert names == [name for name, _ in partial_label_checks(PLKNN())]
