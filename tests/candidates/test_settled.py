"""When rounds count as settled: the labels stay, whatever confidences do."""

import numpy as np
import pytest

from partlearn.candidates import labels_settled


@pytest.mark.parametrize(("n_changed", "settled"), [(0, True), (5, True), (6, False)])
def test_one_row_in_twenty_may_change(n_changed, settled):
    before = np.tile([0.6, 0.4], (100, 1))
    after = np.tile([0.9, 0.1], (100, 1))
    after[:n_changed] = [0.1, 0.9]
    assert labels_settled(after, before) is settled
