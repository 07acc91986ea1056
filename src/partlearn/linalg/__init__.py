"""Thin linear algebra: implicit standardisation and low-rank eigenproblems."""

from partlearn.linalg._eigen import (
    Eigen,
    ThinEigenSolver,
    conjugate_gradients,
    fix_signs,
)
from partlearn.linalg._squared_hinge import squared_hinge, squared_hinge_labels
from partlearn.linalg._standardized import (
    Standardized,
    column_moments,
    standardize,
    z_scores,
)
from partlearn.linalg._svd import ThinBasis, ThinSVD, randomized_left, thin_svd

__all__ = [
    "Eigen",
    "Standardized",
    "ThinBasis",
    "ThinEigenSolver",
    "ThinSVD",
    "column_moments",
    "conjugate_gradients",
    "fix_signs",
    "randomized_left",
    "squared_hinge",
    "squared_hinge_labels",
    "standardize",
    "thin_svd",
    "z_scores",
]
