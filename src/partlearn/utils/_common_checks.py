"""Checks of every estimator, and shared problems, fits and comparisons."""

# SPDX-License-Identifier: BSD-3-Clause

import importlib
import pickle
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from partlearn._typing import Indices, Mask
from partlearn.candidates import make_bags, make_candidates
from partlearn.classification import for_candidates

Check = Callable[[Any], None]
AGREEMENT = 0.9  # least agreement of two fits whose random draws differ


def is_multilabel(estimator: Any) -> bool:
    """Whether rows may have several true labels."""
    return bool(get_tags(estimator).target_tags.multi_output)


def uses_labels(estimator: Any) -> bool:
    """Whether the estimator uses labels."""
    return bool(get_tags(estimator).target_tags.required)


def problem(estimator: Any, seed: int = 0) -> tuple[NDArray[Any], Mask]:
    """120 rows, and candidates of the kind that the estimator learns from.

    `seed` draws classes; labels of multi-label rows are always the same, each decided
    by one of ten features.
    """
    if is_multilabel(estimator):
        rng = np.random.default_rng(0)
        X = rng.uniform(size=(120, 10))
        S = X[:, :5] > 0.6
        S[np.arange(120), rng.integers(5, size=120)] = True
        return X, S
    X, _, S = with_truth(seed)
    return X, S


def with_truth(seed: int = 0) -> tuple[NDArray[Any], Indices, Mask]:
    """Well separated classes: any sound method solves it, whatever its random draws."""
    X, y = make_blobs(120, n_features=7, centers=5, cluster_std=0.8, random_state=seed)
    return X, y, make_candidates(y, 1, random_state=seed)


