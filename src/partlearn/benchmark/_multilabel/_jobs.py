"""From a multi-label plan to rankings and curves whose hash is their identity."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Iterator
from typing import Any

from partlearn._version import __version__
from partlearn.benchmark._jobs import Job, Reduction, source_hash
from partlearn.benchmark._multilabel._data import MultilabelData
from partlearn.benchmark._multilabel._plan import MultilabelPlan
from partlearn.benchmark._multilabel._protocol import n_selected
from partlearn.benchmark._multilabel._rank import (
    ALL_FEATURES,
    CONTROLS,
    LABEL_FREQUENCY,
    RANDOM,
)
from partlearn.benchmark._plan import MethodSpec

__all__ = ["OWN", "control_class", "expand_multilabel", "points"]

# The learner of methods that predict by themselves.
OWN = "-"
_CONTROL = "control:"


def control_class(cls: str) -> str | None:
    """Name of the control that a class stands for, or None.

    Parameters
    ----------
    cls : str
        Class of a method.

    Returns
    -------
    str or None
        A name out of the controls.
    """
    return cls.removeprefix(_CONTROL) if cls.startswith(_CONTROL) else None


def _control(name: str) -> MethodSpec:
    return MethodSpec(name, _CONTROL + name, published=name)


def points(plan: MultilabelPlan, data: MultilabelData) -> list[tuple[float, int]]:
    """Percentages and numbers of features at which a ranking is looked at.

    Parameters
    ----------
    plan : MultilabelPlan
        The plan.
    data : MultilabelData
        The data set.

    Returns
    -------
    list of (float, int)
        In the order of the plan.
    """
    d = data.X.shape[1]
    if data.spec.counts is not None:
        return [(100 * count / d, count) for count in data.spec.counts]
    return [(p, n_selected(p, d)) for p in plan.percentages]


def expand_multilabel(
    plan: MultilabelPlan, data: Iterable[MultilabelData]
) -> list[Job]:
    """All jobs of a plan on the data that is there.

    Parameters
    ----------
    plan : MultilabelPlan
        The plan.
    data : iterable of MultilabelData
        Loaded data sets.

    Returns
    -------
    list of Job
        In the order of the plan; the reduction of a job is a ranking, or has no class
        where all features are used.
    """
    code = source_hash()
    jobs: list[Job] = []
    for item in data:
        for r in item.spec.r or (None,):
            for seed in item.spec.noise_seeds:
                for fold in range(plan.folds):
                    jobs += _jobs_of_fold(plan, item, r, seed, fold, code)
    return jobs


def _orders(plan: MultilabelPlan, name: str) -> Iterator[tuple[MethodSpec, int]]:
    for spec in plan.reducers:
        yield spec.for_data(name), 0
    for control in CONTROLS:
        for draw in range(plan.random_draws if control == RANDOM else 1):
            yield _control(control), draw


def _jobs_of_fold(
    plan: MultilabelPlan,
    data: MultilabelData,
    r: float | None,
    noise_seed: int,
    fold: int,
    code: str,
) -> Iterator[Job]:
    curve = points(plan, data)
    d = data.X.shape[1]
    wanted = data.spec.learners
    learners = [m for m in plan.learners if wanted is None or m.name in wanted]
    shared = {
        "partlearn": __version__,
        "task": plan.task,
        "data": data.fingerprint,
        "noise": [data.spec.noise if r is not None else None, r, noise_seed],
        "folds": [plan.folds, plan.fold_seed],
        "fold": fold,
        "seed": plan.seed,
        "threads": plan.threads,
        "limits": [plan.time_limit, plan.memory_limit],
    }

    def ranking(method: MethodSpec, draw: int, top: int) -> Reduction:
        content = {
            **shared,
            "reducer": [method.cls, dict(method.params)],
            "draw": draw,
            "top": top,
        }
        name = data.spec.name
        return Reduction(name, r, noise_seed, "inductive", method, fold, content, code)

    def job(
        of: Reduction, learner: MethodSpec, labels: str, at: list[tuple[float, int]]
    ) -> Job:
        content: dict[str, Any] = {
            "reduction": dict(of.content),
            "learner": [learner.cls, dict(learner.params)],
            "labels": labels,
            "points": [list(point) for point in at],
            "inner_folds": plan.inner_folds,
        }
        return Job(of, learner, fold, content)

    whole = [(100.0, d)]
    top = max(count for _, count in curve)
    for method, draw in _orders(plan, data.spec.name):
        order = ranking(method, draw, top)
        for labels in plan.labels:
            for learner in learners:
                yield job(order, learner, labels, curve)
    flat = ranking(MethodSpec(ALL_FEATURES, ""), 0, d)
    for labels in plan.labels:
        for learner in learners:
            yield job(flat, learner, labels, whole)
        for method in plan.classifiers:
            alone = method.for_data(data.spec.name)
            named = MethodSpec(OWN, alone.cls, alone.params)
            yield job(ranking(MethodSpec(method.name, ""), 0, d), named, labels, whole)
        frequency = MethodSpec(OWN, _CONTROL + LABEL_FREQUENCY)
        nothing = ranking(MethodSpec(LABEL_FREQUENCY, ""), 0, d)
        yield job(nothing, frequency, labels, [(0.0, 0)])
