"""Cross-fitted regressions of labels, and the experts that read them: blocks A to F.

A basis is a decomposition of the rows in some geometry (linear, or of a kernel, exact
or by landmarks). On any of them confidences are regressed; what a row is told about
itself comes from the regression without the row's own fold. Experts read the held-out
scores and are pooled by how well they expect the candidate sets. CRISP, CRISPSelector,
KernelCRISP and CRISPClassifier are built of these blocks.
"""

from partlearn._math.crossfit._background import (
    background_size,
    background_weight,
    mean_norm,
)
from partlearn._math.crossfit._bases import LinearBasis, linear_basis
from partlearn._math.crossfit._embedding import Embedding, embed
from partlearn._math.crossfit._experts import log_linear_pool, log_linear_weights
from partlearn._math.crossfit._folds import deal_groups, group_codes, make_folds
from partlearn._math.crossfit._geometries import landmark_count
from partlearn._math.crossfit._leave_one_out import LeaveOneOut
from partlearn._math.crossfit._order import content_order, in_data_order
from partlearn._math.crossfit._pooled import PooledModel
from partlearn._math.crossfit._ridge_pool import (
    centred,
    fit_ridges,
    pool_ridges,
    ridge_numbers,
)
from partlearn._math.crossfit._rounds import (
    STEADY,
    NeighborSearch,
    Rounds,
    StoppingRule,
    crisp_rounds,
    vote_among_all,
)
from partlearn._math.crossfit._scores import CrossFit, targets
from partlearn._math.crossfit._shared import (
    POOLED_PARAMETERS,
    POOLED_STATE,
    RIDGE_STATE,
    check_geometries,
    fit_estimator,
    kernel_side,
    set_fitted,
)

__all__ = [
    "POOLED_PARAMETERS",
    "POOLED_STATE",
    "RIDGE_STATE",
    "STEADY",
    "CrossFit",
    "Embedding",
    "LeaveOneOut",
    "LinearBasis",
    "NeighborSearch",
    "PooledModel",
    "Rounds",
    "StoppingRule",
    "background_size",
    "background_weight",
    "centred",
    "check_geometries",
    "content_order",
    "crisp_rounds",
    "deal_groups",
    "embed",
    "fit_estimator",
    "fit_ridges",
    "group_codes",
    "in_data_order",
    "kernel_side",
    "landmark_count",
    "linear_basis",
    "log_linear_pool",
    "log_linear_weights",
    "make_folds",
    "mean_norm",
    "pool_ridges",
    "ridge_numbers",
    "set_fitted",
    "targets",
    "vote_among_all",
]
