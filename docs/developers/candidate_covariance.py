"""A reducer of your own: directions that vary with the candidates."""

import numpy as np

from partlearn._math.graphs import vote
from partlearn._math.neighbors import self_neighbors
from partlearn.base import BaseReducer
from partlearn.candidates import refine, uniform_confidence


def covariance_directions(Z, F):
    """Directions of largest covariance with the confidences, and how large it is."""
    P, values, _ = np.linalg.svd(
        Z.transposed_matmul(F - F.mean(axis=0)), full_matrices=False
    )
    return P, values


class CandidateCovariance(BaseReducer):
    """Alternate between directions and the votes of the neighbors along them."""

    def __init__(
        self, n_components=None, *, n_neighbors=8, max_iter=3, standardize=True
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.standardize = standardize

    def fit(self, X, y):
        """Learn directions and confidences."""
        Z, S = self._validate_fit(X, y)  # implicit z-scores, candidate matrix
        F = uniform_confidence(S, Z.dtype)
        for _ in range(self.max_iter):
            P, values = covariance_directions(Z, F)
            r = self._count(values)  # what `n_components` asks for
            neighbors = self_neighbors(Z @ P[:, :r], self.n_neighbors)
            F = refine(F, vote(F, neighbors), S)
        self._set_components(P[:, :r], values)
        self.label_confidence_ = F
        self.n_iter_ = self.max_iter
        return self
