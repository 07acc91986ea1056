"""Plans, runs and statistics of comparisons."""

from partlearn.benchmark._cells import Scores, area_under_curve, scores_of
from partlearn.benchmark._engines import (
    DaskEngine,
    ProcessEngine,
    SerialEngine,
    make_engine,
)
from partlearn.benchmark._isolated import EngineLostError
from partlearn.benchmark._load import Run, fitting, load_run
from partlearn.benchmark._methods import find_class
from partlearn.benchmark._paired import (
    Comparison,
    EffectSize,
    Posterior,
    WinTieLoss,
    bayesian_signed_rank,
    cohen_d_paired,
    corrected_interval,
    corrected_resampled_t,
    paired_t,
    rank_biserial,
    win_tie_loss,
)
from partlearn.benchmark._parse import list_plans, load_plan, parse_plan
from partlearn.benchmark._plan import (
    MethodSpec,
    MultilabelPlan,
    Plan,
    TunedPlan,
)
from partlearn.benchmark._published import published_figures
from partlearn.benchmark._ranks import (
    FriedmanResult,
    average_ranks,
    friedman,
    holm,
    nemenyi_cliques,
    nemenyi_critical_difference,
    wilcoxon_holm,
)
from partlearn.benchmark._results import NO_LEARNER, Control, metric_sign
from partlearn.benchmark._runner import run_plan, verify_run
from partlearn.benchmark._store import BusyError, DamagedStoreError, Store, is_run_file
from partlearn.benchmark._task import check_methods
from partlearn.benchmark._toml import PlanError
from partlearn.benchmark._tuned import CHOICES, choose, settings

__all__ = [
    "PlanError",
    "bayesian_signed_rank",
    "cohen_d_paired",
    "corrected_interval",
    "corrected_resampled_t",
    "friedman",
    "list_plans",
    "load_plan",
    "load_run",
    "make_engine",
    "nemenyi_critical_difference",
    "paired_t",
    "parse_plan",
    "rank_biserial",
    "run_plan",
    "wilcoxon_holm",
    "win_tie_loss",
]
