"""Comparisons on partial labels: reduce, learn and score on each fold."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.utils import Bunch

from partlearn import metrics
from partlearn._math.linalg import z_scores
from partlearn._sizes import SIZES
from partlearn.base import reduced_rows
from partlearn.benchmark._data import BenchmarkData, fingerprint, load_all
from partlearn.benchmark._jobs import Job, Reduction, shared_content, source_hash
from partlearn.benchmark._methods import build
from partlearn.benchmark._plan import DataSpec, Plan
from partlearn.benchmark._records import Record, values_of
from partlearn.candidates import (
    bag_codes,
    bag_runs,
    fitted_confidence,
    make_candidates,
    uniform_confidence,
)
from partlearn.model_selection import CandidateKFold

Split = tuple[np.ndarray, np.ndarray]
Prepared = tuple[Any, np.ndarray]
_LOADED = ("digits", "iris", "wine", "breast_cancer")


@dataclass(frozen=True)
class PartialTask:
    """Task of a plan whose rows have one true label among their candidates.

    Attributes
    ----------
    plan : Plan
        The plan.
    """

    plan: Plan
    # The learners of a fold share scaled features.
    shares_features = True
    kinds = MappingProxyType({"reducers": "reducer", "learners": "learner"})

    def load(
        self, folder: str | Path | None
    ) -> tuple[list[BenchmarkData], list[dict[str, str]]]:
        """One data set per entry, r and noise seed."""
        loaded, absent = load_all(self.plan, folder, _made, _from_bunch)
        specs = {spec.name: spec for spec in self.plan.data}
        return [
            data for item in loaded for data in _with_candidates(specs[item.name], item)
        ], absent

    def describe(self, data: BenchmarkData) -> dict[str, Any]:
        """Facts of a data set."""
        return data.facts(
            mean_labels=float(data.S.sum(axis=1).mean()),
            r=[] if data.r is None else [data.r],
            noise="of the file" if data.noise_seed is None else "add",
        )

    def folds(self, data: BenchmarkData) -> dict[int | None, list[Split]]:
        """Training and test rows, by the noise seed of the data."""
        splitter = CandidateKFold(self.plan.folds, random_state=self.plan.fold_seed)
        return {data.noise_seed: list(splitter.split(data.X, data.S, data.bags))}

    def expand(self, data: Iterable[BenchmarkData]) -> Iterator[Job]:
        """All jobs, in the order of the plan."""
        # Once for all jobs, here: workers that have other sources cannot disagree.
        plan, code = self.plan, source_hash()
        for item, protocol, method, fold in product(
            data, plan.protocols, plan.reducers, range(plan.folds)
        ):
            reducer = method.for_data(item.name)
            scope = fold if protocol == "inductive" else None
            content = {
                **shared_content(plan, item.fingerprint),
                "protocol": protocol,
                "reducer": [reducer.cls, dict(reducer.params)],
                "fold": scope,
                **({"supervised": True} if reducer.supervised else {}),
            }
            reduction = Reduction(
                content,
                code,
                data=item.name,
                fingerprint=item.fingerprint,
                r=item.r,
                noise_seed=item.noise_seed,
                protocol=protocol,
                reducer=reducer,
                fold=scope,
            )
            for learner in plan.learners:
                learn = {
                    "reduction": content,
                    "learner": [learner.cls, dict(learner.params)],
                    "fold": fold,
                    "scale_reduced": plan.scale_reduced,
                    "metrics": list(plan.metrics),
                    **({"pass_confidence": True} if learner.pass_confidence else {}),
                    **({"pass_bags": True} if learner.pass_bags else {}),
                }
                yield Job(learn, code, reduction, learner, fold)

    def reduce(self, data: BenchmarkData, task: Reduction, split: Split) -> Record:
        """Fit the reducer on the training rows, or on all; transform all rows."""
        train = None if task.fold is None else split[0]
        X = z_scores(data.X, train, max_dense_bytes=SIZES.dense_bytes)
        rows = np.arange(data.truth.size) if train is None else train
        reducer = build(task.reducer.cls, task.reducer.params, "reducer", task.seed)
        start = perf_counter()
        labels = data.truth if task.reducer.supervised else data.S
        reducer.fit(X[rows], labels[rows])
        fitted = perf_counter()
        Z = reduced_rows(reducer, X, rows)
        done = perf_counter()
        Z = np.asarray(Z.toarray() if sparse.issparse(Z) else Z)
        n_iter = getattr(reducer, "n_iter_", None)
        truth = data.truth[rows]
        # Sets and truth of the fitted rows, for the pictures of the report.
        arrays = {"Z": Z, "rows": rows, "candidates": data.S[rows], "truth": truth}
        confidence, right = fitted_confidence(reducer), None
        if confidence is not None:
            arrays["confidence"] = confidence
            right = float(metrics.disambiguation_accuracy(truth, confidence))
        measured = {
            "n_components": Z.shape[1],
            "n_iter": None if n_iter is None else int(np.max(n_iter)),
            "disambiguation": right,
            "fit_time": fitted - start,
            "transform_time": done - fitted,
        }
        return Record(values=tuple(values_of(measured)), arrays=arrays)

    def prepare(
        self, data: BenchmarkData, reduced: Record | None, job: Job, split: Split
    ) -> Prepared:
        """Features and confidences that the learners of a fold share."""
        rows = None if job.reduction.protocol == "transductive" else split[0]
        F = np.asarray(uniform_confidence(data.S))
        if reduced is None:
            features = z_scores(data.X, rows, max_dense_bytes=SIZES.dense_bytes)
        else:
            features = reduced.arrays["Z"]
            if self.plan.scale_reduced:
                features = z_scores(features, rows)
            if "confidence" in reduced.arrays:
                F[reduced.arrays["rows"]] = reduced.arrays["confidence"]
        return features, F

    def learn(
        self, data: BenchmarkData, prepared: Prepared, job: Job, split: Split
    ) -> Record:
        """Fit and score a learner."""
        (train, test), (features, F), wanted = split, prepared, self.plan.metrics
        truth = data.truth[test]
        learner = self._build(job)
        given = {"confidence": F[train]} if job.learner.pass_confidence else {}
        if job.learner.pass_bags and data.bags is not None:
            given["bags"] = data.bags[train]
        X_train, X_test = features[train], features[test]
        start = perf_counter()
        learner.fit(X_train, data.S[train], **given)
        fitted = perf_counter()
        predicted = learner.predict(X_test)
        done = perf_counter()
        # Columns of S are numbered, so classes_ are numbers of the true classes.
        predicted = np.asarray(predicted).astype(np.int64)
        _, recalls = metrics.class_recalls(truth, predicted)
        scores: dict[str, float | None] = {
            "accuracy": float(metrics.accuracy_score(truth, predicted)),
            "balanced_accuracy": float(recalls.mean()),
            "worst_class_recall": float(recalls.min()),
            "disambiguation": None,
        }
        if "candidate_hit" in wanted:
            scores["candidate_hit"] = metrics.candidate_hit_rate(
                data.S[test], predicted
            )
        known = fitted_confidence(learner) if "disambiguation" in wanted else None
        if known is not None:
            right = metrics.disambiguation_accuracy(data.truth[train], known)
            scores["disambiguation"] = right
        if "risk_coverage_area" in wanted:
            sure = learner.predict_proba(X_test).max(axis=1)
            area = metrics.area_under_risk_coverage(sure, predicted == truth)
            scores["risk_coverage_area"] = area
        if "oracle_accuracy" in wanted:
            # The same learner, told the truth: what the candidates cost.
            oracle = self._build(job).fit(X_train, data.truth[train])
            told = metrics.accuracy_score(truth, oracle.predict(X_test))
            scores["oracle_accuracy"] = float(told)
        kept = {k: v for k, v in scores.items() if k in ("accuracy", *wanted)}
        criteria = self._criteria(job, X_train, data.S[train], given)
        counts = {"n_train": train.size, "n_test": test.size}
        times = {"fit_time": fitted - start, "predict_time": done - fitted}
        return Record(values=tuple(values_of({**kept, **criteria, **counts, **times})))

    def _build(self, job: Job) -> Any:
        return build(job.learner.cls, job.learner.params, "learner", job.seed)

    def _criteria(
        self, job: Job, X: Any, S: np.ndarray, given: Mapping[str, Any]
    ) -> dict[str, float]:
        """Scores without the truth, measured on training rows."""
        return {}


def _made(spec: DataSpec) -> BenchmarkData:
    if spec.bags:
        raise spec.error("data of scikit-learn come in no bags; leave out `bags`.")
    name = spec.source.removeprefix("sklearn:")
    if name not in _LOADED:
        raise spec.error(
            f"scikit-learn source must be one of {', '.join(_LOADED)}; got {name!r}."
        )
    bunch = getattr(datasets, f"load_{name}")()
    truth = np.asarray(bunch.target, dtype=np.int64)
    names = tuple(str(c) for c in bunch.target_names)
    X = np.asarray(bunch.data, dtype=np.float64)
    return BenchmarkData(spec.name, X, _one_hot(truth, len(names)), truth, names)


def _one_hot(truth: np.ndarray, q: int) -> np.ndarray:
    return truth[:, None] == np.arange(q)


def _from_bunch(spec: DataSpec, bunch: Bunch, file: str) -> BenchmarkData:
    if bunch.truth is None or bunch.truth.ndim != 1:
        raise spec.error(
            f"{file} does not have one true label per row; a comparison needs it to "
            "score (it is never given to fit)."
        )
    names = tuple(str(name) for name in bunch.target_names)
    if len(names) < 2:
        raise spec.error(
            f"{file} has one class, {names[0]!r}; there is nothing to compare."
        )
    truth = np.asarray(bunch.truth, dtype=np.int64)
    if bunch.candidates is not None:
        S = np.asarray(bunch.candidates, dtype=bool)
    elif spec.r is None:
        raise spec.error(
            f"{file} has no candidate sets; give `r`, the number of false labels to "
            "add."
        )
    else:
        S = _one_hot(truth, len(names))
    X = bunch.data
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    X, bags = _bags(spec, X, bunch, file)
    return BenchmarkData(spec.name, X, S, truth, names, bags=bags)


def _bags(
    spec: DataSpec, X: Any, bunch: Bunch, file: str
) -> tuple[Any, np.ndarray | None]:
    """Features without the column of the bags, and the bags."""
    if not spec.bags:
        return X, None
    features = list(bunch.feature_names or ())
    if spec.bags in features:
        j = features.index(spec.bags)
        column = X[:, [j]].toarray() if sparse.issparse(X) else X[:, [j]]
        others = [k for k in range(X.shape[1]) if k != j]
        return X[:, others], bag_codes(column.ravel(), X.shape[0])
    if spec.bags == "bags" and bunch.get("bags") is not None:
        return X, bag_codes(bunch.bags, X.shape[0])
    if spec.bags != "runs":
        raise spec.error(
            f"{file} has no column {spec.bags!r} of numbers for `bags`; name one, or "
            'write bags = "runs" for runs of equal sets.'
        )
    if bunch.candidates is None:
        raise spec.error(
            f'bags = "runs" are runs of equal candidate sets, but {file} has none.'
        )
    return X, bag_runs(bunch.candidates)


def _with_candidates(spec: DataSpec, data: BenchmarkData) -> Iterator[BenchmarkData]:
    if spec.r is None:
        yield _fingerprinted(replace(data, r=spec.published_r))
        return
    q = len(data.classes)
    present, codes = np.unique(data.truth, return_inverse=True)
    for r in spec.r:
        if r > present.size - 1:
            raise spec.error(
                f"r = {r} false labels need {int(r) + 1} classes; there are "
                f"{present.size} in its {codes.size} rows."
            )
        for seed in spec.noise_seeds:
            S = np.zeros((codes.size, q), dtype=bool)
            # A plan for partial labels has whole numbers only.
            S[:, present] = make_candidates(codes, n_false=int(r), random_state=seed)
            yield _fingerprinted(replace(data, S=S, r=r, noise_seed=seed))


def _fingerprinted(data: BenchmarkData) -> BenchmarkData:
    more = () if data.bags is None else (data.bags,)
    mark = fingerprint(data.X, np.packbits(data.S, axis=1), data.truth, *more)
    return replace(data, fingerprint=mark)
