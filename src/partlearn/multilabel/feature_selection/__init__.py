"""Feature selection with partial multi-labels."""

from partlearn.multilabel.feature_selection._drmfs import DRMFS
from partlearn.multilabel.feature_selection._lcfs_pml import LCFSPML
from partlearn.multilabel.feature_selection._mifs import MIFS
from partlearn.multilabel.feature_selection._pmfs_lrs import PMFSLRS
from partlearn.multilabel.feature_selection._pml_fsla import PMLFSLA
from partlearn.multilabel.feature_selection._pml_fsmir import PMLFSMIR
from partlearn.multilabel.feature_selection._pml_fsnf import PMLFSNF
from partlearn.multilabel.feature_selection._pml_fsso import PMLFSSO
from partlearn.multilabel.feature_selection._trace import TRACE

__all__ = [
    "DRMFS",
    "LCFSPML",
    "MIFS",
    "PMFSLRS",
    "PMLFSLA",
    "PMLFSMIR",
    "PMLFSNF",
    "PMLFSSO",
    "TRACE",
]
