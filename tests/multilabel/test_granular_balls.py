"""Granular balls: the oracle of the released program, invariance, and a plain scan."""

import numpy as np
import pytest
import sklearn
from tests.multilabel.oracles import load

from partlearn.multilabel import add_noise_labels, granular_ball_confidence
from partlearn.multilabel._granular_balls import (
    _PURE,
    _ball,
    _unit,
    large_balls,
    pure_balls,
    raw_confidence,
)


@pytest.fixture
def tagged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, add_noise_labels(X[:, :3] > 0.2, 1, random_state=0)


@pytest.mark.parametrize("run", ["em", "ye"])
@pytest.mark.parametrize("cover", ["closed", "release"])
def test_oracle(shared_dir, run, cover):
    oracle = load(shared_dir, "ldfs-pml", run)
    made, here = str(oracle["sklearn"]), sklearn.__version__
    if made.split(".")[:2] != here.split(".")[:2]:
        pytest.skip(f"2-means of scikit-learn {made} may differ from {here}")
    X, S = oracle["X"], oracle["S"] > 0
    end = "_fixed" if cover == "closed" else ""
    # Tolerances of the specification: the release to rounding, the closed one to 1e-9.
    atol = 1e-9 if cover == "closed" else 1e-12
    raw = raw_confidence(_unit(X), S, cover)
    np.testing.assert_allclose(raw, oracle[f"raw{end}"], rtol=0, atol=atol)
    found = granular_ball_confidence(X, S, cover=cover)
    np.testing.assert_allclose(found, oracle[f"confidence{end}"], rtol=0, atol=atol)


def plain_scan(balls, X, y):
    """Scan all ordered pairs from the start after each merge, as written."""
    balls, merged = list(balls), True
    while merged:
        merged = False
        for i, j in np.ndindex(len(balls), len(balls)):
            a, b = balls[i], balls[j]
            apart = np.sqrt(((a.center - b.center) ** 2).sum())
            if i == j or a.size <= b.size or apart >= a.radius + b.radius:
                continue
            new = _ball(X, y, np.concatenate([a.members, b.members]), "closed")
            if new.purity > _PURE:
                balls = [ball for k, ball in enumerate(balls) if k not in (i, j)]
                balls.append(new)
                merged = True
                break
    k = 3
    if sum(ball.size >= 3 for ball in balls) <= 2:
        k = 2
        if not any(ball.size >= 2 for ball in balls):
            k = 1
    return [ball for ball in balls if ball.size >= k]


def test_merges_equal_the_plain_scan():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(rng.integers(2, 30), 2))
        y = rng.random(len(X)) < rng.uniform(0.2, 0.9)
        y[0] = True
        balls = pure_balls(X, y, "closed")
        assert all(ball.purity > 0.5 for ball in balls)
        assert all(ball.purity == 1 for ball in balls)  # no row lies twice
        ours, plain = large_balls(balls, X, y, "closed"), plain_scan(balls, X, y)
        assert [b.members.tolist() for b in ours] == [b.members.tolist() for b in plain]


def test_scale_and_rounding_change_nothing(tagged):
    X, S = tagged
    first = granular_ball_confidence(X, S)
    moved = X * np.array([4.0, 0.5, 2.0, 8.0]) + np.array([2.0, -4.0, 0.0, 16.0])
    # atol: far above rounding, far below any change of a ball.
    np.testing.assert_allclose(granular_ball_confidence(moved, S), first, atol=1e-9)
    other = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    np.testing.assert_allclose(granular_ball_confidence(other, S), first, atol=1e-9)
    turned = granular_ball_confidence(X, S[:, ::-1])
    np.testing.assert_allclose(turned[:, ::-1], first, atol=1e-12)


def test_confidences_of_rows_and_labels(tagged):
    X, S = tagged
    S = np.column_stack([S, np.arange(60) == 7, np.zeros(60), np.ones(60)]) > 0
    S[3] = False
    P = granular_ball_confidence(X, S)
    assert (P[~S] == 0).all()
    np.testing.assert_allclose(P[S.any(axis=1)].sum(axis=1), 1, atol=1e-12)
    assert (P[3] == 0).all()
    raw = raw_confidence(_unit(X), S, "closed")
    assert raw[7, 3] == 1  # the only row with the label
    assert (raw[:, 4] == 0).all()
    everywhere = raw_confidence(_unit(X), np.ones((60, 1), dtype=bool), "closed")
    assert (everywhere == 1).all()


def test_equal_rows_with_other_candidates_end():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 4, axis=0)
    S = np.array([[1, 0], [0, 1]] * 4, dtype=bool)
    P = granular_ball_confidence(X, S)
    assert np.isfinite(P).all()
    assert (P[~S] == 0).all()


def test_wrong_use(tagged):
    X, S = tagged
    with pytest.raises(ValueError, match='"closed" or "release"'):
        granular_ball_confidence(X, S, cover="open")
    with pytest.raises(ValueError, match="60 rows, `y` has 59"):
        granular_ball_confidence(X, S[1:])
