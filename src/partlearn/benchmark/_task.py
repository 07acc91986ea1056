"""Tasks: load the data of a plan, expand it to jobs, run them."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from partlearn.benchmark._data import BenchmarkData
from partlearn.benchmark._jobs import Job
from partlearn.benchmark._methods import available
from partlearn.benchmark._multilabel import MultilabelTask
from partlearn.benchmark._partial import PartialTask
from partlearn.benchmark._plan import MultilabelPlan, Plan, TunedPlan
from partlearn.benchmark._toml import PlanError
from partlearn.benchmark._tuned import TunedTask

MOST_JOBS = 200_000  # of a plan
# Loads the data of a plan, expands it to jobs, executes them.
Task = PartialTask | MultilabelTask


def task_of(plan: Plan) -> Task:
    """Return the task of a plan.

    Parameters
    ----------
    plan : Plan
        The plan.

    Returns
    -------
    Task
        Task that can load the data.
    """
    if isinstance(plan, MultilabelPlan):
        return MultilabelTask(plan)
    if isinstance(plan, TunedPlan):
        return TunedTask(plan)
    return PartialTask(plan)


def jobs_of(task: Task, data: Sequence[BenchmarkData]) -> list[Job]:
    """Expand a plan to its jobs.

    Parameters
    ----------
    task : Task
        The task of the plan.
    data : sequence of BenchmarkData
        Its data sets.

    Returns
    -------
    list of Job
        In the order of the plan.
    """
    jobs = list(islice(task.expand(data), MOST_JOBS + 1))
    if len(jobs) > MOST_JOBS:
        raise PlanError(
            f"{task.plan.name}: the plan has more than {MOST_JOBS:,} jobs. Use fewer "
            "data sets, noise seeds, folds, points of grids or draws."
        )
    return jobs


def check_methods(plan: Plan) -> Plan:
    """Raise before anything runs if a method or parameter does not exist.

    Parameters
    ----------
    plan : Plan
        The plan to check.

    Returns
    -------
    Plan
        Without the optional methods that this installation does not have.

    Examples
    --------
    >>> from partlearn.benchmark import check_methods, load_plan
    >>> check_methods(load_plan("demo")).learners[0].name
    'PL-KNN'
    """
    kinds = task_of(plan).kinds
    checked: dict[str, Any] = {
        key: available(plan, getattr(plan, key), kind) for key, kind in kinds.items()
    }
    checked_plan = replace(plan, **checked)
    names = [method.name for method in checked_plan.compared]
    return replace(checked_plan, reference=plan.reference * (plan.reference in names))
