"""Fits use one thread of BLAS, but where a large matrix is factored."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from partlearn._sklearn_compat import fit_context
from partlearn.classification import SURE, CRISPClassifier
from partlearn.decomposition import CENDA, KernelCRISP
from partlearn.feature_selection import CRISPSelector
from partlearn.multilabel import CRISPMultiLabelClassifier


class Counter:
    """Counts the threads of BLAS inside `fit`."""

    _parameter_constraints = {}  # noqa: RUF012

    def _validate_params(self):
        pass

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        blas = ThreadpoolController().select(user_api="blas").info()
        return max(pool["num_threads"] for pool in blas)


@pytest.mark.parametrize(("rows", "threads"), [(5000, 1), (5001, 2)])
def test_threads_of_a_fit(rows, threads):
    with threadpool_limits(2, user_api="blas"):
        assert Counter().fit(np.zeros((rows, 1))) == threads
        assert Counter().fit(X=[[0.0]] * rows) == threads
        assert Counter().fit(iter([])) == 2


class Factored(Counter):
    """Factors a matrix with as many rows as there are columns."""

    def _factor_side(self, n_samples, n_features):
        return n_features


@pytest.mark.parametrize(
    ("shape", "threads"), [((5001, 1999), 1), ((5001, 2000), 2), ((5000, 2000), 1)]
)
def test_threads_where_a_matrix_is_factored(shape, threads):
    with threadpool_limits(2, user_api="blas"):
        assert Factored().fit(np.broadcast_to(0.0, shape)) == threads


@pytest.mark.parametrize(
    ("model", "side"),
    [
        (CRISPClassifier(), 1000),
        (CRISPClassifier(n_landmarks=None), 9000),
        (KernelCRISP(n_landmarks=300), 300),
        (CRISPMultiLabelClassifier(), 1000),
        (SURE(), 9000),
        (SURE(kernel="linear"), 40),
        (CENDA(), 40),
        (CRISPSelector(), 0),
    ],
    ids=repr,
)
def test_factors_of_estimators(model, side):
    assert model._factor_side(9000, 40) == side
