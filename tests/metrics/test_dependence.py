"""Labels that share candidate sets more often than chance."""

import numpy as np

from partlearn.candidates import cooccurring_candidates, make_candidates
from partlearn.metrics import candidate_dependence, cautious_share


def test_independent_false_labels_are_not_accused():
    for seed in range(5):
        truth = np.random.default_rng(seed).integers(0, 8, 800)
        S = make_candidates(truth, 2, random_state=seed)
        assert candidate_dependence(S, np.eye(8)[truth]).pairs == []


def test_partners_are_named_with_their_lift():
    truth = np.random.default_rng(0).integers(0, 6, 600)
    S = cooccurring_candidates(truth, 0.8, partners=np.arange(1, 7) % 6, random_state=0)
    pairs = candidate_dependence(S, np.eye(6)[truth]).pairs
    assert {pair[:2] for pair in pairs} == {(j, (j + 1) % 6) for j in range(6)}
    # 0.8 instead of one in five
    assert all(3 < lift < 5 for _, _, lift in pairs)


def test_rows_with_a_partner_are_guesses():
    partners = np.zeros((3, 3), dtype=bool)
    partners[0, 1] = True  # rows of label 0 come with label 1
    S = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=bool)
    chance = cautious_share(np.full(3, 0.9), S, np.array([1, 0, 1]), partners)
    np.testing.assert_allclose(chance, [0.5, 0.9, 0.9])
