"""Columns of arrays of other libraries are averaged with their normal scores."""

import numpy as np
import pytest

from partlearn._array_api import namespace, to_numpy
from partlearn._math.linalg import NormalScores


@pytest.mark.parametrize("n_values", [1, 2, 5])
def test_columns_are_those_of_numpy(n_values, library):
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.standard_normal(30), rng.randint(n_values, size=30)])
    far = [[100.0, 100.0], [-100.0, -100.0], [0.5, 0.5]]
    new = np.vstack([X, far])
    for columns in (slice(0, 2), slice(1, 2)):  # padded knots, and the column alone
        known, rows = X[:, columns], new[:, columns]
        expected = NormalScores.of(known, np.arange(30))(rows)
        A = library.asarray(known)
        found = NormalScores.of(A, np.arange(30))(library.asarray(rows))
        assert namespace(found) is namespace(A)
        np.testing.assert_allclose(to_numpy(found), expected, atol=1e-12)
