"""Cross-validation of estimators on candidate labels."""

# SPDX-License-Identifier: BSD-3-Clause

import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from partlearn._arguments import check_choice
from partlearn._math.linalg import z_scores
from partlearn._sklearn_compat import method_params, safe_indexing
from partlearn._typing import Indices, Mask
from partlearn.candidates import (
    FLOATS,
    Evidence,
    bag_codes,
    check_evidence,
    warn_caller,
)
from partlearn.metrics import (
    approximated_accuracy_scorer,
    candidate_hit_scorer,
    candidate_log_likelihood_scorer,
    covering_scorer,
)
from partlearn.model_selection._split import CandidateKFold

OwnScore = Callable[[Any, Any, Mask, Indices | None], float]


# Scorers of scikit-learn that must be told all classes where a fold lacks some.
_WANT_LABELS = (
    "d2_brier_score",
    "d2_log_loss_score",
    "neg_brier_score",
    "neg_log_loss",
    "roc_auc_ov",
    "top_k_accuracy",
)

# Scores that need no truth; all others are scikit-learn's.
_TRUTH_FREE: Mapping[str, Callable[[Any, Any, Any], float]] = {
    "approximated_accuracy": approximated_accuracy_scorer,
    "candidate_hit_rate": candidate_hit_scorer,
    "candidate_log_likelihood": candidate_log_likelihood_scorer,
    "covering_rate": covering_scorer,
}


