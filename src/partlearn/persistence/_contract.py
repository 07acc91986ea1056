"""Contract of sound state: the attributes of each class, and those it derives."""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
from functools import cache
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from partlearn._sklearn_compat import complete_booster, complete_encoder
from partlearn.io import DataFormatError
from partlearn.persistence import _vocabulary
from partlearn.persistence._classes import class_names, estimator_classes
from partlearn.persistence._state import Scope, check_value, in_order, parse


@cache
def declared_state(name: str) -> dict[str, str]:
    """Map every attribute of a class that a file may hold to its specification.

    Parameters
    ----------
    name : str
        Name of the class in files.

    Returns
    -------
    declared : dict of str to str
        Lines of the language of ``_state``; parameters are ``any``, since the class has
        constraints for them.
    """
    cls = estimator_classes()[name]
    ours = _vocabulary.ATTRIBUTES if name.startswith("partlearn:") else {}
    return {
        **dict.fromkeys(inspect.signature(cls).parameters, "any"),
        **_vocabulary.COMMON,
        **ours,
        **_vocabulary.CLASSES.get(name, {}),
    }


def independent_state(estimator: Any) -> dict[str, Any]:
    """Return the attributes of an estimator except those derived from others."""
    derived = _vocabulary.DERIVED.get(class_names()[type(estimator)], ())
    return {k: value for k, value in vars(estimator).items() if k not in derived}


def check_state(estimator: BaseEstimator) -> None:
    """Raise if an attribute is unknown, or has a value that the class would not set.

    Parameters
    ----------
    estimator : estimator
        Of a class that can be saved, fitted or not.

    Raises
    ------
    DataFormatError
        Names the attribute and its specification.
    """
    name, state = type(estimator).__name__, independent_state(estimator)
    declared = declared_state(class_names()[type(estimator)])
    scope = Scope((state,))
    for key in in_order(state):
        if key not in declared:
            raise DataFormatError(
                f"{name}.{key} is not an attribute of {name}",
                advice="Remove it; for a class of partlearn, declare it in "
                "partlearn.persistence._vocabulary.",
            )
        check_value(state[key], parse(declared[key]), scope, f"{name}.{key}")


def complete_state(estimator: Any) -> None:
    """Derive the attributes that files do not hold.

    Parameters
    ----------
    estimator : estimator
        Checked by :func:`check_state` and the checks of its class.
    """
    if isinstance(estimator, HistGradientBoostingClassifier) and hasattr(
        estimator, "_predictors"
    ):
        complete_booster(estimator)
    if isinstance(estimator, (OneHotEncoder, OrdinalEncoder)) and hasattr(
        estimator, "categories_"
    ):
        try:
            complete_encoder(estimator)
        except (AttributeError, IndexError, TypeError, ValueError):
            name = type(estimator).__name__
            raise DataFormatError(f"{name} cannot have these categories") from None
