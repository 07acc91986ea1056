"""Comparisons on partial multi-label data: of selectors, or of classifiers."""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold
from sklearn.utils import Bunch

from partlearn._typing import Array, Indices, Mask
from partlearn.benchmark import _protocol
from partlearn.benchmark._data import BenchmarkData, fingerprint, load_all
from partlearn.benchmark._jobs import Job, Reduction, shared_content, source_hash
from partlearn.benchmark._methods import build, find_class
from partlearn.benchmark._plan import (
    DataSpec,
    MethodSpec,
    MultilabelPlan,
)
from partlearn.benchmark._records import Record, values_of
from partlearn.benchmark._results import NO_LEARNER, Control
from partlearn.multilabel.classification import LinearSVM

Split = tuple[Indices, Indices]
Points = tuple[tuple[float, int], ...]
Combination = tuple[MethodSpec, int, int, MethodSpec, str, Points]
_CONTROL = "control:"


@dataclass(frozen=True)
class MultilabelTask:
    """Task of a plan whose rows have several true labels.

    Everything is fitted on training rows; test labels are clean.

    Attributes
    ----------
    plan : MultilabelPlan
        The plan.
    """

    plan: MultilabelPlan
    # Jobs with a curve take long: each is stored as soon as it is done.
    shares_features = False
    kinds = MappingProxyType(
        {"reducers": "ranker", "classifiers": "multilabel", "learners": "multilabel"}
    )

    def _spec(self, name: str) -> DataSpec:
        return next(spec for spec in self.plan.data if spec.name == name)

    def load(
        self, folder: str | Path | None
    ) -> tuple[list[BenchmarkData], list[dict[str, str]]]:
        """One data set per entry; noise is added to training rows later."""
        data, absent = load_all(self.plan, folder, _made, _from_bunch)
        for item in data:
            counts, d = self._spec(item.name).counts, item.X.shape[1]
            if counts is not None and max(counts) > d:
                raise self._spec(item.name).error(
                    f"`counts` is {max(counts)}, but there are {d} features."
                )
        return [_fingerprinted(item) for item in data], absent

    def describe(self, data: BenchmarkData) -> dict[str, Any]:
        """Facts of a data set."""
        spec = self._spec(data.name)
        return data.facts(
            mean_labels=float(data.truth.sum(axis=1).mean()),
            r=list(spec.r or ()),
            noise=spec.noise if spec.r is not None else "of the file",
        )

    def folds(self, data: BenchmarkData) -> dict[int | None, list[Split]]:
        """Training and test rows by noise seed."""
        plan, n = self.plan, data.truth.shape[0]
        return {
            seed: _protocol.split_rows(n, plan.folds, plan.fold_seed, seed)
            for seed in self._spec(data.name).noise_seeds
        }

    def expand(self, data: Iterable[BenchmarkData]) -> Iterator[Job]:
        """All jobs, in the order of the plan.

        The reduction of a job is a ranking, or has no class where all features are
        used.
        """
        plan, code = self.plan, source_hash()
        for item in data:
            spec, combinations = self._spec(item.name), list(self._combinations(item))
            draws = product(spec.r or (None,), spec.noise_seeds, range(plan.folds))
            for r, seed, fold in draws:
                shared = {
                    **shared_content(plan, item.fingerprint),
                    "task": plan.task,
                    "noise": [None if r is None else spec.noise, r, seed],
                    "fold": fold,
                }
                for method, draw, top, learner, labels, points in combinations:
                    cls = [method.cls, dict(method.params)]
                    order = {**shared, "reducer": cls, "draw": draw, "top": top}
                    reduction = Reduction(
                        order,
                        code,
                        data=item.name,
                        fingerprint=item.fingerprint,
                        r=r,
                        noise_seed=seed,
                        protocol="inductive",
                        reducer=method,
                        fold=fold,
                        draw=draw,
                        top=top,
                    )
                    content = {
                        "reduction": order,
                        "learner": [learner.cls, dict(learner.params)],
                        "labels": labels,
                        "points": [list(point) for point in points],
                        "inner_folds": plan.cv,  # this text is part of every seed
                    }
                    if not plan.tunes_thresholds:
                        content["thresholds"] = "as they are"
                    yield Job(content, code, reduction, learner, fold, labels, points)

    def _combinations(self, data: BenchmarkData) -> Iterator[Combination]:
        """Selectors with draw and length, learners, labels and points of the curve."""
        plan, spec, d = self.plan, self._spec(data.name), data.X.shape[1]
        curve = tuple((p, _protocol.n_selected(p, d)) for p in plan.percentages)
        if spec.counts is not None:
            curve = tuple((100 * count / d, count) for count in spec.counts)
        top = max(count for _, count in curve)
        # Orders of features are controls for selectors only.
        orders = self._orders(data.name) if plan.reducers else ()
        learners = [
            m for m in plan.learners if spec.learners is None or m.name in spec.learners
        ]
        for method, draw in orders:
            for labels in plan.labels:
                for learner in learners:
                    yield method, draw, top, learner, labels, curve
        everything = MethodSpec(Control.ALL_FEATURES.value, "")
        frequency = Control.LABEL_FREQUENCY.value
        whole = ((100.0, d),)
        for labels in plan.labels:
            for learner in learners:
                yield everything, 0, d, learner, labels, whole
            for method in plan.classifiers:
                method = method.for_data(data.name)
                alone = MethodSpec(NO_LEARNER, method.cls, method.params)
                yield MethodSpec(method.name, ""), 0, d, alone, labels, whole
            alone = MethodSpec(NO_LEARNER, _CONTROL + frequency)
            yield MethodSpec(frequency, ""), 0, d, alone, labels, ((0.0, 0),)

    def _orders(self, data: str) -> Iterator[tuple[MethodSpec, int]]:
        for spec in self.plan.reducers:
            yield spec.for_data(data), 0
        for control in _protocol.RANKINGS:
            spec = MethodSpec(control, _CONTROL + control, published=control)
            draws = self.plan.random_draws if control == Control.RANDOM else 1
            for draw in range(draws):
                yield spec, draw

    def _candidates(self, data: BenchmarkData, of: Reduction, train: Indices) -> Mask:
        """Candidates of the training rows."""
        if data.S is not None:
            known: Mask = data.S[train]
            return known
        assert of.r is not None
        assert of.noise_seed is not None
        assert of.fold is not None
        noise = self._spec(data.name).noise
        return _protocol.draw_candidates(
            data.truth[train], noise, of.r, of.noise_seed, of.fold
        )

    def reduce(self, data: BenchmarkData, task: Reduction, split: Split) -> Record:
        """Rank all features on the training rows."""
        train, _ = split
        C = self._candidates(data, task, train)
        X = _protocol.unit_scaled(data.X, train)[train]
        start = perf_counter()
        if task.reducer.cls.startswith(_CONTROL):
            score = _protocol.RANKINGS[task.reducer.cls.removeprefix(_CONTROL)]
            order = _protocol.ordered(score(X, C), task.seed)
        else:
            # No more features than will be looked at.
            top = {"n_features_to_select": task.top}
            method = _build(task.reducer, "ranker", task.seed, **top)
            order = _protocol.order_of(method.fit(X, C), task.seed)
        times = {"fit_time": perf_counter() - start}
        return Record(values=tuple(values_of(times)), arrays={"order": order})

    def prepare(
        self, data: BenchmarkData, reduced: Record | None, job: Job, split: Split
    ) -> Indices:
        """Order of the features."""
        return (
            np.arange(data.X.shape[1]) if reduced is None else reduced.arrays["order"]
        )

    def learn(
        self, data: BenchmarkData, order: Indices, job: Job, split: Split
    ) -> Record:
        """Fit and score a learner for each number of features."""
        train, test = split
        T = self._candidates(data, job.reduction, train)
        T = data.truth[train] if job.labels == "clean" else T
        X = _protocol.unit_scaled(data.X, train)
        known: dict[int, tuple[dict[str, float], float, float]] = {}
        for _, count in job.points:
            if count not in known:
                columns = np.sort(order[:count])
                A, B = X[np.ix_(train, columns)], X[np.ix_(test, columns)]
                known[count] = self._point(job, A, T, B, data.truth[test])
        _, fit_times, predict_times = zip(*known.values(), strict=True)
        values = [
            value
            for share, n in job.points
            for value in values_of({**known[n][0], "n_features": n}, share)
        ]
        counts = {"n_train": train.size, "n_test": test.size}
        times = {"fit_time": sum(fit_times), "predict_time": sum(predict_times)}
        return Record(values=(*values, *values_of({**counts, **times})))

    def _point(
        self, job: Job, A: Array, T: Mask, B: Array, Y: Mask
    ) -> tuple[dict[str, float], float, float]:
        """Scores on clean test labels, and the seconds of fit and predict."""
        start = perf_counter()
        if job.learner.cls.startswith(_CONTROL):
            S, P, thresholds = _frequency(T, len(B))
            fitted = perf_counter()
        else:
            # Its held-out scores tune the thresholds too, so it has the plan's folds.
            own = find_class(job.learner.cls, "multilabel") is LinearSVM
            inner = {"cv": self.plan.cv} if own else {}
            learner = _build(job.learner, "multilabel", job.seed, **inner)
            learner.fit(A, T)
            if self.plan.tunes_thresholds:
                held_out = self._held_out(learner, A, T, job.seed)
                thresholds = _protocol.tuned_thresholds(T, held_out)
            fitted = perf_counter()
            S = _label_scores(learner, B)
            P = np.asarray(learner.predict(B)).astype(bool)
        scores = {**_protocol.ranking_scores(Y, S), **_protocol.f1_scores(Y, P)}
        if self.plan.tunes_thresholds:
            tuned = _protocol.f1_scores(Y, thresholds <= S)
            scores |= {f"{name}_tuned": value for name, value in tuned.items()}
        return scores, fitted - start, perf_counter() - fitted

    def _held_out(self, learner: Any, A: Array, T: Mask, seed: int) -> Array:
        """Cross-fitted scores of the training rows."""
        known = getattr(learner, "held_out_scores_", None)
        if known is not None:
            return np.asarray(known)
        S = np.empty(T.shape)
        folds = KFold(self.plan.cv, shuffle=True, random_state=seed)
        for train, test in folds.split(A):
            part = clone(learner).fit(A[train], T[train])
            S[test] = _label_scores(part, A[test])
        return S


