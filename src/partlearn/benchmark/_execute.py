"""The work itself: fit a reducer, fit and score learners. Errors become records."""

# SPDX-License-Identifier: BSD-3-Clause

import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from partlearn.benchmark._data import BenchmarkData
from partlearn.benchmark._jobs import Job, Reduction
from partlearn.benchmark._memory import PeakMemory
from partlearn.benchmark._methods import build
from partlearn.candidates import fitted_confidence, uniform_confidence
from partlearn.linalg import z_scores
from partlearn.metrics import (
    accuracy_score,
    candidate_hit_rate,
    disambiguation_accuracy,
)

__all__ = ["Limits", "Record", "guard", "learn", "reduce", "standardize"]

Record = dict[str, Any]

# Above this size centring a sparse matrix would cost more memory than it is worth.
DENSE_BYTES = 2**30


@dataclass(frozen=True)
class Limits:
    """What one job may use.

    Attributes
    ----------
    threads : int
        Threads of the numerical libraries.
    time : float or None
        Seconds.
    memory : int or None
        Megabytes above what the process uses before the job.
    """

    threads: int = 1
    time: float | None = None
    memory: int | None = None


def standardize(X: Any, rows: np.ndarray | None = None) -> Any:
    """z-score the columns with the statistics of some rows (ddof 1).

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        Sparse input of moderate size becomes dense; larger input is only scaled.
    rows : ndarray of int or None, default=None
        Rows whose mean and deviation count; None means all.

    Returns
    -------
    ndarray or sparse array
        Constant columns become zero.
    """
    return z_scores(X, rows, max_dense_bytes=DENSE_BYTES)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Find the thread pools of this process, again when modules were imported.

    Looking for them takes longer than many a job.
    """
    return ThreadpoolController()


def guard(work: Callable[[Record], None], limits: Limits) -> Record:
    """Run ``work(record)`` with capped threads; an exception fills the record."""
    record: Record = {"status": "ok", "error": "", "message": "", "traceback": ""}
    with (
        warnings.catch_warnings(record=True) as caught,
        _controller(len(sys.modules)).limit(limits=limits.threads),
        PeakMemory() as peak,
    ):
        warnings.simplefilter("always")
        try:
            work(record)
        except Exception as error:
            record["status"] = "failed"
            record["error"] = type(error).__name__
            record["message"] = str(error)
            record["traceback"] = traceback.format_exc()
    texts = {f"{w.category.__name__}: {w.message}" for w in caught}
    record["warnings"] = sorted(texts)
    record["measured"] = {**record.get("measured", {}), "peak_mb": peak.megabytes}
    return record


def reduce(
    data: BenchmarkData, task: Reduction, train: np.ndarray | None, limits: Limits
) -> Record:
    """Fit the reducer of ``task`` and transform all rows.

    Parameters
    ----------
    data : BenchmarkData
        The data set.
    task : Reduction
        What to fit.
    train : ndarray of int or None
        Rows to fit on; None means all (transductive).
    limits : Limits
        Thread cap.

    Returns
    -------
    dict
        Status, ``arrays`` (Z, confidence, rows), number of columns, times.
    """

    def work(record: Record) -> None:
        X = standardize(data.X, train)
        rows = np.arange(data.truth.size) if train is None else train
        reducer = build(task.reducer.cls, task.reducer.params, "reducer", task.seed)
        start = perf_counter()
        labels = data.truth if task.reducer.supervised else data.S
        reducer.fit(X[rows], labels[rows])
        fitted = perf_counter()
        Z = reducer.transform(X)
        done = perf_counter()
        Z = np.asarray(Z.toarray() if sparse.issparse(Z) else Z)
        record["n_components"] = int(Z.shape[1])
        record["n_iter"] = _n_iter(reducer)
        truth = data.truth[rows]
        # Sets and truth of the fitted rows, for the pictures of the report.
        arrays = {"Z": Z, "rows": rows, "candidates": data.S[rows], "truth": truth}
        confidence = fitted_confidence(reducer)
        record["disambiguation"] = None
        if confidence is not None:
            arrays["confidence"] = confidence
            record["disambiguation"] = float(disambiguation_accuracy(truth, confidence))
        record["arrays"] = arrays
        record["measured"] = {
            "fit_time": fitted - start,
            "transform_time": done - fitted,
        }

    return guard(work, limits)


def _n_iter(estimator: Any) -> int | None:
    n_iter = getattr(estimator, "n_iter_", None)
    return None if n_iter is None else int(np.max(n_iter))


def learn(
    data: BenchmarkData,
    reduced: Mapping[str, Any] | None,
    jobs: Sequence[Job],
    split: tuple[np.ndarray, np.ndarray],
    limits: Limits,
) -> list[Record]:
    """Fit and score the learners of ``jobs``, which share fold and reduction.

    Parameters
    ----------
    data : BenchmarkData
        The data set.
    reduced : mapping or None
        Record of :func:`reduce`; None stands for no reduction.
    jobs : sequence of Job
        Learners to run.
    split : (train, test)
        Row numbers.
    limits : Limits
        Thread cap.

    Returns
    -------
    list of dict
        One record per job.
    """
    if reduced is not None and reduced["status"] != "ok":
        return [_inherit(reduced) for _ in jobs]
    features = _features(data, reduced, jobs[0], split[0])
    confidence = _passed_confidence(data, reduced)
    return [_learn_one(data, features, confidence, job, split, limits) for job in jobs]


def _inherit(reduced: Mapping[str, Any]) -> Record:
    keys = ("status", "error", "message", "traceback", "warnings")
    return {**{k: reduced[k] for k in keys}, "measured": {}}


def _features(
    data: BenchmarkData,
    reduced: Mapping[str, Any] | None,
    job: Job,
    train: np.ndarray,
) -> Any:
    rows = None if job.reduction.protocol == "transductive" else train
    if reduced is None:
        return standardize(data.X, rows)
    Z = reduced["arrays"]["Z"]
    return standardize(Z, rows) if job.content["scale_reduced"] else Z


def _passed_confidence(
    data: BenchmarkData, reduced: Mapping[str, Any] | None
) -> np.ndarray:
    """Confidences of all rows; uniform ones where the reducer learns none."""
    F = np.asarray(uniform_confidence(data.S))
    if reduced is not None and "confidence" in reduced["arrays"]:
        F[reduced["arrays"]["rows"]] = reduced["arrays"]["confidence"]
    return F


def _learn_one(
    data: BenchmarkData,
    features: Any,
    confidence: np.ndarray,
    job: Job,
    split: tuple[np.ndarray, np.ndarray],
    limits: Limits,
) -> Record:
    train, test = split

    def work(record: Record) -> None:
        learner = build(job.learner.cls, job.learner.params, "learner", job.seed)
        X_train, X_test = features[train], features[test]
        start = perf_counter()
        if job.learner.pass_confidence:
            learner.fit(X_train, data.S[train], confidence=confidence[train])
        else:
            learner.fit(X_train, data.S[train])
        fitted = perf_counter()
        predicted = learner.predict(X_test)
        done = perf_counter()
        # Columns of S are numbered, so classes_ are the numbers of the true classes.
        predicted = np.asarray(predicted).astype(np.int64)
        record["scores"] = _scores(learner, predicted, data, split, job)
        record["n_train"], record["n_test"] = int(train.size), int(test.size)
        record["measured"] = {
            "fit_time": fitted - start,
            "predict_time": done - fitted,
        }

    return guard(work, limits)


def _scores(
    learner: Any,
    predicted: np.ndarray,
    data: BenchmarkData,
    split: tuple[np.ndarray, np.ndarray],
    job: Job,
) -> dict[str, float | None]:
    train, test = split
    scores: dict[str, float | None] = {
        "accuracy": float(accuracy_score(data.truth[test], predicted))
    }
    if "candidate_hit" in job.content["metrics"]:
        hit = candidate_hit_rate(data.S[test], predicted)
        scores["candidate_hit"] = float(hit)
    if "disambiguation" in job.content["metrics"]:
        confidence = fitted_confidence(learner)
        scores["disambiguation"] = (
            None
            if confidence is None
            else float(disambiguation_accuracy(data.truth[train], confidence))
        )
    return scores
