"""Bad and degenerate input, for every public estimator: a clear error or a result.

What each method does on degenerate data in detail is tested beside the method; here
nothing may crash with a foreign error, and nothing may come back that is not finite.
"""

import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import make_blobs
from sklearn.utils import get_tags
from tests.estimators import build

from partlearn.candidates import make_candidates
from partlearn.utils import all_estimators

X, Y = make_blobs(40, n_features=5, centers=4, random_state=0)
S = make_candidates(Y, 1, random_state=0)
# Partial multi-label estimators read labels otherwise and are tested on their own.
NAMES = [name for name, cls in all_estimators() if ".multilabel." not in cls.__module__]


@pytest.fixture(params=NAMES)
def estimator(request):
    return build(request.param)


@pytest.fixture(autouse=True)
def _quiet():
    """Degenerate data rightly draw warnings; they are not the point here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def usable(estimator, rows):
    """Rows that the method accepts: factorisations want no negative number."""
    positive = get_tags(estimator).input_tags.positive_only
    return rows - rows.min(axis=0) if positive else rows


def output(fitted, rows):
    if is_classifier(fitted):
        return fitted.predict_proba(rows)
    return np.asarray(fitted.transform(rows))


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_values_that_are_no_numbers(estimator, value, word):
    rows = X.copy()
    rows[3, 2] = value
    if np.isnan(value) and get_tags(estimator).input_tags.allow_nan:
        assert np.isfinite(output(estimator.fit(rows, S), rows)).all()
        return
    with pytest.raises(ValueError, match=word):
        estimator.fit(rows, S)


def test_columns_of_objects(estimator):
    rows = X.astype(object)
    rows[0, 0] = "seven"
    with pytest.raises(ValueError, match="could not convert string to float"):
        estimator.fit(rows, S)


def test_matrix_that_is_not_binary(estimator):
    bad = S.astype(int)
    bad[5, 1] = 2
    with pytest.raises(ValueError, match="found 2 at row 5, column 1"):
        estimator.fit(X, bad)


def test_one_class(estimator):
    """Classifiers may learn a single class; everything else says that it cannot."""
    rows = usable(estimator, X)
    try:
        fitted = estimator.fit(rows, np.zeros(40, dtype=int))
    except ValueError as error:
        # Either outcome is allowed.
        assert any(w in str(error) for w in ("class", "label"))  # noqa: PT017
    else:
        assert np.isfinite(output(fitted, rows)).all()
        if is_classifier(fitted):
            assert (fitted.predict(rows) == 0).all()


CASES = {
    "two rows": (X[[0, 1]], np.array([[1, 0], [0, 1]])),
    "three rows": (X[:3], S[:3]),
    "one feature": (X[:, :1], S),
    "a constant feature": (np.c_[X, np.full(40, 0.1)], S),
    "duplicate rows": (np.repeat(X[:10], 4, axis=0), S[np.repeat(np.arange(10), 4)]),
    "duplicate rows of other sets": (np.repeat(X[:10], 4, axis=0), S),
    "duplicate features": (np.c_[X, X], S),
    "more features than rows": (np.c_[X, X**2, np.sin(X)][:8], S[:8]),
    "huge scale": (X * [1e-9, 1, 1e9, 1, 1], S),
}


@pytest.mark.parametrize("case", CASES)
def test_degenerate_data(estimator, case):
    rows, candidates = CASES[case]
    rows = usable(estimator, rows)
    try:
        fitted = estimator.fit(rows, candidates)
    except ValueError as error:
        # The only excuses, said in words: too little data for the method, or columns
        # so unlike in size that a method which takes them as they are cannot go on.
        excuses = ["two rows", "three rows", "more features than rows"]
        if not hasattr(estimator, "standardize"):
            excuses.append("huge scale")
        assert case in excuses, error  # noqa: PT017
        assert len(str(error)) > 30  # noqa: PT017
        return
    assert np.isfinite(output(fitted, rows)).all()
    F = getattr(fitted, "label_confidence_", None)
    if F is not None:
        np.testing.assert_allclose(F.sum(axis=1), 1, atol=1e-6)
        assert not F[candidates == 0].any()


def test_all_sets_full(estimator):
    """No label information at all: an error that says so, or an even prediction."""
    rows = usable(estimator, X)
    try:
        fitted = estimator.fit(rows, np.ones((40, 4), dtype=int))
    except ValueError as error:
        assert any(w in str(error) for w in ("candidate", "label", "class"))  # noqa: PT017
    else:
        assert np.isfinite(output(fitted, rows)).all()
