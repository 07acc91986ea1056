"""The binarizer goes there and back."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from partlearn.candidates import CandidateBinarizer

SETS = [frozenset({"b", "a"}), frozenset({"c"})]


@pytest.mark.parametrize("sparse", [False, True])
def test_round_trip(sparse):
    binarizer = CandidateBinarizer(sparse_output=sparse)
    S = binarizer.fit_transform(SETS)
    assert sp.issparse(S) is sparse
    assert binarizer.inverse_transform(S) == SETS
    assert binarizer.inverse_transform([[0, 0, 0]]) == [frozenset()]


def test_classes_can_be_given():
    binarizer = CandidateBinarizer(classes=["c", "b", "a"], empty="all").fit(SETS)
    np.testing.assert_array_equal(
        binarizer.transform([{"c"}, set()]), [[1, 0, 0], [1, 1, 1]]
    )
    assert clone(binarizer).get_params()["classes"] == ["c", "b", "a"]


def test_mistakes_are_explained():
    binarizer = CandidateBinarizer()
    with pytest.raises(NotFittedError):
        binarizer.transform(SETS)
    binarizer.fit(SETS)
    with pytest.raises(ValueError, match=r"Label 'z' \(row 1\)"):
        binarizer.transform([{"a"}, {"z"}])
    with pytest.raises(ValueError, match="3 columns, one per class"):
        binarizer.inverse_transform([[0, 1]])
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        binarizer.inverse_transform([0, 1, 1])
    with pytest.raises(ValueError, match='must be "error" or "all"'):
        CandidateBinarizer(empty="drop").fit(SETS)
