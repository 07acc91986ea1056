"""Bayesian signed-rank test: against a literal transcription and by hand."""

import numpy as np
import pytest

from partlearn.benchmark import bayesian_signed_rank


def literal(differences, rope, strength, n_draws, rng):
    """Posterior drawn as the paper tells it: loops over draws and pairs."""
    z = [0.0, *differences]
    votes = np.zeros(3)
    for _ in range(n_draws):
        w = rng.dirichlet([strength, *([1.0] * len(differences))])
        share = np.zeros(3)
        for i in range(len(z)):
            for j in range(len(z)):
                mean = (z[i] + z[j]) / 2
                region = 0 if mean > rope else 2 if mean < -rope else 1
                share[region] += w[i] * w[j]
        top = np.isclose(share, share.max(), rtol=0, atol=1e-12)
        votes += top / top.sum()
    return votes / n_draws


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("shift", [-0.03, 0.0, 0.02])
def test_agrees_with_the_literal_draws(rope, shift, global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    difference = shift + 0.04 * rng.standard_normal(8)
    found = bayesian_signed_rank(difference, np.zeros(8), rope=rope)
    wanted = literal(difference, rope, 0.5, 2000, rng)
    # Five standard errors of 2,000 draws.
    found = [found.better, found.equivalent, found.worse]
    np.testing.assert_allclose(found, wanted, atol=5 * np.sqrt(0.25 / 2000))


def test_probabilities_by_hand():
    # Two data sets far above the region: means of pairs are above unless both are the
    # pseudo-observation, whose squared weight exceeds one half if w0 > sqrt(1/2). With
    # w0 ~ Beta(1/2, 2) that has probability 1 - (3 sqrt(x) - x^(3/2)) / 2 at x.
    x = np.sqrt(0.5)
    wanted = 1 - (3 * np.sqrt(x) - x**1.5) / 2
    found = bayesian_signed_rank([0.5, 0.6], [0.0, 0.0], n_draws=100_000)
    assert found.equivalent == pytest.approx(wanted, abs=0.005)
    assert found.worse == 0
    assert found.better + found.equivalent == pytest.approx(1)


def test_turning_the_pair_turns_the_answer(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    a, b = rng.random((2, 7))
    one, other = bayesian_signed_rank(a, b), bayesian_signed_rank(b, a)
    assert (one.better, one.equivalent, one.worse) == pytest.approx(
        (other.worse, other.equivalent, other.better)
    )


def test_equal_scores_are_equivalent():
    found = bayesian_signed_rank([0.3, 0.4, 0.5], [0.3, 0.4, 0.5], rope=0.0)
    assert (found.better, found.equivalent, found.worse) == (0, 1, 0)


def test_a_difference_on_the_edge_is_inside():
    a, b = np.full(9, 0.71), np.full(9, 0.70)  # 0.71 - 0.70 > 0.01 in binary
    assert bayesian_signed_rank(a, b, rope=0.01).equivalent == 1


@pytest.mark.parametrize("wrong", [{"rope": -0.1}, {"prior_strength": 0.0}])
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ValueError, match="must not be negative"):
        bayesian_signed_rank([0.1, 0.2], [0.2, 0.1], **wrong)
