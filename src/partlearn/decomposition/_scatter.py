"""Scatter matrices weighted by labelling confidences, in thin form."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["class_scaled", "inverse"]


def inverse(a: NDArray[Any]) -> NDArray[Any]:
    """Reciprocal of positive entries, zero for the others."""
    return np.divide(1.0, a, out=np.zeros_like(a), where=a > 0)


def class_scaled(F: NDArray[Any]) -> NDArray[Any]:
    """``F diag(n_j)^(-1/2)`` with ``n_j`` the confidence mass of class j.

    With centred data X the between-class scatter is ``X' C C' X`` for this C: class
    means ``X' F_j / n_j`` weighted by ``n_j``. A class without mass contributes
    nothing.
    """
    return F * np.sqrt(inverse(F.sum(axis=0)))
