"""Jobs of a plan, identified by a hash of their content."""

# SPDX-License-Identifier: BSD-3-Clause

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import partlearn
from partlearn.benchmark._plan import MethodSpec, Plan

# In every seed. It is the version of the first plans and stays what it is: another text
# would draw other numbers.
_SEEDS_SINCE = "0.1.0.dev0"


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
class _Work:
    """Work that is identified by a hash of its content.

    Attributes
    ----------
    content : dict
        What the hash is about.
    code : str
        From :func:`source_hash`: part of the identity, not of the seed.
    """

    content: Mapping[str, Any] = field(repr=False)
    code: str = field(repr=False)
    part: ClassVar[str]

    @property
    def id(self) -> str:
        """Hash of the content and the code."""
        return identity({**self.content, "code": self.code})

    @property
    def name(self) -> str:
        """Name of the fragment in the store."""
        return f"{self.part}/{self.id}"

    @property
    def seed(self) -> int:
        """Random state of the work; it does not depend on the order of the run."""
        # Without the code: a comment that changed must not draw other numbers.
        return int(identity(self.content)[:8], 16) % (2**31)


@dataclass(frozen=True)
class Reduction(_Work):
    """A reducer to fit once: on one training fold, or on all rows (transductive).

    Attributes
    ----------
    data, fingerprint : str
        Name and hash of the data set.
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
    draw : int
        Number of a random order.
    top : int or None
        Features of a ranking that will be looked at.
    """

    part: ClassVar[str] = "reductions"
    data: str
    fingerprint: str
    r: float | None
    noise_seed: int | None
    protocol: str
    reducer: MethodSpec
    fold: int | None
    draw: int = 0
    top: int | None = None

    @property
    def label(self) -> str:
        """Name for the progress bar."""
        return f"{self.data} {self.reducer.name}"

    @property
    def of_data(self) -> tuple[str, str]:
        """Name and fingerprint of the data set."""
        return self.data, self.fingerprint


@dataclass(frozen=True)
class Job(_Work):
    """One learner on one fold of one reduced data set.

    Attributes
    ----------
    reduction : Reduction
        Where the features come from.
    learner : MethodSpec
        The method.
    fold : int
        Test fold.
    labels : str
        What the learner is trained on: "candidates" or "clean".
    points : tuple of (float, int)
        Percentages and numbers of features of a curve; empty without one.
    draw : int
        Number of the setting, where learners are tuned.
    """

    part: ClassVar[str] = "jobs"
    reduction: Reduction
    learner: MethodSpec
    fold: int
    labels: str = "candidates"
    points: tuple[tuple[float, int], ...] = ()
    draw: int = 0

    @property
    def label(self) -> str:
        """Name for the progress bar."""
        return f"{self.reduction.label} {self.learner.name}"

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of the frame of a run that identify a job."""
        of = self.reduction
        return {
            "id": self.id,
            "reduction": of.id if of.reducer.cls else "",
            "data": of.data,
            "r": of.r,
            "noise_seed": of.noise_seed,
            "protocol": of.protocol,
            "labels": self.labels,
            "reducer": of.reducer.name,
            "draw": of.draw or self.draw,
            "learner": self.learner.name,
            "fold": self.fold,
        }


def shared_content(plan: Plan, fingerprint: str) -> dict[str, Any]:
    """Content that the hashes of all jobs on one data set share.

    Parameters
    ----------
    plan : Plan
        The plan.
    fingerprint : str
        Hash of the data.

    Returns
    -------
    dict
        Content to extend.
    """
    return {
        "partlearn": _SEEDS_SINCE,
        "data": fingerprint,
        "folds": [plan.folds, plan.fold_seed],
        "seed": plan.seed,
        "threads": plan.threads,
        "limits": [plan.time_limit, plan.memory_limit],
    }
