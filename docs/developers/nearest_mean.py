"""A classifier of your own: the nearest mean of the candidates."""

import numpy as np
from scipy.special import softmax
from sklearn.metrics.pairwise import euclidean_distances

from partlearn.base import BaseCandidateClassifier
from partlearn.candidates import uniform_confidence


def class_means(X, F):
    """Means of the rows, weighted by their confidence in each class."""
    return np.asarray(X.T @ (F / F.sum(axis=0))).T


def closeness(X, means):
    """Shares of the means, by distance; what overflows is equally far from all."""
    D = euclidean_distances(X, means, squared=True)
    return softmax(-np.nan_to_num(D, nan=1e30, posinf=1e30), axis=1)


class NearestMean(BaseCandidateClassifier):
    """Alternate between means of classes and confidences of candidates."""

    def __init__(self, max_iter=10):
        self.max_iter = max_iter

    def fit(self, X, y):
        """Learn means and confidences."""
        X, S, _ = self._validate_fit(X, y)
        self._seen = S.any(axis=0)  # nobody's candidate is never predicted
        F = uniform_confidence(S[:, self._seen])
        for _ in range(self.max_iter):
            self.means_ = class_means(X, F)
            P = closeness(X, self.means_)
            P = np.where(S[:, self._seen], P + 1e-12, 0)
            F = P / P.sum(axis=1, keepdims=True)
        self.n_iter_ = self.max_iter
        self.label_confidence_ = np.zeros(S.shape)
        self.label_confidence_[:, self._seen] = F
        return self

    def predict_proba(self, X):
        """Turn distances into probabilities."""
        X = self._validate_predict(X)
        P = np.zeros((X.shape[0], len(self._seen)))
        P[:, self._seen] = closeness(X, self.means_)
        return P
