"""Fits of few rows use one thread of BLAS."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from partlearn._sklearn_compat import fit_context


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