def _build(method: MethodSpec, kind: str, seed: int, **defaults: Any) -> Any:
    """Build a method; defaults are passed if its class accepts them."""
    accepted = inspect.signature(find_class(method.cls, kind)).parameters
    known = {name: value for name, value in defaults.items() if name in accepted}
    return build(method.cls, {**known, **method.params}, kind, seed)


def _frequency(T: Mask, n: int) -> tuple[Array, Mask, Array]:
    """Predict labels by their frequency in training, without features.

    All rows tie, so the best threshold predicts a label for all rows or for none.
    """
    share = T.mean(axis=0)
    S = np.tile(share, (n, 1))
    return S, S >= 0.5, np.where(share > 0, 0.0, np.inf)


def _label_scores(learner: Any, X: Array) -> Array:
    for name in ("decision_function", "predict_proba"):
        if hasattr(learner, name):
            return np.asarray(getattr(learner, name)(X), dtype=np.float64)
    raise TypeError(
        f"{type(learner).__name__} has neither decision_function nor predict_proba; "
        "labels cannot be ranked by hard predictions."
    )


def _made(spec: DataSpec) -> BenchmarkData:
    if spec.source != "sklearn:multilabel":
        raise spec.error(
            "the only source of scikit-learn is sklearn:multilabel; got "
            f"{spec.source!r}."
        )
    if spec.r is None:
        raise spec.error("give `r`, the noise to add.")
    X, Y = make_multilabel_classification(
        n_samples=300, n_features=40, n_classes=6, n_labels=2, random_state=0
    )
    names = tuple(f"label {j}" for j in range(Y.shape[1]))
    return BenchmarkData(spec.name, X.astype(np.float64), None, Y.astype(bool), names)


