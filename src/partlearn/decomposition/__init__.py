"""Dimensionality reduction with candidate labels."""

from partlearn.decomposition._cenda import CENDA
from partlearn.decomposition._crisp import CRISP
from partlearn.decomposition._delin import DELIN
from partlearn.decomposition._kernel_crisp import KernelCRISP, PoolMixin
from partlearn.decomposition._plda import PLDA
from partlearn.decomposition._sdlpp import SDLPP
from partlearn.decomposition._tuned_pca import TunedPCA
from partlearn.decomposition._wpldr import WPLDR

__all__ = [
    "CENDA",
    "CRISP",
    "DELIN",
    "PLDA",
    "SDLPP",
    "WPLDR",
    "KernelCRISP",
    "TunedPCA",
]
