"""Checks that any estimator for candidate labels should pass.

They go beside scikit-learn's ``check_estimator``: that one knows nothing of label sets.
Write your own reducer, selector or classifier and run
:func:`check_partial_label_estimator` on it.
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
from scipy.spatial.distance import pdist
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from partlearn.candidates import from_votes, from_weights, make_candidates
from partlearn.utils._edge_checks import check_huge_features, check_unhashable_labels
from partlearn.utils._frames import frames, optional
from partlearn.utils._order import AGREEMENT, assert_close, order_matters
from partlearn.utils._stability import assert_stable, coarse
from partlearn.utils.multilabel_checks import multilabel_checks

__all__ = ["check_partial_label_estimator", "partial_label_checks"]

Check = Callable[[Any], None]


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
    if get_tags(estimator).target_tags.multi_output:
        yield from multilabel_checks(estimator)
        return
    checks: list[Check] = [
        check_singletons,
        check_label_sets,
        check_frame_of_candidates,
        check_sparse_candidates,
        check_equal_weights,
        check_weights_and_votes,
        check_permuted_classes,
        check_permuted_rows,
        check_memory_and_last_digit,
        check_coarse_features,
        check_full_rows,
        check_unused_label,
        check_empty_set_message,
        check_length_message,
        check_huge_features,
        check_unhashable_labels,
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


def check_partial_label_estimator(estimator: Any) -> list[str]:
    """Run every check that applies; the first failure raises.

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


def _problem(
    n_false: int = 1, seed: int = 0
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.bool_]]:
    """Well separated classes: any sound method solves it, whatever its random draws."""
    X, y = make_blobs(120, n_features=7, centers=5, cluster_std=0.8, random_state=seed)
    return X, y, make_candidates(y, n_false, random_state=seed)


