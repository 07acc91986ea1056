import numpy as np

from partlearn.metrics._smallest import smallest_good


def test_smallest_good_weighs_rows_and_forgives_noise():
    hits = np.array([[0, 0, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], dtype=bool)
    assert smallest_good(hits, np.ones(4), errors=0.5) == 1
    # What rows disagree on is decided by the ones that count more.
    split = np.array([[1, 0], [0, 1]], dtype=bool)
    assert smallest_good(split, np.array([1.0, 0.2]), errors=0.5) == 0
    assert smallest_good(split, np.array([0.2, 1.0]), errors=0.5) == 1
    even = np.array([[1, 0] * 50, [0, 1] * 50], dtype=bool)
    assert smallest_good(even, np.ones(100), errors=0.5) == 0


def test_more_errors_buy_a_smaller_model():
    # Rows 0 to 59 and rows 60 to 99: a loss of .2 with a standard error of .1.
    hits = np.array([[0] * 60 + [1] * 40, [1] * 60 + [0] * 40], dtype=bool)
    assert smallest_good(hits, np.ones(100), errors=1.0) == 1
    assert smallest_good(hits, np.ones(100), errors=3.0) == 0
