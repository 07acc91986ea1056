"""When rounds count as settled: the labels stay, whatever confidences do."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from partlearn.candidates import labels_settled, warn_at_max_iter
from partlearn.decomposition import CENDA


@pytest.mark.parametrize(("n_changed", "settled"), [(0, True), (5, True), (6, False)])
def test_one_row_in_twenty_may_change(n_changed, settled):
    before = np.tile([0.6, 0.4], (100, 1))
    after = np.tile([0.9, 0.1], (100, 1))
    after[:n_changed] = [0.1, 0.9]
    assert labels_settled(after, before) is settled


def test_the_warning_names_the_line_of_the_caller():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(60, 5)), rng.uniform(size=(60, 3)) < 0.7
    y[:, 0] |= ~y.any(axis=1)
    with pytest.warns(ConvergenceWarning, match="Many labels still change") as caught:
        CENDA(max_iter=1).fit(X, y)  # through the wrapper of scikit-learn
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(ConvergenceWarning, match="^Steps .*max_iter=3 .*; wait.$"):
        warn_at_max_iter(3, "Steps are still large", "wait")
