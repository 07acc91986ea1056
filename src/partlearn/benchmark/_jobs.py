"""From a plan to frozen jobs whose hash is their identity."""

# SPDX-License-Identifier: BSD-3-Clause

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from partlearn._version import __version__
from partlearn.benchmark._data import BenchmarkData
from partlearn.benchmark._plan import MethodSpec, Plan

__all__ = ["Job", "Reduction", "expand", "identity"]


def identity(content: Mapping[str, Any]) -> str:
    """Hash of a JSON-like mapping, the same in every process.

    Parameters
    ----------
    content : mapping
        What defines the work.

    Returns
    -------
    str
        20 hexadecimal digits.
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Reduction:
    """A reducer to fit once: on one training fold, or on all rows (transductive).

    Attributes
    ----------
    data : str
        Name of the data set.
    r, noise_seed : int or None
        Synthetic candidate sets.
    protocol : str
        "inductive" or "transductive".
    reducer : MethodSpec
        The method; an empty class stands for no reduction.
    fold : int or None
        Training fold; None means all rows.
    content : dict
        What the hash is about.
    """

    data: str
    r: int | None
    noise_seed: int | None
    protocol: str
    reducer: MethodSpec
    fold: int | None
    content: Mapping[str, Any] = field(repr=False)

    @property
    def id(self) -> str:
        """Identity of the work."""
        return identity(self.content)

    @property
    def seed(self) -> int:
        """Random state that belongs to this work whatever the order of the run."""
        return int(self.id[:8], 16) % (2**31)


@dataclass(frozen=True)
class Job:
    """One learner on one fold of one reduced data set.

    Attributes
    ----------
    reduction : Reduction
        Where the features come from.
    learner : MethodSpec
        The method.
    fold : int
        Test fold.
    content : dict
        What the hash is about.
    """

    reduction: Reduction
    learner: MethodSpec
    fold: int
    content: Mapping[str, Any] = field(repr=False)

    @property
    def id(self) -> str:
        """Identity of the work."""
        return identity(self.content)

    @property
    def seed(self) -> int:
        """Random state that belongs to this work whatever the order of the run."""
        return int(self.id[:8], 16) % (2**31)


def expand(plan: Plan, data: Iterable[BenchmarkData]) -> list[Job]:
    """All jobs of a plan on the data that is there.

    Parameters
    ----------
    plan : Plan
        The plan.
    data : iterable of BenchmarkData
        Loaded data sets.

    Returns
    -------
    list of Job
        In the order of the plan.
    """
    jobs: list[Job] = []
    for item in data:
        for protocol in plan.protocols:
            for reducer in plan.reducers:
                jobs += _jobs_of(plan, item, protocol, reducer.for_data(item.name))
    return jobs


def _jobs_of(
    plan: Plan, data: BenchmarkData, protocol: str, reducer: MethodSpec
) -> list[Job]:
    jobs = []
    for fold in range(plan.folds):
        scope = fold if protocol == "inductive" else None
        content = {
            "partlearn": __version__,
            "data": data.fingerprint,
            "protocol": protocol,
            "reducer": [reducer.cls, dict(reducer.params)],
            "folds": [plan.folds, plan.fold_seed],
            "fold": scope,
            "seed": plan.seed,
            "threads": plan.threads,
            "limits": [plan.time_limit, plan.memory_limit],
        }
        reduction = Reduction(
            data.name, data.r, data.noise_seed, protocol, reducer, scope, content
        )
        for learner in plan.learners:
            learn = {
                "reduction": content,
                "learner": [learner.cls, dict(learner.params)],
                "fold": fold,
                "scale_reduced": plan.scale_reduced,
                "metrics": list(plan.metrics),
            }
            jobs.append(Job(reduction, learner, fold, learn))
    return jobs
