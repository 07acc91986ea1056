"""Methods state how much memory they need."""

import tracemalloc
import warnings

import numpy as np
import pytest

from partlearn._registry import PARTIAL_LABEL_ROLES, methods
from partlearn.classification import PLAGGD, PLECOC, PLKNN, SURE, CRISPClassifier
from partlearn.datasets import make_partial_classification
from partlearn.decomposition import KernelCRISP


def peak_of_fit(estimator, X, S):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one iteration settles nothing
        tracemalloc.start()
        try:
            estimator.fit(X, S)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    "estimator",
    [
        SURE(max_iter=1),
        SURE(max_iter=1, n_landmarks=50),
        SURE(max_iter=1, kernel="linear"),
        PLAGGD(max_iter=1),
        PLECOC(code_length=2, random_state=0),
    ],
    ids=str,
)
def test_kernel_methods_need_what_they_state(estimator):
    bunch = make_partial_classification(3000, n_features=10, random_state=0)
    estimate = estimator.memory_estimate(3000, 10, 5)
    # Two as a factor: blocks of a fixed size still count at 3000 rows.
    assert peak_of_fit(estimator, bunch.data, bunch.candidates) <= 2 * estimate
    exact = 8 * 3000**2
    assert (estimate >= exact) == (estimator._square_side(3000, 10) == 3000)


def test_the_estimate_grows_as_the_method_does():
    sure, neighbours = SURE(), PLKNN()
    for method, power in ((sure, 4), (neighbours, 2)):
        small = method.memory_estimate(10**5, 5, 3) - 2**25
        large = method.memory_estimate(2 * 10**5, 5, 3) - 2**25
        np.testing.assert_allclose(large / small, power, rtol=0.01)


def test_every_method_of_a_base_class_can_tell():
    known = methods(*PARTIAL_LABEL_ROLES)
    told = {
        name: method.cls().memory_estimate(1000, 20, 4)
        for name, method in known.items()
        if not method.required
    }
    assert len(told) > 15
    assert all(isinstance(n, int) and n > 10**5 for n in told.values())


def test_kernels_of_crisp_count():
    exact, linear = KernelCRISP(n_landmarks=None), CRISPClassifier(("linear",))
    assert exact.memory_estimate(10**4, 5, 3) > 8 * 4 * 10**8  # two kernels, two more
    assert linear.memory_estimate(10**4, 5, 3) < 10**8
