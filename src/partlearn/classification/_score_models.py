"""Losses of scores under candidate labels, and models fitted by them.

A loss maps scores ``G`` (m, q) and weights of the labels, zero outside the candidates,
to its mean over the rows and the gradient in ``G``. The models, linear or with one
hidden layer, use labels only through these losses.
"""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from copy import deepcopy
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp

from partlearn._math.linalg import Standardized
from partlearn._progress import iterations
from partlearn._sizes import spans
from partlearn._typing import Array, Indices

BatchLoss = Callable[[Array, Indices], tuple[float, Array]]


def relative(F: Array) -> Array:
    """Divide confidences by the row's largest; equal ones become a 0/1 set.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.classification._score_models import relative
    >>> relative(np.array([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]]))
    array([[1.  , 1.  , 0.  ],
           [0.25, 1.  , 0.  ]])
    """
    return F / F.max(axis=1, keepdims=True)


def posterior(G: Array, L: Array) -> Array:
    """``p_j L_j`` scaled to sum to one, with p the softmax of the scores.

    Source: PRODEN, update of the confidences.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.classification._score_models import posterior
    >>> posterior(np.log([[0.2, 0.6, 0.2]]), np.array([[1.0, 1.0, 0.0]]))
    array([[0.25, 0.75, 0.  ]])
    """
    with np.errstate(divide="ignore"):
        inside = G + np.log(L)
    return np.exp(inside - logsumexp(inside, axis=1, keepdims=True))


def candidate_loss(G: Array, L: Array) -> tuple[float, Array]:
    """CC: ``-log sum_j L_j p_j``, the likelihood of the candidate set.

    Source: CC, loss of the classifier-consistent method.

    Its gradient is the softmax less the softmax restricted to the candidates.
    """
    log_p = log_softmax(G, axis=1)
    value = -logsumexp(log_p, b=L, axis=1).mean()
    return float(value), (np.exp(log_p) - posterior(G, L)) / len(G)


def cross_entropy(G: Array, F: Array) -> tuple[float, Array]:
    """PRODEN: ``-sum_j F_j log p_j`` with confidences F whose rows sum to one.

    Source: PRODEN, loss.
    """
    log_p = log_softmax(G, axis=1)
    return float(-(F * log_p).sum() / len(G)), (np.exp(log_p) - F) / len(G)


def candidate_batches(F: Array) -> BatchLoss:
    """CC's loss of some rows, by their indices."""
    L = relative(F)
    return lambda G, index: candidate_loss(G, L[index])


def renewing_batches(F: Array) -> BatchLoss:
    """PRODEN's loss of some rows, whose confidences are then updated in place."""
    inside = (F > 0).astype(np.float64)

    def loss(G: Array, index: Indices) -> tuple[float, Array]:
        outcome = cross_entropy(G, F[index])
        F[index] = posterior(G, inside[index])
        return outcome

    return loss


def average_hinge(G: Array, F: Array) -> tuple[float, Array]:
    """CLPL: ``psi(sum_j F_j g_j) + sum_{F_j = 0} psi(-g_j)``, psi the squared hinge.

    Source: CLPL, convex loss.

    F has equal weights on the candidates; the mean candidate score is to be above one,
    the score of every other label below minus one.
    """
    inside = np.maximum(1 - (F * G).sum(axis=1), 0)
    outside = np.where(F > 0, 0.0, np.maximum(1 + G, 0))
    value = (inside**2).sum() + (outside**2).sum()
    return float(value / len(G)), 2 * (outside - inside[:, None] * F) / len(G)


Loss = Callable[[Array], tuple[float, Array]]
Model = TypeVar("Model")
_STEP, _DECAY, _SQUARE_DECAY, _TINY = 1e-3, 0.9, 0.999, 1e-8  # Adam's usual constants
_BATCH = 256
_PATIENCE = 20  # epochs without a better held-out loss
_HELD_OUT = 0.1  # share of the rows that decide when to stop


class Layers(NamedTuple):
    """Weights and intercepts of each layer: ``relu(X W1 + b1) W2 + b2``."""

    weights: list[Array]
    intercepts: list[Array]


def fit_linear(
    X: Standardized,
    loss: Loss,
    start: tuple[Array, Array],
    lam: float,
    *,
    max_iter: int,
    tol: float,
) -> tuple[Array, Array, float, int, bool]:
    """Minimize ``loss(X W + b) + lam / 2 |W|^2`` by L-BFGS.

    Parameters
    ----------
    X : Standardized
        Training rows, (m, d).
    loss : callable
        Mean loss of the scores and its gradient.
    start : tuple of ndarray of shape (d, q) and (q,)
        Weights and intercepts to start from.
    lam : float
        Weight of the penalty; intercepts are free.
    max_iter : int
        Maximum number of iterations.
    tol : float
        Stop when no entry of the gradient is larger than `tol`.

    Returns
    -------
    W, b : ndarray of shape (d, q) and (q,)
        Weights and intercepts.
    value : float
        The value reached.
    n_iter : int
        Number of iterations.
    settled : bool
        Whether it converged.
    """
    d, q = start[0].shape

    def value_and_gradient(flat: Array) -> tuple[float, Array]:
        W, b = flat[:-q].reshape(d, q), flat[-q:]
        value, slope = loss(X @ W + b)
        gradient = X.transposed_matmul(slope) + lam * W
        value += lam / 2 * float(np.vdot(W, W))
        return value, np.concatenate([gradient.ravel(), slope.sum(axis=0)])

    result = minimize(
        value_and_gradient,
        np.concatenate([start[0].ravel(), start[1]]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 2 * max_iter, "gtol": tol, "ftol": 0},
    )
    # A line search that finds no descent has met the precision of the numbers.
    settled = result.status in (0, 2)
    W, b = result.x[:-q].reshape(d, q), result.x[-q:]
    return W, b, float(result.fun), int(result.nit), settled


