"""Confidences stay between zero and one, and sum to one at least."""

import numpy as np
from scipy.optimize import minimize

from partlearn.multilabel.classification._confidence_ranker import project_confidences


def test_projection_by_hand():
    V = np.array([[2.0, 0.5, 9.0], [0.2, -0.4, 9.0], [-5.0, -6.0, 9.0]])
    C = np.array([[True, True, False]] * 3)
    np.testing.assert_allclose(
        project_confidences(V, C), [[1, 0.5, 0], [0.8, 0.2, 0], [1, 0, 0]]
    )


def test_projection_is_the_nearest_point(global_random_seed):
    rng = np.random.default_rng(global_random_seed)
    for _ in range(20):
        C = np.ones((1, 4), dtype=bool)
        C[0, : rng.integers(3)] = False
        V = rng.normal(size=(1, 4)) * 2
        P = project_confidences(V, C)[0]
        found = minimize(
            lambda p, v: np.sum((p - v) ** 2),
            C[0] / C.sum(),
            args=(V[0],),
            bounds=[(0, 1 if c else 0) for c in C[0]],
            constraints={"type": "ineq", "fun": lambda p: p.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(P, found.x, atol=1e-6)
