"""Checks that any estimator for partial multi-label data should pass.

A row may have any number of true labels, none included, so empty candidate sets are
data here and not a mistake, and predictions are sets.
"""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from partlearn.utils._edge_checks import check_huge_features, check_unhashable_labels
from partlearn.utils._frames import frames, optional
from partlearn.utils._order import assert_close, order_matters
from partlearn.utils._stability import assert_stable, coarse

__all__ = ["multilabel_checks"]

Check = Callable[[Any], None]
_NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])


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
    checks: list[Check] = [
        check_output,
        check_seed,
        check_plain_labels,
        check_label_sets,
        check_frame_of_candidates,
        check_sparse_candidates,
        check_permuted_labels,
        check_permuted_rows,
        check_memory_and_last_digit,
        check_coarse_features,
        check_huge_features,
        check_unhashable_labels,
        check_rows_without_labels,
        check_extreme_labels,
        check_length_message,
        check_inputs_untouched,
        check_float32,
        check_pickle_and_clone,
        check_frames,
    ]
    if get_tags(estimator).input_tags.sparse:
        checks.append(check_sparse_features)
    if "n_jobs" in estimator.get_params():
        checks.append(check_n_jobs)
    for check in checks:
        yield check.__name__, check


def _problem() -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Five labels, each decided by one of ten features; one false candidate a row."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 10))
    Y = X[:, :5] > 0.6
    C = Y.copy()
    C[np.arange(120), rng.integers(5, size=120)] = True
    return X, C


def _fit(estimator: Any, X: Any, y: Any, seed: int = 0) -> Any:
    estimator = clone(estimator)
    seeds = {p: seed for p in estimator.get_params() if p.endswith("random_state")}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        return estimator.set_params(**seeds).fit(X, y)


def _output(fitted: Any, X: Any) -> NDArray[Any]:
    """Probabilities of a classifier, scores of a selector."""
    if is_classifier(fitted):
        return np.asarray(fitted.predict_proba(X))
    return np.asarray(fitted.scores_)


