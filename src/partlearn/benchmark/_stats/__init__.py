"""Statistics of comparisons: no plots, no files, arrays in and numbers out."""

from partlearn.benchmark._stats._bayes import Posterior, bayesian_signed_rank
from partlearn.benchmark._stats._effects import (
    EffectSize,
    cohen_d_paired,
    rank_biserial,
)
from partlearn.benchmark._stats._paired import (
    Comparison,
    WinTieLoss,
    corrected_interval,
    corrected_resampled_t,
    paired_t,
    win_tie_loss,
)
from partlearn.benchmark._stats._ranks import (
    FriedmanResult,
    average_ranks,
    friedman,
    holm,
    nemenyi_cliques,
    nemenyi_critical_difference,
    wilcoxon_holm,
)

__all__ = [
    "Comparison",
    "EffectSize",
    "FriedmanResult",
    "Posterior",
    "WinTieLoss",
    "average_ranks",
    "bayesian_signed_rank",
    "cohen_d_paired",
    "corrected_interval",
    "corrected_resampled_t",
    "friedman",
    "holm",
    "nemenyi_cliques",
    "nemenyi_critical_difference",
    "paired_t",
    "rank_biserial",
    "wilcoxon_holm",
    "win_tie_loss",
]
