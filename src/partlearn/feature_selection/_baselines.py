"""The baselines of SAUTE: maximum relevance, and random selection."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from partlearn._sklearn_compat import fit_context
from partlearn.base import PARAMETERS, BaseSelector, Columns
from partlearn.feature_selection._confidence_selector import ConfidenceSelector


class MaxRelevance(ConfidenceSelector):
    """Select the features that depend most on the latent label.

    SAUTE without redundancy: features are sorted by the conditional entropy of the
    label given the feature. The confidences are updated from the nearest neighbors in
    the selected features.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=0.15
        As in :class:`SAUTE`.
    alpha : float, default=0.6
        Weight of the neighbors in [0, 1]. With 0 neighbors are not used: relevance
        under uniform confidences, without iterations.
    n_neighbors : int, default=8
        Number of neighbors.
    n_reference : int, "auto" or None, default="auto"
        Number of rows, drawn once, among which neighbors are searched. "auto" is all
        for up to 25,000 rows and 4,000 above; None is all. With fewer than all,
        neighbors are searched among all rows once at the end, in cells; not for sparse
        data.
    var_floor : float, default=0.6
        Minimum standard deviation of a feature inside a class, as a share of its
        deviation over all rows.
    normalize_sums : bool, default=False
        Whether the weights of the neighbors of a row sum to one.
    standardize : bool, default=True
        Whether the columns are scaled to variance one for the neighbor search.
    max_iter : int, default=20
        Maximum number of iterations of selection and update.
    must_keep, exclude : sequence of int, str or bool, default=None
        Columns to select in any case, and columns never to select.
    validation_fraction : float, default=0.25
        Share of the rows held out to choose the size; only for "auto".
    random_state : int, RandomState or None, default=None
        Draws the held-out rows; only for "auto".
    n_jobs : int, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Indices of the selected features, best first.
    support_ : ndarray of bool, shape (n_features_in_,)
        Mask of the selected features.
    scores_ : ndarray of shape (n_features_in_,)
        Minus the conditional entropy of the label given each feature, in nats.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    relevance_, redundancy_ : ndarray of shape (n_selected,)
        The scores along the path; the redundancy is not used and is zero.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of each training row.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    sizes_, hit_rates_ : ndarray
        Sizes that "auto" tried and their hit rates.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    SAUTE : Avoids redundant features.

    References
    ----------
    Wei-Xuan Bao, Jun-Yi Hang and Min-Ling Zhang. Submodular Feature Selection for
    Partial Label Learning. KDD 2022, 26-34. https://doi.org/10.1145/3534678.3539292

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.feature_selection import MaxRelevance
    >>> X, y = load_wine(return_X_y=True)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> MaxRelevance(3).fit(X, candidates).selected_
    array([11,  6,  0])
    """

    def __init__(
        self,
        n_features_to_select: float | int | str | None = 0.15,
        *,
        alpha: float = 0.6,
        n_neighbors: int = 8,
        n_reference: int | Literal["auto"] | None = "auto",
        var_floor: float = 0.6,
        normalize_sums: bool = False,
        standardize: bool = True,
        max_iter: int = 20,
        must_keep: Columns = None,
        exclude: Columns = None,
        validation_fraction: float = 0.25,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.n_reference = n_reference
        self.var_floor = var_floor
        self.normalize_sums = normalize_sums
        self.standardize = standardize
        self.max_iter = max_iter
        self.must_keep = must_keep
        self.exclude = exclude
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs


class RandomSelection(BaseSelector):
    """Select features at random, as a baseline.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=0.15
        Number of features, or their fraction (rounded up), or all.
    random_state : int, RandomState or None, default=None
        Seed of the draw. Report the mean over several seeds.
    must_keep, exclude : sequence of int, str or bool, default=None
        Columns to select in any case, and columns never to select.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Indices of the selected features, as drawn.
    support_ : ndarray of bool, shape (n_features_in_,)
        Mask of the selected features.
    scores_ : ndarray of shape (n_features_in_,)
        Random numbers in (0, 1] that give the order.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has any.

    See Also
    --------
    SAUTE : Selects by the information of features about the labels.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.feature_selection import RandomSelection
    >>> X, _ = load_wine(return_X_y=True)
    >>> RandomSelection(4, random_state=0).fit_transform(X).shape
    (178, 4)
    """

    _order_matters = ("columns",)  # columns are drawn
    _needs_labels = False
    _parameter_constraints = PARAMETERS

    def __init__(
        self,
        n_features_to_select: float | int | None = 0.15,
        *,
        random_state: Any = None,
        must_keep: Columns = None,
        exclude: Columns = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.must_keep = must_keep
        self.exclude = exclude

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows; only their number of columns counts.
        y : candidate labels, default=None
            Not used, but checked as the other selectors do.

        Returns
        -------
        self : RandomSelection
            The fitted selector.
        """
        X = self._validate_unlabeled(X, y)
        d = X.shape[1]
        scores = np.empty(d)
        drawn = check_random_state(self.random_state).permutation(d)
        scores[drawn] = np.arange(d, 0, -1) / d
        self._rank_all(scores, np.arange(d))
        return self
