"""SAUTE: feature selection by dependence on the latent label."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal

from partlearn._sklearn_compat import StrOptions
from partlearn.base import Columns
from partlearn.feature_selection._confidence_selector import ConfidenceSelector
from partlearn.feature_selection._greedy import CRITERIA, Criterion


class SAUTE(ConfidenceSelector):
    """Select features that depend on the latent label and not on each other.

    SAUTE alternates two steps. Features are selected greedily by their mutual
    information with the label under the current confidences, less the mean mutual
    information with the selected features. The confidences of each row are updated from
    its nearest neighbors in the selected features.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=0.15
        Number of features; or, as a float in (0, 1], the fraction of them, rounded up.
        "auto" tries sizes up to three fifths of the features on held-out rows, by the
        candidate hit rate of neighbors, and takes the smallest size that is not clearly
        worse than the best. None ranks all features: the iterations are the same as for
        0.15, and the last greedy path continues to the end. A number above the number
        of features means all.
    alpha : float, default=0.6
        Weight of the neighbors in [0, 1]; the row's own confidence has ``1 - alpha``.
        With 0 neighbors are not used and all confidences are uniform.
    n_neighbors : int, default=8
        Number of neighbors.
    n_reference : int, "auto" or None, default="auto"
        Number of rows, drawn once, among which neighbors are searched. "auto" is all
        for up to 25,000 rows and 4,000 above; None is all. With fewer than all,
        neighbors are searched among all rows once at the end, in cells; not for sparse
        data.
    var_floor : float, default=0.6
        Minimum standard deviation of a feature inside a class, as a share of its
        deviation over all rows. 1e-6 follows the paper literally, and prefers features
        that are constant inside one class.
    normalize_sums : bool, default=False
        Whether the weights of the neighbors of a row sum to one. In the paper they sum
        to k (k + 1) / 2, so that the row's own confidence has little weight.
    standardize : bool, default=True
        Whether the columns are scaled to variance one for the neighbor search. Nothing
        else depends on their scale.
    max_iter : int, default=20
        Maximum number of iterations of selection and update.
    criterion : {"difference", "quotient", "jmi"} or callable, default="difference"
        Score of a feature from relevance and redundancy: their difference, as
        published; their quotient; "jmi", without the redundancy that the label
        explains; or a function of a ``PathState`` that returns one score per feature.
    ties : {"share", "order"}, default="share"
        "share": equally near neighbors share their ranks. "order": they are ranked in
        the order of the data, as in the published method, so that the selection depends
        on the order of the rows.
    must_keep, exclude : sequence of int, str or bool, default=None
        Columns to select in any case, and columns never to select, by index, by name
        or as a mask. Kept features count towards `n_features_to_select`.
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
        Value of the criterion: of a selected feature when it was selected, of the
        others after the last selection.
    ranking_ : ndarray of shape (n_features_in_,)
        Rank of each feature; 1 is the best. First the selected ones in their order,
        then the others by score, then the excluded.
    relevance_, redundancy_ : ndarray of shape (n_selected,)
        Minus the conditional entropy of the label given the feature, and mean mutual
        information with the features selected before, along the path, in nats.
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
    MaxRelevance : The same without redundancy.
    MaxJointEntropy : Selection without labels.
    partlearn.inspection.SelectionPathDisplay : Draws relevance and redundancy.

    Notes
    -----
    Details that the paper does not specify: the redundancy is divided by the
    number of features selected so far; the first feature is chosen by relevance. Both
    terms are in nats. A row is not its own neighbor. A class is a Gaussian over the
    rows whose confidence in it is at least ``1 / |S_i|``; its spread is at least
    `var_floor` times the spread of the feature. The paper has no floor: without one,
    features that are nearly constant inside a class come first, and the selection can
    be worse than a random one.

    A constant feature is ranked last. Of equal features the one with the lowest index
    is selected, and the others are fully redundant. A class favored by a single row has
    the least spread. If a number or fraction selects all features, there is one
    iteration.

    An iteration costs O(m d q) exponentials and a neighbor search; the redundancies
    cost O(m d) per newly selected feature and are cached. Memory beyond the data is
    about m d / 2 bytes for packed bins, 16 MB blocks, at most 256 MB of cached
    redundancies and the selected columns; no array of size m x d x q exists. Sparse
    data stay sparse: time and memory follow the number of entries, and a newly selected
    feature costs the entries of the rows that have it. numba, if installed (``pip
    install "partlearn[fast]"``), makes large problems many times faster; the selection
    is the same.

    References
    ----------
    Wei-Xuan Bao, Jun-Yi Hang and Min-Ling Zhang. Submodular Feature Selection for
    Partial Label Learning. KDD 2022, 26-34. https://doi.org/10.1145/3534678.3539292

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from partlearn.candidates import make_candidates
    >>> from partlearn.feature_selection import SAUTE
    >>> X, y = load_wine(return_X_y=True)
    >>> candidates = make_candidates(y, n_false=1, random_state=0)
    >>> selector = SAUTE(4).fit(X, candidates)
    >>> selector.transform(X).shape
    (178, 4)
    >>> float((selector.label_confidence_.argmax(axis=1) == y).mean().round(2))
    0.97
    """

    _array_api = True
    _parameter_constraints = ConfidenceSelector._parameter_constraints | {
        "criterion": [StrOptions(set(CRITERIA)), callable],
        "ties": [StrOptions({"share", "order"})],
    }

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
        criterion: str | Criterion = "difference",
        ties: Literal["share", "order"] = "share",
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
        self.criterion = criterion
        self.ties = ties
        self.must_keep = must_keep
        self.exclude = exclude
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
