"""PML-FSLA: the authors' program, literal formulas, monotone values, safeguards."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import OPTICS
from sklearn.exceptions import ConvergenceWarning
from tests.settling import fit_briefly

from partlearn._sizes import SIZES
from partlearn.multilabel import PMLFSLA
from partlearn.multilabel.feature_selection._base import EPS, descend, unit_interval
from partlearn.multilabel.feature_selection._fsla_factors import (
    SWEEPS,
    FSLAFactors,
    Support,
    Weights,
    label_step,
)
from partlearn.multilabel.feature_selection._pml_fsla import (
    _agreement,
    _optics_graph,
    fsla_sweeps,
    optics_clusters,
)

LETTERS = "QLPR"


def problem(seed, n=40, d=12, l=6, k=3, empty=False):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    C = rng.uniform(size=(n, l)) < 0.4
    if empty:
        C[::7] = False
    else:
        C[np.arange(n), rng.integers(l, size=n)] = True
    shapes = {"Q": (d, k), "L": (n, k), "P": (n, k), "R": (k, l)}
    start = {name: rng.uniform(0.01, 1, size=shape) for name, shape in shapes.items()}
    return X, C, start


def quiet(selector, X, C):
    """Fit on noise: that it has no clusters, or rows no candidates, is no news here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "OPTICS found|updates=|.*no candidate")
        return fit_briefly(selector, X, C)


