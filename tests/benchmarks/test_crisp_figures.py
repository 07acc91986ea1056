"""What CRISP must reach on real data, where they are there."""

import pytest
from benchmarks.crisp_figures import (
    LEARNERS,
    ROWS,
    honest,
    load,
    whole_disambiguation,
)

from partlearn.decomposition import CENDA, CRISP, PLDA

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def lost(shared_dir):
    return load(shared_dir / "data", "lost")


@pytest.fixture(scope="module")
def lost_scores(lost):
    names = [name for name, (_, _, goal) in LEARNERS.items() if goal is not None]
    return honest(lost, CRISP, names)


def test_lost_whole(lost):
    assert whole_disambiguation(lost) >= 0.90


@pytest.mark.parametrize(
    ("learner", "goal"),
    [
        ("PL-KNN", 0.768),
        ("PL-KNN with confidences", 0.817),
        ("SURE", 0.823),
        ("IPAL", 0.816),
        ("PL-SVM, lam=0.1", 0.823),
    ],
)
def test_lost_honest(lost_scores, learner, goal):
    assert lost_scores[learner] == pytest.approx(goal, abs=0.02)


def test_isolet_with_three_false_candidates(shared_dir):
    data = load(shared_dir / "data", "isolet", 3, ROWS)
    # Not all folds: the figures are far from the limits.
    assert honest(data, CRISP, ["PL-KNN"], 3)["PL-KNN"] >= 0.90
    for reducer in (CENDA(), PLDA(max_iter=30)):
        assert honest(data, lambda r=reducer: r, ["PL-KNN"], 1)["PL-KNN"] < 0.25


def test_usps_with_two_false_candidates(shared_dir):
    data = load(shared_dir / "data", "usps", 2, ROWS)
    assert honest(data, CRISP, ["PL-KNN"])["PL-KNN"] >= 0.86
