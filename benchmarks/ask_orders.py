"""Orders of asking that were tried beside that of rank_rows.

``python -m benchmarks.ask --tried`` compares them. None puts more labels right than
least confidence, so rank_rows does not use them.
"""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from partlearn import Disambiguation
from partlearn._ask import flattened

LEAST = 1e-3  # least probability of a label by the regression
POSSIBLE = 0.01  # confidence below which a label is not tried as the answer
N_NEAR = 20  # neighbor whose mean distance is the width of the kernel
BATCH = 50


def doubt(result: Disambiguation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Confidences at the expected share, probability of an error, and scaled rows."""
    F = flattened(np.asarray(result.label_confidence), result.expected_right[0])
    return F, 1 - F.max(axis=1), StandardScaler().fit_transform(result.space())


def hat_matrix(result: Disambiguation) -> np.ndarray:
    """Expected rise of all confidences by the answer, as a kernel ridge has it.

    An answer changes the confidences of its row by d, and the leave-one-out values of
    row i by ``h_ik / (1 - h_ii) d``; the confidences follow their ratio. The value of a
    row falls with the leverage of those that were chosen before.
    """
    F, own, Z = doubt(result)
    D = euclidean_distances(Z, squared=True)
    width = np.sort(D, axis=1)[:, min(N_NEAR, len(D) - 1)].mean()
    values, U = np.linalg.eigh(np.exp(-D / width))
    H = (U * (values.clip(0) / (values.clip(0) + 1))) @ U.T
    leverage = np.minimum(np.diag(H), 0.95)[:, None]
    M = np.maximum(H @ F - leverage * F, LEAST) / (1 - leverage)
    M /= M.sum(axis=1, keepdims=True)
    G = H / (1 - leverage)
    np.fill_diagonal(G, 0)
    gain = own.copy()
    for k in np.flatnonzero(own > 0):
        rise = 0.0
        for label in np.flatnonzero(F[k] > POSSIBLE):
            change = -F[k]
            change[label] += 1
            P = F * np.maximum(M + G[:, [k]] * change, LEAST) / M
            P /= P.sum(axis=1, keepdims=True)
            others = P.max(axis=1) - F.max(axis=1)
            rise += F[k, label] * (others.sum() - others[k])
        gain[k] += max(rise, 0.0)
    chosen: list[int] = []
    near = np.minimum(np.abs(G), 1)
    while len(chosen) < (own > 0).sum():
        best = int(np.argmax(gain))
        chosen.append(best)
        gain *= 1 - near[:, best]
        gain[best] = -1
    return np.array(chosen, dtype=int)


def clusters(result: Disambiguation) -> np.ndarray:
    """One row of each of 50 clusters of the doubtful rows, weighted by the doubt."""
    _, own, Z = doubt(result)
    order = np.argsort(-own, kind="stable")[: (own > 0).sum()]
    top = order[: 4 * BATCH]
    if len(top) <= BATCH:
        return order
    groups = KMeans(BATCH, n_init=1, random_state=0).fit(Z[top], sample_weight=own[top])
    distance = groups.transform(Z[top])
    first = [
        top[members[np.argmin(distance[members, c])]]
        for c in range(BATCH)
        if (members := np.flatnonzero(groups.labels_ == c)).size
    ]
    return np.concatenate([first, order[~np.isin(order, first)]])


def drawn(result: Disambiguation, seed: int) -> np.ndarray:
    """Rows drawn with a chance in proportion to the doubt."""
    _, own, _ = doubt(result)
    gumbel = np.random.RandomState(seed).gumbel(size=len(own))
    order = np.argsort(-(np.log(own.clip(1e-30)) + gumbel), kind="stable")
    return order[: (own > 0).sum()]