@pytest.mark.shared
def test_the_authors_program(shared_dir):
    oracle = np.load(shared_dir / "oracle" / "pml_fsla_code_k4_a1b1g1.npz")
    selector = PMLFSLA(
        None,
        alpha=float(oracle["alpha"]),
        beta=float(oracle["beta"]),
        gamma=float(oracle["gamma"]),
        n_latent=int(oracle["k"]),
        updates="code",
        stop="code",
        init={name: oracle[f"{name}0"] for name in LETTERS},
    ).fit(oracle["X"], oracle["C"])
    np.testing.assert_allclose(selector.weights_, oracle["W"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(selector.objective_, oracle["objective"], rtol=1e-12)
    np.testing.assert_array_equal(selector.selected_, oracle["rank_by_QR"])
    by_q = selector.set_params(variant="feature-norm").fit(oracle["X"], oracle["C"])
    np.testing.assert_array_equal(by_q.selected_, oracle["rank_by_Q"])


@pytest.mark.shared
def test_latent_size_as_in_the_program(shared_dir):
    oracle = np.load(shared_dir / "oracle" / "pml_optics_k.npz")
    rng = np.random.RandomState(0)
    for name in ("raw80", "toy"):
        expected = len(set(oracle[f"labels_{name}"]) - {-1})
        assert optics_clusters(oracle[f"X_{name}"], rng) == expected == 2


def literal(X, C, f, w, updates, t_update, T):
    """One sweep with every matrix written out, and the value by its definition."""
    Q, L, P, R = (f[name] for name in LETTERS)
    a, b, g, mu = w

    def D(Q, R):
        return np.diag(1 / (2 * np.sqrt(np.sum((Q @ R) ** 2, axis=1) + EPS)))

    if updates == "code":
        W, weights = Q @ R, D(Q, R)
        Q = Q * (X.T @ L) / (Q @ L.T @ L + g * weights @ Q @ R @ R.T + EPS)
        L = L * (X @ Q + b * P) / (L @ Q.T @ Q + b * L + EPS)
        T = P @ R * C
        T = T / T.sum(axis=1, keepdims=True)
        P = P * (a * T @ R.T + b * L) / (P @ R @ R.T + b * P + EPS)
        R = R * (P.T @ T) / (P.T @ P @ R + g * Q.T @ weights @ W + EPS)
        penalty = np.trace(W.T @ weights @ W)
    else:
        twice = 2 if updates == "paper" else 1
        eye = np.eye(len(Q))
        L = L * (X @ Q + b * P) / (L @ Q.T @ Q + b * L + EPS)
        weights = eye if updates == "paper" else D(Q, R)
        Q = Q * (X.T @ L) / (Q @ L.T @ L + g * weights @ Q @ R @ R.T + EPS)
        P = P * (a * T @ R.T + twice * b * L) / (a * P @ R @ R.T + b * P + EPS)
        weights = eye if updates == "paper" else D(Q, R)
        R = R * (a * P.T @ T) / (a * P.T @ P @ R + g * Q.T @ weights @ Q @ R + EPS)
        T = P @ R * C
        if t_update == "anchor":
            T = (T + mu * C) / (1 + mu)
        elif t_update == "normalize":
            T = T / T.sum(axis=1, keepdims=True)
        elif t_update == "fixed":
            T = C.astype(float)
        penalty = np.sqrt(np.sum((Q @ R) ** 2, axis=1)).sum()
    value = np.sum((X - L @ Q.T) ** 2) + a * np.sum((T - P @ R) ** 2)
    value += b * np.sum((L - P) ** 2) + g * penalty
    if t_update == "anchor" and updates != "code":
        value += a * mu * np.sum((T - C) ** 2)
    return {"Q": Q, "L": L, "P": P, "R": R}, T, value


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("updates", sorted(SWEEPS))
@pytest.mark.parametrize("t_update", ["anchor", "normalize", "fixed", "paper"])
def test_literal_transcription(updates, t_update, sparse, dense):
    X, C, start = problem(1)
    X[X < 0.3] = 0
    w = Weights(0.7, 1.3, 2.0, 0.5)
    support = Support(C, dense)
    M = sp.csr_array(X) if sparse else X
    f = FSLAFactors(*start.values(), support.ones)
    expected, T = start, C.astype(float)
    for _ in range(5):
        f, value = SWEEPS[updates](M, support, f, w, t_update, float(np.sum(X**2)))
        expected, T, wanted = literal(X, C, expected, w, updates, t_update, T)
        for name in LETTERS:
            np.testing.assert_allclose(getattr(f, name), expected[name], rtol=1e-10)
        np.testing.assert_allclose(support.toarray(f.T), T, rtol=1e-10, atol=1e-300)
        assert value == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("dense", [True, False])
def test_simplex_rows_are_the_nearest_distributions(dense, global_random_seed):
    _, C, start = problem(global_random_seed, empty=True)
    support = Support(C, dense)
    PR = support.product(start["P"], start["R"])
    T = support.toarray(label_step("simplex", PR, support, 1.0))
    full = start["P"] @ start["R"]
    some = C.any(axis=1)
    np.testing.assert_allclose(T[some].sum(axis=1), 1)
    assert not T[~some].any()
    assert not T[~C].any()
    # First-order optimality: on the support of T the residual is one constant.
    for t, x, c in zip(T[some], full[some], C[some], strict=True):
        gap = (x - t)[c]
        assert np.ptp(gap[t[c] > 0]) < 1e-12
        assert (gap[t[c] == 0] <= gap[t[c] > 0].max() + 1e-12).all()


@pytest.mark.parametrize("t_update", ["anchor", "simplex", "fixed", "paper"])
@pytest.mark.parametrize(
    ("a", "b", "g"), [(1, 1, 1), (100, 1, 10), (0.01, 1, 100), (1, 0, 1), (0, 1, 0)]
)
def test_derived_updates_never_raise_the_objective(t_update, a, b, g):
    X, C, start = problem(2)
    w = Weights(a, b, g, 1.0)
    sweeps = fsla_sweeps(X, Support(C), start, w, t_update=t_update)
    _, objective, _ = descend("PMLFSLA", sweeps, 150, 0.0)
    assert np.isfinite(objective).all()
    # The value is a difference of large terms: rounding is relative to the first.
    assert np.diff(objective).max() <= 1e-12 * objective[0]


def degenerate():
    X, C, _ = problem(3)
    constant = X.copy()
    constant[:, :3] = 0
    twins = X.copy()
    twins[:, 1] = twins[:, 0]
    same = np.tile(X[:1], (40, 1))
    wide = np.random.default_rng(0).uniform(size=(5, 30))
    none, everyone = C.copy(), C.copy()
    none[:, 0], everyone[:, 0] = False, True
    return {
        "constant columns": (constant, C),
        "equal columns": (twins, C),
        "equal rows": (same, C),
        "few rows": (wide, C[:5]),
        "label of nobody": (X, none),
        "label of everybody": (X, everyone),
        "huge values": (X * 1e6, C),
        "tiny values": (X * 1e-6, C),
        "empty rows": (X, C & (np.arange(40)[:, None] % 3 > 0)),
    }


@pytest.mark.parametrize("name", sorted(degenerate()))
@pytest.mark.parametrize("t_update", ["anchor", "simplex", "fixed"])
def test_degenerate_data(name, t_update):
    X, C = degenerate()[name]
    selector = PMLFSLA(
        3, t_update=t_update, n_latent=3, n_init=1, max_iter=60, random_state=0
    )
    quiet(selector, X, C)
    assert np.isfinite(selector.scores_).all()
    rise = np.diff(selector.objective_).max()
    assert rise <= 1e-11 * selector.objective_[0]
    assert not selector.labels_[~C].any()


def test_constant_columns_come_last():
    X, C = degenerate()["constant columns"]
    selector = quiet(PMLFSLA(3, n_latent=3, n_init=1, random_state=0), X, C)
    assert sorted(selector.ranking_[:3]) == [10, 11, 12]
    assert not selector.scores_[:3].any()


def test_equal_scores_are_shuffled_not_left_in_column_order():
    X, C = degenerate()["constant columns"]
    orders = {
        tuple(
            quiet(
                PMLFSLA(3, n_latent=3, n_init=1, max_iter=5, random_state=s), X, C
            ).ranking_[:3]
        )
        for s in range(12)
    }
    assert len(orders) > 2


def test_anchored_labels_find_what_decides(global_random_seed):
    """A favourable case: few, strong features decide all labels."""
    rng = np.random.default_rng(global_random_seed)
    n, d = 300, 30
    X = rng.uniform(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.3)
    group = rng.integers(4, size=n)
    X[np.arange(n), group] = 1
    Y = np.eye(4, dtype=bool)[group]
    C = Y | (rng.uniform(size=Y.shape) < 0.2)
    selector = PMLFSLA(4, n_latent=5, n_init=2, random_state=global_random_seed)
    quiet(selector, X, C)
    assert len(set(selector.selected_) & {0, 1, 2, 3}) >= 3
    # Denoised: true candidates keep more than false ones.
    assert selector.labels_[Y].mean() > selector.labels_[C & ~Y].mean() + 0.03


def test_the_lowest_objective_is_kept():
    X, C, _ = problem(4)
    several = quiet(PMLFSLA(3, n_latent=3, n_init=3, random_state=7), X, C)
    rng, values = np.random.RandomState(7), []
    for _ in range(3):
        shapes = {"Q": (12, 3), "L": (40, 3), "P": (40, 3), "R": (3, 6)}
        start = {name: rng.uniform(size=shape) for name, shape in shapes.items()}
        values.append(quiet(PMLFSLA(3, init=start), X, C).objective_[-1])
    assert several.objective_[-1] == min(values)
    assert -1 <= several.rank_agreement_ <= 1


def test_rank_agreement_of_scores():
    up, down = np.arange(4.0), -np.arange(4.0)
    assert np.isnan(_agreement([up]))
    assert _agreement([up, up]) == 1
    assert _agreement([up, down]) == -1
    assert _agreement([up, up, down]) == pytest.approx(-1 / 3)


def test_printed_rules_diverge_and_say_so():
    X, C, start = problem(5)
    selector = PMLFSLA(3, updates="paper", init=start, max_iter=10)
    with (
        pytest.warns(UserWarning, match="grow without bound"),
        pytest.warns(ConvergenceWarning),
    ):
        selector.fit(X, C)
    assert selector.objective_[-1] > 20 * selector.objective_[0]


def test_printed_rules_overflow_without_an_error_of_arithmetic():
    X, C, start = problem(5)
    w = Weights(1.0, 1.0, 1.0, 1.0)
    sweeps = fsla_sweeps(X, Support(C), start, w, updates="paper")
    with np.errstate(over="ignore", invalid="ignore"):
        f, objective, settled = descend("PMLFSLA", sweeps, 2000, 0.0)
    assert not settled
    assert len(objective) < 2000
    assert np.isfinite(f.P).all()


def test_collapse_is_an_error():
    """The printed label step forgets the candidates, and every score goes to zero."""
    X, C, start = problem(6)
    selector = PMLFSLA(3, t_update="paper", init=start, gamma=100.0, tol=0.0)
    with pytest.raises(ValueError, match="vanished or"):
        quiet(selector.set_params(max_iter=3000), X, C)


def test_auto_size_has_a_floor_and_warns():
    X = np.random.default_rng(0).uniform(size=(4, 9))
    C = np.ones((4, 6), dtype=bool)
    with pytest.warns(UserWarning, match="OPTICS found 0 clusters of rows.* 5 are"):
        selector = PMLFSLA(3, n_init=1, random_state=0).fit(X, C)
    assert selector.n_latent_ == 4  # no more than rows
    with pytest.warns(UserWarning, match="found 0 clusters of rows.* 1 are"):
        selector = PMLFSLA(3, updates="code", n_init=1, random_state=0).fit(X, C)
    assert selector.n_latent_ == 1


def test_one_latent_direction_ranks_by_q_and_by_qr_alike():
    X, C, _ = problem(8)
    a = quiet(PMLFSLA(3, n_latent=1, random_state=0), X, C)
    b = quiet(PMLFSLA(3, n_latent=1, random_state=0, variant="feature-norm"), X, C)
    np.testing.assert_array_equal(a.ranking_, b.ranking_)


def test_clusters_of_a_subsample(monkeypatch):
    rng = np.random.default_rng(0)
    centers = rng.uniform(size=(3, 8)) * 100
    X = np.vstack([c + rng.uniform(size=(30, 8)) for c in centers])
    dense = optics_clusters(X, np.random.RandomState(0))
    assert optics_clusters(sp.csr_array(X), np.random.RandomState(0)) == dense
    monkeypatch.setattr(SIZES, "optics_rows", 60)
    assert optics_clusters(X, np.random.RandomState(0)) >= 3


@pytest.mark.parametrize("kind", ["even", "blobs", "duplicates", "sparse"])
def test_order_of_optics_is_scikit_learns(kind):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(150, 7))
    if kind == "blobs":
        X += 5 * rng.uniform(size=(8, 7))[rng.integers(8, size=150)]
    elif kind == "duplicates":
        X = np.round(2 * X[:, :3])
    elif kind == "sparse":
        X = sp.csr_array(np.where(rng.uniform(size=X.shape) < 0.3, X, 0))
    metric = "euclidean" if kind == "sparse" else "minkowski"
    with warnings.catch_warnings():
        # scikit-learn divides by distances, which are zero between equal rows.
        warnings.simplefilter("ignore", RuntimeWarning)
        model = OPTICS(min_samples=5, xi=0.05, min_cluster_size=0.01, metric=metric)
        model.fit(X)
    ordering, reachability, predecessor = _optics_graph(X)
    np.testing.assert_array_equal(ordering, model.ordering_)
    np.testing.assert_array_equal(reachability, model.reachability_)
    np.testing.assert_array_equal(predecessor, model.predecessor_)
    found = optics_clusters(X, np.random.RandomState(0))
    assert found == len(set(model.labels_) - {-1}) > 0


def test_negative_features_need_scaling():
    X, C, _ = problem(9)
    with pytest.raises(ValueError, match=r"Negative values.*PMLFSLA\(scale=True\)"):
        PMLFSLA(3).fit(X - 0.5, C)
    scaled = PMLFSLA(3, n_latent=3, n_init=1, random_state=0, scale=True)
    by_hand = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    plain = PMLFSLA(3, n_latent=3, n_init=1, random_state=0)
    np.testing.assert_allclose(
        quiet(scaled, X - 0.5, C).scores_, quiet(plain, by_hand, C).scores_, rtol=1e-6
    )


def test_sparse_scaling_keeps_zeros():
    X = sp.csr_array(np.array([[0.0, 2.0, 3.0], [4.0, 0.0, 3.0], [1.0, 0.0, 3.0]]))
    scaled = unit_interval(X)
    assert scaled.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0.25, 0, 0]]
    with pytest.raises(ValueError, match="Column 1 of the sparse X"):
        unit_interval(sp.csr_array(np.array([[0.0, -1.0], [1.0, 0.0]])))


