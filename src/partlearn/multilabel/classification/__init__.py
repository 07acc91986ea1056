"""Classifiers that predict sets of labels."""

from partlearn.multilabel.classification._crisp_multilabel import (
    CRISPMultiLabelClassifier,
)
from partlearn.multilabel.classification._fpml import FPML
from partlearn.multilabel.classification._linear_svm import LinearSVM
from partlearn.multilabel.classification._ml_knn import MLKNN
from partlearn.multilabel.classification._particle_map import ParticleMAP
from partlearn.multilabel.classification._particle_vls import ParticleVLS
from partlearn.multilabel.classification._pml_fp import PMLFP
from partlearn.multilabel.classification._pml_lc import PMLLC
from partlearn.multilabel.classification._pml_lenfn import PMLLENFN
from partlearn.multilabel.classification._pml_ni import PMLNI
from partlearn.multilabel.classification._pml_plr import PMLPLR
from partlearn.multilabel.classification._schirn import Schirn

__all__ = [
    "FPML",
    "MLKNN",
    "PMLFP",
    "PMLLC",
    "PMLLENFN",
    "PMLNI",
    "PMLPLR",
    "CRISPMultiLabelClassifier",
    "LinearSVM",
    "ParticleMAP",
    "ParticleVLS",
    "Schirn",
]
