"""The work itself: rank features; fit and score a learner along a ranking."""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from partlearn.benchmark._execute import Limits, Record, guard
from partlearn.benchmark._jobs import Job, Reduction
from partlearn.benchmark._methods import build, find_class
from partlearn.benchmark._multilabel._data import MultilabelData
from partlearn.benchmark._multilabel._jobs import control_class
from partlearn.benchmark._multilabel._protocol import (
    draw_candidates,
    split,
    unit_scaled,
)
from partlearn.benchmark._multilabel._rank import CONTROLS, order_of, ordered
from partlearn.benchmark._multilabel._scores import (
    f1_scores,
    ranking_scores,
    tuned_thresholds,
)

__all__ = ["follow", "rank"]

Labels = NDArray[np.bool_]


def _parts(
    data: MultilabelData, content: Mapping[str, Any]
) -> tuple[NDArray[np.intp], NDArray[np.intp], Labels]:
    """Training rows, test rows, and candidates of the training rows."""
    noise, r, noise_seed = content["noise"]
    folds, fold_seed = content["folds"]
    fold = content["fold"]
    train, test = split(data.Y.shape[0], folds, fold, fold_seed, noise_seed)
    if data.candidates is not None:
        return train, test, data.candidates[train]
    return train, test, draw_candidates(data.Y[train], noise, r, noise_seed, fold)


def rank(data: MultilabelData, task: Reduction, limits: Limits) -> Record:
    """Order all features by what the training rows say.

    Parameters
    ----------
    data : MultilabelData
        The data set.
    task : Reduction
        Method, noise and fold.
    limits : Limits
        Thread cap.

    Returns
    -------
    dict
        Status, ``arrays`` with the ``order``, times.
    """

    def work(record: Record) -> None:
        train, _, C = _parts(data, task.content)
        X = unit_scaled(data.X, train)[train]
        start = perf_counter()
        control = control_class(task.reducer.cls)
        if control is not None:
            order = ordered(CONTROLS[control](X, C), task.seed)
        else:
            method = build(task.reducer.cls, _with_top(task), "ranker", task.seed)
            order = order_of(method.fit(X, C), task.seed)
        record["arrays"] = {"order": order}
        record["measured"] = {"fit_time": perf_counter() - start}

    return guard(work, limits)


def _with_top(task: Reduction) -> dict[str, Any]:
    """Ask a selector for as many features as will be looked at, not for more."""
    params = dict(task.reducer.params)
    accepted = inspect.signature(find_class(task.reducer.cls, "ranker")).parameters
    if "n_features_to_select" in accepted:
        params.setdefault("n_features_to_select", task.content["top"])
    return params


def follow(
    data: MultilabelData,
    ranked: Mapping[str, Any] | None,
    job: Job,
    limits: Limits,
) -> Record:
    """Fit and score a learner on more and more of the features.

    Parameters
    ----------
    data : MultilabelData
        The data set.
    ranked : mapping or None
        Record of :func:`rank`; None where all features are used.
    job : Job
        Learner, labels to train on, numbers of features.
    limits : Limits
        Thread cap.

    Returns
    -------
    dict
        Status, times, and ``curve``: one dict of scores per number of features.
    """
    if ranked is not None and ranked["status"] != "ok":
        keys = ("status", "error", "message", "traceback", "warnings")
        return {**{k: ranked[k] for k in keys}, "measured": {}}

    def work(record: Record) -> None:
        train, test, C = _parts(data, job.reduction.content)
        T = data.Y[train] if job.content["labels"] == "clean" else C
        X = unit_scaled(data.X, train)
        order = np.arange(X.shape[1]) if ranked is None else ranked["arrays"]["order"]
        seconds = np.zeros(2)
        known: dict[int, dict[str, float]] = {}
        curve = []
        for percentage, count in job.content["points"]:
            if count not in known:
                columns = np.sort(order[:count])
                A, B = X[np.ix_(train, columns)], X[np.ix_(test, columns)]
                known[count], times = _point(job, A, T, B, data.Y[test])
                seconds += times
            curve.append(
                {"percentage": percentage, "n_features": count, **known[count]}
            )
        record["curve"] = curve
        record["n_train"], record["n_test"] = int(train.size), int(test.size)
        record["measured"] = {"fit_time": seconds[0], "predict_time": seconds[1]}

    return guard(work, limits)


def _point(
    job: Job,
    A: NDArray[np.float64],
    T: Labels,
    B: NDArray[np.float64],
    Y: Labels,
) -> tuple[dict[str, float], tuple[float, float]]:
    """Scores on clean test labels, and seconds of fit and predict."""
    start = perf_counter()
    if control_class(job.learner.cls) is not None:
        S, P, thresholds = _frequency(T, len(B))
        fitted = perf_counter()
    else:
        given = dict(job.learner.params)
        cls = find_class(job.learner.cls, "multilabel")
        if "inner_folds" in inspect.signature(cls).parameters:
            given.setdefault("inner_folds", job.content["inner_folds"])
        learner = build(job.learner.cls, given, "multilabel", job.seed).fit(A, T)
        held_out = _held_out(learner, A, T, job)
        fitted = perf_counter()
        S = _label_scores(learner, B)
        P = np.asarray(learner.predict(B)).astype(bool)
        thresholds = tuned_thresholds(T, held_out)
    tuned = f1_scores(Y, thresholds <= S)
    scores = {
        **ranking_scores(Y, S),
        **f1_scores(Y, P),
        **{f"{name}_tuned": value for name, value in tuned.items()},
    }
    return scores, (fitted - start, perf_counter() - fitted)


def _frequency(
    T: Labels, n: int
) -> tuple[NDArray[np.float64], Labels, NDArray[np.float64]]:
    """Predict labels by their frequency in training, whatever the features are.

    All rows of a label tie, so that the best threshold predicts it for all or none.
    """
    share = T.mean(axis=0)
    S = np.tile(share, (n, 1))
    return S, S >= 0.5, np.where(share > 0, 0.0, np.inf)


def _label_scores(learner: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    for name in ("decision_function", "predict_proba"):
        if hasattr(learner, name):
            return np.asarray(getattr(learner, name)(X), dtype=np.float64)
    raise TypeError(
        f"{type(learner).__name__} has neither decision_function nor predict_proba; "
        "labels cannot be ranked by hard predictions."
    )


def _held_out(
    learner: Any, A: NDArray[np.float64], T: Labels, job: Job
) -> NDArray[np.float64]:
    """Scores of the training rows by models that have not seen them."""
    known = getattr(learner, "held_out_scores_", None)
    if known is not None:
        return np.asarray(known)
    S = np.empty(T.shape)
    folds = KFold(job.content["inner_folds"], shuffle=True, random_state=job.seed)
    for train, test in folds.split(A):
        part = clone(learner).fit(A[train], T[train])
        S[test] = _label_scores(part, A[test])
    return S
