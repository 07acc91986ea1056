"""Classifiers that learn from candidate labels."""

from partlearn.classification._calibration import Calibration as Calibration
from partlearn.classification._calibration import Calibrator as Calibrator
from partlearn.classification._calibration import check_share as check_share
from partlearn.classification._candidate_classifier import CandidateClassifier
from partlearn.classification._cc import CC
from partlearn.classification._clpl import CLPL
from partlearn.classification._coupled import CoupledClassifier
from partlearn.classification._crisp_classifier import CRISPClassifier
from partlearn.classification._ipal import IPAL
from partlearn.classification._pl_aggd import PLAGGD
from partlearn.classification._pl_ecoc import PLECOC
from partlearn.classification._pl_knn import PLKNN
from partlearn.classification._pl_svm import PLSVM, PLSVMCV
from partlearn.classification._pooled_classifier import PooledClassifier, for_candidates
from partlearn.classification._prediction_sets import PredictionSets
from partlearn.classification._proden import PRODEN
from partlearn.classification._pruner import CandidatePruner
from partlearn.classification._sure import SURE
from partlearn.classification._torch import TorchClassifier as TorchClassifier

# What every installation can fit: TorchClassifier, which needs torch, is left out.
__all__ = [
    "CC",
    "CLPL",
    "IPAL",
    "PLAGGD",
    "PLECOC",
    "PLKNN",
    "PLSVM",
    "PLSVMCV",
    "PRODEN",
    "SURE",
    "CRISPClassifier",
    "CandidateClassifier",
    "CandidatePruner",
    "CoupledClassifier",
    "PooledClassifier",
    "PredictionSets",
]
