"""CLPL: convex learning from partial labels."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from partlearn._typing import Array
from partlearn.classification._likelihood import BaseLikelihoodClassifier
from partlearn.classification._score_models import average_hinge


class CLPL(BaseLikelihoodClassifier):
    """Linear classifier by a convex loss on the mean score of the candidates.

    Parameters
    ----------
    lam : float or "auto", default=0.01
        Weight of half the squared norm of the weights, intercepts excepted; "auto"
        takes the value from 1e-4, 1e-3, 1e-2 and 1e-1 under which held-out candidate
        sets are most likely, the softmax of the scores taken for probabilities.
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS.
    tol : float, default=1e-4
        Stop when no entry of the gradient is larger than `tol`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features, in the units of `X`.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
    coefs_, intercepts_ : list of ndarray
        Their transpose and themselves, as lists of one layer.
    lam_ : float
        The penalty used.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Softmax of the scores of the training rows, on their candidates.
    objective_ : ndarray of shape (1,)
        Penalized loss at the end.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    PLSVM : Margin between the best candidate and the best other label.

    Notes
    -----
    The loss of a row is ``psi(mean of the candidates' scores)`` plus ``psi(-g)`` for
    the score g of every other label, with the squared hinge ``psi(u) = max(0, 1 -
    u)^2``. It is convex. Rows are standardized inside. Confidences passed to `fit`
    weight the mean. `predict_proba` is the softmax of the scores; it orders the classes
    and is not calibrated.

    References
    ----------
    Timothee Cour, Benjamin Sapp and Ben Taskar. Learning from Partial Labels. Journal
    of Machine Learning Research 12, 2011, 1501-1536.

    Examples
    --------
    >>> from partlearn.classification import CLPL
    >>> X = [[-1.0], [-0.9], [-0.8], [0.8], [0.9], [1.0]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> CLPL().fit(X, y).predict([[-2.0], [3.0]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self, lam: float | str = 0.01, *, max_iter: int = 1000, tol: float = 1e-4
    ) -> None:
        self.lam = lam
        self.max_iter = max_iter
        self.tol = tol

    def _loss(self, F: Array) -> Any:
        return lambda G: average_hinge(G, F)
