"""Standardization, normal scores, low-rank eigenproblems, orders of rows by content."""

from partlearn._math.linalg._eigen import (
    Eigen,
    ThinEigenSolver,
    conjugate_gradients,
    fix_signs,
)
from partlearn._math.linalg._memory import GIB, memory_error, too_large
from partlearn._math.linalg._normal_scores import (
    NormalScores,
    equal_cells,
    normal_scores,
)
from partlearn._math.linalg._order import (
    content_order,
    drawn_order,
    in_data_order,
    settled_orders,
)
from partlearn._math.linalg._squared_hinge import squared_hinge
from partlearn._math.linalg._standardized import (
    BlockStandardized,
    Standardized,
    column_moments,
    inverse_scale,
    standardize,
    z_scores,
)
from partlearn._math.linalg._svd import (
    ThinBasis,
    ThinSVD,
    leading_directions,
    leading_rank,
    thin_svd,
)
