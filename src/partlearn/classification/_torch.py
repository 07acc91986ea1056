"""A torch module under the losses of CC and PRODEN."""

# SPDX-License-Identifier: BSD-3-Clause

import copy
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from partlearn._math.linalg import standardize
from partlearn._sizes import spans
from partlearn._sklearn_compat import Interval, StrOptions, fit_context
from partlearn._typing import Array, Indices
from partlearn.base import PARAMETERS, BaseScoreClassifier
from partlearn.candidates import initial_confidence
from partlearn.classification._score_models import (
    candidate_batches,
    candidate_loss,
    posterior,
    relative,
    renewing_batches,
    train_epochs,
)

_ROWS = 4096  # that are predicted at a time


class TorchClassifier(BaseScoreClassifier):
    """Train a torch module on candidate labels by the losses of CC and PRODEN.

    torch is not a dependency of this library and has to be installed.

    Parameters
    ----------
    module : torch.nn.Module, callable or None, default=None
        What maps rows to one score per class: a module, of which a copy is trained, or
        a callable that makes one from the numbers of features and classes. None is a
        linear layer.
    loss : {"proden", "cc"}, default="proden"
        ``"proden"`` weights the candidates of a batch by the model after each step;
        ``"cc"`` maximizes the likelihood of the candidate sets.
    lam : float, default=1e-4
        Weight of half the squared norm of all weights; parameters of one dimension
        (intercepts, scales) are not penalized.
    learning_rate : float, default=1e-3
        Step length of Adam.
    max_iter : int, default=200
        Maximum number of epochs.
    device : str, default="cpu"
        Where torch computes: "cpu", "cuda" and so on.
    random_state : int, RandomState or None, default=0
        Draws start, batches and held-out rows. torch is seeded by it during training,
        and its own generator is restored afterwards.

    Attributes
    ----------
    module_ : torch.nn.Module
        The trained module; it takes standardized rows.
    mean_, scale_ : ndarray of shape (n_features,)
        Mean and scale of the training rows.
    label_confidence_ : ndarray of shape (n_samples, n_classes)
        Weights of the candidates of each training row.
    objective_ : ndarray of shape (`n_iter_`,)
        Negative log-likelihood of held-out candidate sets after each epoch.
    n_iter_ : int
        Number of epochs.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has any.

    See Also
    --------
    PRODEN : Linear model or one hidden layer, without torch.
    CC : The likelihood of candidate sets, without torch.

    Notes
    -----
    The training loop is the same as in :class:`PRODEN` with a hidden layer: batches of
    256 rows, a tenth of the rows held out, and early stopping after 20 epochs without a
    higher likelihood of held-out candidate sets. The losses are NumPy functions; torch
    propagates their gradient through the module.

    References
    ----------
    Jiaqi Lv, Miao Xu, Lei Feng, Gang Niu, Xin Geng and Masashi Sugiyama. Progressive
    Identification of True Labels for Partial-Label Learning. ICML 2020.

    Lei Feng, Jiaqi Lv, Bo Han, Miao Xu, Gang Niu, Xin Geng, Bo An and Masashi Sugiyama.
    Provably Consistent Partial-Label Learning. NeurIPS 2020.

    Examples
    --------
    >>> from partlearn.classification import TorchClassifier
    >>> X = [[-1.0], [-0.9], [-0.8], [0.8], [0.9], [1.0]]
    >>> y = [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a", "b"}, {"b"}]
    >>> model = TorchClassifier(learning_rate=0.1)
    >>> model.fit(X, y).predict([[-2.0], [3.0]])  # doctest: +SKIP
    array(['a', 'b'], dtype='<U1')
    """

    # Start, held-out rows and batches are drawn by number.
    _order_matters = ("rows", "classes")

    _parameter_constraints = PARAMETERS | {
        "module": [callable, None],
        "loss": [StrOptions({"cc", "proden"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "device": [str],
    }

    def __init__(
        self,
        module: Any = None,
        *,
        loss: Literal["proden", "cc"] = "proden",
        lam: float = 1e-4,
        learning_rate: float = 1e-3,
        max_iter: int = 200,
        device: str = "cpu",
        random_state: Any = 0,
    ) -> None:
        self.module = module
        self.loss = loss
        self.lam = lam
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.device = device
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, confidence: Any = None) -> Self:
        """Train the module.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : candidate labels
            1-D labels, a binary matrix of shape (n_samples, n_classes), a sequence of
            candidate sets, or weights and votes, which initialize the confidences; see
            :func:`partlearn.candidates.check_evidence`. Weights and votes are not part
            of the published method.
        confidence : array-like of shape (n_samples, n_classes), default=None
            Labeling confidences that weight the candidates, for example
            ``label_confidence_`` of a reducer.

        Returns
        -------
        self : estimator
            The fitted classifier.
        """
        torch = _torch()
        X, S, confidence = self._validate_fit(X, y, confidence)
        F = initial_confidence(confidence, S)
        _, self.mean_, self.scale_ = standardize(X.astype(np.float64, copy=False))
        rng = check_random_state(self.random_state)
        with torch.random.fork_rng():
            torch.manual_seed(rng.randint(2**31 - 1))
            net = self._made(torch, X.shape[1], S.shape[1])
            self.objective_ = self._train(torch, net, X, F, rng)
        self.n_iter_ = len(self.objective_)
        self.module_ = net.eval()
        sets = F if self.loss == "cc" else (F > 0).astype(np.float64)
        self.label_confidence_ = posterior(self._raw_scores(X), sets)
        return self

    def _made(self, torch: Any, n_features: int, n_classes: int) -> Any:
        """Return the module to train, a copy."""
        if self.module is None:
            net = torch.nn.Linear(n_features, n_classes, dtype=torch.float64)
        elif isinstance(self.module, torch.nn.Module):
            net = copy.deepcopy(self.module)
        else:
            net = self.module(n_features, n_classes)
        if not isinstance(net, torch.nn.Module):
            raise TypeError(
                "`module` must be a torch.nn.Module or return one; got "
                f"{type(net).__name__}."
            )
        if not any(p.requires_grad for p in net.parameters()):
            raise ValueError("`module` has no parameters: there is nothing to train.")
        net = net.to(self.device)
        with torch.no_grad():
            rows = self._tensor(torch, net, np.zeros((2, n_features)))
            shape = tuple(net.eval()(rows).shape)
        if shape != (2, n_classes):
            raise ValueError(
                f"`module` must give one score for each of the {n_classes} classes; 2 "
                f"rows gave shape {shape}."
            )
        return net

    def _tensor(self, torch: Any, net: Any, rows: Any) -> Any:
        """Return rows in the precision and on the device of the module."""
        kind = next(p.dtype for p in net.parameters())
        return torch.as_tensor(rows, dtype=kind, device=self.device)

    def _rows(self, X: Any, index: Any) -> Array:
        block = X[index]
        block = block.toarray() if sp.issparse(block) else block
        return np.asarray((block - self.mean_) / self.scale_, dtype=np.float64)

    def _train(
        self, torch: Any, net: Any, X: Any, F: Array, rng: np.random.RandomState
    ) -> Array:
        made = candidate_batches if self.loss == "cc" else renewing_batches
        loss = made(F.copy())
        penalized = [p for p in net.parameters() if p.ndim > 1]
        free = [p for p in net.parameters() if p.ndim <= 1]
        groups = [
            {"params": penalized, "weight_decay": self.lam},
            {"params": free, "weight_decay": 0.0},
        ]
        adam = torch.optim.Adam(
            [group for group in groups if group["params"]], lr=self.learning_rate
        )

        def step(batch: Indices) -> None:
            G = net.train()(self._tensor(torch, net, self._rows(X, batch)))
            _, slope = loss(_to_numpy(G), batch)
            adam.zero_grad()
            G.backward(torch.as_tensor(slope, dtype=G.dtype, device=G.device))
            adam.step()

        def held_out_loss(held: Indices) -> float:
            G = self._forward(torch, net, X[held])
            return candidate_loss(G, relative(F[held]))[0]

        def copied() -> dict[str, Any]:
            return copy.deepcopy(net.state_dict())

        best, trace = train_epochs(
            step, held_out_loss, copied, len(F), max_iter=self.max_iter, rng=rng
        )
        net.load_state_dict(best)
        return trace

    def _forward(self, torch: Any, net: Any, X: Any) -> Array:
        """Compute the scores of rows in batches."""
        net.eval()
        parts = []
        with torch.no_grad():
            for some in spans(X.shape[0], _ROWS):
                rows = self._rows(X, some)
                parts.append(_to_numpy(net(self._tensor(torch, net, rows))))
        return np.concatenate(parts)

    def _raw_scores(self, X: Any) -> Array:
        torch = _torch()
        return self._forward(torch, self.module_, X)

    def _scores(self, X: Any) -> NDArray[Any]:
        return self._raw_scores(self._validate_predict(X))


def _to_numpy(G: Any) -> Array:
    return np.asarray(G.detach().cpu().double().numpy())


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise ImportError(
            "TorchClassifier needs torch, which is not part of partlearn: `pip install "
            "torch`. PRODEN and CC do without it."
        ) from None
    return torch
