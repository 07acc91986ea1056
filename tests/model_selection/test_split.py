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


@pytest.mark.parametrize("cls", CLASSES)
def test_groups_stay_together(cls, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    groups = rng.integers(0, 25, 200).astype(str)
    S = np.eye(3, dtype=bool)[rng.integers(0, 3, 200)]
    folds = list(cls(4, random_state=global_random_seed).split(S, S, groups))
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(200))
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])
        assert 35 <= len(test) <= 65  # groups have eight rows


def test_groups_with_rare_labels_are_spread():
    """Six groups of ten, three of them with the rare label: one for each fold."""
    groups = np.repeat(list("abcdef"), 10)
    S = np.zeros((60, 2), dtype=bool)
    S[:, 0] = True
    S[:30:10, 1] = True
    for _, test in StratifiedCandidateKFold(3).split(S, S, groups):
        assert S[test, 1].sum() == 1
        assert len(test) == 20


def test_groups_that_cannot_be():
    with pytest.raises(ValueError, match="must hold 4 values"):
        list(CandidateKFold(2).split(range(4), groups=["a"]))
    with pytest.raises(ValueError, match="no value for row 1"):
        list(CandidateKFold(2).split(range(3), groups=["a", None, "b"]))
    with pytest.raises(ValueError, match="of 2 groups"):
        list(CandidateKFold(3).split(range(4), groups=list("aabb")))


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="at least 2; got 1"):
        CandidateKFold(1)
    with pytest.raises(ValueError, match="folds of 3 rows; use fewer"):
        list(CandidateKFold(4).split(range(3)))
    with pytest.raises(ValueError, match="X has 3 rows, y has 2"):
        list(StratifiedCandidateKFold(2).split(range(3), [0, 1]))
    assert repr(CandidateKFold(3)) == "CandidateKFold(3, random_state=0)"
