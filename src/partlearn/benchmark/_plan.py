"""Plans of comparisons, as frozen records."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from partlearn.benchmark._toml import PlanError

PROTOCOLS = ("inductive", "transductive")
METRICS = (
    "accuracy",
    "disambiguation",
    "candidate_hit",
    "oracle_accuracy",
    "balanced_accuracy",
    "worst_class_recall",
    "risk_coverage_area",
)
CURVE_METRICS = (
    "average_precision",
    "ranking_loss",
    "coverage",
    "one_error",
    "macro_auc",
    "macro_f1",
    "micro_f1",
    "macro_f1_tuned",
    "micro_f1_tuned",
)
# Criteria that choose parameters without the truth.
CRITERIA = ("covering_rate", "approximated_accuracy", "candidate_log_likelihood")
# Training labels of the learners of a multi-label plan, and kinds of its noise.
TRAINING_LABELS = ("candidates", "clean")
NOISE_KINDS = ("add", "average", "rate", "similarity")


@dataclass(frozen=True)
class DataSpec:
    """One ``[[data]]`` entry of a plan.

    Attributes
    ----------
    name : str
        Name in tables, and in the published figures.
    source : str
        File stem looked for in the data folder, a file, or ``sklearn:NAME``.
    r : tuple of int (in a multi-label plan, of float) or None
        Numbers of false labels to add; None means the sets in the file.
    published_r : int or None
        The r under which figures were published when the file holds the sets.
    noise_seeds : tuple of int
        Seeds of the synthetic candidate sets.
    max_rows : int or None
        Use a random part of the rows.
    note : str
        Known difference from the published data set.
    bags : str
        Rows that are held out together because they share a list: "runs" for runs of
        equal sets, or the column of the file that names the bag; empty for none.
    labels, truth : str
        Columns of a table with the candidate sets (several separated by commas) and
        with the true labels; empty where their names say it.
    ignore : tuple of str
        Columns of a table to leave out.
    noise : str
        How false labels are drawn in a multi-label plan, one of ``NOISE_KINDS``.
    counts : tuple of int or None
        Numbers of features to select, instead of the percentages of the plan.
    learners : tuple of str or None
        Names of the learners to use on this set; None means all.
    max_labels : int or None
        Use the most frequent labels, and the rows that have one of them.
    max_features : int or None
        Use the features with the most values other than zero.
    """

    name: str
    source: str
    r: tuple[float, ...] | None = None
    published_r: int | None = None
    noise_seeds: tuple[int, ...] = (0,)
    max_rows: int | None = None
    note: str = ""
    bags: str = ""
    labels: str = ""
    truth: str = ""
    ignore: tuple[str, ...] = ()
    noise: str = "add"
    counts: tuple[int, ...] | None = None
    learners: tuple[str, ...] | None = None
    max_labels: int | None = None
    max_features: int | None = None

    def error(self, text: str) -> PlanError:
        """Return an error that names the entry."""
        return PlanError(f"Data {self.name!r}: {text}")


@dataclass(frozen=True)
class MethodSpec:
    """One ``[[reducers]]`` or ``[[learners]]`` entry, one point of its grid.

    Attributes
    ----------
    name : str
        Name in tables.
    cls : str
        Class name in partlearn, or ``package.module:Class``; empty for no reduction.
    params : dict
        Constructor parameters.
    published : str
        Name in the published figures.
    point : dict
        The parameters that the grid varied.
    optional : bool
        Left out without complaint where the class does not exist.
    by_data : dict
        Parameters that differ for one data set, by its name.
    supervised : bool
        A reducer that is fitted with the true labels: an upper reference.
    ranked : bool
        Whether a reducer takes part in ranks and tests; references do not.
    pass_confidence : bool
        A learner that starts from the confidences of the reducer.
    pass_bags : bool
        A learner that uses the lists of the bags of its training rows.
    search : dict
        Values to draw from, by parameter, where the plan tunes its learners.
    """

    name: str
    cls: str
    params: Mapping[str, Any] = field(default_factory=dict)
    published: str = ""
    point: Mapping[str, Any] = field(default_factory=dict)
    optional: bool = False
    by_data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    supervised: bool = False
    ranked: bool = True
    pass_confidence: bool = False
    pass_bags: bool = False
    search: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def for_data(self, name: str) -> "MethodSpec":
        """Return the method with the parameters for one data set."""
        special = self.by_data.get(name)
        return replace(self, params={**self.params, **special}) if special else self


@dataclass(frozen=True)
class Plan:
    """A whole comparison.

    Attributes
    ----------
    name, title, citation : str
        Name and heading of the plan, and the source of published figures.
    data : tuple of DataSpec
        Data sets.
    reducers, learners : tuple of MethodSpec
        Methods, with grids expanded.
    protocols : tuple of str
        "inductive", "transductive" or both.
    folds, fold_seed : int
        Cross-validation.
    seed : int
        Root of the random states of the methods.
    metrics : tuple of str
        Scores to keep; the first one is the one in the tables.
    reference : str
        Reducer of the win/tie/loss counts; empty means the last one.
    scale_reduced : bool
        Whether projected columns are z-scored before the learner.
    threads : int
        Threads of the numerical libraries inside one job.
    time_limit : float or None
        Seconds that one job may take.
    memory_limit : int or None
        Megabytes that one job may add.
    published : dict
        ``paper`` and ``table`` in the published figures.
    notes : tuple of str
        Printed in the report.
    task : str
        "partial", "tuned" where learners are tuned, or "multilabel" where rows have
        several true labels.
    """

    name: str
    title: str
    data: tuple[DataSpec, ...]
    reducers: tuple[MethodSpec, ...]
    learners: tuple[MethodSpec, ...]
    citation: str = ""
    protocols: tuple[str, ...] = ("inductive",)
    folds: int = 10
    fold_seed: int = 0
    seed: int = 0
    metrics: tuple[str, ...] = ("accuracy",)
    reference: str = ""
    scale_reduced: bool = True
    threads: int = 1
    time_limit: float | None = None
    memory_limit: int | None = None
    published: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    task: str = "partial"

    @property
    def compared(self) -> tuple[MethodSpec, ...]:
        """Methods that are ranked and tested."""
        return self.reducers

    @property
    def criterion_text(self) -> str:
        """How parameters were chosen, as a sentence for reports."""
        return "Selection criterion: none; the plan sets the parameters."


@dataclass(frozen=True)
class TunedPlan(Plan):
    """A comparison of learners that are tuned without the truth.

    Attributes
    ----------
    draws : int
        Settings that every learner may try; the first is the one of the plan.
    criterion : str
        Criterion for the choice of a setting, one of ``CRITERIA``.
    held_out : float
        Share of the training rows on which the criterion is measured.
    """

    draws: int = 20
    criterion: str = "approximated_accuracy"
    held_out: float = 0.25
    task: str = "tuned"

    @property
    def compared(self) -> tuple[MethodSpec, ...]:
        """Learners take the place of reducers."""
        return self.learners

    @property
    def criterion_text(self) -> str:
        """How parameters were chosen, as a sentence for reports."""
        return (
            f"Selection criterion: {self.criterion.replace('_', ' ')} on "
            f"{self.held_out:.0%} of the training rows, without the truth; "
            f"{self.draws} settings for each learner with values to search."
        )


@dataclass(frozen=True)
class MultilabelPlan(Plan):
    """A comparison on partial multi-label data: of selectors, or of classifiers.

    Attributes
    ----------
    classifiers : tuple of MethodSpec
        Methods used on all features as they are; what is compared where the plan has
        no selectors.
    labels : tuple of str
        Training labels of learners: "candidates", "clean" or both. Selectors always
        see candidates.
    percentages : tuple of float
        Shares of the features to select.
    random_draws : int
        Random orders per fold and seed.
    cv : int
        Folds by which learners are tuned on training rows.
    """

    classifiers: tuple[MethodSpec, ...] = ()
    labels: tuple[str, ...] = TRAINING_LABELS
    percentages: tuple[float, ...] = tuple(range(1, 21))
    random_draws: int = 20
    cv: int = 3
    metrics: tuple[str, ...] = CURVE_METRICS
    task: str = "multilabel"

    @property
    def compared(self) -> tuple[MethodSpec, ...]:
        """Selectors, or classifiers where there are none."""
        return self.reducers or self.classifiers

    @property
    def tunes_thresholds(self) -> bool:
        """Whether thresholds are tuned on training rows."""
        return bool(self.reducers)

    @property
    def criterion_text(self) -> str:
        """How parameters were chosen, as a sentence for reports."""
        if not self.reducers:
            return super().criterion_text
        return (
            "Selection criterion: none for selectors, the plan sets their parameters. "
            "Thresholds and learners are tuned by cross-validation on the training "
            f"rows ({self.cv} folds)."
        )