def _assert_same(a: Any, b: Any, X: Any, rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(_output(a, X), _output(b, X), rtol=rtol, atol=1e-12)


def check_output(estimator: Any) -> None:
    """A classifier gives a binary matrix, a selector a complete ranking."""
    X, C = _problem()
    fitted = _fit(estimator, X, C)
    assert list(fitted.classes_) == [0, 1, 2, 3, 4]
    if is_classifier(fitted):
        P, Y = fitted.predict_proba(X), fitted.predict(X)
        assert P.shape == Y.shape == C.shape
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
    X, C = _problem()
    a, b = _fit(estimator, X, C, seed=3), _fit(estimator, X, C, seed=3)
    np.testing.assert_array_equal(_output(a, X), _output(b, X))


def check_plain_labels(estimator: Any) -> None:
    """Plain labels are sets of one; a classifier then predicts plain labels."""
    X, _ = _problem()
    y = X[:, :5].argmax(axis=1)
    plain, matrix = _fit(estimator, X, _NAMES[y]), _fit(estimator, X, np.eye(5)[y])
    if is_classifier(plain):
        P = matrix.predict_proba(X)
        np.testing.assert_array_equal(plain.predict(X), _NAMES[P.argmax(axis=1)])
        np.testing.assert_allclose(plain.predict_proba(X).sum(axis=1), 1)
    else:
        _assert_same(plain, matrix, X)


def check_label_sets(estimator: Any) -> None:
    """Sets of text labels mean the same as a matrix, and name the classes."""
    X, C = _problem()
    fitted = _fit(estimator, X, [set(_NAMES[row]) for row in C])
    assert list(fitted.classes_) == list(_NAMES)
    _assert_same(fitted, _fit(estimator, X, C), X)


def check_frame_of_candidates(estimator: Any) -> None:
    """The columns of a data frame of candidates name the classes."""
    pandas = optional("pandas")
    if pandas is None:
        return
    X, C = _problem()
    fitted = _fit(estimator, X, pandas.DataFrame(C.astype(int), columns=_NAMES))
    assert list(fitted.classes_) == list(_NAMES)
    _assert_same(fitted, _fit(estimator, X, C), X)


def check_sparse_candidates(estimator: Any) -> None:
    """A sparse candidate matrix means the same as a dense one."""
    X, C = _problem()
    sparse = _fit(estimator, X, sp.csr_matrix(C.astype(int)))
    _assert_same(sparse, _fit(estimator, X, C), X)


def check_sparse_features(estimator: Any) -> None:
    """Sparse features mean the same as dense ones."""
    X, C = _problem()
    X = np.where(X < 0.3, 0.0, X)
    dense, sparse = _fit(estimator, X, C), _fit(estimator, sp.csr_matrix(X), C)
    P = _output(sparse, sp.csr_matrix(X))
    np.testing.assert_allclose(P, _output(dense, X), rtol=1e-5, atol=1e-8)


def check_permuted_labels(estimator: Any) -> None:
    """The order of the labels carries no information."""
    X, C = _problem()
    order = np.array([3, 0, 4, 1, 2])
    plain, permuted = _fit(estimator, X, C), _fit(estimator, X, C[:, order])
    P, Q = _output(plain, X), _output(permuted, X)
    P = P[:, order] if is_classifier(plain) else P
    assert_close(P, Q, exactly=not order_matters(estimator, "classes"))


def check_permuted_rows(estimator: Any) -> None:
    """The order of the rows carries no information."""
    X, C = _problem()
    order = np.random.default_rng(0).permutation(len(X))
    plain, permuted = _fit(estimator, X, C), _fit(estimator, X[order], C[order])
    exactly = not order_matters(estimator, "rows")
    assert_close(_output(plain, X), _output(permuted, X), exactly=exactly)


def check_memory_and_last_digit(estimator: Any) -> None:
    """Neither the layout of memory nor the last digit of an entry matters."""
    X, C = _problem()
    assert_stable(lambda same: _output(_fit(estimator, same, C), X), X)


def check_coarse_features(estimator: Any) -> None:
    """Where rows are equal and distances tie, the order of the rows matters little."""
    X, C = _problem()
    X, order = coarse(X), np.random.default_rng(0).permutation(len(X))
    plain, permuted = _fit(estimator, X, C), _fit(estimator, X[order], C[order])
    assert_close(_output(plain, X), _output(permuted, X), exactly=False)


def check_rows_without_labels(estimator: Any) -> None:
    """A row without candidates is allowed and spoils nothing."""
    X, C = _problem()
    C[::10] = False
    assert np.isfinite(_output(_fit(estimator, X, C), X)).all()


def check_extreme_labels(estimator: Any) -> None:
    """A label of nobody is never predicted, a label of everybody always."""
    X, C = _problem()
    C[:, 1], C[:, 3] = False, True
    fitted = _fit(estimator, X, C)
    assert np.isfinite(_output(fitted, X)).all()
    if is_classifier(fitted):
        Y = fitted.predict(X)
        assert not Y[:, 1].any()
        assert Y[:, 3].all()


def check_length_message(estimator: Any) -> None:
    """Features and labels of different length are an error that says both lengths."""
    X, C = _problem()
    message = ""
    try:
        _fit(estimator, X, C[:-1])
    except ValueError as error:
        message = str(error)
    assert "120" in message
    assert "119" in message


def check_inputs_untouched(estimator: Any) -> None:
    """Fitting and predicting leave the caller's arrays alone."""
    X, C = _problem()
    before_X, before_C = X.copy(), C.copy()
    _output(_fit(estimator, X, C), X)
    np.testing.assert_array_equal(X, before_X)
    np.testing.assert_array_equal(C, before_C)


def check_float32(estimator: Any) -> None:
    """Single precision gives nearly the result of double precision."""
    X, C = _problem()
    double, single = _fit(estimator, X, C), _fit(estimator, X.astype(np.float32), C)
    P, Q = _output(double, X), _output(single, X.astype(np.float32))
    assert np.corrcoef(P.ravel(), Q.ravel())[0, 1] > 0.99


def check_pickle_and_clone(estimator: Any) -> None:
    """A fitted estimator survives pickling; its clone is unfitted and alike."""
    X, C = _problem()
    fitted = _fit(estimator, X, C)
    _assert_same(fitted, pickle.loads(pickle.dumps(fitted)), X)
    assert not hasattr(clone(fitted), "classes_")


def check_frames(estimator: Any) -> None:
    """Data frames of pandas and polars go in and, from selectors, come out."""
    X, C = _problem()
    plain = _fit(estimator, X, C)
    for name, frame in frames(X):
        fitted = _fit(estimator, frame, C)
        assert list(fitted.feature_names_in_) == list(frame.columns)
        np.testing.assert_allclose(_output(fitted, frame), _output(plain, X), rtol=1e-6)
        if hasattr(fitted, "transform"):
            out = fitted.set_output(transform=name).transform(frame)
            assert list(out.columns) == list(fitted.get_feature_names_out())


def check_n_jobs(estimator: Any) -> None:
    """The number of workers changes nothing."""
    X, C = _problem()
    one = _fit(clone(estimator).set_params(n_jobs=1), X, C)
    two = _fit(clone(estimator).set_params(n_jobs=2), X, C)
    _assert_same(one, two, X)