def fit(estimator: Any, X: Any, y: Any, **params: Any) -> Any:
    """Fit a copy that has a seed: two fits can be compared only if both draw alike."""
    estimator = clone(estimator)
    for name, value in estimator.get_params().items():
        if name.endswith("random_state") and value is None:
            estimator.set_params(**{name: 0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return estimator.fit(X, y, **params)


def output(fitted: Any, X: Any) -> NDArray[Any]:
    """What is learned: probabilities, scores, or distances between rows.

    Directions may turn without changing any distance, hence distances.
    """
    if is_classifier(fitted):
        if not hasattr(fitted, "predict_proba"):
            return np.asarray(fitted.decision_function(X))
        P = np.asarray(fitted.predict_proba(X))
        assert is_multilabel(fitted) or np.allclose(P.sum(axis=1), 1, atol=1e-5)
        return P
    if is_multilabel(fitted):
        return np.asarray(fitted.scores_)
    Z = fitted.transform(X)
    Z = Z.toarray() if sp.issparse(Z) else np.asarray(Z)
    return pdist(Z.astype(np.float64, copy=False))


def confidence(fitted: Any) -> NDArray[Any] | None:
    """Return the confidences of the training rows, if there are any."""
    return getattr(fitted, "label_confidence_", None)


def assert_same(a: Any, b: Any, X: Any, tol: float = 1e-9) -> None:
    """Two fitted estimators do the same with rows `X` and labeled alike in `fit`."""
    P, F, G = output(a, X), confidence(a), confidence(b)
    atol = tol * np.abs(P).max()
    np.testing.assert_allclose(output(b, X), P, rtol=tol, atol=atol)
    if F is not None and G is not None:
        np.testing.assert_allclose(G, F, rtol=tol, atol=tol)


def error_message(estimator: Any, X: Any, y: Any, **params: Any) -> str:
    """Message of the ValueError that fitting must raise."""
    try:
        fit(estimator, X, y, **params)
    except ValueError as error:
        return str(error)
    raise AssertionError("Fitting should have raised a ValueError.")


def order_matters(estimator: Any, axis: Literal["rows", "classes"]) -> bool:
    """Whether an estimator, or one inside it, declares that the order matters.

    It may not, unless the class says so: its ``_order_matters`` names ``"rows"`` or
    ``"classes"``, with the reason beside it. Having a ``random_state`` is no reason:
    most methods only break ties with it.
    """
    parts = [estimator, *estimator.get_params().values()]
    return any(axis in getattr(type(part), "_order_matters", ()) for part in parts)


def assert_close(P: NDArray[Any], Q: NDArray[Any], *, exactly: bool) -> None:
    """Check that two results are equal up to rounding or random draws."""
    if exactly:
        np.testing.assert_allclose(P, Q, rtol=1e-5, atol=1e-5)
    else:
        assert np.corrcoef(P.ravel(), Q.ravel())[0, 1] >= AGREEMENT


def _same_data(X: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Other layouts of memory, and entries that differ in their last digit."""
    yield np.asfortranarray(X)
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    yield wide[:, ::2]
    signs = np.random.default_rng(0).choice([-1, 0, 1], X.shape)
    yield X * (1 + np.finfo(np.float64).eps * signs)


def assert_stable(
    output: Callable[[NDArray[Any]], NDArray[Any]], X: NDArray[Any]
) -> None:
    """Check that the result does not depend on the form of the data.

    Parameters
    ----------
    output : callable
        Fits on some rows and returns what is to be the same.
    X : ndarray of shape (n_samples, n_features)
        Rows without ties between distances.
    """
    plain = output(X)
    for same in _same_data(X):
        assert_close(output(same), plain, exactly=True)


def coarse(X: NDArray[Any]) -> NDArray[Any]:
    """Round to seven values, so that rows are equal and many distances the same."""
    low = X.min(axis=0)
    step = (X.max(axis=0) - low) / 6
    return low + step * np.round((X - low) / np.where(step > 0, step, 1))


def optional(name: str) -> Any:
    """Return a package, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def frames(X: NDArray[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the rows as data frames of all kinds that scikit-learn supports."""
    columns = [f"f{j}" for j in range(X.shape[1])]
    for name in ("pandas", "polars"):
        module = optional(name)
        if module is None:
            continue
        frame = module.DataFrame(dict(zip(columns, X.T.copy(), strict=True)))
        # They may be of different times: scikit-learn 1.8 knows no polars 2.
        if hasattr(StandardScaler().fit(frame), "feature_names_in_"):
            yield name, frame


NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])
_CLEAR = re.compile("rescale|too large|overflow")
_OUTPUTS = ("transform", "predict_proba", "decision_function")
_ATTRIBUTES = ("label_confidence_", "scores_", "components_", "coef_")


def applicable_checks(
    estimator: Any, special: Iterable[Check]
) -> Iterator[tuple[str, Check]]:
    """The checks of one kind of labels, then the common ones that apply."""
    checks = [*special, *_COMMON]
    if get_tags(estimator).input_tags.sparse:
        checks.append(check_sparse_features)
    if "n_jobs" in estimator.get_params():
        checks.append(check_n_jobs)
    if has_fit_parameter(estimator, "bags"):
        checks.append(check_bags)
    for check in checks:
        yield check.__name__, check


def check_candidate_sets(estimator: Any) -> None:
    """Sets of text labels mean the same as a matrix, and name the classes."""
    X, S = problem(estimator)
    fitted = fit(estimator, X, [set(NAMES[row]) for row in S])
    if uses_labels(fitted):
        assert list(fitted.classes_) == list(NAMES)
    assert_same(fitted, fit(estimator, X, S), X)
    if is_classifier(fitted) and not is_multilabel(fitted):
        assert set(fitted.predict(X)) <= set(NAMES)


def check_frame_of_candidates(estimator: Any) -> None:
    """The columns of a data frame of candidates name the classes."""
    pandas = optional("pandas")
    if pandas is None:
        return
    X, S = problem(estimator)
    fitted = fit(estimator, X, pandas.DataFrame(S.astype(int), columns=NAMES))
    if uses_labels(fitted):
        assert list(fitted.classes_) == list(NAMES)
    assert_same(fitted, fit(estimator, X, S), X)


def check_sparse_candidates(estimator: Any) -> None:
    """A sparse candidate matrix means the same as a dense one."""
    X, S = problem(estimator)
    sparse = fit(estimator, X, sp.csr_matrix(S.astype(int)))
    assert_same(sparse, fit(estimator, X, S), X)


def check_sparse_features(estimator: Any) -> None:
    """Sparse features mean the same as dense ones, in `fit` and behind it."""
    X, S = problem(estimator)
    X = np.where(np.abs(X) < np.quantile(np.abs(X), 0.3), 0.0, X)
    rows = sp.csr_matrix(X)
    dense, sparse = fit(estimator, X, S), fit(estimator, rows, S)
    expected = output(dense, X)
    atol = 1e-5 * np.abs(expected).max()
    for fitted, new in [(sparse, rows), (sparse, X), (dense, rows)]:
        np.testing.assert_allclose(output(fitted, new), expected, rtol=1e-5, atol=atol)


def check_permuted_classes(estimator: Any) -> None:
    """The order of the classes carries no information."""
    X, S = problem(estimator, seed=1)
    assert_permuted(estimator, X, S)


def assert_permuted(estimator: Any, X: NDArray[Any], S: Mask) -> None:
    """With classes in another order, only the order of columns changes."""
    order = np.array([3, 0, 4, 1, 2])
    plain, permuted = fit(estimator, X, S), fit(estimator, X, S[:, order])
    exactly = not order_matters(estimator, "classes")
    P, F, G = output(plain, X), confidence(plain), confidence(permuted)
    P = P[:, order] if is_classifier(plain) else P
    assert_close(P, output(permuted, X), exactly=exactly)
    if F is not None and G is not None:
        assert_close(F[:, order], G, exactly=exactly)


def check_permuted_rows(estimator: Any) -> None:
    """The order of the rows carries no information."""
    X, S = problem(estimator, seed=1)
    order = np.random.default_rng(0).permutation(len(X))
    plain, permuted = fit(estimator, X, S), fit(estimator, X[order], S[order])
    exactly = not order_matters(estimator, "rows")
    assert_close(output(plain, X), output(permuted, X), exactly=exactly)
    F, G = confidence(plain), confidence(permuted)
    if F is not None and G is not None:
        assert_close(F[order], G, exactly=exactly)


def check_memory_and_last_digit(estimator: Any) -> None:
    """Neither the layout of memory nor the last digit of an entry matters."""
    X, S = problem(estimator, seed=1)
    assert_stable(lambda same: output(fit(estimator, same, S), X), X)


def check_coarse_features(estimator: Any) -> None:
    """Where rows are equal and distances tie, the order of the rows matters little."""
    X, S = problem(estimator, seed=1)
    X, order = coarse(X), np.random.default_rng(0).permutation(len(X))
    plain, permuted = fit(estimator, X, S), fit(estimator, X[order], S[order])
    assert_close(output(plain, X), output(permuted, X), exactly=False)


def check_length_message(estimator: Any) -> None:
    """Features and labels of different length raise an error with both lengths."""
    if not uses_labels(estimator):
        return
    X, S = problem(estimator)
    message = error_message(estimator, X, S[:-1])
    assert "120" in message
    assert "119" in message


def check_inputs_untouched(estimator: Any) -> None:
    """Fitting and predicting leave the caller's arrays alone."""
    X, S = problem(estimator)
    before_X, before_S = X.copy(), S.copy()
    output(fit(estimator, X, S), X)
    np.testing.assert_array_equal(X, before_X)
    np.testing.assert_array_equal(S, before_S)


def check_pickle_and_clone(estimator: Any) -> None:
    """A fitted estimator survives pickling; its clone is unfitted and alike."""
    X, S = problem(estimator)
    fitted = fit(estimator, X, S)
    assert_same(fitted, pickle.loads(pickle.dumps(fitted)), X, tol=1e-12)
    copy = clone(fitted)
    assert repr(copy) == repr(fitted)
    assert not hasattr(copy, "n_features_in_")


def check_frames(estimator: Any) -> None:
    """Data frames of pandas and polars go in and, from transformers, come out."""
    X, S = problem(estimator)
    expected = output(fit(estimator, X, S), X)
    for name, frame in frames(X):
        fitted = fit(estimator, frame, S)
        assert list(fitted.feature_names_in_) == list(frame.columns)
        np.testing.assert_allclose(output(fitted, frame), expected, rtol=1e-6)
        if hasattr(fitted, "transform"):
            out = fitted.set_output(transform=name).transform(frame)
            assert type(out).__module__.startswith(name)
            assert list(out.columns) == list(fitted.get_feature_names_out())


def check_n_jobs(estimator: Any) -> None:
    """The number of workers changes nothing."""
    X, S = problem(estimator)
    one = fit(clone(estimator).set_params(n_jobs=1), X, S)
    two = fit(clone(estimator).set_params(n_jobs=2), X, S)
    assert_same(one, two, X, tol=1e-12)


def check_bags(estimator: Any) -> None:
    """Bags share their lists; their names, and bags of one row, mean nothing."""
    X, y, _ = with_truth()
    X = X + np.random.default_rng(0).normal(scale=3.0, size=X.shape)
    S, bags = make_bags(y, size=3, random_state=0)
    inner = estimator.get_params(deep=False).get("estimator")
    if inner is not None and not has_fit_parameter(for_candidates(inner), "bags"):
        assert "does not use bags" in error_message(estimator, X, S, bags=bags)
        return
    alone, each = fit(estimator, X, S), fit(estimator, X, S, bags=np.arange(len(X)))
    shared = fit(estimator, X, S, bags=bags)
    assert_same(alone, each, X, tol=1e-6)
    assert_same(shared, fit(estimator, X, S, bags=[f"b{b}" for b in bags]), X)
    F, G = confidence(alone), confidence(shared)
    assert F is not None
    assert G is not None
    np.testing.assert_allclose(G.sum(axis=1), 1, atol=1e-6)
    assert (G[~S] == 0).all()
    assert np.abs(F - G).max() > 1e-3  # the lists were used
    order = np.random.default_rng(0).permutation(len(X))
    permuted = fit(estimator, X[order], S[order], bags=bags[order])
    exactly = not order_matters(estimator, "rows")
    assert_close(G[order], np.asarray(confidence(permuted)), exactly=exactly)
    message = error_message(estimator, X, S, bags=bags[1:])
    assert "120" in message
    assert "119" in message
    assert hasattr(estimator, "set_fit_request")


def _edge_problem() -> tuple[NDArray[Any], Mask]:
    rng = np.random.default_rng(0)
    X = rng.random((30, 5))
    y = np.arange(30) % 3
    S = np.eye(3, dtype=bool)[y]
    S[np.arange(30), (y + 1) % 3] |= rng.random(30) < 0.4
    return X, S


def _huge(X: NDArray[Any]) -> dict[str, NDArray[Any]]:
    column, cell = X.copy(), X.copy()
    column[:, 2] *= 1e300
    cell[3, 2] = 1e300
    return {"everywhere": X * 1e300, "in a column": column, "in a cell": cell}


def check_huge_features(estimator: Any) -> None:
    """Features of 1e300 give a clear error or finite results, never NaN."""
    X, S = _edge_problem()
    for where, huge in _huge(X).items():
        for train in (X, huge):
            message, results = "", {}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    results = _results(clone(estimator).fit(train, S), huge)
                except ValueError as error:
                    message = str(error)
            assert results or _CLEAR.search(message), f"unclear: {message}"
            for name, values in results.items():
                assert np.isfinite(values).all(), f"{name} with 1e300 {where}"


def _results(fitted: Any, X: NDArray[Any]) -> dict[str, NDArray[Any]]:
    names = [name for name in _OUTPUTS + _ATTRIBUTES if hasattr(fitted, name)]
    values = {name: getattr(fitted, name) for name in names}
    return {
        name: np.asarray(value(X) if callable(value) else value, dtype=np.float64)
        for name, value in values.items()
    }


def check_unhashable_labels(estimator: Any) -> None:
    """Labels that cannot be class names raise an error that describes them."""
    X, _ = _edge_problem()
    labels = np.empty(len(X), dtype=object)
    labels[:] = [{"name": "cat"}] * len(X)
    message = error_message(estimator, X, labels)
    assert "A label is a dict" in message, f"unclear: {message}"


_COMMON: list[Check] = [
    check_candidate_sets,
    check_frame_of_candidates,
    check_sparse_candidates,
    check_permuted_classes,
    check_permuted_rows,
    check_memory_and_last_digit,
    check_coarse_features,
    check_length_message,
    check_huge_features,
    check_unhashable_labels,
    check_inputs_untouched,
    check_pickle_and_clone,
    check_frames,
]
