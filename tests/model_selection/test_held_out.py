import numpy as np

from partlearn.model_selection import one_standard_error_rule


def test_the_rule_weighs_rows_and_forgives_noise():
    hits = np.array([[0, 0, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], dtype=bool)
    assert one_standard_error_rule(hits, np.ones(4), n_errors=0.5) == 1
    # What rows disagree on is decided by the ones that count more.
    split = np.array([[1, 0], [0, 1]], dtype=bool)
    assert one_standard_error_rule(split, np.array([1.0, 0.2]), n_errors=0.5) == 0
    assert one_standard_error_rule(split, np.array([0.2, 1.0]), n_errors=0.5) == 1
    even = np.array([[1, 0] * 50, [0, 1] * 50], dtype=bool)
    assert one_standard_error_rule(even, np.ones(100), n_errors=0.5) == 0


def test_more_errors_buy_a_smaller_model():
    # Rows 0 to 59 and rows 60 to 99: a loss of .2 with a standard error of .1.
    hits = np.array([[0] * 60 + [1] * 40, [1] * 60 + [0] * 40], dtype=bool)
    assert one_standard_error_rule(hits, np.ones(100), n_errors=1.0) == 1
    assert one_standard_error_rule(hits, np.ones(100), n_errors=3.0) == 0
