"""Folds are shuffled, disjoint, complete and seeded."""

import numpy as np
import pytest

from partlearn.model_selection import CandidateKFold, StratifiedCandidateKFold

CLASSES = [CandidateKFold, StratifiedCandidateKFold]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("m", [10, 23])
def test_every_row_is_tested_once(cls, m, global_random_seed):
    S = np.ones((m, 3), dtype=bool)
    folds = list(cls(5, random_state=global_random_seed).split(np.zeros((m, 2)), S))
    assert len(folds) == cls(5).get_n_splits() == 5
    tested = np.concatenate([test for _, test in folds])
    assert sorted(tested) == list(range(m))
    sizes = [len(test) for _, test in folds]
    assert max(sizes) - min(sizes) <= 1
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(m))
        assert (np.diff(train) > 0).all()


@pytest.mark.parametrize("cls", CLASSES)
def test_seeded_and_shuffled(cls):
    S = np.ones((40, 2), dtype=bool)

    def first(seed):
        return next(iter(cls(4, random_state=seed).split(S, S)))[1].tolist()

    assert first(0) == first(0)
    assert first(0) != first(1)
    assert first(0) != list(range(10))


def test_rare_labels_are_spread():
    S = np.zeros((60, 2), dtype=bool)
    S[:, 0] = True
    S[:6, 1] = True  # six rows, all neighbours in the file
    for _, test in StratifiedCandidateKFold(6).split(S, S):
        assert S[test, 1].sum() == 1


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="at least 2; got 1"):
        CandidateKFold(1)
    with pytest.raises(ValueError, match="folds of 3 rows; lower"):
        list(CandidateKFold(4).split(range(3)))
    with pytest.raises(ValueError, match="X has 3 rows, y has 2"):
        list(StratifiedCandidateKFold(2).split(range(3), [0, 1]))
    assert repr(CandidateKFold(3)) == "CandidateKFold(3, random_state=0)"
