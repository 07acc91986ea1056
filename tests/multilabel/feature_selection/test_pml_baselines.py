"""PML-FSSO, MIFS and DRMFS: reference programs, literal formulas, monotone values."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from tests.settling import fit_briefly

from partlearn._math.graphs import heat_graph, laplacian
from partlearn.multilabel import DRMFS, MIFS, PMLFSSO
from partlearn.multilabel.feature_selection import _drmfs as drmfs
from partlearn.multilabel.feature_selection import _pml_fsso as fsso
from partlearn.multilabel.feature_selection._base import EPS, ReweightedRidge
from partlearn.multilabel.feature_selection._mifs import (
    MIFSProblem,
    _solve_V,
    mifs_als,
    mifs_gd,
    mifs_objective,
)

SELECTORS = [PMLFSSO, MIFS, DRMFS]


def problem(seed=0, n=30, d=9, l=5):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    C = rng.uniform(size=(n, l)) < 0.4
    return X, C, rng


class TestPMLFSSO:
    @pytest.mark.shared
    def test_the_authors_program(self, shared_dir):
        oracle = np.load(shared_dir / "oracle" / "pml_fsso_code_1111.npz")
        selector = PMLFSSO(
            None,
            stale=True,
            self_loops=True,
            init={name: oracle[f"{name}0"] for name in "UVM"},
        ).fit(oracle["X"], oracle["C"])
        np.testing.assert_allclose(selector.weights_, oracle["W"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(selector.objective_, oracle["objective"], rtol=1e-9)
        np.testing.assert_array_equal(selector.selected_, oracle["rank"])

    @pytest.mark.parametrize("stale", [True, False])
    @pytest.mark.parametrize(("n", "sparse"), [(30, False), (30, True), (6, False)])
    def test_literal_transcription(self, stale, n, sparse):
        X, C, rng = problem(1, n=n)
        Y, a, b, c, th = C.astype(float), 0.7, 1.3, 0.5, 2.0
        S = heat_graph(X).toarray()
        A = np.diag(S.sum(axis=1))
        k = 4
        U, V, M = (rng.uniform(size=s) for s in [(n, k), (k, 5), (k, 9)])
        data, graph = sp.csr_array(X) if sparse else X, sp.csr_array(S)
        p = fsso.FSSOProblem(data, Y, graph, (a, b, c, th), stale)
        *_, (f, reported) = islice(fsso.fsso_sweeps(p, U, V, M), 4)
        for _ in range(4):
            W = M.T @ V
            D = np.diag(0.5 / np.sqrt(np.sum(W**2, axis=1) + EPS))
            V = (
                V
                * (M @ X.T @ Y + a * U.T @ Y)
                / (M @ X.T @ X @ W + a * U.T @ U @ V + 2 * th * M @ D @ W + EPS)
            )
            U = (
                U
                * (a * Y @ V.T + b * X @ M.T + c * S @ U)
                / (a * U @ V @ V.T + b * U @ M @ M.T + c * A @ U + EPS)
            )
            if not stale:
                W = M.T @ V
                D = np.diag(0.5 / np.sqrt(np.sum(W**2, axis=1) + EPS))
            M = (
                M
                * (V @ Y.T @ X + b * U.T @ X)
                / (V @ W.T @ X.T @ X + b * U.T @ U @ M + 2 * th * V @ V.T @ M @ D + EPS)
            )
        for found, wanted in zip(f, (U, V, M), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
        W = M.T @ V
        value = np.sum((X @ W - Y) ** 2) + a * np.sum((Y - U @ V) ** 2)
        value += b * np.sum((X - U @ M) ** 2) + c * np.trace(U.T @ (A - S) @ U)
        value += 2 * th * np.sqrt(np.sum(W**2, axis=1)).sum()
        assert fsso.fsso_objective(p, *f) == pytest.approx(value, rel=1e-9)
        assert (reported == pytest.approx(value, rel=1e-9)) is not stale

    def test_the_latent_size_has_a_limit(self):
        rng = np.random.default_rng(0)
        X, C = rng.uniform(size=(12, 260)), rng.uniform(size=(12, 3)) < 0.5
        with (
            pytest.warns(UserWarning, match="would be 208; 200 are used"),
            pytest.warns(ConvergenceWarning, match="max_iter=2"),
        ):
            selector = PMLFSSO(3, t="median", max_iter=2, random_state=0).fit(X, C)
        assert selector.n_latent_ == 200
        X, C, _ = problem()
        assert fit_briefly(PMLFSSO(3, max_iter=3), X, C).n_latent_ == 8  # ceil(7.2)

    def test_labels_are_smoothed_candidates(self):
        X, C, _ = problem()
        selector = fit_briefly(PMLFSSO(3, n_latent=4, random_state=0), X, C)
        assert not selector.labels_[~C].any()
        assert selector.labels_[C].mean() > 0.3


class TestMIFS:
    @pytest.mark.shared
    def test_reference_program(self, shared_dir):
        oracle = np.load(shared_dir / "oracle" / "pml_mifs.npz")
        selector = MIFS(
            None,
            solver="gd",
            step=float(oracle["step"]),
            max_iter=int(oracle["n_updates"]),
            init={name: oracle[f"{name}0"] for name in "WVB"},
        )
        fit_briefly(selector, oracle["X"], oracle["C"])
        np.testing.assert_allclose(selector.weights_, oracle["W"], rtol=0, atol=1e-10)
        np.testing.assert_array_equal(selector.selected_, oracle["rank"])
        exact = fit_briefly(
            MIFS(None, init={name: oracle[f"{name}0"] for name in "WVB"}),
            oracle["X"],
            oracle["C"],
        )
        assert exact.objective_[-1] <= selector.objective_[-1]

    @pytest.mark.parametrize("sparse", [True, False])
    @pytest.mark.parametrize("n", [30, 7])
    def test_every_block_is_the_minimiser(self, n, sparse):
        X, C, rng = problem(2, n=n)
        L = laplacian(heat_graph(X, 3))
        p = MIFSProblem(
            sp.csr_array(X) if sparse else X, C.astype(float), L, 0.7, 0.4, 2.0
        )
        W, V, B = (rng.normal(size=s) for s in [(9, 3), (n, 3), (3, 5)])
        V = _solve_V(p, W, V, B)
        left = V + p.b * (L @ V) + p.a * V @ B @ B.T
        np.testing.assert_allclose(left, X @ W + p.a * p.Y @ B.T, atol=1e-10)
        r = rng.uniform(0.5, 2, size=9)
        for center in (False, True):
            H = np.eye(n) - center / n
            coefficients = ReweightedRidge(p.X, center=center).solve(r, V)
            expected = np.linalg.solve(X.T @ H @ X + np.diag(r), X.T @ H @ V)
            np.testing.assert_allclose(coefficients, expected, rtol=1e-9, atol=1e-12)

    def test_objective_by_its_definition(self):
        X, C, rng = problem(3)
        L = laplacian(heat_graph(X))
        p = MIFSProblem(X, C.astype(float), L, 0.7, 0.4, 2.0)
        W, V, B = (rng.normal(size=s) for s in [(9, 2), (30, 2), (2, 5)])
        value = np.sum((X @ W - V) ** 2) + 0.7 * np.sum((C - V @ B) ** 2)
        value += 0.4 * np.trace(V.T @ L.toarray() @ V)
        value += 2 * np.sqrt(np.sum(W**2, axis=1)).sum()
        assert mifs_objective(p, W, V, B) == pytest.approx(value, rel=1e-12)

    def test_backtracking_descends_and_long_steps_are_an_error(self):
        X, C, _ = problem(5)
        selector = fit_briefly(MIFS(3, solver="gd", random_state=0), 10 * X, C)
        assert np.diff(selector.objective_).max() <= 0
        with pytest.raises(ValueError, match=r"size 1\.0 diverge"):
            fit_briefly(MIFS(3, solver="gd", step=1.0, random_state=0), 10 * X, C)

    def test_gradient_sweeps_are_endless(self):
        X, C, rng = problem(6)
        p = MIFSProblem(X, C.astype(float), laplacian(heat_graph(X)), 1.0, 0.1, 1.0)
        start = [rng.uniform(size=s) for s in [(9, 2), (30, 2), (2, 5)]]
        values = [v for *_, v in islice(mifs_gd(p, *start, None), 900)]
        assert np.diff(values).max() <= 0
        exact = [v for *_, v in islice(mifs_als(p, *start), 60)]
        assert exact[-1] <= values[-1]

    def test_default_size(self):
        X, C, _ = problem(7)
        assert fit_briefly(MIFS(3, max_iter=2), X, C).n_latent_ == 2
        assert fit_briefly(MIFS(3, max_iter=2, n_latent=4), X, C).n_latent_ == 4

    def test_negative_features_are_fine(self):
        X, C, _ = problem(8)
        assert np.isfinite(fit_briefly(MIFS(3), X - 0.5, C).scores_).all()


class TestDRMFS:
    @pytest.mark.parametrize("robust", [True, False])
    @pytest.mark.parametrize("sparse", [True, False])
    def test_literal_transcription(self, robust, sparse):
        X, C, rng = problem(9)
        Y, a, b, g = C.astype(float), 0.7, 1.3, 2.0
        Sf = heat_graph(X.T, 3).toarray()
        Sl = heat_graph(Y.T, 2, t="median").toarray()
        Af, Al = np.diag(Sf.sum(axis=1)), np.diag(Sl.sum(axis=1))
        graphs = sp.csr_array(Sf), np.diag(Af), sp.csr_array(Sl), np.diag(Al)
        W = rng.uniform(size=(9, 5))
        data = sp.csr_array(X) if sparse else X
        p = drmfs.DRMFSProblem(data, Y, *graphs, a, b, g, robust)
        *_, (found, reported) = islice(drmfs.drmfs_sweeps(p, W), 4)
        for _ in range(4):
            E = X @ W - Y
            D1 = np.diag(0.5 / np.sqrt(np.sum(E**2, axis=1) + EPS))
            D1 = D1 if robust else np.eye(len(X))
            D2 = np.diag(0.5 / np.sqrt(np.sum(W**2, axis=1) + EPS))
            up = X.T @ D1 @ Y + a * Sf @ W + b * W @ Sl
            down = X.T @ D1 @ X @ W + a * Af @ W + b * W @ Al + g * D2 @ W
            W = W * up / (down + EPS)
        np.testing.assert_allclose(found, W, rtol=1e-10)
        E = X @ W - Y
        value = np.sqrt(np.sum(E**2, axis=1)).sum() if robust else np.sum(E**2)
        value += a * np.trace(W.T @ (Af - Sf) @ W) + b * np.trace(W @ (Al - Sl) @ W.T)
        value += g * np.sqrt(np.sum(W**2, axis=1)).sum()
        assert drmfs.drmfs_objective(p, W) == pytest.approx(value, rel=1e-12)
        assert reported == pytest.approx(value, rel=1e-9)

    def test_outliers_move_the_robust_loss_less(self, global_random_seed):
        rng = np.random.default_rng(global_random_seed)
        X = rng.uniform(size=(150, 10))
        C = X[:, :4] > 0.5
        wrong = C.copy()
        X2 = X.copy()
        X2[:6, 9] = 30.0
        wrong[:6] = True
        moved = {}
        for loss in ("l21", "fro"):
            make = DRMFS(None, loss=loss, random_state=0, gamma=0.1)
            clean = fit_briefly(make, X, C).scores_
            dirty = fit_briefly(make, X2, wrong).scores_
            moved[loss] = np.linalg.norm(clean[:9] - dirty[:9]) / np.linalg.norm(clean)
        assert moved["l21"] < moved["fro"] + 0.05

    def test_a_start_may_be_given(self):
        X, C, rng = problem(11)
        W = rng.uniform(size=(9, 5))
        a = fit_briefly(DRMFS(3, init={"W": W}), X, C)
        b = fit_briefly(DRMFS(3, init={"W": W}), sp.csr_array(X), C)
        np.testing.assert_allclose(a.scores_, b.scores_, rtol=1e-8)
        with pytest.raises(ValueError, match=r"shape \(9, 5\); got \(2, 2\)"):
            DRMFS(init={"W": np.ones((2, 2))}).fit(X, C)


def degenerate():
    X, C, rng = problem(12)
    zero, twins, none, full = X.copy(), X.copy(), C.copy(), C.copy()
    zero[:, :2] = 0
    twins[:, 1] = twins[:, 0]
    none[:, 0], full[:, 0] = False, True
    return {
        "random": (X, C),
        "constant columns": (zero, C),
        "equal columns": (twins, C),
        "equal rows": (np.tile(X[:1], (30, 1)), C),
        "few rows": (rng.uniform(size=(4, 9)), C[:4]),
        "one feature": (X[:, :1], C),
        "label of nobody": (X, none),
        "label of everybody": (X, full),
        "empty rows": (X, C & (np.arange(30)[:, None] % 3 > 0)),
        "large values": (30 * X, C),
    }


@pytest.mark.parametrize("name", sorted(degenerate()))
@pytest.mark.parametrize("cls", SELECTORS)
def test_the_objective_never_rises(cls, name):
    X, C = degenerate()[name]
    width = {} if cls is DRMFS else {"t": "median"}
    selector = cls(1, **width, max_iter=120, tol=0.0, random_state=0)
    fit_briefly(selector, X, C)
    assert np.isfinite(selector.scores_).all()
    # What is left are roundings, and row norms smoothed by less than 1e-6.
    rise = np.diff(selector.objective_).max()
    assert rise <= 1e-9 * selector.objective_[0]
    if name == "constant columns":
        assert sorted(selector.ranking_[:2]) == [8, 9]


@pytest.mark.parametrize("cls", SELECTORS)
def test_seeds_starts_and_columns(cls):
    X, C, _ = problem(13)
    make = {"max_iter": 20, "random_state": 3}
    a, b = fit_briefly(cls(3, **make), X, C), fit_briefly(cls(3, **make), X, C)
    np.testing.assert_array_equal(a.ranking_, b.ranking_)
    kept = fit_briefly(cls(3, must_keep=[8], exclude=[0], **make), X, C)
    assert kept.selected_[0] == 8
    assert kept.ranking_[0] == 9
    with pytest.raises(ValueError, match="got none"):
        cls(3, init={}).fit(X, C)


@pytest.mark.parametrize("cls", [PMLFSSO, DRMFS])
def test_negative_features_need_scaling(cls):
    X, C, _ = problem(14)
    with pytest.raises(ValueError, match="Negative values"):
        cls(3).fit(X - 0.5, C)
    scaled = fit_briefly(cls(3, scale=True, random_state=0), X - 0.5, C)
    plain = fit_briefly(
        cls(3, random_state=0), (X - X.min(axis=0)) / np.ptp(X, axis=0), C
    )
    np.testing.assert_allclose(scaled.scores_, plain.scores_, rtol=1e-6)


@pytest.mark.parametrize("cls", SELECTORS)
def test_convergence_is_reported(cls):
    X, C, _ = problem(15)
    with pytest.warns(ConvergenceWarning, match="still changes after"):
        cls(3, max_iter=2, tol=0.0).fit(X, C)


def test_only_the_best_start_is_reported():
    """Warnings are errors here: a start that is not used may stay unsettled."""

    def starts(settled, wild):
        return iter([("a", v) for v in settled]), iter([("b", v) for v in wild])

    selector = PMLFSSO(max_iter=3)
    used, every = selector._descend(*starts([5, 1, 1], [9, 8, 7]), tol=0.0)
    assert (used, every) == ("a", ["a", "b"])
    with pytest.warns(ConvergenceWarning, match="still changes after"):
        used, _ = selector._descend(*starts([5, 4, 4], [3, 2, 1]), tol=0.0)
    assert used == "b"


def test_singular_factors_of_mifs_are_explained(monkeypatch):
    def singular(*args, **kwargs):
        raise np.linalg.LinAlgError("Matrix is singular.")

    monkeypatch.setattr("partlearn.multilabel.feature_selection._mifs.solve", singular)
    X = np.random.default_rng(0).normal(size=(20, 4))
    with pytest.raises(ValueError, match="Standardize the features"):
        MIFS().fit(X, np.eye(4, dtype=int)[np.arange(20) % 4])
