"""Find every public estimator, so that no test has to list them."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from partlearn._registry import methods


def all_estimators() -> list[tuple[str, type[Any]]]:
    """List the public estimator classes of the library.

    Returns
    -------
    estimators : list of (str, class)
        Names and classes, sorted by name.

    Examples
    --------
    >>> from partlearn.utils import all_estimators
    >>> "CENDA" in dict(all_estimators())
    True
    """
    return [(name, method.cls) for name, method in methods().items()]
