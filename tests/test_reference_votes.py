"""Votes of a sample of the rows: what each method makes of `n_reference`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from tests.settling import fit_briefly

from partlearn._math.crossfit import (
    LeaveOneOut,
    NeighborSearch,
    crisp_iterations,
    embed,
    linear_basis,
    make_labels,
)
from partlearn._math.crossfit._experts import (
    gaussian_expert,
    mixture_weights,
    neighbor_expert,
    unit_rows,
)
from partlearn._math.crossfit._pooled import NO_WEIGHT
from partlearn._math.graphs import TiedNeighbors, vote
from partlearn._math.linalg import drawn_order
from partlearn._math.neighbors import (
    cell_neighbors,
    reference_neighbors,
    reference_rows,
    self_neighbors,
)
from partlearn._sizes import SIZES
from partlearn.candidates import check_evidence, make_candidates
from partlearn.classification import PLKNN, CRISPClassifier
from partlearn.decomposition import CENDA, CRISP, KernelCRISP
from partlearn.feature_selection import SAUTE, MaxRelevance


def problem(m=150, seed=0):
    X, y = make_blobs(m, n_features=6, centers=4, cluster_std=4, random_state=seed)
    return X, make_candidates(y, n_false=1, random_state=seed)


def literal_votes(Z, reference, F, k):
    """Sort the reference rows by distance; the a-th nearest weighs k - a + 1."""
    V = np.zeros_like(F)
    for i, z in enumerate(Z):
        others = reference[reference != i]
        order = np.argsort(np.linalg.norm(Z[others] - z, axis=1), kind="stable")[:k]
        for a, j in enumerate(others[order]):
            V[i] += (k - a) * F[j]
    return V


def test_votes_of_reference_rows():
    Z, _ = make_blobs(60, n_features=3, random_state=0)
    F = np.random.default_rng(0).uniform(size=(60, 4))
    reference = np.arange(0, 60, 4)
    votes = TiedNeighbors(Z, 5, reference=reference)
    assert not votes.tied
    assert_allclose(votes(F), literal_votes(Z, reference, F, 5), rtol=1e-12)
    cells = TiedNeighbors(Z, 5, reference="cells")
    assert_allclose(cells(F), literal_votes(Z, np.arange(60), F, 5), rtol=1e-12)


def refined(F, V, S, own):
    F = (own * F + V) * S
    return F / F.sum(axis=1, keepdims=True)


def test_cenda_asks_reference_rows_and_all_rows_at_the_end():
    X, S = problem()
    exact = fit_briefly(CENDA(max_iter=1), X, S)
    F = S / S.sum(axis=1, keepdims=True)
    Z = exact.transform(X)
    reference = reference_rows(len(X), 30)
    once = refined(F, literal_votes(Z, reference, F, 8), S, own=1.0)
    _, near = cell_neighbors(Z, 8)
    expected = refined(once, vote(once, near), S, own=1.0)
    found = fit_briefly(CENDA(max_iter=1, n_reference=30), X, S)
    assert_allclose(found.label_confidence_, expected, rtol=1e-9)
    assert_allclose(found.components_, exact.components_)


@pytest.mark.parametrize("Selector", [SAUTE, MaxRelevance])
def test_selectors_ask_reference_rows_and_all_rows_at_the_end(Selector):
    X, S = problem()
    exact = fit_briefly(Selector(3, max_iter=1), X, S)
    chosen = np.sort(exact.selected_)
    assert_array_equal(
        exact.selected_,
        fit_briefly(Selector(3, max_iter=1, n_reference=30), X, S).selected_,
    )
    Z = ((X - X.mean(axis=0)) / X.std(axis=0))[:, chosen]
    F = S / S.sum(axis=1, keepdims=True)
    reference = reference_rows(len(X), 30)
    once = refined(F, 0.6 * literal_votes(Z, reference, F, 8), S, own=0.4)
    expected = refined(once, 0.6 * vote(once, self_neighbors(Z, 8)), S, own=0.4)
    found = fit_briefly(Selector(3, max_iter=1, n_reference=30), X, S)
    assert_array_equal(found.selected_, exact.selected_)
    assert_allclose(found.label_confidence_, expected, rtol=1e-9)
    sparse = fit_briefly(Selector(3, max_iter=1, n_reference=30), csr_array(X), S)
    assert_allclose(sparse.label_confidence_, once, rtol=1e-9)


@pytest.mark.parametrize("estimator", [CENDA(), SAUTE(3), MaxRelevance(3), PLKNN()])
def test_all_rows_are_the_exact_search(estimator):
    X, S = problem()
    exact = fit_briefly(estimator.set_params(n_reference=None), X, S).label_confidence_
    for n_reference in ("auto", 150, 10**6):
        found = fit_briefly(estimator.set_params(n_reference=n_reference), X, S)
        assert_array_equal(found.label_confidence_, exact)


@pytest.mark.parametrize("variant", ["clean", "lab"])
def test_reference_rows_of_pl_knn_are_its_training_rows(variant):
    X, S = problem()
    new = np.random.default_rng(1).standard_normal((20, 6))
    reference = reference_rows(len(X), 40)
    some = PLKNN(5, variant=variant).fit(X[reference], S[reference])
    model = PLKNN(5, variant=variant, n_reference=40).fit(X, S)
    assert_allclose(model.predict_proba(new), some.predict_proba(new))


def test_training_rows_of_pl_knn_ask_all_rows():
    X, S = problem()
    exact = PLKNN(5).fit(X, S).label_confidence_
    # One cell: every row is found.
    assert_allclose(PLKNN(5, n_reference=40).fit(X, S).label_confidence_, exact)
    sparse = PLKNN(5, n_reference=40).fit(csr_array(X), S)
    assert_allclose(sparse.label_confidence_, exact)


def test_crisp_searches_all_rows_at_the_end(monkeypatch):
    X, S = problem()
    model = fit_briefly(CRISP(n_reference=40, max_iter=3, relevance=0), X, S)
    rng = np.random.RandomState(0)
    order = drawn_order(X, S, rng)
    basis, _, _ = linear_basis(X, scale=True, rank=None, rng=rng)
    fit = LeaveOneOut(basis)
    reference = np.sort(order[reference_rows(len(X), 40)])
    rounds = crisp_iterations(
        fit,
        make_labels(check_evidence(S), X),
        NeighborSearch(None, None, reference),
        n_neighbors=8,
        max_iter=3,
        tol=1e-3,
    )
    assert_array_equal(model.label_confidence_, rounds.F)
    # The last iteration again. One cell holds all rows, hence the exact neighbors.
    kept = "partlearn._math.crossfit._iterations.replace"
    monkeypatch.setattr(kept, lambda state, **_: state)
    rounds = crisp_iterations(
        fit,
        make_labels(check_evidence(S), X),
        NeighborSearch(None, None, reference),
        n_neighbors=8,
        max_iter=3,
        tol=1e-3,
    )
    F = rounds.F
    Z = embed(fit, F, rounds.ridge).held_out
    experts = [
        neighbor_expert(F, self_neighbors(Z, 8)),
        neighbor_expert(F, self_neighbors(unit_rows(Z), 8)),
        gaussian_expert(Z, F),
        neighbor_expert(F, reference_neighbors(basis.rows, reference, 8)),
    ]
    weights, _ = mixture_weights(experts, S)
    mixture = sum(w * P for w, P in zip(weights, experts, strict=True))
    expected = refined(F, mixture, S, own=0.03)
    assert_allclose(model.label_confidence_, expected, rtol=1e-6)


def test_neighbors_that_the_pool_passes_over_are_not_searched_again(monkeypatch):
    asked, sampled = [], []

    def searched(Z, k, n_jobs):
        asked.append(Z.shape)
        return self_neighbors(Z, k)

    def among_some(Z, reference, k, **options):
        sampled.append(Z.shape)
        return reference_neighbors(Z, reference, k, **options)

    iterations = "partlearn._math.crossfit._iterations"
    monkeypatch.setattr(f"{iterations}.many_neighbors", searched)
    monkeypatch.setattr(f"{iterations}.reference_neighbors", among_some)
    monkeypatch.setattr(SIZES, "relevant_columns", 0)  # no first fit for the columns
    X, S = problem(seed=5)

    def searches(max_iter):
        """Experts with weight after some iterations, searches in the sample, in all."""
        asked.clear()
        sampled.clear()
        model = fit_briefly(CRISPClassifier(n_reference=40, max_iter=max_iter), X, S)
        weights = model.expert_weights_["log_linear"]
        kinds = ("euclidean neighbors", "cosine neighbors")  # not those of the inputs
        votes = [weight for name, weight in weights.items() if name.endswith(kinds)]
        assert len(votes) == 6
        used = sum(weight > NO_WEIGHT for weight in votes)
        return used, len(sampled), len(asked)

    first, in_sample, among_all = searches(1)
    assert (in_sample, among_all) == (7, first)
    second, in_sample, among_all = searches(2)
    assert (in_sample, among_all) == (7 + first, second)
    assert 0 < first < 6
    assert 0 < second < 6


@pytest.mark.parametrize("Method", [CRISP, KernelCRISP, CRISPClassifier])
def test_all_rows_are_the_exact_search_of_the_crisp_family(Method):
    X, S = problem(60)
    exact = fit_briefly(Method(max_iter=2, n_reference=None), X, S).label_confidence_
    for n_reference in ("auto", 60):
        found = fit_briefly(Method(max_iter=2, n_reference=n_reference), X, S)
        assert_array_equal(found.label_confidence_, exact)
    some = fit_briefly(Method(max_iter=2, n_reference=20), X, S).label_confidence_
    assert_allclose(some.sum(axis=1), 1)
    assert (some[~np.asarray(S, dtype=bool)] == 0).all()
    assert not np.allclose(some, exact)


@pytest.mark.parametrize("Method", [CENDA, CRISP, CRISPClassifier, KernelCRISP, PLKNN])
def test_one_reference_row_has_no_neighbour(Method):
    X, S = problem(30)
    with pytest.raises(ValueError, match=r"'n_reference' parameter of .* \[2, inf\)"):
        Method(n_reference=1).fit(X, S)
    assert np.isfinite(fit_briefly(Method(n_reference=2), X, S).label_confidence_).all()
