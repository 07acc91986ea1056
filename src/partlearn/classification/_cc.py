"""CC: the classifier under which the candidate sets are most likely."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from partlearn._typing import Array
from partlearn.classification._likelihood import BaseLikelihoodClassifier
from partlearn.classification._score_models import (
    candidate_batches,
    candidate_loss,
    relative,
)


class CC(BaseLikelihoodClassifier):
    """Classifier-consistent risk: maximize the likelihood of the candidate sets.

    The loss of a row is the negative log-likelihood of its candidate set, the logarithm
    of the summed probability of its candidates. It is consistent if the false
    candidates are drawn uniformly.

    Parameters
    ----------
    lam : float or "auto", default=0.01
        Weight of half the squared norm of all weights, intercepts excepted; "auto"
        takes the value from 1e-4, 1e-3, 1e-2 and 1e-1 under which held-out candidate
        sets are most likely.
    hidden_layer_size : int or None, default=None
        Number of rectified linear units between features and scores; None is a linear
        model.
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS, or of epochs with a hidden layer.
    tol : float, default=1e-4
        Stop L-BFGS when no entry of the gradient is larger than `tol`.
    random_state : int, RandomState or None, default=0
        Draws start, batches and held-out rows of a hidden layer.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features, in the units of `X`; only without a hidden layer.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts; only without a hidden layer.
    coefs_, intercepts_ : list of ndarray
        Weights and intercepts of each layer.
    lam_ : float
        The penalty used.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        The model's probabilities of the training rows, on their candidates.
    objective_ : ndarray of shape (1,) or (`n_iter_`,)
        Penalized loss at the end; with a hidden layer the held-out loss of each epoch.
    n_iter_ : int
        Number of iterations or epochs.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    PRODEN : Alternates labels and model instead.
    CRISPClassifier : Cross-fitted experts.

    Notes
    -----
    Rows are standardized inside. The linear model starts from zero, where all
    candidates of a row are alike, so it is deterministic although the loss is not
    convex. With a hidden layer: Adam on batches of 256 rows, a tenth of the rows held
    out, the epoch with the least held-out loss kept. The published experiments use
    deeper networks. Confidences passed to `fit` weight the candidates inside the
    logarithm.

    References
    ----------
    Lei Feng, Jiaqi Lv, Bo Han, Miao Xu, Gang Niu, Xin Geng, Bo An and Masashi Sugiyama.
    Provably Consistent Partial-Label Learning. NeurIPS 2020.

    Examples
    --------
    >>> from partlearn.classification import CC
    >>> X = [[-1.0], [-0.9], [-0.8], [0.8], [0.9], [1.0]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> CC().fit(X, y).predict([[-2.0], [3.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        lam: float | str = 0.01,
        *,
        hidden_layer_size: int | None = None,
        max_iter: int = 1000,
        tol: float = 1e-4,
        random_state: Any = 0,
    ) -> None:
        self.lam = lam
        self.hidden_layer_size = hidden_layer_size
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _loss(self, F: Array) -> Any:
        L = relative(F)
        return lambda G: candidate_loss(G, L)

    def _batch_loss(self, F: Array) -> Any:
        return candidate_batches(F)
