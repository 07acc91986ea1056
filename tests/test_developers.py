"""The method of the developers' page is one that works."""

import importlib
from pathlib import Path

import pytest
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import check_estimator

from partlearn.candidates import make_candidates
from partlearn.utils import check_partial_label_estimator

PAGE = Path(__file__).parent.parent / "docs" / "developers"


@pytest.fixture
def cls(monkeypatch):
    monkeypatch.syspath_prepend(PAGE)  # as a file beside the user's own
    return importlib.import_module("candidate_covariance").CandidateCovariance


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_passes_all_checks(cls):
    found = check_estimator(cls())
    assert {check["status"] for check in found} <= {"passed", "skipped"}
    assert len(check_partial_label_estimator(cls())) > 10


def test_it_disambiguates_digits(cls):
    X, y = load_digits(n_class=5, return_X_y=True)
    S = make_candidates(y, n_false=2, random_state=0)
    reducer = cls().fit(X[:200], S[:200])
    assert reducer.n_components_ == 4
    assert (reducer.label_confidence_.argmax(axis=1) == y[:200]).mean() > 0.95
    assert cls("auto").fit(X[:200], S[:200]).transform(X[200:]).shape[1] <= 4
