"""Whether the order of rows or classes may change what an estimator learns.

It may not, unless the class says so: its ``_order_matters`` names ``"rows"`` or
``"classes"``, with the reason beside it. Having a ``random_state`` is no reason: most
methods only break ties with it.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["AGREEMENT", "assert_close", "order_matters"]

AGREEMENT = 0.9  # least agreement of two fits whose random draws differ


def order_matters(estimator: Any, axis: Literal["rows", "classes"]) -> bool:
    """Whether an estimator, or one inside it, declares that the order matters."""
    parts = [estimator, *estimator.get_params().values()]
    return any(axis in getattr(type(part), "_order_matters", ()) for part in parts)


def assert_close(P: NDArray[Any], Q: NDArray[Any], *, exactly: bool) -> None:
    """Two results are equal up to rounding or, where draws differ, nearly so."""
    if exactly:
        np.testing.assert_allclose(P, Q, rtol=1e-5, atol=1e-5)
    else:
        assert np.corrcoef(P.ravel(), Q.ravel())[0, 1] >= AGREEMENT