def _fit(estimator: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", category=UserWarning, module="partlearn")
        return clone(estimator).set_params(**_seeds(estimator)).fit(X, y)


def _seeds(estimator: Any) -> dict[str, int]:
    """Seeds for what has none: two fits can only be compared if both draw alike."""
    return {
        name: 0
        for name, value in estimator.get_params().items()
        if name.endswith("random_state") and value is None
    }


def _output(fitted: Any, X: Any) -> NDArray[Any]:
    """What the estimator makes of rows: probabilities, or pairwise distances.

    Directions may turn without changing any distance, hence distances.
    """
    if is_classifier(fitted):
        P = fitted.predict_proba(X)
        assert np.allclose(P.sum(axis=1), 1, atol=1e-5)
        return P
    Z = fitted.transform(X)
    Z = Z.toarray() if sp.issparse(Z) else np.asarray(Z)
    return pdist(Z.astype(np.float64, copy=False))


def _confidence(fitted: Any) -> NDArray[Any] | None:
    return getattr(fitted, "label_confidence_", None)


def _assert_same(a: Any, b: Any, X: Any, *, rtol: float = 1e-6) -> None:
    """Two fitted estimators do the same with rows `X` and labelled alike in `fit`."""
    np.testing.assert_allclose(_output(a, X), _output(b, X), rtol=rtol, atol=rtol)
    F, G = _confidence(a), _confidence(b)
    if F is not None and G is not None:
        np.testing.assert_allclose(F, G, rtol=rtol, atol=rtol)


def check_singletons(estimator: Any) -> None:
    """One label per row may be written as labels, as a matrix or as sets."""
    X, y, _ = _problem()
    labels = _fit(estimator, X, y)
    matrix = _fit(estimator, X, np.eye(5, dtype=int)[y])
    sets = _fit(estimator, X, [{int(label)} for label in y])
    _assert_same(labels, matrix, X)
    _assert_same(labels, sets, X)
    F = _confidence(labels)
    if F is not None:
        np.testing.assert_allclose(F, np.eye(5)[y], atol=1e-6)


def check_label_sets(estimator: Any) -> None:
    """Sets of text labels work, and predictions are those labels."""
    X, _, S = _problem()
    names = np.array(["ant", "bee", "cat", "dog", "eel"])
    fitted = _fit(estimator, X, [set(names[row]) for row in S])
    if _labelled(fitted):
        assert list(fitted.classes_) == list(names)
    _assert_same(fitted, _fit(estimator, X, S), X)
    if is_classifier(fitted):
        assert set(fitted.predict(X)) <= set(names)


def _labelled(fitted: Any) -> bool:
    """Whether the estimator looks at labels at all."""
    return bool(get_tags(fitted).target_tags.required)


def check_frame_of_candidates(estimator: Any) -> None:
    """The columns of a data frame of candidates name the classes."""
    pandas = optional("pandas")
    if pandas is None:
        return
    X, _, S = _problem()
    frame = pandas.DataFrame(S.astype(int), columns=list("abcde"))
    fitted = _fit(estimator, X, frame)
    if _labelled(fitted):
        assert list(fitted.classes_) == list("abcde")
    _assert_same(fitted, _fit(estimator, X, S), X)


def check_sparse_candidates(estimator: Any) -> None:
    """A sparse candidate matrix means the same as a dense one."""
    X, _, S = _problem()
    _assert_same(
        _fit(estimator, X, sp.csr_matrix(S.astype(int))), _fit(estimator, X, S), X
    )


def check_equal_weights(estimator: Any) -> None:
    """Weights that are equal within each row mean the candidate sets, bit for bit."""
    X, _, S = _problem()
    weights = S * np.linspace(0.1, 7.0, len(S))[:, None]
    sets, weighted = _fit(estimator, X, S), _fit(estimator, X, from_weights(weights))
    np.testing.assert_array_equal(_output(weighted, X), _output(sets, X))
    F, G = _confidence(sets), _confidence(weighted)
    if F is not None and G is not None:
        np.testing.assert_array_equal(F, G)


def check_weights_and_votes(estimator: Any) -> None:
    """Weights and votes are used, or refused by an error that says who uses them."""
    X, y, S = _problem()
    rng = np.random.default_rng(0)
    weights = from_weights(S * rng.uniform(0.1, 1, S.shape) + 2 * np.eye(5)[y])
    rows = np.tile(np.arange(len(X)), 2)
    given = np.where(
        rng.random(len(rows)) < 0.8, y[rows], rng.integers(0, 5, len(rows))
    )
    votes = from_votes(rows, np.arange(len(rows)) // 60, given, classes=np.arange(5))
    for labels in (weights, votes):
        try:
            fitted = _fit(estimator, X, labels)
        except ValueError as error:
            if "CRISPClassifier" not in str(error):
                raise
            continue
        F = _confidence(fitted)
        if F is not None:
            _assert_confidence(F, labels.weights > 0)
            assert np.mean(F.argmax(axis=1) == y) >= AGREEMENT
        if is_classifier(fitted):
            assert np.mean(fitted.predict(X) == y) >= AGREEMENT


def check_sparse_features(estimator: Any) -> None:
    """Sparse features mean the same as dense ones, in `fit` and behind it."""
    X, _, S = _problem()
    X = np.where(np.abs(X) < 2, 0.0, X)
    rows = sp.csr_matrix(X)
    dense, sparse = _fit(estimator, X, S), _fit(estimator, rows, S)
    expected = _output(dense, X)
    for fitted, new in [(sparse, rows), (sparse, X), (dense, rows)]:
        np.testing.assert_allclose(_output(fitted, new), expected, rtol=1e-5, atol=1e-5)


def check_permuted_classes(estimator: Any) -> None:
    """The order of the classes carries no information."""
    X, _, S = _problem(seed=1)
    order = np.array([3, 0, 4, 1, 2])
    plain, permuted = _fit(estimator, X, S), _fit(estimator, X, S[:, order])
    _assert_permuted(plain, permuted, X, order)


def _assert_permuted(a: Any, b: Any, X: Any, order: NDArray[np.intp]) -> None:
    """`b` was fitted with classes in another order: same rows, permuted columns."""
    exactly = not order_matters(a, "classes")
    P, Q = _output(a, X), _output(b, X)
    assert_close(P[:, order] if is_classifier(a) else P, Q, exactly=exactly)
    F, G = _confidence(a), _confidence(b)
    if F is not None and G is not None:
        assert_close(F[:, order], G, exactly=exactly)


def check_permuted_rows(estimator: Any) -> None:
    """The order of the rows carries no information."""
    X, _, S = _problem(seed=1)
    order = np.random.default_rng(0).permutation(len(X))
    plain, permuted = _fit(estimator, X, S), _fit(estimator, X[order], S[order])
    exactly = not order_matters(estimator, "rows")
    assert_close(_output(plain, X), _output(permuted, X), exactly=exactly)
    F, G = _confidence(plain), _confidence(permuted)
    if F is not None and G is not None:
        assert_close(F[order], G, exactly=exactly)


def check_memory_and_last_digit(estimator: Any) -> None:
    """Neither the layout of memory nor the last digit of an entry matters."""
    X, _, S = _problem(seed=1)
    assert_stable(lambda same: _output(_fit(estimator, same, S), X), X)


def check_coarse_features(estimator: Any) -> None:
    """Where rows are equal and distances tie, the order of the rows matters little."""
    X, _, S = _problem(seed=1)
    X, order = coarse(X), np.random.default_rng(0).permutation(len(X))
    plain, permuted = _fit(estimator, X, S), _fit(estimator, X[order], S[order])
    assert_close(_output(plain, X), _output(permuted, X), exactly=False)


def check_full_rows(estimator: Any) -> None:
    """A row whose set is full is an unlabelled row: it contributes through X alone.

    So its confidences stay a distribution over all classes, no class is favoured by
    it, and the labelled rows are still learnt.
    """
    X, y, S = _problem()
    S = S.copy()
    S[::4] = True
    fitted = _fit(estimator, X, S)
    F = _confidence(fitted)
    if F is not None:
        _assert_confidence(F, S)
    order = np.array([3, 0, 4, 1, 2])
    _assert_permuted(fitted, _fit(estimator, X, S[:, order]), X, order)
    if is_classifier(fitted):
        assert np.mean(fitted.predict(X) == y) >= AGREEMENT


def _assert_confidence(F: NDArray[Any], S: NDArray[np.bool_]) -> None:
    assert F.shape == S.shape
    assert np.isfinite(F).all()
    assert (F >= 0).all()
    assert not F[~S].any()
    np.testing.assert_allclose(F.sum(axis=1), 1, atol=1e-5)


def check_unused_label(estimator: Any) -> None:
    """A class that is nobody's candidate does no harm and is never predicted."""
    X, _, S = _problem()
    S = np.insert(S, 2, False, axis=1)
    fitted = _fit(estimator, X, S)
    assert np.isfinite(_output(fitted, X)).all()
    F = _confidence(fitted)
    if F is not None:
        _assert_confidence(F, S)
    if is_classifier(fitted):
        assert 2 not in fitted.predict(X)


def _message(estimator: Any, X: Any, y: Any) -> str:
    """Text of the ValueError that fitting must raise."""
    try:
        _fit(estimator, X, y)
    except ValueError as error:
        return str(error)
    raise AssertionError("Fitting should have raised a ValueError.")


def check_empty_set_message(estimator: Any) -> None:
    """An empty candidate set is an error that names the row and the way out."""
    X, _, S = _problem()
    S = S.copy()
    S[7] = False
    message = _message(estimator, X, S)
    assert "7" in message
    assert "drop" in message


def check_length_message(estimator: Any) -> None:
    """Features and labels of different length are an error that says both lengths."""
    if not _labelled(estimator):
        return
    X, _, S = _problem()
    message = _message(estimator, X, S[:-1])
    assert "120" in message
    assert "119" in message


def check_inputs_untouched(estimator: Any) -> None:
    """Fitting and predicting leave the caller's arrays alone."""
    X, _, S = _problem()
    before_X, before_S = X.copy(), S.copy()
    _output(_fit(estimator, X, S), X)
    np.testing.assert_array_equal(X, before_X)
    np.testing.assert_array_equal(S, before_S)


def check_float32(estimator: Any) -> None:
    """Single precision gives nearly the result of double precision."""
    X, _, S = _problem()
    double, single = _fit(estimator, X, S), _fit(estimator, X.astype(np.float32), S)
    if is_classifier(double):
        agree = np.mean(double.predict(X) == single.predict(X.astype(np.float32)))
        assert agree >= AGREEMENT
    else:
        Z = np.asarray(single.transform(X.astype(np.float32)))
        assert Z.dtype == np.float32
        assert np.corrcoef(pdist(Z), _output(double, X))[0, 1] > 0.99
    F, G = _confidence(double), _confidence(single)
    if F is not None and G is not None:
        assert np.mean(F.argmax(axis=1) == G.argmax(axis=1)) >= AGREEMENT


def check_pickle_and_clone(estimator: Any) -> None:
    """A fitted estimator survives pickling; its clone is unfitted and alike."""
    X, _, S = _problem()
    fitted = _fit(estimator, X, S)
    _assert_same(fitted, pickle.loads(pickle.dumps(fitted)), X, rtol=1e-12)
    assert repr(clone(fitted)) == repr(fitted)


def check_frames(estimator: Any) -> None:
    """Data frames of pandas and polars go in and, from transformers, come out."""
    X, _, S = _problem()
    plain = _fit(estimator, X, S)
    for name, frame in frames(X):
        fitted = _fit(estimator, frame, S)
        assert list(fitted.feature_names_in_) == list(frame.columns)
        np.testing.assert_allclose(_output(fitted, frame), _output(plain, X), rtol=1e-9)
        if hasattr(fitted, "transform"):
            out = fitted.set_output(transform=name).transform(frame)
            assert type(out).__module__.startswith(name)
            assert list(out.columns) == list(fitted.get_feature_names_out())


def check_n_jobs(estimator: Any) -> None:
    """The number of workers changes nothing."""
    X, _, S = _problem()
    one = _fit(clone(estimator).set_params(n_jobs=1), X, S)
    two = _fit(clone(estimator).set_params(n_jobs=2), X, S)
    _assert_same(one, two, X, rtol=1e-12)