def cross_validate(
    estimator: Any,
    X: Any,
    candidates: Any,
    truth: ArrayLike | None = None,
    *,
    cv: Any = 10,
    groups: ArrayLike | None = None,
    protocol: Literal["inductive", "transductive"] = "inductive",
    scoring: str | OwnScore | Iterable[str] = "accuracy",
    random_state: Any = 0,
    n_jobs: int | None = None,
    return_estimator: bool = False,
    params: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Cross-validate an estimator on candidate labels, with or without the truth.

    Parameters
    ----------
    estimator : classifier or Pipeline
        Estimator to evaluate. In a pipeline, all steps but the last are the reducer.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Features. A data frame is passed to the estimator unchanged, unless the protocol
        is transductive.
    candidates : Evidence or candidate labels
        In any form that :func:`partlearn.candidates.check_evidence` reads. The
        estimator is fitted on the candidate matrix, so its classes are the columns.
    truth : array-like of shape (n_samples,), default=None
        True labels, used to score and never to fit. Not needed by scores that compare
        with the candidates.
    cv : int, splitter or iterable of (train, test), default=10
        Number of shuffled folds, or how to split.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together, such as pictures of one person: those of a group are
        never in the training and the test part of one fold. Passed to `cv`.
    protocol : {"inductive", "transductive"}, default="inductive"
        "inductive" fits everything on the training rows. "transductive" is the protocol
        of the published tables: standardize all rows, fit the reducer once on all rows
        and candidate sets, including those of test rows, standardize the projected
        columns, and cross-validate only the learner. True labels are not used, but test
        rows are, so that scores are higher.
    scoring : str, callable or list of str, default="accuracy"
        With `truth` a scorer of scikit-learn by its name, such as "accuracy",
        "balanced_accuracy", "f1_macro", "neg_log_loss" or "roc_auc_ovr"; without it
        "candidate_hit_rate", "covering_rate", "approximated_accuracy" or
        "candidate_log_likelihood"; a list of these; or a function
        ``score(estimator, X, S, truth)`` of the test part, where `truth` holds columns
        of the candidates `S`.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    n_jobs : int, default=None
        Folds in parallel; the result does not depend on it.
    return_estimator : bool, default=False
        Whether to return the fitted estimators.
    params : mapping, default=None
        Arguments of the estimator's `fit`, such as ``{"bags": bags}``; those with one
        entry per row are cut to the training rows. A step of a pipeline takes them as
        ``"crispclassifier__bags"``. If transductive, they are the learner's.

    Returns
    -------
    result : dict
        ``test_score`` (``test_<name>`` for a list), ``fit_time`` and ``score_time``,
        arrays with one entry per fold; ``estimator``, a list, with `return_estimator`;
        and ``reducer_time``, the seconds of the reducer fit, if transductive.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.classification import PLKNN
    >>> from partlearn.model_selection import cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> result = cross_validate(PLKNN(), X, candidates, y, cv=5)
    >>> bool(result["test_score"].mean() > 0.9)
    True
    >>> names = ["balanced_accuracy", "neg_log_loss", "covering_rate"]
    >>> result = cross_validate(PLKNN(), X, candidates, y, cv=5, scoring=names)
    >>> sorted(name for name in result if name.startswith("test"))
    ['test_balanced_accuracy', 'test_covering_rate', 'test_neg_log_loss']
    """
    if protocol == "transductive" or not hasattr(X, "columns"):
        X = check_array(X, accept_sparse="csr", dtype=FLOATS)
    labels = check_evidence(candidates)
    scores = _resolve(scoring)
    codes = None if truth is None else truth_codes(truth, labels.classes)
    check_choice("protocol", protocol, ("inductive", "transductive"))
    wanting = [s for s in scores.values() if not callable(s) and s not in _TRUTH_FREE]
    if codes is None and wanting:
        raise ValueError(
            f"The score {wanting[0]!r} needs `truth`; without it choose `scoring` from "
            f"{sorted(_TRUTH_FREE)}."
        )
    n_truth = len(labels) if codes is None else len(codes)
    if not n_truth == len(labels) == X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows, candidates {len(labels)}, truth {n_truth}; "
            "they must agree."
        )
    folds = _folds(cv, X, labels.candidates, groups, random_state)
    _warn_of_split_bags(params or {}, folds, len(labels))
    result: dict[str, Any] = {}
    if protocol == "transductive":
        start = time.perf_counter()
        X, estimator = published_embedding(estimator, X, _target(labels))
        result["reducer_time"] = time.perf_counter() - start
    rows = Parallel(n_jobs=n_jobs)(
        delayed(_fold)(estimator, X, labels, codes, train, test, scores, params or {})
        for train, test in folds
    )
    for name in scores:
        result[f"test_{name}"] = np.array([row["scores"][name] for row in rows])
    for name in ("fit_time", "score_time"):
        result[name] = np.array([row[name] for row in rows])
    if return_estimator:
        result["estimator"] = [row["estimator"] for row in rows]
    return result


def truth_codes(truth: ArrayLike, classes: NDArray[Any]) -> Indices:
    """Return the columns of true labels; raise if a label is unknown.

    Parameters
    ----------
    truth : array-like of shape (n_samples,)
        True labels.
    classes : ndarray of shape (n_classes,)
        Labels of the columns.

    Returns
    -------
    codes : ndarray of shape (n_samples,)
        Column of each label.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.model_selection import truth_codes
    >>> truth_codes(["dog", "cat"], np.array(["cat", "dog"]))
    array([1, 0])
    """
    labels = np.asarray(truth)
    if labels.ndim != 1:
        raise ValueError(f"`truth` must be 1-D labels; got shape {labels.shape}.")
    column = {label: j for j, label in enumerate(classes.tolist())}
    codes = np.array([column.get(label, -1) for label in labels.tolist()], dtype=int)
    if (codes < 0).any():
        i = int(np.argmax(codes < 0))
        raise ValueError(
            f"The true label {labels.tolist()[i]!r} of row {i} is never a candidate; "
            f"the classes are {classes.tolist()[:10]}."
        )
    return codes


def _resolve(
    scoring: str | OwnScore | Iterable[str],
) -> Mapping[str, str | OwnScore]:
    """Return scores by their names in the result; raise if one is unknown."""
    if callable(scoring):
        return {"score": scoring}
    names = [scoring] if isinstance(scoring, str) else list(scoring)
    known = [*_TRUTH_FREE, *get_scorer_names()]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        near = get_close_matches(str(*unknown[:1]), known, n=1)
        raise ValueError(
            f"`scoring` must be a function or one of {sorted(_TRUTH_FREE)}, with the "
            "truth also a name of sklearn.metrics.get_scorer_names(); got "
            f"{scoring!r}." + (f" Did you mean {near[0]!r}?" if near else "")
        )
    if isinstance(scoring, str):
        return {"score": scoring}
    return {name: name for name in names}


def _score(
    score: str | OwnScore, estimator: Any, X: Any, labels: Evidence, truth: Any
) -> float:
    """Score a fitted estimator on the test rows."""
    if callable(score):
        return score(estimator, X, labels.candidates, truth)
    if score in _TRUTH_FREE:
        return _TRUTH_FREE[score](estimator, X, _by_column(labels))
    scorer = get_scorer(score)
    if not score.startswith(_WANT_LABELS):
        return float(scorer(estimator, X, truth))
    known = np.arange(labels.shape[1])
    with (
        warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning),
        config_context(enable_metadata_routing=True),  # passes `labels` on
    ):
        try:
            value = float(scorer(estimator, X, truth, labels=known))
        except ZeroDivisionError:  # a mean over pairs of labels, of which there is none
            value = np.nan
    if np.isnan(value):
        raise ValueError(
            f"The score {score!r} needs test rows of every label, but none of "
            f"{len(labels)} test rows has the true label "
            f"{labels.classes[np.setdiff1d(known, truth)].tolist()[0]!r}. Use fewer "
            "folds, or cv=StratifiedCandidateKFold(...)."
        )
    return value


def _folds(cv: Any, X: Any, S: Mask, groups: Any, random_state: Any) -> list[Any]:
    if isinstance(cv, (int, np.integer)):
        cv = CandidateKFold(int(cv), random_state=random_state)
    return list(cv.split(X, S, groups) if hasattr(cv, "split") else cv)


def _warn_of_split_bags(params: Mapping[str, Any], folds: list[Any], m: int) -> None:
    """Warn if rows of a bag are in the training and the test part of a fold."""
    for name, bags in params.items():
        if bags is None or name.split("__")[-1] != "bags":
            continue
        codes = bag_codes(bags, m)
        if any(np.isin(codes[test], codes[train]).any() for train, test in folds):
            warn_caller(
                "Rows of one bag are in the training and the test part, so that scores "
                "are too good. Pass the bags as `groups` too."
            )


def published_embedding(
    estimator: Any, X: Any, S: Mask | Evidence
) -> tuple[NDArray[Any], Any]:
    """Reduce all rows at once, as in the published tables.

    Parameters
    ----------
    estimator : classifier, Pipeline or coupled classifier
        Reducer and learner; a plain classifier has no reducer.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        All rows.
    S : ndarray of bool or Evidence, shape (n_samples, n_classes)
        All candidate sets.

    Returns
    -------
    Z : ndarray of shape (n_samples, n_components)
        Standardized projection of the standardized rows.
    learner : estimator
        What remains to be cross-validated on `Z`.
    """
    reducer, learner = _parts(estimator)
    # A reducer that standardizes by itself does not need it done before, so that text
    # need not become dense.
    if reducer is None or not (sp.issparse(X) and _standardizes(reducer)):
        X = z_scores(X, max_dense_bytes=sys.maxsize)
    if reducer is None:
        return X, learner
    Z = clone(reducer).fit_transform(X, S)
    Z = Z if sp.issparse(Z) else np.asarray(Z)
    return z_scores(Z, max_dense_bytes=sys.maxsize), learner


def _parts(estimator: Any) -> tuple[Any, Any]:
    """Return the reducer (or None) and the learner."""
    if isinstance(estimator, Pipeline):
        return (estimator[:-1] if len(estimator) > 1 else None), estimator[-1]
    if hasattr(estimator, "reducer") and hasattr(estimator, "classifier"):
        return estimator.reducer, estimator.classifier
    return None, estimator


def _standardizes(reducer: Any) -> bool:
    first = reducer[0] if isinstance(reducer, Pipeline) else reducer
    return bool(getattr(first, "standardize", False))


def _by_column(labels: Evidence) -> Evidence:
    """Name the classes by the numbers of their columns."""
    return labels.with_classes(np.arange(labels.shape[1]))


def _target(labels: Evidence) -> Any:
    """Return a candidate matrix, which any estimator takes, unless weighted."""
    return _by_column(labels) if labels.weighted else labels.candidates


def _fold(
    estimator: Any,
    X: Any,
    labels: Evidence,
    truth: Indices | None,
    train: Indices,
    test: Indices,
    scores: Mapping[str, str | OwnScore],
    params: Mapping[str, Any],
) -> dict[str, Any]:
    """Fit on the training rows, score on the test rows."""
    start = time.perf_counter()
    fitted = clone(estimator).fit(
        safe_indexing(X, train),
        _target(labels[train]),
        **method_params(X, params, train),
    )
    fit_time = time.perf_counter() - start
    start = time.perf_counter()
    rows, known = safe_indexing(X, test), None if truth is None else truth[test]
    values = {
        name: _score(score, fitted, rows, labels[test], known)
        for name, score in scores.items()
    }
    return {
        "scores": values,
        "fit_time": fit_time,
        "score_time": time.perf_counter() - start,
        "estimator": fitted,
    }
