"""Cross-fitted regressions of labels, and the experts that read them: blocks A to F."""

from partlearn.crossfit._background import (
    background_size,
    background_weight,
    mean_norm,
)
from partlearn.crossfit._bases import Basis, LinearBasis, decompose, linear_basis
from partlearn.crossfit._embedding import (
    Embedding,
    choose_ridge,
    class_means,
    embed,
    rotation,
    within_scatter,
)
from partlearn.crossfit._experts import (
    gaussian_expert,
    rank_vote,
    smooth,
    unit_rows,
)
from partlearn.crossfit._pool import mixture_weights
from partlearn.crossfit._rounds import NeighborSearch, Rounds, crisp_rounds
from partlearn.crossfit._scores import RIDGE_GRID, CrossFit, make_folds, targets

__all__ = [
    "RIDGE_GRID",
    "Basis",
    "CrossFit",
    "Embedding",
    "LinearBasis",
    "NeighborSearch",
    "Rounds",
    "background_size",
    "background_weight",
    "choose_ridge",
    "class_means",
    "crisp_rounds",
    "decompose",
    "embed",
    "gaussian_expert",
    "linear_basis",
    "make_folds",
    "mean_norm",
    "mixture_weights",
    "rank_vote",
    "rotation",
    "smooth",
    "targets",
    "unit_rows",
    "within_scatter",
]
