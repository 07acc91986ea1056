"""Partial multi-label learning: classifiers, selectors, and data to try them on."""

from partlearn.multilabel._noise import (
    add_noise_labels,
    noise_by_similarity,
    noise_rate,
    noise_to_average,
)
from partlearn.multilabel.classification import (
    FPML,
    MLKNN,
    PMLFP,
    PMLLC,
    LinearSVM,
    ParticleMAP,
    ParticleVLS,
)
from partlearn.multilabel.feature_selection import DRMFS, MIFS, PMLFSLA, PMLFSSO, TRACE

__all__ = [
    "DRMFS",
    "FPML",
    "MIFS",
    "MLKNN",
    "PMLFP",
    "PMLFSLA",
    "PMLFSSO",
    "PMLLC",
    "TRACE",
    "LinearSVM",
    "ParticleMAP",
    "ParticleVLS",
    "add_noise_labels",
    "noise_by_similarity",
    "noise_rate",
    "noise_to_average",
]
