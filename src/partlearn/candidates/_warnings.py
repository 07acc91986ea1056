"""Warnings that name the line of the caller, and when one at ``max_iter`` is due."""

# SPDX-License-Identifier: BSD-3-Clause

import sys
import warnings
from typing import Any

from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from partlearn._array_api import namespace

__all__ = ["labels_settled", "warn_at_max_iter", "warn_caller"]

_UNSETTLED = 0.05  # share of rows whose label may still change in the last iteration


def labels_settled(
    F: NDArray[Any], before: NDArray[Any], at_most: float = _UNSETTLED
) -> bool:
    """Whether an iteration left the most likely label of nearly all rows as it was.

    Confidences may creep on for hundreds of iterations without any consequence. What a
    user should know, and what iterative methods warn of at ``max_iter``, is that more
    than one row in twenty still changes its label in each iteration.

    Parameters
    ----------
    F, before : ndarray of shape (n_samples, n_classes)
        Confidences after and before the last iteration.
    at_most : float, default=0.05
        Share of the rows that may have changed their most likely label.

    Returns
    -------
    settled : bool
        Whether no more rows did.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn.candidates import labels_settled
    >>> labels_settled(np.array([[0.9, 0.1]]), np.array([[0.6, 0.4]]))
    True
    >>> labels_settled(np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]]))
    False
    """
    xp = namespace(F, before)
    changed = xp.argmax(F, axis=1) != xp.argmax(before, axis=1)
    return int(xp.count_nonzero(changed)) / F.shape[0] <= at_most


def warn_at_max_iter(
    max_iter: int,
    what: str = "Many labels still change",
    advice: str = "raise `max_iter` to let the iterations settle",
) -> None:
    """Warn that a fit ended at its maximum number of iterations.

    Parameters
    ----------
    max_iter : int
        Maximum number of iterations.
    what : str, default="Many labels still change"
        What has not settled.
    advice : str
        What to do about it.

    Examples
    --------
    >>> import warnings
    >>> from partlearn.candidates import warn_at_max_iter
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_at_max_iter(5, "The objective still changes", "raise `tol`")
    >>> str(caught[0].message)
    'The objective still changes after max_iter=5 iterations; raise `tol`.'
    """
    message = f"{what} after max_iter={max_iter} iterations; {advice}."
    warn_caller(message, ConvergenceWarning)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line that called the library, however deep in it we are.

    Parameters
    ----------
    message : str
        What the user should know, and what to do.
    category : type, default=UserWarning
        Class of the warning.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back and _is_library(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in ("partlearn", "sklearn")
