"""From a plan to frozen jobs whose hash is their identity."""

# SPDX-License-Identifier: BSD-3-Clause

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import partlearn
from partlearn._version import __version__
from partlearn.benchmark._data import BenchmarkData
from partlearn.benchmark._plan import MethodSpec, Plan

__all__ = ["Job", "Reduction", "expand", "identity", "source_hash"]


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


def _seed(content: Mapping[str, Any]) -> int:
    # Without the code: a comment that changed must not draw other numbers.
    return int(identity(content)[:8], 16) % (2**31)


@lru_cache(maxsize=1)
def source_hash() -> str:
    """Hash of the installed sources that a result can depend on.

    Returns
    -------
    str
        16 hexadecimal digits; read once per process. Command line and report come
        after the results and do not count.
    """
    root = Path(partlearn.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        part = path.relative_to(root)
        if part.parts[0] in ("cli", "report"):
            continue
        # Line ends depend on how the package was checked out.
        digest.update(f"{part.as_posix()}\n".encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Reduction:
    """A reducer to fit once: on one training fold, or on all rows (transductive).

    Attributes
    ----------
    data : str
        Name of the data set.
    r : int, float or None
        Amount of synthetic noise, as in the plan.
    noise_seed : int or None
        Its seed.
    protocol : str
        "inductive" or "transductive".
    reducer : MethodSpec
        The method; an empty class stands for no reduction.
    fold : int or None
        Training fold; None means all rows.
    content : dict
        What the hash is about.
    code : str
        From :func:`source_hash`: part of the identity, not of the seed.
    """

    data: str
    r: float | None
    noise_seed: int | None
    protocol: str
    reducer: MethodSpec
    fold: int | None
    content: Mapping[str, Any] = field(repr=False)
    code: str = ""

    @property
    def id(self) -> str:
        """Identity of the work."""
        return identity({**self.content, "code": self.code})

    @property
    def seed(self) -> int:
        """Random state that belongs to this work whatever the order of the run."""
        return _seed(self.content)


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
        return identity({**self.content, "code": self.reduction.code})

    @property
    def seed(self) -> int:
        """Random state that belongs to this work whatever the order of the run."""
        return _seed(self.content)


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
    # Once for all jobs, here: workers that have other sources cannot disagree on it.
    code = source_hash()
    jobs: list[Job] = []
    for item in data:
        for protocol in plan.protocols:
            for reducer in plan.reducers:
                method = reducer.for_data(item.name)
                jobs += _jobs_of(plan, item, protocol, method, code)
    return jobs


def _jobs_of(
    plan: Plan, data: BenchmarkData, protocol: str, reducer: MethodSpec, code: str
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
        if reducer.supervised:
            content["supervised"] = True
        reduction = Reduction(
            data.name, data.r, data.noise_seed, protocol, reducer, scope, content, code
        )
        for learner in plan.learners:
            learn = {
                "reduction": content,
                "learner": [learner.cls, dict(learner.params)],
                "fold": fold,
                "scale_reduced": plan.scale_reduced,
                "metrics": list(plan.metrics),
            }
            if learner.pass_confidence:
                learn["pass_confidence"] = True
            jobs.append(Job(reduction, learner, fold, learn))
    return jobs