def _from_bunch(spec: DataSpec, bunch: Bunch, file: str) -> BenchmarkData:
    if bunch.truth is None or bunch.truth.ndim != 2:
        raise spec.error(
            f"{file} does not have a matrix of true labels; a comparison needs it to "
            "score."
        )
    S = None
    if spec.r is None:
        if bunch.candidates is None:
            raise spec.error(
                f"{file} has no candidates; give `r`, the noise to add to the training "
                "labels."
            )
        S = np.asarray(bunch.candidates, dtype=bool)
    names = tuple(str(name) for name in bunch.target_names)
    Y = np.asarray(bunch.truth, dtype=bool)
    return _cut(BenchmarkData(spec.name, bunch.data, S, Y, names), spec)


def _cut(data: BenchmarkData, spec: DataSpec) -> BenchmarkData:
    """Keep the most frequent labels and features, if the entry limits them."""
    if spec.max_features is not None:
        found = np.asarray((data.X != 0).sum(axis=0)).ravel()
        data = replace(data, X=data.X[:, _largest(found, spec.max_features)])
    if spec.max_labels is not None:
        labels = _largest(data.truth.sum(axis=0), spec.max_labels)
        rows = np.flatnonzero(data.truth[:, labels].any(axis=1))
        S = None if data.S is None else data.S[np.ix_(rows, labels)]
        names = tuple(data.classes[j] for j in labels)
        truth = data.truth[np.ix_(rows, labels)]
        data = replace(data, X=data.X[rows], S=S, truth=truth, classes=names)
    return data


def _largest(counts: Array, n: int) -> Indices:
    """Sorted indices of the `n` largest counts; ties keep the first."""
    return np.sort(np.argsort(-counts, kind="stable")[:n])


def _fingerprinted(data: BenchmarkData) -> BenchmarkData:
    labels = [data.truth] if data.S is None else [data.truth, data.S]
    mark = fingerprint(data.X, *(np.packbits(part, axis=1) for part in labels))
    return replace(data, fingerprint=mark)
