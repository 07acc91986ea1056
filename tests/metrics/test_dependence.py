"""Labels that share candidate sets more often than chance."""

import numpy as np

from partlearn.candidates import cooccurring_candidates, make_candidates
from partlearn.metrics import candidate_dependence, cautious_share, hit_accuracy


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


def test_accuracy_from_hits_needs_no_confidences():
    """Right on average over draws, with the error that it states."""
    deviations = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 6, 400)
        S = make_candidates(truth, 1 + seed % 3, random_state=seed)
        S[::4] = np.eye(6, dtype=bool)[truth[::4]]
        right = rng.random(400) < 0.5
        predicted = np.where(right, truth, rng.integers(0, 6, 400))
        inside = np.where(S, 1.0, 0.0) / S.sum(axis=1, keepdims=True)
        accuracy, error = hit_accuracy(S, predicted, inside)
        deviations.append((accuracy - (predicted == truth).mean()) / error)
    assert abs(np.mean(deviations)) < 0.5
    assert 0.4 < np.std(deviations) < 1.2


def test_rows_with_all_labels_say_nothing_about_accuracy():
    S = np.ones((4, 3), dtype=bool)
    accuracy, error = hit_accuracy(S, np.zeros(4, dtype=int), np.full((4, 3), 1 / 3))
    assert np.isnan(accuracy)
    assert np.isinf(error)
    S[:2] = [True, False, False]  # other rows count as before
    assert hit_accuracy(S, np.array([0, 1, 2, 2]), S / S.sum(axis=1)[:, None])[0] == 0.5
