"""Facts of a run: what was installed, where, with which settings."""

# SPDX-License-Identifier: BSD-3-Clause

import os
import platform
from importlib import metadata
from typing import Any

from partlearn._version import __version__
from partlearn.benchmark._engines import Engine
from partlearn.benchmark._jobs import source_hash
from partlearn.benchmark._plan import Plan
from partlearn.benchmark._results import Facts

__all__ = ["run_facts"]

PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "numba", "distributed")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def run_facts(plan: Plan, engine: Engine, **outcome: Any) -> Facts:
    """Versions, machine and settings of a run.

    Parameters
    ----------
    plan : Plan
        The plan.
    engine : Engine
        Where it ran.
    **outcome : float or int
        Times and counts, the other attributes of :class:`Facts`.

    Returns
    -------
    Facts
        No host or user name.
    """
    versions = {name: _version(name) for name in PACKAGES}
    return Facts(
        partlearn=__version__,
        sources=source_hash(),
        python=platform.python_version(),
        versions={k: v for k, v in versions.items() if v is not None},
        system=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count(),
        engine=engine.name,
        workers=engine.workers,
        threads_per_job=plan.threads,
        protocols=plan.protocols,
        folds=plan.folds,
        fold_seed=plan.fold_seed,
        seed=plan.seed,
        time_limit=plan.time_limit,
        memory_limit=plan.memory_limit,
        **outcome,
    )
