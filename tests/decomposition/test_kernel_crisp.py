"""KernelCRISP: cross-fitted positions, weights of geometries, number of components."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_circles, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.settling import few_iterations, fit_briefly

from partlearn.base import reduced_rows
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN, CoupledClassifier, CRISPClassifier
from partlearn.decomposition import CRISP, KernelCRISP
from partlearn.decomposition._kernel_crisp import geometry_weights


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        200, 8, n_informative=6, n_redundant=1, n_classes=4, random_state=1
    )
    return X, y, make_candidates(y, n_false=1, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return fit_briefly(KernelCRISP(), data[0], data[2])


def test_fit_transform_gives_the_cross_fitted_positions(data, fitted):
    X, _, S = data
    Z = KernelCRISP().fit_transform(X, S)
    assert_array_equal(Z, fitted.cross_fitted_)
    seen = fitted.transform(X)
    assert seen.shape == Z.shape
    assert np.abs(seen - Z).max() > 0.01
    for a, b in zip(seen.T, Z.T, strict=True):
        assert np.corrcoef(a, b)[0, 1] > 0.5


def test_cross_fitted_rows_lie_as_unseen_rows_do(global_random_seed):
    """On noise, neighbours in the in-sample embedding share candidates; here not."""
    rng = np.random.RandomState(global_random_seed)
    y = rng.randint(5, size=150)
    X = rng.standard_normal((150, 40))
    S = make_candidates(y, n_false=1, random_state=global_random_seed)
    reducer = KernelCRISP()
    with few_iterations():  # on noise
        held_out = reducer.fit_transform(X, S)

    def overlap(Z):
        D = np.square(Z[:, None] - Z[None]).sum(axis=2) + 1e9 * np.eye(len(Z))
        return (S & S[D.argmin(axis=1)]).sum() / S.sum()

    assert overlap(reducer.transform(X)) > overlap(held_out) + 0.1
    assert abs(overlap(held_out) - 2 / 5) < 0.13


def test_a_pipeline_trains_on_cross_fitted_rows(data):
    X, _, S = data
    model = make_pipeline(KernelCRISP(), PLKNN()).fit(X[:150], S[:150])
    reducer = KernelCRISP().fit(X[:150], S[:150])
    learner = PLKNN().fit(reducer.cross_fitted_, S[:150])
    expected = learner.predict_proba(reducer.transform(X[150:]))
    assert_allclose(model.predict_proba(X[150:]), expected)


def test_coupled_learners_are_trained_on_cross_fitted_rows_too(data):
    X, _, S = data
    pipeline = make_pipeline(KernelCRISP(), PLKNN()).fit(X[:150], S[:150])
    coupled = CoupledClassifier(KernelCRISP(), PLKNN()).fit(X[:150], S[:150])
    assert_allclose(coupled.predict_proba(X[150:]), pipeline.predict_proba(X[150:]))
    chain = make_pipeline(StandardScaler(with_std=False), KernelCRISP())
    coupled_chain = CoupledClassifier(chain, PLKNN()).fit(X[:150], S[:150])
    assert_array_equal(
        coupled_chain.classifier_._X, coupled_chain.reducer_[-1].cross_fitted_
    )
    reducer = coupled.reducer_
    Z = reduced_rows(reducer, X, np.arange(150))
    assert_array_equal(Z[:150], reducer.cross_fitted_)
    assert_allclose(Z[150:], reducer.transform(X[150:]))


def test_columns_are_scaled_by_the_trust_in_their_geometry(data, fitted):
    v = fitted.geometry_weights_
    assert list(v) == ["linear", "rbf", "laplacian"]
    assert_allclose(sum(v.values()), 1)
    for name, weight in v.items():
        own = [c == name for c in fitted.component_geometries_]
        assert 1 <= sum(own) <= 3
        squares = np.square(fitted.cross_fitted_[:, own]).sum(axis=1)
        assert_allclose(squares.mean(), weight)


def test_weights_of_geometries_by_hand():
    experts = {"linear gaussian": 0.001, "rbf gaussian": 3.0, "input neighbors": 1.0}
    weights = geometry_weights(["linear", "rbf"], experts)
    share = 3.0 / 4.001
    assert_allclose(weights["linear"], 0.02 / (0.02 + share))
    assert_allclose(weights["rbf"], share / (0.02 + share))


def test_number_of_components(data, fitted):
    X, _, S = data
    signal = np.concatenate(
        [fitted.geometry_weights_[g.name] * g.values for g in fitted.model_.geometries]
    )
    assert_allclose(fitted.eigenvalues_, signal)
    two = KernelCRISP(2).fit(X, S)
    top = np.argsort(-signal, kind="stable")[:2]
    assert_allclose(two.eigenvalues_, signal[top])
    assert_array_equal(two.cross_fitted_, fitted.cross_fitted_[:, top])
    assert_allclose(two.transform(X), fitted.transform(X)[:, top])
    assert two.get_feature_names_out().tolist() == ["kernelcrisp0", "kernelcrisp1"]
    n = fitted.n_components_
    with pytest.warns(UserWarning, match=f"Only {n} of n_components=99"):
        assert KernelCRISP(99).fit(X, S).n_components_ == n


@pytest.mark.parametrize("name", ["linear", "rbf", "laplacian"])
def test_a_single_geometry(data, name):
    X, _, S = data
    reducer = KernelCRISP(geometries=(name,)).fit(X, S)
    assert reducer.n_components_ <= 3
    assert reducer.geometry_weights_ == {name: 1.0}


def test_linear_geometry_is_that_of_crisp(data):
    """With the confidences fixed by singletons both have the same discriminants."""
    X, y, _ = data
    kernel = KernelCRISP(geometries=("linear",), relevance=1.0, normal_scores=False)
    kernel.fit(X, y)
    crisp = CRISP(background="none", random_state=0).fit(X, y)
    assert kernel.ridge_["linear"] == crisp.ridge_
    held_out = kernel.model_.geometries[0].held_out
    assert_allclose(np.abs(held_out), np.abs(crisp.cross_fitted_), atol=1e-8)


def test_the_classifier_hands_out_the_same_fit(data, fitted):
    X, _, S = data
    reducer = CRISPClassifier().fit(X, S).reducer_
    assert_array_equal(reducer.cross_fitted_, fitted.cross_fitted_)
    assert_array_equal(reducer.transform(X), fitted.transform(X))
    assert reducer.get_params() == fitted.get_params()
    assert_array_equal(reducer.classes_, fitted.classes_)


def test_circles_become_separable():
    X, y = make_circles(200, factor=0.5, noise=0.1, random_state=0)
    S = np.eye(2, dtype=bool)[y]
    S[::3] = True
    Z = KernelCRISP(1).fit_transform(X, S)[:, 0]
    cut = (np.median(Z) < Z).astype(int)
    right = (cut == y).mean()
    assert max(right, 1 - right) > 0.95
    flat = CRISP(background="none").fit_transform(X, S)[:, 0]
    cut = (flat > np.median(flat)).astype(int)
    assert max((cut == y).mean(), (cut != y).mean()) < 0.7


def test_float32_stays(data, fitted):
    X, _, S = data
    reducer = KernelCRISP()
    Z = reducer.fit_transform(np.float32(X), S)
    assert Z.dtype == np.float32
    assert reducer.transform(np.float32(X)).dtype == np.float32
    assert reducer.label_confidence_.dtype == np.float32
    assert_allclose(reducer.label_confidence_, fitted.label_confidence_, atol=1e-3)


def test_warns_where_the_rounds_do_not_settle(data):
    X, _, S = data
    with pytest.warns(ConvergenceWarning, match="after max_iter=1 iterations"):
        KernelCRISP(max_iter=1).fit(X, S)
