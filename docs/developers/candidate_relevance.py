"""A multi-label selector of your own: features that vary with the candidates."""

import numpy as np

from partlearn._math.linalg import standardize
from partlearn.base import BaseSelector, validate_partial_data


def relevance(Z, C):
    """Length of the covariances of each feature with all labels."""
    return np.linalg.norm(Z.transposed_matmul(C - C.mean(axis=0)), axis=1)


class CandidateRelevance(BaseSelector):
    """Keep the features with the largest covariance with the candidates."""

    def __init__(self, n_features_to_select=None, *, must_keep=None, exclude=None):
        self.n_features_to_select = n_features_to_select
        self.must_keep = must_keep
        self.exclude = exclude

    def fit(self, X, y):
        """Rank the features."""
        # Rows without any candidate are allowed for multi-labels.
        X, C = validate_partial_data(self, X, y, empty="keep")
        Z, _, _ = standardize(X.astype(np.float64))
        scores = relevance(Z, C.astype(np.float64))
        keep, exclude, available = self._limits()
        group = np.zeros(len(scores))
        group[keep], group[exclude] = -1, 1
        order = np.lexsort((-scores, group))
        self._select(order[: self._count(keep, available)], scores, exclude)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
