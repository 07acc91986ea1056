"""Partial multi-label learning: classifiers, selectors and label noise."""

from partlearn.multilabel._granular_balls import granular_ball_confidence
from partlearn.multilabel._noise import add_noise_labels
from partlearn.multilabel.classification import (
    FPML,
    MLKNN,
    PMLFP,
    PMLLC,
    PMLLENFN,
    PMLNI,
    PMLPLR,
    CRISPMultiLabelClassifier,
    LinearSVM,
    ParticleMAP,
    ParticleVLS,
    Schirn,
)
from partlearn.multilabel.feature_selection import (
    DRMFS,
    LCFSPML,
    MIFS,
    PMFSLRS,
    PMLFSLA,
    PMLFSMIR,
    PMLFSNF,
    PMLFSSO,
    TRACE,
)

__all__ = [
    "add_noise_labels",
    "granular_ball_confidence",
]
