"""SAUTE against a literal transcription of Table 1 of the paper, loop by loop."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from tests.settling import fit_briefly

from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates
from partlearn.feature_selection import SAUTE, MaxRelevance

TIE = 1e-10


def entropy_given(x, F, S, var_floor):
    """Equations 8 to 11: one feature at a time, one row at a time."""
    m, q = S.shape
    spread = x.std(ddof=1)
    classes = []
    for j in range(q):
        rows = [i for i in range(m) if S[i, j] and F[i, j] >= 1 / S[i].sum() - 1e-12]
        prior = sum(F[i, j] for i in range(m)) / m
        if not rows or prior == 0:
            continue
        mu = sum(x[i] for i in rows) / len(rows)
        var = sum((x[i] - mu) ** 2 for i in rows) / max(len(rows) - 1, 1)
        floor = var_floor * spread if spread > 0 else 1e-6
        classes.append((math.log(prior), mu, max(math.sqrt(var), floor)))
    total = 0.0
    for i in range(m):
        logs = [
            p - math.log(s) - (x[i] - mu) ** 2 / (2 * s * s) for p, mu, s in classes
        ]
        top = max(logs)
        weights = [math.exp(a - top) for a in logs]
        for w in weights:
            share = w / sum(weights)
            total -= share * math.log(share) if share > 0 else 0.0
    return total / m


def bins(x):
    mu, s = x.mean(), x.std(ddof=1)
    if s == 0:
        return [0] * len(x)
    cuts = (mu - 2 * s, mu - s, mu + s, mu + 2 * s)
    return [sum(v > c for c in cuts) for v in x]


def mutual_information(a, b):
    m = len(a)
    total = 0.0
    for u in set(a):
        for v in set(b):
            joint = sum(x == u and y == v for x, y in zip(a, b, strict=True)) / m
            if joint > 0:
                total += joint * math.log(joint / (a.count(u) / m * b.count(v) / m))
    return total


def votes_on(Z, F, i, k, ties):
    """Weights k, k - 1, ..., 1; rows at one distance share the weights they take."""
    ordered = sorted(
        (math.sqrt(((Z[i] - Z[j]) ** 2).sum()), j) for j in range(len(Z)) if j != i
    )
    votes, rank = np.zeros(F.shape[1]), 0
    if ties == "order":
        ordered = sorted((round(d, 9), j) for d, j in ordered)
        return sum((k - a) * F[j] for a, (_, j) in enumerate(ordered[:k]))
    while rank < k:
        level = ordered[rank][0]
        tied = [j for d, j in ordered if abs(d - level) <= 1e-9]
        weight = sum(k - a for a in range(rank, min(k, rank + len(tied))))
        votes += weight / len(tied) * sum(F[j] for j in tied)
        rank += len(tied)
    return votes


def table_1(
    X,
    S,
    n,
    *,
    alpha=0.6,
    k=8,
    var_floor=0.6,
    max_iter=20,
    normalize_sums=False,
    redundancy=True,
    ties="share",
):
    m, d = X.shape
    std = X.std(axis=0, ddof=1)
    X = (X - X.mean(axis=0)) / np.where(std > 0, std, 1.0)
    k = min(k, m - 1)
    codes = [bins(X[:, f]) for f in range(d)]
    F = S / S.sum(axis=1, keepdims=True)
    before = None
    t = 0
    while t < max_iter:
        t += 1
        H = [entropy_given(X[:, f], F, S, var_floor) for f in range(d)]
        A = []
        while len(A) < n:
            scores = []
            for f in range(d):
                score = -H[f]
                if A and redundancy:
                    score -= sum(
                        mutual_information(codes[f], codes[g]) for g in A
                    ) / len(A)
                scores.append(-math.inf if f in A else score)
            best = max(scores)
            A.append(next(f for f in range(d) if scores[f] >= best - TIE))
        Z = X[:, A]
        N = np.zeros_like(F)
        for i in range(m):
            votes = votes_on(Z, F, i, k, ties)
            if normalize_sums:
                votes /= k * (k + 1) / 2
            N[i] = ((1 - alpha) * F[i] + alpha * votes) * S[i]
        F = N / N.sum(axis=1, keepdims=True)
        if before == set(A):
            break
        before = set(A)
    return A, F, t


def gaussian_set(rng):
    """Classes with their own means in some of the features."""
    y = rng.integers(3, size=45)
    X = rng.normal(size=(45, 8))
    X[:, :4] += 2.0 * rng.normal(size=(3, 4))[y]
    return X, make_candidates(y, n_false=1, random_state=int(rng.integers(99)))


def tied_set(rng):
    """Copies, mirrored copies, a constant, and few distinct values."""
    X, S = gaussian_set(rng)
    X = np.column_stack([X[:, 4], X[:, :3], X[:, 1], 3 - 2 * X[:, 0], np.ones(45)])
    return np.column_stack([X, (X[:, 1] > 0).astype(float)]), S


def count_set(rng):
    """Words: sparse counts, and classes of uneven size."""
    y = rng.choice(4, size=50, p=[0.55, 0.3, 0.1, 0.05])
    y[:4] = range(4)
    X = rng.poisson(0.2 + 1.5 * (rng.random((4, 9)) < 0.3)[y]).astype(float)
    return X, make_candidates(y, n_false=2, random_state=int(rng.integers(99)))


@pytest.mark.parametrize("var_floor", [0.6, 1e-6])
@pytest.mark.parametrize("make", [gaussian_set, tied_set, count_set])
def test_same_path_as_table_1(make, var_floor, global_random_seed):
    X, S = make(np.random.default_rng(global_random_seed))
    order, F, n_iter = table_1(X, S, 4, k=5, var_floor=var_floor)
    selector = fit_briefly(SAUTE(4, n_neighbors=5, var_floor=var_floor), X, S)
    assert_array_equal(selector.selected_, order)
    assert selector.n_iter_ == n_iter
    assert_allclose(selector.label_confidence_, F, atol=1e-9)  # sums in another order


@pytest.mark.parametrize("make", [tied_set, count_set])
def test_ties_in_the_order_of_the_data_as_in_table_1(make, global_random_seed):
    X, S = make(np.random.default_rng(global_random_seed))
    order, F, n_iter = table_1(X, S, 4, k=5, ties="order")
    selector = fit_briefly(SAUTE(4, n_neighbors=5, ties="order"), X, S)
    assert_array_equal(selector.selected_, order)
    assert selector.n_iter_ == n_iter
    assert_allclose(selector.label_confidence_, F, atol=1e-9)
    if make is count_set:  # distances of which many are equal
        shared = fit_briefly(SAUTE(4, n_neighbors=5), X, S)
        assert (shared.label_confidence_ != selector.label_confidence_).any()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("make", [tied_set, count_set])
def test_sparse_rows_as_in_table_1(make, compiled, monkeypatch, global_random_seed):
    """As the dense rows, also by the compiled path of wide text."""
    if compiled:
        pytest.importorskip("numba")
        monkeypatch.setattr(SIZES, "path_compiled", 0)
    X, S = make(np.random.default_rng(global_random_seed))
    order, F, n_iter = table_1(X, S, 4, k=5)
    selector = fit_briefly(SAUTE(4, n_neighbors=5), sp.csr_array(X), S)
    assert_array_equal(selector.selected_, order)
    assert selector.n_iter_ == n_iter
    assert_allclose(selector.label_confidence_, F, atol=1e-9)


@pytest.mark.parametrize(
    "options", [{"normalize_sums": True}, {"alpha": 0.2}, {"alpha": 0.0}]
)
def test_options_as_in_table_1(options):
    X, S = gaussian_set(np.random.default_rng(5))
    order, F, n_iter = table_1(X, S, 3, **options)
    selector = SAUTE(3, **options).fit(X, S)
    assert_array_equal(selector.selected_, order)
    assert selector.n_iter_ == n_iter
    assert_allclose(selector.label_confidence_, F, atol=1e-9)


def test_maximum_relevance_is_table_1_without_redundancy(global_random_seed):
    X, S = tied_set(np.random.default_rng(global_random_seed))
    order, F, n_iter = table_1(X, S, 3, redundancy=False)
    selector = MaxRelevance(3).fit(X, S)
    assert_array_equal(selector.selected_, order)
    assert selector.n_iter_ == n_iter
    assert_allclose(selector.label_confidence_, F, atol=1e-9)


@pytest.mark.shared
def test_third_party_set_with_its_quirks(shared_dir):
    """The reference counts a row among its neighbours and mixes bits with nats."""
    z = np.load(shared_dir / "oracle" / "saute_third_party.npz", allow_pickle=False)
    X, S = z["X"], z["S"].astype(bool)
    A, F = quirky_table_1(X, S, int(z["d_prime"]), int(z["k"]), float(z["alpha"]))
    assert set(A) == set(z["ref_selected"].tolist())
    # The reference keeps confidences in float32, which moves members of classes.
    assert_allclose(F, z["ref_Y"], atol=0.07)


def quirky_table_1(X, S, n, k, alpha):
    """The package's reading: self among the neighbours, bits and nats, ddof 0."""
    from partlearn.feature_selection._columns import columns, information
    from partlearn.feature_selection._relevance import Relevance

    m, d = X.shape
    data = columns(X)
    mu, s = X.mean(axis=0), X.std(axis=0)
    cuts = [mu + c * s for c in (-2, -1, 1, 2)]
    codes = sum(np.greater(X, cut).astype(int) for cut in cuts)
    F = (S / S.sum(axis=1, keepdims=True)).astype(np.float64)
    before = None
    for _ in range(20):
        H = -Relevance(data, F, S, var_floor=1e-6).values / np.log(2)
        A, red = [], np.zeros(d)
        for p in range(n):
            score = -H - red / max(p, 1)
            score[A] = -np.inf
            A.append(int(np.argmax(score)))
            for g in range(d):
                pair = np.bincount(codes[:, A[-1]] * 5 + codes[:, g], minlength=25)
                red[g] += information(pair.reshape(5, 5), m)
        Z = X[:, A]  # as given
        D = ((Z[:, None] - Z) ** 2).sum(axis=2)
        near = np.argsort(D, axis=1, kind="stable")[:, :k]  # the row itself is first
        votes = sum((k - a) * F[near[:, a]] for a in range(k))
        N = ((1 - alpha) * F + alpha * votes) * S
        F = N / N.sum(axis=1, keepdims=True)
        if before == set(A):
            break
        before = set(A)
    return A, F


@pytest.mark.shared
def test_third_party_mutual_information(shared_dir):
    from partlearn.feature_selection._columns import columns
    from partlearn.feature_selection._redundancy import DenseTables

    z = np.load(shared_dir / "oracle" / "saute_third_party.npz", allow_pickle=False)
    data = columns(z["X"])
    data.std *= np.sqrt((len(z["X"]) - 1) / len(z["X"]))  # the reference has ddof 0
    tables = DenseTables(data)
    found = np.array([tables.row(f) for f in range(40)])
    assert_allclose(found, z["ref_MI_nats_ddof0"], atol=1e-12)
    assert found.max() > 0.1
