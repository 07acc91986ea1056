"""The checks of multi-label estimators can fail."""

import numpy as np
import pytest

from partlearn.multilabel import MLKNN
from partlearn.utils import multilabel_checks, partial_label_checks


def run(estimator, name):
    dict(multilabel_checks(estimator))[name](estimator)


def test_multilabel_estimators_get_their_own_checks():
    names = [name for name, _ in partial_label_checks(MLKNN())]
    assert names == [name for name, _ in multilabel_checks(MLKNN())]


class Shouting(MLKNN):
    """Always predicts every label."""

    def predict(self, X):
        return np.ones_like(super().predict(X))


class Touching(MLKNN):
    """Writes into what it is given."""

    def fit(self, X, y):
        X[:] = 0
        return super().fit(X, y)


class Positional(MLKNN):
    """Favours the first label."""

    def predict_proba(self, X):
        P = super().predict_proba(X)
        P[:, 0] = 1
        return P


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (Shouting, "check_output"),
        (Shouting, "check_extreme_labels"),
        (Touching, "check_inputs_untouched"),
        (Positional, "check_permuted_classes"),
    ],
)
def test_faults_are_found(cls, name):
    with pytest.raises(AssertionError):
        run(cls(), name)
    run(MLKNN(), name)
