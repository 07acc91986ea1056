"""CRISP estimators whatever the order of rows, columns and classes."""

import numpy as np
import pytest
from tests.settling import fit_briefly
from tools.invariance import KINDS, make_data

from partlearn.classification import CRISPClassifier
from partlearn.decomposition import CRISP, KernelCRISP
from partlearn.feature_selection import CRISPSelector

METHODS = (CRISPClassifier, KernelCRISP, CRISP, CRISPSelector)
SAME = 1e-7  # ten iterations on singular kernels multiply rounding


def fitted(cls, X, S):
    kept = {"n_features_to_select": 5} if cls is CRISPSelector else {}
    return fit_briefly(cls(**kept), X, S)


def large(kind):
    """Rows of which a part is drawn, by content, with columns of noise."""
    rng = np.random.RandomState(3)
    y = np.arange(620) % 4
    X = rng.standard_normal((620, 9))
    X[:, :3] += 2 * np.eye(4)[y][:, :3]
    if kind == "one-hot":
        X = np.hstack([np.eye(3)[np.digitize(x, [-0.5, 0.8])] for x in X.T[:6]])
    S = np.eye(4, dtype=bool)[y] | (rng.uniform(size=(620, 4)) < 0.3)
    return X, S


@pytest.mark.parametrize("kind", [*KINDS, "large", "one-hot"])
@pytest.mark.parametrize("cls", METHODS)
def test_order_does_not_matter(cls, kind):
    X, S = make_data(kind, False) if kind in KINDS else large(kind)
    rng = np.random.RandomState(5)
    rows = rng.permutation(X.shape[0])
    columns = rng.permutation(X.shape[1])
    labels = rng.permutation(S.shape[1])
    one = fitted(cls, X, S)
    two = fitted(cls, X[rows][:, columns], S[rows][:, labels])
    F = two.label_confidence_[np.argsort(rows)]
    np.testing.assert_allclose(one.label_confidence_[:, labels], F, atol=SAME)
    if cls is CRISPSelector:
        back = two.get_support()[np.argsort(columns)]
        np.testing.assert_array_equal(one.get_support(), back)
        return
    v = two.feature_importances_[np.argsort(columns)]
    np.testing.assert_allclose(one.feature_importances_, v, atol=1e-9)
    assert one.relevance_ == two.relevance_
    if cls is CRISPClassifier:
        P = two.predict_proba(X[:, columns])
        np.testing.assert_allclose(one.predict_proba(X)[:, labels], P, atol=SAME)
    else:
        A, B = one.transform(X), two.transform(X[:, columns])
        np.testing.assert_allclose(A @ A.T, B @ B.T, atol=1e-5 * np.abs(A @ A.T).max())


@pytest.mark.parametrize("kind", ["duplicates", "binary", "large"])
@pytest.mark.parametrize("cls", METHODS)
def test_equal_rows_get_equal_confidences(cls, kind):
    X, S = make_data(kind, False) if kind in KINDS else large(kind)
    X, S = np.vstack([X, X[:20], X[:10]]), np.vstack([S, S[:20], S[:10]])
    F = fitted(cls, X, S).label_confidence_
    m = len(X) - 30
    np.testing.assert_allclose(F[m : m + 20], F[:20], atol=SAME)
    np.testing.assert_allclose(F[m + 20 :], F[:10], atol=SAME)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cls", METHODS)
def test_names_of_classes_do_not_matter(cls, kind):
    X, S = make_data(kind, False)
    names = np.array(["pear", "apple", "fig", "kiwi"])
    sets = [set(names[row]) for row in S]
    one, two = fitted(cls, X, S), fitted(cls, X, sets)
    order = np.argsort(names)
    F = one.label_confidence_[:, order]
    np.testing.assert_allclose(F, two.label_confidence_, atol=SAME)
