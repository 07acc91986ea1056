"""What a classifier answers on rows whose truth is known."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from partlearn._typing import Array, Mask

__all__ = ["answers"]


def answers(estimator: Any, X: Any, truth: ArrayLike) -> tuple[Array, Mask]:
    """Probability of the most likely label of each row, and whether it is right."""
    P = estimator.predict_proba(X)
    right = estimator.classes_[P.argmax(axis=1)] == np.asarray(truth)
    return P.max(axis=1), right
