"""Checks that any estimator for partial multi-label data should pass.

A row may have any number of true labels, none included, so empty candidate sets are
data here and not a mistake, and predictions are sets.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from partlearn.utils._common_checks import (
    NAMES,
    Check,
    applicable_checks,
    assert_same,
    fit,
    output,
    problem,
)

__all__ = ["multilabel_checks"]


def multilabel_checks(estimator: Any) -> Iterator[tuple[str, Check]]:
    """Yield the checks that apply to a multi-label estimator, with their names.

    Parameters
    ----------
    estimator : estimator instance
        A selector or classifier for partial multi-label data.

    Yields
    ------
    name : str
        Name of the check.
    check : callable
        Takes an estimator, raises where it fails.

    Examples
    --------
    >>> from partlearn.multilabel import MLKNN
    >>> from partlearn.utils import multilabel_checks
    >>> "check_rows_without_labels" in dict(multilabel_checks(MLKNN()))
    True
    """
    special = [
        check_output,
        check_seed,
        check_plain_labels,
        check_rows_without_labels,
        check_extreme_labels,
        check_float32,
    ]
    yield from applicable_checks(estimator, special)


def check_output(estimator: Any) -> None:
    """A classifier gives a binary matrix, a selector a complete ranking."""
    X, C = problem(estimator)
    fitted = fit(estimator, X, C)
    assert list(fitted.classes_) == [0, 1, 2, 3, 4]
    if is_classifier(fitted):
        P, Y = output(fitted, X), fitted.predict(X)
        assert P.shape == Y.shape == C.shape
        if hasattr(fitted, "predict_proba"):
            assert ((P >= 0) & (P <= 1)).all()
        assert set(np.unique(Y)) == {0, 1}
        assert np.mean(Y == C) > 0.6
        return
    assert sorted(fitted.ranking_) == list(range(1, 11))
    n = len(fitted.selected_)
    np.testing.assert_array_equal(
        fitted.ranking_[fitted.selected_], np.arange(1, n + 1)
    )
    np.testing.assert_array_equal(
        np.flatnonzero(fitted.support_), sorted(fitted.selected_)
    )
    assert (np.diff(fitted.scores_[np.argsort(fitted.ranking_)]) <= 0).all()


def check_seed(estimator: Any) -> None:
    """The same seed gives the same result, bit for bit."""
    X, C = problem(estimator)
    seeds = [name for name in estimator.get_params() if name.endswith("random_state")]
    seeded = clone(estimator).set_params(**dict.fromkeys(seeds, 3))
    a, b = fit(seeded, X, C), fit(seeded, X, C)
    np.testing.assert_array_equal(output(a, X), output(b, X))


def check_plain_labels(estimator: Any) -> None:
    """Plain labels are sets of one; a classifier then predicts plain labels."""
    X, _ = problem(estimator)
    y = X[:, :5].argmax(axis=1)
    plain, matrix = fit(estimator, X, NAMES[y]), fit(estimator, X, np.eye(5)[y])
    if is_classifier(plain):
        P = output(matrix, X)
        np.testing.assert_array_equal(plain.predict(X), NAMES[P.argmax(axis=1)])
        if hasattr(plain, "predict_proba"):
            np.testing.assert_allclose(plain.predict_proba(X).sum(axis=1), 1)
    else:
        assert_same(plain, matrix, X)


def check_rows_without_labels(estimator: Any) -> None:
    """A row without candidates is allowed and spoils nothing."""
    X, C = problem(estimator)
    C[::10] = False
    assert np.isfinite(output(fit(estimator, X, C), X)).all()


def check_extreme_labels(estimator: Any) -> None:
    """A label of no row is never predicted, a label of all rows always."""
    X, C = problem(estimator)
    C[:, 1], C[:, 3] = False, True
    fitted = fit(estimator, X, C)
    assert np.isfinite(output(fitted, X)).all()
    if is_classifier(fitted):
        Y = fitted.predict(X)
        assert not Y[:, 1].any()
        assert Y[:, 3].all()


def check_float32(estimator: Any) -> None:
    """Single precision gives nearly the result of double precision."""
    X, C = problem(estimator)
    double, single = fit(estimator, X, C), fit(estimator, X.astype(np.float32), C)
    P, Q = output(double, X), output(single, X.astype(np.float32))
    assert np.corrcoef(P.ravel(), Q.ravel())[0, 1] > 0.99
