"""The learners agree with the authors' or their laboratory's programs."""

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from partlearn._math.graphs import difference_grams, neighbor_graph, rebuilding_graph
from partlearn._math.neighbors import self_neighbors
from partlearn._math.simplex import reconstruction_weights_from_gram
from partlearn.candidates import uniform_confidence
from partlearn.classification import IPAL, PLAGGD, PLKNN, PLSVM, SURE
from partlearn.classification._ipal import correct_class_mass
from partlearn.classification._pl_aggd import smooth_confidence

pytestmark = pytest.mark.shared


def test_pl_knn(oracle):
    model = PLKNN(10, variant="lab").fit(oracle["Xtr"], oracle["Str"])
    votes = oracle["ref_plknn_lab_votes"]
    assert votes.any()
    np.testing.assert_allclose(model._scores(oracle["Xte"]), votes, atol=1e-12)
    predicted = model.predict(oracle["Xte"])
    np.testing.assert_array_equal(predicted, oracle["ref_plknn_lab_pred"].ravel())


def test_ipal(oracle):
    X, S = oracle["Xtr"], oracle["Str"]
    model = IPAL(10, alpha=0.95).fit(X, S)
    H = rebuilding_graph(normalize(X), self_neighbors(normalize(X), 10)).toarray()
    np.testing.assert_allclose(H, oracle["ref_ipal_H"], atol=1e-12)
    np.testing.assert_allclose(
        model.label_confidence_, oracle["ref_ipal_F"], atol=1e-12
    )
    assert model.n_iter_ == int(oracle["ref_ipal_nit"].item())
    G = correct_class_mass(model.label_confidence_, uniform_confidence(S > 0))
    np.testing.assert_allclose(G, oracle["ref_ipal_G"], atol=1e-12)
    np.testing.assert_array_equal(model.disambiguated_, oracle["ref_ipal_lab"].ravel())
    np.testing.assert_allclose(
        -model._scores(oracle["Xte"]), oracle["ref_ipal_res"], atol=1e-12
    )
    np.testing.assert_array_equal(
        model.predict(oracle["Xte"]), oracle["ref_ipal_pred"].ravel()
    )


def test_sure(oracle):
    model = SURE(0.3, beta=0.05, max_iter=10, init="raw", refit=False, tol=0.0)
    model.fit(oracle["Xtr"], oracle["Str"])
    assert model.n_iter_ == 10
    assert model.sigma_ == pytest.approx(oracle["ref_sure_sigma"].item(), rel=1e-12)
    np.testing.assert_allclose(model.label_confidence_, oracle["ref_sure_P"], atol=1e-9)
    for rows, scores in (("Xtr", "ref_sure_Qtr"), ("Xte", "ref_sure_Qte")):
        np.testing.assert_allclose(
            model.decision_function(oracle[rows]), oracle[scores], atol=1e-9
        )


def test_pl_svm(oracle):
    model = PLSVM(1.0, variant="lab", init=oracle["W0"], max_iter=1000)
    model.fit(oracle["Xtr"], oracle["Str"])
    loss = oracle["ref_plsvm_loss"].ravel()
    assert model.n_iter_ == len(loss)
    np.testing.assert_allclose(model.objective_, loss, atol=1e-10)
    np.testing.assert_allclose(model.coef_, oracle["ref_plsvm_W"], atol=1e-10)


def test_pl_aggd(oracle):
    X, S = oracle["Xtr"], oracle["Str"] > 0
    unit = normalize(X)
    neighbors = self_neighbors(unit, 10)
    G = difference_grams(unit, neighbors)
    W = neighbor_graph(neighbors, reconstruction_weights_from_gram(G))
    F0 = smooth_confidence(W, S, uniform_confidence(S))
    # The reference solves this problem by an interior-point program of low accuracy.
    np.testing.assert_allclose(F0, oracle["ref_aggd_F0"], atol=1e-4)
    # Its graph is the one of the first round, from its own confidences.
    both = G + difference_grams(oracle["ref_aggd_F0"], neighbors)
    W = neighbor_graph(neighbors, reconstruction_weights_from_gram(both))
    np.testing.assert_allclose(W.toarray(), oracle["ref_aggd_W"], atol=1e-8)
    model = PLAGGD(10, max_iter=3).fit(X, S)
    np.testing.assert_allclose(
        model.decision_function(oracle["Xte"]), oracle["ref_aggd_Qte"], atol=1e-5
    )
