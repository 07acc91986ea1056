"""Arrays of other libraries give what NumPy gives, and stay what they are.

array-api-strict has nothing but the standard, so that what works there works wherever
the standard does; PyTorch is tried where it is installed. ``make gpu-test`` runs these
tests on a GPU.
"""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_blobs
from sklearn.utils import get_tags

from partlearn._array_api import namespace, to_numpy
from partlearn._registry import methods
from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN, SURE, CRISPClassifier
from partlearn.decomposition import CENDA, CRISP, KernelCRISP
from partlearn.feature_selection import SAUTE
from partlearn.multilabel import CRISPMultiLabelClassifier

CASES = [
    CENDA(max_iter=5),
    CENDA(max_iter=3, scaling="maxabs", weights="uniform", standardize=False),
    CENDA(2, max_iter=3, n_neighbors=300),
    PLKNN(),
    CENDA(max_iter=3, n_reference=90),  # with 80, two rows are equally near in float32
    PLKNN(n_reference=90),
    PLKNN(weights="rank", variant="lab"),
    PLKNN(1, weights="uniform"),
    CRISP(max_iter=4),
    CRISP(max_iter=2, n_reference=100),
    CRISP(6, max_iter=2, background=0.3, standardize=False),
    CRISPClassifier(max_iter=2, n_neighbors=7),  # with 10, two are equally near
    SAUTE(4, max_iter=3),
    SAUTE(3, max_iter=2, normalize_sums=True, standardize=False, must_keep=[5]),
    SAUTE(4, criterion="jmi", max_iter=2),
    SURE(max_iter=10),
    SURE(kernel="linear", init="uniform", refit=False, max_iter=10),
    SURE(n_landmarks=60, max_iter=10, random_state=0),
    CRISPClassifier(max_iter=2, n_landmarks=40, use_neighbors=False),
    CRISPClassifier(("linear",), max_iter=2, n_reference=100),
    KernelCRISP(max_iter=2, n_neighbors=7),
    KernelCRISP(4, geometries=("linear", "rbf"), n_landmarks=50, max_iter=2),
    CENDA(max_iter=3, svd_rank=4),
    CRISPMultiLabelClassifier(),
    CRISPMultiLabelClassifier(threshold="count", n_landmarks=40, random_state=0),
    CRISPMultiLabelClassifier(("linear", "rbf"), false_rate=0.3, rank=None),
]
# Sums are taken in another order; an eigenvector of a close pair turns by more.
TOLERANCE = {"float64": 1e-8, "float32": 2e-4}
# An intercept that is a difference of large sums: in NumPy, too, single precision is
# off by that much.
ROUGHER = {"SURE": 0.03}


@pytest.fixture(params=["float64", "float32"])
def data(request):
    X, y = make_blobs(240, n_features=9, centers=5, cluster_std=4, random_state=0)
    candidates = make_candidates(y, n_false=2, random_state=0)
    return X.astype(request.param), candidates, y


def outputs(model, X):
    """Everything a fitted estimator says: its arrays and its answers."""
    found = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and hasattr(value, "shape") and name != "classes_"
    }
    for method in ("transform", "predict_proba", "predict", "decision_function"):
        if hasattr(model, method):
            found[method] = getattr(model, method)(X)
    if hasattr(model, "label_confidence_"):
        found["label_confidence_"] = model.label_confidence_
    return found


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_answers_are_those_of_numpy(case, data, library):
    X, S, _ = data
    expected = outputs(case.fit(X, S), X)
    A = library.asarray(X)
    found = outputs(case.fit(A, S), A)
    assert expected.keys() == found.keys()
    atol = TOLERANCE[X.dtype.name]
    if X.dtype == np.float32:
        atol = ROUGHER.get(type(case).__name__, atol)
    for name, value in found.items():
        assert namespace(value) is namespace(A), name
        value = to_numpy(value)
        assert value.dtype == expected[name].dtype, name
        if name == "predict":  # scores of two labels may be the same but for rounding
            assert np.mean(value == expected[name]) > 0.99
            continue
        np.testing.assert_allclose(
            value, expected[name], rtol=atol, atol=atol, err_msg=name
        )


@pytest.mark.parametrize("data", ["float64"], indirect=True)  # labels have no precision
@pytest.mark.parametrize("case", CASES[:1] + CASES[3:4] + CASES[8:12:2], ids=repr)
def test_labels_may_be_anywhere(case, data, library):
    X, S, y = data
    A = library.asarray(X)
    first = case.fit(A, S).label_confidence_
    for labels in (library.asarray(S), [set(np.flatnonzero(row)) for row in S]):
        again = case.fit(A, labels).label_confidence_
        np.testing.assert_array_equal(to_numpy(first), to_numpy(again))
    names = np.array(["e", "d", "c", "b", "a"])[::-1]
    text = [set(names[row > 0].tolist()) for row in S]
    case.fit(A, text)
    assert case.classes_.tolist() == sorted(names.tolist())
    if hasattr(case, "predict"):
        assert case.predict(A).dtype.kind == "U"
        assert case.score(A, names[y]) > 0.5


@pytest.mark.parametrize("case", CASES[:1] + CASES[3:4], ids=repr)
def test_rows_must_be_where_the_fit_was(case, data, library):
    X, S, _ = data
    case.fit(library.asarray(X), S)
    method = case.transform if hasattr(case, "transform") else case.predict
    with pytest.raises(ValueError, match="same namespace and the same device"):
        method(X)


@pytest.mark.parametrize("case", CASES[:1] + CASES[3:4], ids=repr)
def test_without_dispatch_arrays_become_numpy(case, data, library):
    X, S, _ = data
    X = X.astype(np.float64)
    expected = case.fit(X, S).label_confidence_
    A = library.asarray(X)
    try:
        np.asarray(A)
    except (TypeError, RuntimeError):
        pytest.skip("an array of a device is no NumPy array")
    with config_context(array_api_dispatch=False):
        found = case.fit(A, S).label_confidence_
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, expected)


def test_selected_columns_go_back_to_their_places(library):
    X = np.arange(12.0).reshape(4, 3)
    S = np.eye(2, dtype=int)[[0, 1, 0, 1]]
    A = library.asarray(X)
    selector = SAUTE(2, n_neighbors=1, must_keep=[0, 2]).fit(A, S)
    back = to_numpy(selector.inverse_transform(selector.transform(A)))
    np.testing.assert_array_equal(back, X * [1, 0, 1])
    with pytest.raises(ValueError, match="needs NumPy arrays"):
        SAUTE("auto").fit(A, S)


def test_tags_name_the_tested_estimators():
    tested = {type(case).__name__ for case in CASES}
    supporting = {
        name
        for name, method in methods().items()
        if not method.required and get_tags(method.cls()).array_api_support
    }
    assert supporting == tested
