"""Cross-fitted regressions of labels, and the experts that read them: blocks A to F.

A basis is a decomposition of the rows in some geometry (linear, or of a kernel, exact
or by landmarks). On any of them confidences are regressed; what a row is told about
itself comes from the regression without the row's own fold. Experts read the held-out
scores and are pooled by how well they expect the candidate sets. CRISP, CRISPSelector,
KernelCRISP and CRISPClassifier are built of these blocks.
"""

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
    gaussian_belief,
    gaussian_expert,
    label_share,
    rank_vote,
    regression_belief,
    smooth,
    unit_rows,
)
from partlearn.crossfit._folds import deal_groups, group_codes, make_folds
from partlearn.crossfit._geometries import GEOMETRIES, Geometry, make_geometries
from partlearn.crossfit._kernel_bases import (
    ExactKernelBasis,
    KernelMap,
    NystroemBasis,
    exact_kernel_basis,
    nystroem_basis,
)
from partlearn.crossfit._kernels import (
    kernel_block,
    kernel_matrix,
    kernel_product,
    median_distance,
)
from partlearn.crossfit._order import content_order, in_content_order, in_data_order
from partlearn.crossfit._pool import (
    linear_pool,
    log_linear_objective,
    log_linear_pool,
    log_linear_weights,
    mixture_weights,
    pooled_belief,
)
from partlearn.crossfit._pooled import (
    PooledGeometry,
    PooledModel,
    expert_names,
    fit_pooled,
)
from partlearn.crossfit._rounds import (
    STEADY,
    NeighborSearch,
    Rounds,
    StoppingRule,
    crisp_rounds,
    vote_among_all,
)
from partlearn.crossfit._scores import RIDGE_GRID, CrossFit, targets
from partlearn.crossfit._shared import (
    POOLED_PARAMETERS,
    POOLED_STATE,
    fit_estimator,
    kernel_side,
    set_fitted,
)
from partlearn.crossfit._space import InputSpace, LinearMap, input_space

__all__ = [
    "GEOMETRIES",
    "POOLED_PARAMETERS",
    "POOLED_STATE",
    "RIDGE_GRID",
    "STEADY",
    "Basis",
    "CrossFit",
    "Embedding",
    "ExactKernelBasis",
    "Geometry",
    "InputSpace",
    "KernelMap",
    "LinearBasis",
    "LinearMap",
    "NeighborSearch",
    "NystroemBasis",
    "PooledGeometry",
    "PooledModel",
    "Rounds",
    "StoppingRule",
    "background_size",
    "background_weight",
    "choose_ridge",
    "class_means",
    "content_order",
    "crisp_rounds",
    "deal_groups",
    "decompose",
    "embed",
    "exact_kernel_basis",
    "expert_names",
    "fit_estimator",
    "fit_pooled",
    "gaussian_belief",
    "gaussian_expert",
    "group_codes",
    "in_content_order",
    "in_data_order",
    "input_space",
    "kernel_block",
    "kernel_matrix",
    "kernel_product",
    "kernel_side",
    "label_share",
    "linear_basis",
    "linear_pool",
    "log_linear_objective",
    "log_linear_pool",
    "log_linear_weights",
    "make_folds",
    "make_geometries",
    "mean_norm",
    "median_distance",
    "mixture_weights",
    "nystroem_basis",
    "pooled_belief",
    "rank_vote",
    "regression_belief",
    "rotation",
    "set_fitted",
    "smooth",
    "targets",
    "unit_rows",
    "vote_among_all",
    "within_scatter",
]
