"""Every public estimator passes scikit-learn's checks and ours."""

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
    parametrize_with_checks,
)
from tests.estimators import build

from partlearn.utils import all_estimators, partial_label_checks

# Fewest checks an estimator may be given: scikit-learn's and ours. A change that makes
# an estimator silently drop out of checks fails here.
FEWEST_SKLEARN_CHECKS = 40
FEWEST_OWN_CHECKS = 14

# Multiplicative updates need hundreds of sweeps and several starts to settle, PLDA a
# hundred rounds, a search many fits, which no check of the interface needs.
FEWER = {
    "CandidateClassifier": {
        "estimator": LogisticRegression(tol=1e-8, max_iter=1000),
        "cv": 3,
        "max_iter": 2,
    },
    "DRMFS": {"max_iter": 100},
    "MIFS": {"max_iter": 20},
    "PLDA": {"max_iter": 30},
    "PLSVMCV": {"lams": (0.01, 0.1, 1.0), "cv": 3},
    "PMLFP": {"max_iter": 3, "inner_iter": 30},
    "PMLFSLA": {"n_init": 2, "max_iter": 150},
    "PMLFSSO": {"max_iter": 100},
    "PMLLC": {"max_iter": 3, "inner_iter": 30},
    "PMLFSNF": {"alpha": 0.5},
    # Published weights are meant for more rows, and Schirn for rows around zero.
    "PMLNI": {"lam": 0.1, "beta": 0.5, "gamma": 0.4},
    "Schirn": {"fit_intercept": True, "threshold": 0.5},
}

# Reaching `max_iter` is reported by a warning on data that are pure noise, as those of
# scikit-learn's checks are; so are asking two classes for two directions, and rows of
# multi-label data that have no label to learn from.
IGNORED = [
    pytest.mark.filterwarnings(
        f"ignore::{ConvergenceWarning.__module__}.{ConvergenceWarning.__qualname__}"
    ),
    pytest.mark.filterwarnings("ignore:Only .* of n_components:UserWarning"),
    pytest.mark.filterwarnings("ignore:OPTICS found:UserWarning"),
    pytest.mark.filterwarnings("ignore:.* rows without candidates:UserWarning"),
]
pytestmark = IGNORED


# What scikit-learn asks and a method does otherwise, on purpose; each entry must fail.
# As TargetEncoder, KernelCRISP gives training rows their cross-fitted positions.
CROSS_FITTED = "fit_transform gives cross-fitted positions, as documented"
EXPECTED_FAILURES = {
    "KernelCRISP": {
        "check_transformer_general": CROSS_FITTED,
        "check_transformer_data_not_an_array": CROSS_FITTED,
    },
}


INSTANCES = [build(name, **FEWER.get(name, {})) for name, _ in all_estimators()]


def own_checks():
    for estimator in INSTANCES:
        for name, check in partial_label_checks(estimator):
            yield pytest.param(
                estimator, check, id=f"{type(estimator).__name__}-{name}"
            )


def expected_failures(estimator):
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})


@parametrize_with_checks(INSTANCES, expected_failed_checks=expected_failures)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "check"), list(own_checks()))
def test_own_checks(estimator, check):
    check(estimator)


def declared():
    for estimator in INSTANCES:
        for axis in getattr(estimator, "_order_matters", ()):
            name = f"{type(estimator).__name__}-{axis}"
            if axis != "columns":  # tools/invariance.py measures these
                yield pytest.param(estimator, axis, id=name)


@pytest.mark.parametrize(("estimator", "axis"), list(declared()))
def test_order_matters_only_where_it_does(estimator, axis, monkeypatch):
    """A class that declares that order matters would fail the exact comparison."""
    checks = dict(partial_label_checks(estimator))
    monkeypatch.setattr(type(estimator), "_order_matters", ())
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        checks[f"check_permuted_{axis}"](estimator)


@pytest.mark.parametrize("estimator", INSTANCES, ids=lambda e: type(e).__name__)
def test_no_check_is_lost(estimator):
    given = list(estimator_checks_generator(estimator))
    assert len(given) >= FEWEST_SKLEARN_CHECKS
    assert len(list(partial_label_checks(estimator))) >= FEWEST_OWN_CHECKS
