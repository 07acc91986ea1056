"""Checks that any estimator for candidate labels should pass.

They go beside scikit-learn's ``check_estimator``: that one has no candidate sets.
Write your own reducer, selector or classifier and run
:func:`check_partial_label_estimator` on it.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.base import is_classifier

from partlearn._typing import Mask
from partlearn.candidates import from_votes, from_weights
from partlearn.utils._common_checks import (
    AGREEMENT,
    Check,
    applicable_checks,
    assert_permuted,
    assert_same,
    confidence,
    error_message,
    fit,
    is_multilabel,
    output,
    with_truth,
)
from partlearn.utils._multilabel_checks import multilabel_checks

__all__ = ["check_partial_label_estimator", "partial_label_checks"]


def partial_label_checks(estimator: Any) -> Iterator[tuple[str, Check]]:
    """Yield the checks that apply to an estimator, with their names.

    Parameters
    ----------
    estimator : estimator instance
        A reducer, selector or classifier for candidate labels. One whose tags say
        ``target_tags.multi_output`` gets the checks of partial multi-label data.

    Yields
    ------
    name : str
        Name of the check.
    check : callable
        Takes an estimator, raises where it fails.

    Examples
    --------
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.utils import partial_label_checks
    >>> "check_sparse_candidates" in dict(partial_label_checks(PLKNN()))
    True
    """
    if is_multilabel(estimator):
        yield from multilabel_checks(estimator)
        return
    special = [
        check_singletons,
        check_equal_weights,
        check_weights_and_votes,
        check_full_rows,
        check_unused_label,
        check_empty_set_message,
        check_float32,
    ]
    yield from applicable_checks(estimator, special)


def check_partial_label_estimator(estimator: Any) -> list[str]:
    """Run all checks that apply to an estimator; raise at the first failure.

    Parameters
    ----------
    estimator : estimator instance
        A reducer, selector or classifier for candidate labels.

    Returns
    -------
    names : list of str
        The checks that were run.

    Examples
    --------
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.utils import check_partial_label_estimator
    >>> len(check_partial_label_estimator(PLKNN())) > 10
    True
    """
    names = []
    for name, check in partial_label_checks(estimator):
        check(estimator)
        names.append(name)
    return names


def check_singletons(estimator: Any) -> None:
    """One label per row may be written as labels, as a matrix or as sets."""
    X, y, _ = with_truth()
    labels = fit(estimator, X, y)
    matrix = fit(estimator, X, np.eye(5, dtype=int)[y])
    sets = fit(estimator, X, [{int(label)} for label in y])
    assert_same(labels, matrix, X)
    assert_same(labels, sets, X)
    F = confidence(labels)
    if F is not None:
        np.testing.assert_allclose(F, np.eye(5)[y], atol=1e-6)


def check_equal_weights(estimator: Any) -> None:
    """Weights that are equal within each row mean the candidate sets, bit for bit."""
    X, _, S = with_truth()
    weights = S * np.linspace(0.1, 7.0, len(S))[:, None]
    sets, weighted = fit(estimator, X, S), fit(estimator, X, from_weights(weights))
    np.testing.assert_array_equal(output(weighted, X), output(sets, X))
    F, G = confidence(sets), confidence(weighted)
    if F is not None and G is not None:
        np.testing.assert_array_equal(F, G)


def check_weights_and_votes(estimator: Any) -> None:
    """Weights and votes are used, or raise an error that names other methods."""
    X, y, S = with_truth()
    rng = np.random.default_rng(0)
    weights = from_weights(S * rng.uniform(0.1, 1, S.shape) + 2 * np.eye(5)[y])
    rows = np.tile(np.arange(len(X)), 2)
    given = np.where(
        rng.random(len(rows)) < 0.8, y[rows], rng.integers(0, 5, len(rows))
    )
    votes = from_votes(rows, np.arange(len(rows)) // 60, given, classes=np.arange(5))
    for labels in (weights, votes):
        try:
            fitted = fit(estimator, X, labels)
        except ValueError as error:
            if "CRISPClassifier" not in str(error):
                raise
            continue
        F = _assert_confidence(fitted, labels.weights > 0)
        assert F is None or np.mean(F.argmax(axis=1) == y) >= AGREEMENT
        if is_classifier(fitted):
            assert np.mean(fitted.predict(X) == y) >= AGREEMENT


def check_full_rows(estimator: Any) -> None:
    """A row with all labels as candidates is unlabeled and contributes by X only.

    So its confidences stay a distribution over all classes, no class is favored by
    it, and the labeled rows are still learned.
    """
    X, y, S = with_truth()
    S = S.copy()
    S[::4] = True
    fitted = fit(estimator, X, S)
    _assert_confidence(fitted, S)
    assert_permuted(estimator, X, S)
    if is_classifier(fitted):
        assert np.mean(fitted.predict(X) == y) >= AGREEMENT


def _assert_confidence(fitted: Any, S: Mask) -> NDArray[Any] | None:
    F = confidence(fitted)
    if F is not None:
        assert F.shape == S.shape
        assert np.isfinite(F).all()
        assert (F >= 0).all()
        assert not F[~S].any()
        np.testing.assert_allclose(F.sum(axis=1), 1, atol=1e-5)
    return F


def check_unused_label(estimator: Any) -> None:
    """A class without candidates has no effect and is never predicted."""
    X, _, S = with_truth()
    S = np.insert(S, 2, False, axis=1)
    fitted = fit(estimator, X, S)
    assert np.isfinite(output(fitted, X)).all()
    _assert_confidence(fitted, S)
    if is_classifier(fitted):
        assert 2 not in fitted.predict(X)


def check_empty_set_message(estimator: Any) -> None:
    """An empty candidate set is an error that names the row and the way out."""
    X, _, S = with_truth()
    S = S.copy()
    S[7] = False
    message = error_message(estimator, X, S)
    assert "7" in message
    assert "drop" in message


def check_float32(estimator: Any) -> None:
    """Single precision gives nearly the result of double precision."""
    X, _, S = with_truth()
    double, single = fit(estimator, X, S), fit(estimator, X.astype(np.float32), S)
    if is_classifier(double):
        agree = np.mean(double.predict(X) == single.predict(X.astype(np.float32)))
        assert agree >= AGREEMENT
    else:
        Z = np.asarray(single.transform(X.astype(np.float32)))
        assert Z.dtype == np.float32
        assert np.corrcoef(pdist(Z), output(double, X))[0, 1] > 0.99
    F, G = confidence(double), confidence(single)
    if F is not None and G is not None:
        assert np.mean(F.argmax(axis=1) == G.argmax(axis=1)) >= AGREEMENT
