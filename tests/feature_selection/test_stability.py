"""How much of a selection stays under other rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from partlearn.candidates import make_candidates
from partlearn.feature_selection import (
    MaxRelevance,
    RandomSelection,
    selection_stability,
)
from partlearn.multilabel import TRACE


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    X = rng.normal(size=(90, 12))
    X[:, :3] += 3 * np.eye(3)[y]
    return X, make_candidates(y, n_false=1, random_state=0)


def test_strong_features_stay(problem):
    found = selection_stability(MaxRelevance(3), *problem, n_resamples=6)
    assert found.score == 1
    assert found.chance == pytest.approx(3 / 12)
    assert found.frequency[:3].tolist() == [1, 1, 1]
    assert found.frequency.sum() == pytest.approx(3)


def test_chance_is_what_random_features_reach(problem):
    selector = RandomSelection(3, random_state=None)
    found = selection_stability(selector, *problem, n_resamples=200)
    assert found.score == pytest.approx(found.chance, abs=0.1)


def test_draws_repeat_and_all_forms_are_read(problem):
    X, S = problem
    plain = selection_stability(MaxRelevance(5), X, S, n_resamples=3)
    for other in (sp.csr_array(X), pd.DataFrame(X), X.tolist()):
        again = selection_stability(MaxRelevance(5), other, S, n_resamples=3)
        np.testing.assert_array_equal(again.frequency, plain.frequency)
    empty = S.copy()
    empty[0] = False
    assert selection_stability(TRACE(3), X, empty, n_resamples=2).score > 0.5


@pytest.mark.parametrize("bad", [{"n_resamples": 0}, {"fraction": 0}, {"fraction": 2}])
def test_bad_numbers(problem, bad):
    with pytest.raises(ValueError, match="`n_resamples` must be at least 1"):
        selection_stability(MaxRelevance(3), *problem, **bad)
