"""Threads change nothing."""

import numpy as np
from numpy.testing import assert_array_equal

from partlearn._sizes import SIZES
from partlearn.candidates import make_candidates
from partlearn.feature_selection import SAUTE


def test_number_of_threads_does_not_matter(monkeypatch, global_random_seed):
    monkeypatch.setattr(SIZES, "column_block", 1)
    rng = np.random.default_rng(global_random_seed)
    y = rng.integers(3, size=90)
    X = rng.normal(size=(90, 40))
    X[:, :9] += 2 * rng.normal(size=(3, 9))[y]
    S = make_candidates(y, random_state=0)
    one = SAUTE(6, max_iter=60).fit(X, S)
    two = SAUTE(6, max_iter=60, n_jobs=2).fit(X, S)
    assert_array_equal(one.selected_, two.selected_)
    assert_array_equal(one.label_confidence_, two.label_confidence_)
    assert_array_equal(one.scores_, two.scores_)
