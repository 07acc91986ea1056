"""Facts of a run: what was installed, where, with which settings."""

# SPDX-License-Identifier: BSD-3-Clause

import os
import platform
from importlib import metadata

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


def run_facts(
    plan: Plan,
    engine: Engine,
    *,
    wall_time: float,
    work_time: float,
    n_jobs: int,
    n_executed: int,
    n_failed: int,
) -> Facts:
    """Versions, machine and settings of a run.

    Parameters
    ----------
    plan : Plan
        The plan.
    engine : Engine
        Where it ran.
    wall_time, work_time : float
        Seconds of the session, and those inside estimators.
    n_jobs, n_executed, n_failed : int
        Jobs of the plan, those of the session, those that failed.

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
        wall_time=wall_time,
        work_time=work_time,
        n_jobs=n_jobs,
        n_executed=n_executed,
        n_failed=n_failed,
    )
