"""CRISP.partial_fit: the answer of a fit on all rows, kept in the model file."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from partlearn.candidates import make_candidates, make_votes
from partlearn.decomposition import CRISP
from partlearn.persistence import load_model, save_model

X, TRUTH = load_iris(return_X_y=True)
ORDER = np.random.RandomState(0).permutation(len(X))
PARTS = np.split(ORDER, [50, 51, 110])


def fitted_in_parts(y, path, rows=X, **params):
    """Fit part by part; the model goes through a file between the parts."""
    model = CRISP(**params)
    for part in PARTS:
        model.partial_fit(rows[part], y[part])
        save_model(model, path)
        model = load_model(path).estimator
    return model


def assert_same(model, whole):
    for name in ("components_", "label_confidence_", "mean_", "scale_", "ridge_"):
        np.testing.assert_allclose(
            getattr(model, name), getattr(whole, name), rtol=0, atol=1e-8
        )
    assert model.classes_.tolist() == whole.classes_.tolist()


@pytest.mark.parametrize("neighbors", [False, "auto"])
@pytest.mark.parametrize("sparse", [False, True])
def test_parts_give_what_all_rows_give(tmp_path, neighbors, sparse):
    rows = sp.csr_matrix(X) if sparse else X
    labels = make_candidates(TRUTH, n_false=1, random_state=0)
    model = fitted_in_parts(
        labels, tmp_path / "model.partlearn", rows, use_neighbors=neighbors
    )
    whole = CRISP(use_neighbors=neighbors).fit(rows[ORDER], labels[ORDER])
    assert_same(model, whole)


def test_votes_of_new_annotators_on_new_rows(tmp_path):
    votes = make_votes(TRUTH, n_annotators=5, accuracy=0.7, random_state=0)
    model = fitted_in_parts(votes, tmp_path / "m.partlearn", use_neighbors=False)
    assert_same(model, CRISP(use_neighbors=False).fit(X[ORDER], votes[ORDER]))
    assert model.seen_rows_.annotators.tolist() == votes.annotators.tolist()


def test_classes_may_be_new():
    names = np.array(["setosa", "versicolor", "virginica"])[TRUTH]
    order = np.argsort(TRUTH, kind="stable")
    model = CRISP(use_neighbors=False)
    model.partial_fit(X[order[:90]], names[order[:90]])
    assert model.classes_.tolist() == ["setosa", "versicolor"]
    model.partial_fit(X[order[90:]], names[order[90:]])
    assert_same(model, CRISP(use_neighbors=False).fit(X[order], names[order]))


def test_sums_over_rows_do_not_determine_the_model():
    """Rows rotated within their candidate set: equal sums, other components."""
    rng = np.random.RandomState(0)
    S = make_candidates(TRUTH, n_false=1, random_state=0)
    names = S @ [1, 2, 4]
    rotated = X.copy()
    for name in np.unique(names):
        rows = np.flatnonzero(names == name)
        m = len(rows)
        # Orthonormal, with the mean of the rows as its first axis: the mean stays.
        axes, _ = np.linalg.qr(np.column_stack([np.ones(m), rng.randn(m, m - 1)]))
        turn, _ = np.linalg.qr(rng.randn(m - 1, m - 1))
        rotated[rows] = axes[:, :1] @ (axes[:, :1].T @ X[rows])
        rotated[rows] += axes[:, 1:] @ (turn @ (axes[:, 1:].T @ X[rows]))
        for sums in (np.ones(m), X[rows].T):
            after = np.ones(m) if sums.ndim == 1 else rotated[rows].T
            np.testing.assert_allclose(sums @ X[rows], after @ rotated[rows], atol=1e-9)
    models = [CRISP(use_neighbors=False, relevance=0).fit(x, S) for x in (X, rotated)]
    first, second = (model.components_ for model in models)
    assert first.shape != second.shape or np.abs(first - second).max() > 0.01
    confidences = [model.label_confidence_ for model in models]
    assert np.abs(confidences[0] - confidences[1]).max() > 0.1


def test_fit_starts_anew_and_names_of_columns_stay():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = CRISP(use_neighbors=False)
    model.partial_fit(frame[:80], TRUTH[:80]).partial_fit(frame[80:], TRUTH[80:])
    assert model.feature_names_in_.tolist() == list("abcd")
    model.fit(X, TRUTH)
    assert not hasattr(model, "seen_rows_")
    model.partial_fit(X[:120], TRUTH[:120])
    assert len(model.seen_rows_.rows) == 120


def test_wrong_further_rows_are_refused():
    model = CRISP(use_neighbors=False).partial_fit(X[:120], TRUTH[:120])
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(X[120:, :3], TRUTH[120:])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.partial_fit(X[120:], TRUTH[121:])
    with pytest.raises(TypeError, match="votes in one call"):
        model.partial_fit(X[:30], make_votes(np.arange(30) % 3, random_state=0))
    assert len(model.seen_rows_.rows) == 120


def test_blocks_are_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="keeps the rows"):
        CRISP().partial_fit(da.from_array(X, chunks=(50, 4)), TRUTH)
