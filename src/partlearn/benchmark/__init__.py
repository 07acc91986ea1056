"""Plans, runs and statistics of comparisons."""

from partlearn.benchmark._data import BenchmarkData, load_plan_data
from partlearn.benchmark._engines import (
    DaskEngine,
    Engine,
    JoblibEngine,
    SerialEngine,
)
from partlearn.benchmark._load import load_run
from partlearn.benchmark._methods import check_methods, find_class, known_classes
from partlearn.benchmark._plan import (
    DataSpec,
    MethodSpec,
    Plan,
    list_plans,
    load_plan,
    parse_plan,
)
from partlearn.benchmark._published import (
    PublishedFigure,
    published_figures,
    published_scores,
)
from partlearn.benchmark._results import (
    AbsentData,
    Cell,
    Control,
    Curve,
    DataFacts,
    Facts,
    FoldScore,
    Result,
    Run,
    Timing,
    metric_sign,
)
from partlearn.benchmark._runner import RunResult, make_engine, run_plan
from partlearn.benchmark._stats import (
    Comparison,
    EffectSize,
    FriedmanResult,
    WinTieLoss,
    average_ranks,
    cohen_d_paired,
    corrected_resampled_t,
    friedman,
    holm,
    nemenyi_cliques,
    nemenyi_critical_difference,
    paired_t,
    rank_biserial,
    wilcoxon_holm,
    win_tie_loss,
)
from partlearn.benchmark._store import Store
from partlearn.benchmark._tables import load_rows
from partlearn.benchmark._toml import PlanError

__all__ = [
    "AbsentData",
    "BenchmarkData",
    "Cell",
    "Comparison",
    "Control",
    "Curve",
    "DaskEngine",
    "DataFacts",
    "DataSpec",
    "EffectSize",
    "Engine",
    "Facts",
    "FoldScore",
    "FriedmanResult",
    "JoblibEngine",
    "MethodSpec",
    "Plan",
    "PlanError",
    "PublishedFigure",
    "Result",
    "Run",
    "RunResult",
    "SerialEngine",
    "Store",
    "Timing",
    "WinTieLoss",
    "average_ranks",
    "check_methods",
    "cohen_d_paired",
    "corrected_resampled_t",
    "find_class",
    "friedman",
    "holm",
    "known_classes",
    "list_plans",
    "load_plan",
    "load_plan_data",
    "load_rows",
    "load_run",
    "make_engine",
    "metric_sign",
    "nemenyi_cliques",
    "nemenyi_critical_difference",
    "paired_t",
    "parse_plan",
    "published_figures",
    "published_scores",
    "rank_biserial",
    "run_plan",
    "wilcoxon_holm",
    "win_tie_loss",
]
