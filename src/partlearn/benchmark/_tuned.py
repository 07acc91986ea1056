"""Comparisons of learners tuned on training rows, without the truth."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from partlearn import metrics
from partlearn.benchmark._data import BenchmarkData
from partlearn.benchmark._jobs import Job
from partlearn.benchmark._partial import PartialTask, Split
from partlearn.benchmark._plan import CRITERIA, MethodSpec, TunedPlan
from partlearn.benchmark._toml import PlanError

if TYPE_CHECKING:
    from pandas import DataFrame

# Ways to choose a setting; the oracle uses the test rows and is an upper bound.
CHOICES = ("defaults", *CRITERIA, "oracle")


def settings(plan: TunedPlan, learner: MethodSpec) -> list[dict[str, Any]]:
    """List the settings that a learner tries.

    Parameters
    ----------
    plan : TunedPlan
        The plan: its number of draws and its seed.
    learner : MethodSpec
        One of its learners.

    Returns
    -------
    list of dict
        Changes to the parameters of the plan. The first has none; the others are drawn
        without repetition. A small grid is used whole.

    Examples
    --------
    >>> from partlearn.benchmark import MethodSpec, TunedPlan, settings
    >>> learner = MethodSpec("PL-KNN", "PLKNN", search={"n_neighbors": [3, 10]})
    >>> plan = TunedPlan("mine", "mine", (), (), (learner,), draws=3)
    >>> settings(plan, learner)
    [{}, {'n_neighbors': 3}, {'n_neighbors': 10}]
    """
    if not learner.search:
        return [{}]
    grid = {name: list(values) for name, values in learner.search.items()}
    n = min(plan.draws - 1, len(ParameterGrid(grid)))
    return [{}, *ParameterSampler(grid, n, random_state=plan.seed)]


def choose(frame: "DataFrame", by: str) -> "DataFrame":
    """Choose one setting for each learner, data set and fold.

    Parameters
    ----------
    frame : DataFrame
        Frame of a tuned run, from :meth:`partlearn.benchmark.Run.frame`.
    by : {"defaults", "covering_rate", "approximated_accuracy", \
            "candidate_log_likelihood", "oracle"}
        How to choose: always the defaults, by a criterion without the truth, or by the
        accuracy on test rows. Ties take the first setting.

    Returns
    -------
    DataFrame
        Rows of the chosen settings; a learner without a score is left out.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import choose, parse_plan, run_plan
    >>> plan = parse_plan('''
    ... [plan]
    ... name = "mine"
    ... folds = 2
    ... [tune]
    ... draws = 3
    ... [[data]]
    ... source = "sklearn:iris"
    ... r = 1
    ... [[reducers]]
    ... name = "none"
    ... [[learners]]
    ... class = "PLKNN"
    ... search = { n_neighbors = [1, 5, 20] }
    ... ''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame = run_plan(plan, folder).frame()
    >>> frame["id"].nunique(), choose(frame, "oracle")["id"].nunique()
    (6, 2)
    """
    if by not in CHOICES:
        raise ValueError(f"`by` must be one of {', '.join(CHOICES)}; got {by!r}.")
    metric = by if by in CRITERIA else "accuracy"
    values = frame[frame["metric"] == metric].sort_values("draw", kind="stable")
    if by == "defaults":
        values = values[values["draw"] == 0]
    where = ["protocol", "data", "r", "noise_seed", "fold", "reducer", "learner"]
    groups = values.groupby(where, sort=False, dropna=False)["value"]
    chosen = values.loc[groups.idxmax(), "id"]
    return frame[frame["id"].isin(chosen)]


def _n_held_out(share: float, n: int) -> int:
    return max(1, round(share * n))


@dataclass(frozen=True)
class TunedTask(PartialTask):
    """Task of a plan whose learners try several settings on each fold.

    Attributes
    ----------
    plan : TunedPlan
        The plan.
    """

    plan: TunedPlan

    def folds(self, data: BenchmarkData) -> dict[int | None, list[Split]]:
        """Training and test rows; enough training rows must remain to fit on."""
        folds, share = super().folds(data), self.plan.held_out
        least = min(len(train) for parts in folds.values() for train, _ in parts)
        rest = least - _n_held_out(share, least)
        if rest < 2:
            raise PlanError(
                f"Data {data.name!r}: `held_out` = {share:g} in [tune] leaves {rest} "
                f"of {least} training rows to fit on; choose a smaller share."
            )
        return folds

    def expand(self, data: Iterable[BenchmarkData]) -> Iterator[Job]:
        """One job for every setting, those of one learner after each other."""
        share = self.plan.held_out
        for job in super().expand(data):
            for draw, setting in enumerate(settings(self.plan, job.learner)):
                yield replace(
                    job,
                    content={**job.content, "setting": setting, "held_out": share},
                    learner=replace(job.learner, point=setting),
                    draw=draw,
                )

    def _build(self, job: Job) -> Any:
        # Names may reach into parts: ``estimator__max_depth``.
        return super()._build(job).set_params(**job.learner.point)

    def _criteria(
        self, job: Job, X: Any, S: np.ndarray, given: Mapping[str, Any]
    ) -> dict[str, float]:
        """Criteria on held-out training rows, the same for all learners of a fold."""
        rng = np.random.default_rng([self.plan.fold_seed, job.fold])
        order = rng.permutation(len(S))
        n = _n_held_out(self.plan.held_out, len(S))
        held, rest = np.sort(order[:n]), np.sort(order[n:])
        learner = clone(self._build(job))
        learner.fit(X[rest], S[rest], **{k: v[rest] for k, v in given.items()})
        classes = learner.classes_
        P = learner.predict_proba(X[held])
        candidates = S[held][:, np.asarray(classes, dtype=np.int64)]
        return {
            "covering_rate": metrics.covering_rate(
                candidates, learner.predict(X[held]), classes=classes
            ),
            "approximated_accuracy": metrics.approximated_accuracy(candidates, P),
            "candidate_log_likelihood": metrics.candidate_log_likelihood(candidates, P),
        }
