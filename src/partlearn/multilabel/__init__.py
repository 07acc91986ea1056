"""Multi-label learners, and partial multi-label data to try them on."""

from partlearn.multilabel._fpml import FPML
from partlearn.multilabel._ml_knn import MLKNN
from partlearn.multilabel._noise import (
    add_noise_labels,
    noise_by_similarity,
    noise_rate,
    noise_to_average,
)
from partlearn.multilabel._particle_map import ParticleMAP
from partlearn.multilabel._particle_vls import ParticleVLS
from partlearn.multilabel._pml_fp import PMLFP
from partlearn.multilabel._pml_lc import PMLLC

__all__ = [
    "FPML",
    "MLKNN",
    "PMLFP",
    "PMLLC",
    "ParticleMAP",
    "ParticleVLS",
    "add_noise_labels",
    "noise_by_similarity",
    "noise_rate",
    "noise_to_average",
]
