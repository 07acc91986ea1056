"""Leave-one-out regressions of labels, and experts on them: blocks A to F.

A basis is a decomposition of the rows in some geometry (linear, or of a kernel, exact
or by landmarks). Confidences are regressed on it, with and without each row
(:class:`LeaveOneOut`, :func:`embed`). Experts turn the held-out
scores into probabilities, and are pooled by the likelihood of the candidate sets.
CRISP, CRISPSelector, KernelCRISP and CRISPClassifier are built of these blocks.
"""

from partlearn._math.crossfit._background import (
    background_size,
    background_weight,
    mean_norm,
)
from partlearn._math.crossfit._bases import LinearBasis, linear_basis
from partlearn._math.crossfit._embedding import Embedding, embed
from partlearn._math.crossfit._experts import log_linear_pool, log_linear_weights
from partlearn._math.crossfit._fit import (
    POOLED_PARAMETERS,
    POOLED_STATE,
    RIDGE_STATE,
    check_geometries,
    find_relevance,
    fit_pool,
    kernel_side,
    make_labels,
)
from partlearn._math.crossfit._geometries import landmark_count
from partlearn._math.crossfit._iterations import (
    STEADY,
    Iterations,
    Labels,
    NeighborSearch,
    StoppingRule,
    crisp_iterations,
)
from partlearn._math.crossfit._pooled import PooledModel, PoolOptions
from partlearn._math.crossfit._relevance import relevance_weights
from partlearn._math.crossfit._ridge_pool import (
    centered,
    fit_ridges,
    pool_ridges,
    ridge_numbers,
)
from partlearn._math.crossfit._scores import (
    PRESS_ROWS,
    RIDGE_GRID,
    LeaveOneOut,
    targets,
)
