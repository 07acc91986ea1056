"""Loaders, generators and single-label extraction."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score

from partlearn.datasets import (
    load_breast_cancer_partial,
    load_digits_partial,
    load_iris_partial,
    load_wine_partial,
    make_partial_classification,
    single_label,
)
from partlearn.io import read


@pytest.mark.parametrize(
    ("loader", "shape", "q", "n_false"),
    [
        (load_breast_cancer_partial, (569, 30), 2, 0),
        (load_digits_partial, (1797, 64), 10, 3),
        (load_iris_partial, (150, 4), 3, 1),
        (load_wine_partial, (178, 13), 3, 2),
    ],
)
def test_loaders(loader, shape, q, n_false):
    bunch = loader(n_false=n_false, random_state=3)
    m = shape[0]
    assert bunch.data.shape == shape
    assert bunch.candidates.shape == (m, q)
    assert (bunch.candidates.sum(axis=1) == 1 + n_false).all()
    assert bunch.candidates[np.arange(m), bunch.truth].all()
    assert len(bunch.target_names) == q
    assert len(bunch.feature_names) == shape[1]
    assert bunch.task == "pll"
    X, S = loader(n_false=n_false, random_state=3, return_X_y=True)
    np.testing.assert_array_equal(S, bunch.candidates)
    np.testing.assert_array_equal(X, bunch.data)


def test_planted_features(global_random_seed):
    bunch = make_partial_classification(
        400,
        n_features=30,
        n_informative=5,
        n_redundant=6,
        n_classes=4,
        n_false=2,
        class_sep=3.0,
        random_state=global_random_seed,
    )
    parts = [bunch.informative, bunch.redundant, bunch.noise]
    assert [len(p) for p in parts] == [5, 6, 19]
    assert sorted(np.concatenate(parts)) == list(range(30))
    assert (bunch.candidates.sum(axis=1) == 3).all()
    assert bunch.candidates[np.arange(400), bunch.truth].all()
    X, y = bunch.data, bunch.truth

    def accuracy(columns):
        model = LinearDiscriminantAnalysis()
        return cross_val_score(model, X[:, columns], y, cv=4).mean()

    # Two clouds 3 apart overlap in at most 2 * Phi(-1.5) = 13 %, four in 3 pairs.
    assert accuracy(bunch.informative) > 0.75
    assert accuracy(bunch.noise) < 0.4  # chance is a quarter
    # A redundant feature is nearly a combination of the informative ones.
    fit = np.linalg.lstsq(X[:, bunch.informative], X[:, bunch.redundant], rcond=None)
    left = X[:, bunch.redundant] - X[:, bunch.informative] @ fit[0]
    assert (left.std(axis=0) < 0.2 * X[:, bunch.redundant].std(axis=0)).all()
    gaps = np.linalg.norm(bunch.centers[:, None] - bunch.centers, axis=2)
    assert gaps[np.triu_indices(4, 1)].min() == pytest.approx(3.0)


def test_same_seed_same_data():
    a, b = (make_partial_classification(random_state=4) for _ in range(2))
    np.testing.assert_array_equal(a.data, b.data)
    np.testing.assert_array_equal(a.candidates, b.candidates)


@pytest.mark.parametrize(
    "options",
    [
        {"n_informative": 0},
        {"n_redundant": -1},
        {"n_informative": 15, "n_redundant": 10},
        {"n_classes": 1},
        {"n_samples": 3},
    ],
)
def test_impossible_wishes(options):
    with pytest.raises(ValueError, match=r"needed|must"):
        make_partial_classification(**options)


def test_single_label_by_hand():
    X = np.arange(12.0).reshape(6, 2)
    X[:, 1] = 0
    X[1, 1] = 5
    Y = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 1], [0, 1, 0]])
    kept = single_label(X, Y, target_names=["a", "b", "c"])
    np.testing.assert_array_equal(kept.rows, [0, 2, 4, 5])
    np.testing.assert_array_equal(kept.truth, [0, 2, 2, 1])
    kept = single_label(sp.csr_array(X), Y, min_class_size=2, drop_constant=True)
    np.testing.assert_array_equal(kept.rows, [2, 4])
    np.testing.assert_array_equal(kept.truth, [0, 0])
    assert kept.target_names == ["2"]
    np.testing.assert_array_equal(kept.features, [0])
    assert sp.issparse(kept.data)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"min_class_size": 0}, "at least 1"),
        ({"min_class_size": 9}, "No class"),
        ({"target_names": ["a"]}, "target_names"),
        ({"X": np.eye(3)}, "3 rows"),
    ],
)
def test_single_label_mistakes(options, match):
    arguments = {"X": np.eye(2), "Y": np.eye(2, dtype=int)} | options
    with pytest.raises(ValueError, match=match):
        single_label(**arguments)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("source", "derived", "options"),
    [
        ("tmc2007-500", "tmc2007-500_single18", {"min_class_size": 100}),
        ("Corel16k001", "corel16k-s1_single", {"drop_constant": True}),
        ("enron", "enron_single", {"drop_constant": True}),
        ("DeliciousMIL_testsplit", "DeliciousMIL_test_single", {"drop_constant": True}),
    ],
)
def test_single_label_rebuilds_the_published_sets(shared_dir, source, derived, options):
    several = read(shared_dir / "data" / "pml" / f"{source}.npz")
    known = read(shared_dir / "data" / "multiclass" / f"{derived}.npz")
    kept = single_label(several.data, several.truth, **options)
    assert kept.data.shape == known.data.shape
    assert len(kept.target_names) == len(known.target_names)
    np.testing.assert_array_equal(kept.truth, known.truth)
    assert (kept.data != known.data).nnz == 0