def test_rows_without_candidates_are_named():
    X, C, start = problem(10, empty=True)
    bare = (~C.any(axis=1)).sum()
    with pytest.warns(UserWarning, match=f"{bare} rows have no candidate"):
        selector = PMLFSLA(3, init=start, t_update="normalize", stop="code").fit(X, C)
    assert not selector.labels_[::7].any()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"R": None}, "must hold the factors Q, L, P, R"),
        ({"L": np.ones((3, 3))}, r"Factor L of `init` must have shape \(40, 3\)"),
        ({"P": np.full((40, 3), -1.0)}, "finite and not negative"),
        ({"Q": np.full((12, 3), np.nan)}, "finite and not negative"),
    ],
)
def test_bad_starts(change, match):
    X, C, start = problem(11)
    start = {k: v for k, v in {**start, **change}.items() if v is not None}
    with pytest.raises(ValueError, match=match):
        PMLFSLA(3, init=start).fit(X, C)
    with pytest.raises(ValueError, match="got none"):
        PMLFSLA(3, init={}).fit(X, C)


def test_columns_to_keep_and_to_leave_out():
    X, C, start = problem(12)
    selector = PMLFSLA(4, init=start, must_keep=[5], exclude=[0, 1])
    quiet(selector, X, C)
    assert selector.selected_[0] == 5
    assert sorted(selector.ranking_[[0, 1]]) == [11, 12]
    assert len(selector.selected_) == 4


def test_convergence_is_reported():
    X, C, start = problem(13)
    with pytest.warns(ConvergenceWarning, match="max_iter=4"):
        PMLFSLA(3, init=start, max_iter=4, tol=0.0).fit(X, C)


def test_support_in_blocks(monkeypatch):

    _, C, start = problem(14)
    sparse = Support(C, dense=False)
    whole = sparse.product(start["P"], start["R"])
    monkeypatch.setattr(SIZES, "fsla_block", 10)
    np.testing.assert_array_equal(sparse.product(start["P"], start["R"]), whole)
    assert Support(C).dense
    assert not Support(np.eye(40, 30, dtype=bool)).dense
