"""Rules of bags beside a literal enumeration of all assignments."""

import itertools

import numpy as np
import pytest

from partlearn._math.bags import BagLayout, exact_pass, sweeps

RULES = ("cover", "distinct", "match")
FACTORS = {
    "cover": lambda count, stray: np.where(count > 0, 1.0, stray),
    "distinct": lambda count, stray: np.where(count < 2, 1.0, 0.0),
    "match": lambda count, stray: np.where(
        count == 1, 1.0, np.where(count == 0, stray, 0.0)
    ),
}


def enumerated(P, rest, rule, stray):
    """Sum over all ways to give each row a label of the list or another one."""
    n, c = P.shape
    Q = np.column_stack([P, rest])
    kinds = range(c + 1) if rest.any() else range(c)
    ways = np.array(list(itertools.product(kinds, repeat=n)))
    count = (ways[:, :, None] == np.arange(c)).sum(axis=1)
    weight = Q[np.arange(n), ways].prod(axis=1)
    weight = weight * FACTORS[rule](count, stray).prod(axis=1)
    F = np.array(
        [[weight[ways[:, i] == j].sum() for j in range(c + 1)] for i in range(n)]
    )
    unused = weight @ (count == 0)
    return F / weight.sum(), unused / weight.sum()


def random_bag(rng, *, rest=False, most=6):
    n, c = rng.integers(1, most + 1, size=2)
    P = rng.dirichlet(np.full(c + 1, 0.5), size=n)
    if not rest:
        P[:, -1] = 0
    P /= P.sum(axis=1, keepdims=True)
    P[:, :c] = np.maximum(P[:, :c], 1e-12)
    return P[:, :c], P[:, c], rng.choice([0.001, 0.03, 0.1, 0.3])


def test_sweeps_of_cover_are_close_to_enumeration():
    rng = np.random.default_rng(0)
    off, moved = [], []
    for _ in range(1000):
        P, rest, stray = random_bag(rng)
        F, _ = enumerated(P, rest, "cover", stray)
        G, other, _ = sweeps(P[:, :, None], rest[:, None], "cover", stray)
        assert np.allclose(G.sum(axis=1) + other, 1)
        off.append(np.abs(G[:, :, 0] - F[:, :-1]).mean())
        moved.append(np.abs(P - F[:, :-1]).mean())
    assert np.mean(off) < 0.01
    assert np.mean(off) < np.mean(moved) / 4


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rest", [False, True])
def test_exact_pass_is_enumeration(rule, rest):
    rng = np.random.default_rng(1)
    n_bags = {False: 1000, True: 100}[rest]
    seen = 0
    for _ in range(n_bags):
        P, other, stray = random_bag(rng, rest=rest, most=5 if rest else 6)
        G, H, unused, possible = exact_pass(P[:, :, None], other[:, None], rule, stray)
        assert possible[0] == (rest or rule == "cover" or len(P) <= P.shape[1])
        if not possible[0]:
            assert np.array_equal(G[:, :, 0], P)
            continue
        F, nobody = enumerated(P, other, rule, stray)
        assert np.allclose(G[:, :, 0], F[:, :-1], atol=1e-9, rtol=0)
        assert np.allclose(H[:, 0], F[:, -1], atol=1e-9, rtol=0)
        assert np.allclose(unused[:, 0], nobody, atol=1e-9, rtol=0)
        seen += 1
    assert seen > n_bags / 3


def literal_sweeps(P, rule, e):
    """Formulas of the rule, entry by entry, one bag of rows without other labels."""
    n, q = P.shape
    w = np.ones((n, q))
    for _ in range(10):
        m = np.empty((n, q))
        for i, j in np.ndindex(n, q):
            others = sum(P[i, k] * w[i, k] for k in range(q) if k != j)
            m[i, j] = min(P[i, j] / (P[i, j] + others), 1 - 1e-9)
        new = np.empty((n, q))
        for i, j in np.ndindex(n, q):
            rows = [k for k in range(n) if k != i]
            u = np.prod([1 - m[k, j] for k in rows])
            s = sum(m[k, j] / (1 - m[k, j]) for k in rows)
            if rule == "cover":
                new[i, j] = 1 / (1 - (1 - e) * u)
            else:
                new[i, j] = 1 / ((1 if rule == "distinct" else e) + s)
        w = np.sqrt(w * new)
    F = P * w
    return F / F.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("rule", RULES)
def test_sweeps_follow_their_formulas(rule):
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.ones(4), size=(5, 3)).transpose(1, 2, 0)  # 5 bags, 3 rows
    F, _, _ = sweeps(P, np.zeros((3, 5)), rule, 0.07)
    for b in range(5):
        assert np.allclose(F[:, :, b], literal_sweeps(P[:, :, b], rule, 0.07))


@pytest.mark.parametrize("rule", RULES)
def test_bags_of_many_shapes_are_those_of_each_alone(rule):
    """Filling arrays up, sorting and blocks change no number."""
    rng = np.random.default_rng(3)
    q, strays, absent = 20, 0.0, 0.0
    sizes = rng.integers(1, 18, size=40)
    codes = np.repeat(np.arange(40), sizes)
    P, S = np.zeros((len(codes), q)), np.zeros((len(codes), q), dtype=bool)
    for b, n in enumerate(sizes):
        labels = rng.choice(q, size=rng.integers(max(2, n // 2), q), replace=False)
        rows = np.flatnonzero(codes == b)
        S[np.ix_(rows, labels)] = rng.random((n, len(labels))) < 0.8
        S[rows, labels[0]] = True
    P[S] = rng.random(S.sum())
    P[::7] += 0.01  # some confidence outside the lists
    shuffled = rng.permutation(len(codes))
    share = BagLayout(codes[shuffled], S[shuffled]).apply(P[shuffled], rule, 0.05)
    F = np.empty_like(P)
    F[shuffled] = share.F
    for b in range(40):
        rows = np.flatnonzero(codes == b)
        one = BagLayout(np.zeros(len(rows), dtype=int), S[rows])
        alone = one.apply(P[rows], rule, 0.05)
        assert np.allclose(F[rows], alone.F, atol=1e-12)
        assert (b in share.impossible) == (alone.impossible.size == 1)
        listed = S[rows].any(axis=0).sum()
        if rule != "distinct" and not alone.impossible.size:
            # The rate is strays / absent, with absent = q - listed + strays.
            here = alone.stray * (q - listed) / (1 - alone.stray)
            strays, absent = strays + here, absent + q - listed + here
    assert np.allclose(F.sum(axis=1), 1)
    assert (F[~S & (P == 0)] == 0).all()
    if rule != "distinct":
        assert share.stray == pytest.approx(strays / absent)


def test_large_confidences_do_not_cancel():
    """Rows almost certain of one label, and a list without strays."""
    P = np.array([[1 - 1e-9, 1e-9], [1 - 2e-9, 2e-9]])[:, :, None]
    F = sweeps(P, np.zeros((2, 1)), "cover", 0.0)[0][:, :, 0]
    assert np.isfinite(F).all()
    exact = exact_pass(P, np.zeros((2, 1)), "cover", 0.0)[0][:, :, 0]
    assert np.allclose(exact, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], atol=1e-8)
