"""A torch module as a classifier: the loop and losses of PRODEN and CC."""

import builtins

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import estimator_checks_generator

from partlearn.candidates import from_weights, make_candidates
from partlearn.classification import PRODEN, TorchClassifier
from partlearn.classification._score_models import candidate_loss
from partlearn.utils._estimator_checks import check_partial_label_estimator

CANDIDATES = [{"a"}, {"a", "b"}, {"b"}]


def test_without_torch(monkeypatch):
    real = builtins.__import__

    def fake(name, *args, **kwargs):
        if name == "torch":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fake)
    with pytest.raises(ImportError, match=r"needs torch.*PRODEN and CC do without it"):
        TorchClassifier().fit([[0.0], [1.0], [2.0]], CANDIDATES)


class TestWithTorch:
    """What needs torch to be installed."""

    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch")

    @pytest.fixture
    def iris(self):
        X, y = load_iris(return_X_y=True)
        return X, np.asarray(make_candidates(y, n_false=1, random_state=0)), y

    @pytest.mark.parametrize("loss", ["proden", "cc"])
    def test_learns(self, iris, loss, torch):
        X, S, y = iris

        def net(d, q):
            return torch.nn.Sequential(
                torch.nn.Linear(d, 32), torch.nn.ReLU(), torch.nn.Linear(32, q)
            )

        model = TorchClassifier(net, loss=loss, learning_rate=0.01).fit(X, S)
        assert np.mean(model.predict(X) == y) > 0.9
        F = model.label_confidence_
        assert_allclose(F.sum(axis=1), 1)
        assert np.all(F[~S] == 0)
        assert np.mean(F.argmax(axis=1) == y) > 0.9
        assert model.n_iter_ == len(model.objective_)
        assert next(model.module_.parameters()).dtype == torch.float32

    def test_gradient_is_that_of_the_loss(self, iris, torch):
        """Carried back through torch, CC's gradient is that of its formula."""
        _, S, _ = iris
        G = torch.randn(20, 3, dtype=torch.float64, requires_grad=True)
        L = torch.as_tensor(S[:20].astype(float))
        loss = -(torch.softmax(G, 1) * L).sum(1).log().mean()
        loss.backward()
        value, slope = candidate_loss(G.detach().numpy(), S[:20].astype(float))
        assert value == pytest.approx(loss.item())
        assert_allclose(slope, G.grad.numpy(), atol=1e-12)

    def test_best_epoch_is_kept(self, iris):
        X, S, _ = iris
        model = TorchClassifier(learning_rate=0.5, max_iter=60).fit(X, S)
        # One epoch more than the best cannot change the result.
        best = int(model.objective_.argmin()) + 1
        short = clone(model).set_params(max_iter=best).fit(X, S)
        assert_allclose(short.predict_proba(X), model.predict_proba(X))

    def test_about_as_good_as_the_linear_one(self, iris):
        X, S, y = iris
        ours = TorchClassifier(learning_rate=0.05, lam=0.0).fit(X[::2], S[::2])
        numpy = PRODEN(lam=0.001).fit(X[::2], S[::2])
        right = [np.mean(m.predict(X[1::2]) == y[1::2]) for m in (ours, numpy)]
        assert right[0] > right[1] - 0.05

    def test_a_given_module_is_not_touched(self, iris, torch):
        X, S, _ = iris
        net = torch.nn.Linear(4, 3)
        before = net.weight.detach().clone()
        model = TorchClassifier(net, max_iter=3).fit(X, S)
        assert torch.equal(net.weight, before)
        assert not torch.equal(model.module_.weight, before)
        assert_array_equal(clone(model).fit(X, S).predict(X), model.predict(X))

    def test_torch_keeps_its_generator(self, iris, torch):
        X, S, _ = iris
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        TorchClassifier(max_iter=2).fit(X, S)
        assert torch.equal(torch.rand(3), expected)

    def test_sparse_weights_and_start(self, iris):
        import scipy.sparse as sp

        X, S, y = iris
        dense = TorchClassifier(max_iter=5).fit(X, S)
        sparse = TorchClassifier(max_iter=5).fit(sp.csr_array(X), S)
        assert_allclose(sparse.predict_proba(X), dense.predict_proba(X), atol=1e-9)
        weights = np.where(np.eye(3, dtype=bool)[y], 0.9, 0.1 * S)
        model = TorchClassifier(max_iter=5).fit(X, from_weights(weights))
        assert np.all(np.isfinite(model.label_confidence_))
        TorchClassifier(max_iter=2).fit(X, S, confidence=S / S.sum(1, keepdims=True))

    def test_bad_modules(self, iris, torch):
        X, S, _ = iris
        with pytest.raises(ValueError, match=r"each of the 3 classes; 2 rows gave"):
            TorchClassifier(torch.nn.Linear(4, 2)).fit(X, S)
        with pytest.raises(TypeError, match=r"must be a torch\.nn\.Module or"):
            TorchClassifier(lambda d, q: "net").fit(X, S)
        with pytest.raises(NotFittedError):
            TorchClassifier().predict(X)

    def test_module_without_parameters(self, iris, torch):
        X, S, _ = iris
        with pytest.raises(ValueError, match="nothing to train"):
            TorchClassifier(lambda d, q: torch.nn.Identity()).fit(X[:, :3], S)

    def test_scikit_learn_checks(self):
        for estimator, check in estimator_checks_generator(TorchClassifier()):
            check(estimator)

    def test_our_checks(self):
        check_partial_label_estimator(TorchClassifier(learning_rate=0.1))