def forward(X: Any, layers: Layers) -> list[Array]:
    """Return the output of each layer; the last one holds the scores."""
    outputs = []
    for W, b in zip(layers.weights[:-1], layers.intercepts[:-1], strict=True):
        X = np.maximum(X @ W + b, 0)
        outputs.append(X)
    outputs.append(X @ layers.weights[-1] + layers.intercepts[-1])
    return outputs


def gradients(
    X: Array, layers: Layers, outputs: list[Array], slope: Array, lam: float
) -> Layers:
    """Compute the gradient of the penalized loss by back-propagation."""
    inputs = [X, *outputs[:-1]]
    weights, intercepts = [], []
    for i in range(len(inputs) - 1, -1, -1):
        weights.append(inputs[i].T @ slope + lam * layers.weights[i])
        intercepts.append(slope.sum(axis=0))
        if i:
            slope = (slope @ layers.weights[i].T) * (inputs[i] > 0)
    return Layers(weights[::-1], intercepts[::-1])


def fit_hidden_layer(
    rows: Callable[[Indices], Array],
    batch_loss: Callable[[Array, Indices], tuple[float, Array]],
    held_out_loss: Callable[[Array, Indices], float],
    shape: tuple[int, int, int, int],
    lam: float,
    *,
    max_iter: int,
    rng: np.random.RandomState,
) -> tuple[Layers, Array]:
    """Train ``relu(X W1 + b1) W2 + b2`` by Adam; see :func:`train_epochs`.

    Parameters
    ----------
    rows : callable
        Dense standardized rows of given indices.
    batch_loss : callable
        Mean loss and its gradient from scores and the indices of their rows.
    held_out_loss : callable
        Mean loss for early stopping.
    shape : tuple of int
        Numbers of rows, features, hidden units and classes.
    lam : float
        Weight of the penalty.
    max_iter : int
        Maximum number of epochs.
    rng : RandomState
        Draws the start, the held-out rows and the batches.

    Returns
    -------
    layers : Layers
        Weights and intercepts of the best epoch.
    trace : ndarray of shape (n_epochs,)
        Held-out loss of each epoch.
    """
    m, d, width, q = shape
    layers = Layers(
        [
            rng.normal(scale=np.sqrt(2 / d), size=(d, width)),
            rng.normal(scale=np.sqrt(1 / width), size=(width, q)),
        ],
        [np.zeros(width), np.zeros(q)],
    )
    moments = [(np.zeros_like(p), np.zeros_like(p)) for p in _flat(layers)]
    steps = count(1)
    seen: dict[str, Array] = {}

    def step(batch: Indices) -> None:
        X = rows(batch)
        outputs = forward(X, layers)
        _, slope = batch_loss(outputs[-1], batch)
        gradient = gradients(X, layers, outputs, slope, lam)
        _adam(layers, gradient, moments, next(steps))

    def loss(held: Indices) -> float:
        if not seen:
            seen["rows"] = rows(held)
        return held_out_loss(forward(seen["rows"], layers)[-1], held)

    def copied() -> Layers:
        return deepcopy(layers)

    return train_epochs(step, loss, copied, m, max_iter=max_iter, rng=rng)


def train_epochs(
    step: Callable[[Indices], None],
    held_out_loss: Callable[[Indices], float],
    copied: Callable[[], Model],
    m: int,
    *,
    max_iter: int,
    rng: np.random.RandomState,
) -> tuple[Model, Array]:
    """Train a model on shuffled mini-batches with early stopping on held-out rows.

    A tenth of the rows is held out; the epoch with the least loss on them is kept, and
    training ends after 20 epochs without a better one.

    Parameters
    ----------
    step : callable
        Takes a gradient step on the rows of given indices.
    held_out_loss : callable
        Mean loss of held-out rows, the same in every epoch.
    copied : callable
        Returns a copy of the model.
    m : int
        Number of rows.
    max_iter : int
        Maximum number of epochs.
    rng : RandomState
        Draws the held-out rows and the batches.

    Returns
    -------
    best : model
        The copy of the best epoch.
    trace : ndarray of shape (n_epochs,)
        Held-out loss of each epoch.
    """
    order = rng.permutation(m)
    n_held = int(_HELD_OUT * m)
    # With hardly any rows the training rows themselves decide.
    held, kept = (order[:n_held], order[n_held:]) if n_held else (order, order)
    best, best_loss, waited = copied(), np.inf, 0
    trace: list[float] = []
    for _ in iterations("epochs", max_iter):
        kept = rng.permutation(kept)
        for batch in spans(len(kept), _BATCH):
            step(kept[batch])
        trace.append(held_out_loss(held))
        if trace[-1] < best_loss:
            best, best_loss, waited = copied(), trace[-1], 0
        else:
            waited += 1
            if waited == _PATIENCE:
                break
    return best, np.asarray(trace)


def _flat(layers: Layers) -> list[Array]:
    return [*layers.weights, *layers.intercepts]


def _adam(
    layers: Layers, gradient: Layers, moments: list[tuple[Array, Array]], steps: int
) -> None:
    """Take one step of Adam, in place."""
    rate = _STEP * np.sqrt(1 - _SQUARE_DECAY**steps) / (1 - _DECAY**steps)
    for p, g, (mean, square) in zip(
        _flat(layers), _flat(gradient), moments, strict=True
    ):
        mean += (1 - _DECAY) * (g - mean)
        square += (1 - _SQUARE_DECAY) * (g * g - square)
        p -= rate * mean / (np.sqrt(square) + _TINY)
