"""Content of JSON as the types that declare it."""

# SPDX-License-Identifier: BSD-3-Clause

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from inspect import signature
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

_LARGEST = 2**63  # of whole numbers: arrays hold no larger ones


def as_declared(kind: Any, value: Any, place: str) -> Any:
    """Convert content of JSON to a declared type.

    Parameters
    ----------
    kind : type
        A plain type, a union, ``tuple[X, ...]``, a mapping or a sequence of them, a
        dataclass or a ``TypedDict``. Numbers must be finite.
    value : object
        What a file holds.
    place : str
        Name of the value, for the error.

    Returns
    -------
    object
        The value; lists that are declared as tuples become tuples, and dictionaries
        that are declared as dataclasses become instances of them.

    Raises
    ------
    ValueError
        If the value is none of the type; names the place.

    Examples
    --------
    >>> from partlearn.benchmark._typed import as_declared
    >>> as_declared(tuple[int, ...], [1, 2], "folds")
    (1, 2)
    >>> as_declared(int | None, "x", "folds")
    Traceback (most recent call last):
        ...
    ValueError: `folds` is not of the type int | None
    """
    origin, arguments = get_origin(kind) or kind, get_args(kind)
    if origin is Any:
        return value
    if origin in (types.UnionType, Union):
        for part in arguments:
            try:
                return as_declared(part, value, place)
            except ValueError:
                continue
    elif is_dataclass(origin) or is_typeddict(origin):
        return _as_record(origin, value, place)
    elif origin in (tuple, Sequence, list) and isinstance(value, list):
        item = arguments[0]
        parts = (as_declared(item, v, f"{place}[{i}]") for i, v in enumerate(value))
        return tuple(parts) if origin is tuple else list(parts)
    elif origin in (Mapping, dict) and isinstance(value, dict):
        item = arguments[1]  # keys of JSON are text
        return {k: as_declared(item, v, f"{place}.{k}") for k, v in value.items()}
    elif _is_plain(origin, value):
        return value
    name = kind.__name__ if isinstance(kind, type) else str(kind)
    raise ValueError(f"`{place}` is not of the type {name}")


def _is_plain(kind: Any, value: Any) -> bool:
    if kind is float:
        return type(value) in (int, float) and abs(value) < math.inf
    if kind is int:
        return type(value) is int and abs(value) < _LARGEST
    return kind in (str, bool, types.NoneType) and type(value) is kind


def _as_record(kind: Any, value: Any, place: str) -> Any:
    """Make a dataclass or a typed dictionary, with all of its fields and no others."""
    if not isinstance(value, dict):
        raise ValueError(f"`{place}` is no table of fields")
    hints = get_type_hints(kind)
    if unknown := value.keys() - hints:
        raise ValueError(f"`{place}` has the unknown field {min(unknown)!r}")
    if is_typeddict(kind):
        required = set(kind.__required_keys__)
    else:
        fields = signature(kind).parameters.values()
        required = {field.name for field in fields if field.default is field.empty}
    if absent := required - value.keys():
        raise ValueError(f"`{place}` lacks the field {min(absent)!r}")
    made = {k: as_declared(hints[k], v, f"{place}.{k}") for k, v in value.items()}
    return made if is_typeddict(kind) else kind(**made)
