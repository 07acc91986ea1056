"""A small language for fitted attributes: kinds, shapes, ranges, one line each.

``real[classes, features]`` is an array of finite numbers with a row for each class and
a column for each feature. A name in brackets is the same size in the whole estimator:
``features`` and ``classes`` are given, an attribute of that name counts, and any other
name has the size it has where it is met first. ``*`` is any size, ``n_neighbors_+1`` a
sum.

========================== ========================================================
``real``, ``loose``        finite numbers; numbers that may be NaN or infinite
``share``                  numbers from 0 to 1
``whole``, ``flag``        integers, truth values
``index(classes)``         integers from 0, or as in ``index(classes from -1)``, to the
                           number of classes less one
``labels``, ``texts``      different labels; text
``matrix``                 finite numbers, an array or a sparse matrix
``part(Name)``             a small class that ``__state_types__`` of the owner lists
``estimator(features)``    an estimator that takes so many features
``none``, ``text(a, b)``   nothing; one of some words
``any``                    whatever a file can hold; nothing compiled may use it
``maybe X``, ``X or Y``    X or nothing; X or else Y
``list of X``, ``map of X`` any number of X, without and with names
``X & Y``                  a tuple of an X and a Y
========================== ========================================================

Without brackets, ``real``, ``loose``, ``share``, ``whole``, ``index`` and ``flag`` are
single values.
"""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from partlearn.io import DataFormatError
from partlearn.persistence._vocabulary import PARTS

_ATOM = re.compile(r"(\w+)(?:\(([^()]*)\))?(?:\[([^\[\]]*)\])?")
_SUM = re.compile(r"(\w+|\*)(?:([+-])([0-9]+))?")
_PREFIXES = {"maybe": "maybe", "list of": "list", "map of": "map"}


@dataclass(frozen=True)
class Spec:
    """Specification of a value."""

    text: str
    kind: str
    argument: str = ""
    shape: tuple[str, ...] | None = None
    items: tuple["Spec", ...] = ()


@cache
def parse(text: str) -> Spec:
    """Read one line of the language."""
    text = text.strip()
    for separator, kind in ((" or ", "either"), (" & ", "tuple")):
        # Prefixes bind weaker than `&`, and stronger than `or`.
        if separator in text and not (
            kind == "tuple" and text.startswith(tuple(_PREFIXES))
        ):
            items = tuple(parse(part) for part in text.split(separator))
            return Spec(text, kind, items=items)
    for prefix, kind in _PREFIXES.items():
        if text.startswith(f"{prefix} "):
            return Spec(text, kind, items=(parse(text.removeprefix(prefix)),))
    match = _ATOM.fullmatch(text)
    if match is None or match[1] not in _CHECKS:
        raise ValueError(f"{text!r} describes no attribute")
    shape = None
    if match[3] is not None:
        shape = tuple(size.strip() for size in match[3].split(","))
    return Spec(text, match[1], match[2] or "", shape)


@dataclass(frozen=True)
class Scope:
    """Sizes of one estimator; sizes of items in a list apply to the item only."""

    states: tuple[Mapping[str, Any], ...]
    sizes: ChainMap[str, int] = field(default_factory=ChainMap)

    def item(self, *state: Mapping[str, Any]) -> "Scope":
        """Return the scope of an item of a list, or of a part with its own `state`."""
        return Scope((*state, *self.states), self.sizes.new_child())

    def size(self, name: str) -> int | None:
        """Size that a name stands for; None as long as it may be any."""
        if name.isdecimal():
            return int(name)
        if name in self.sizes:
            return self.sizes[name]
        for state in self.states:
            if is_whole(state.get(name)):
                return int(state[name])
            if name == "features" and is_whole(state.get("n_features_in_")):
                return int(state["n_features_in_"])
            if name == "classes" and isinstance(state.get("classes_"), np.ndarray):
                return len(state["classes_"])
        return None

    def fits(self, shape: tuple[int, ...], wanted: tuple[str, ...] | None) -> bool:
        """Whether a shape is as declared; names met for the first time are bound."""
        if wanted is None or len(shape) != len(wanted):
            return False
        for length, text in zip(shape, wanted, strict=True):
            if text == "*":
                continue
            match = _SUM.fullmatch(text)
            assert match is not None, text
            more = int(f"{match[2]}{match[3]}") if match[2] else 0
            size = self.size(match[1])
            if size is None:
                self.sizes[match[1]] = length - more
            elif length != size + more:
                return False
        return True


def check_value(value: Any, spec: Spec, scope: Scope, place: str) -> None:
    """Raise if a value is not as declared.

    Parameters
    ----------
    value : object
        What a file holds.
    spec : Spec
        What it must be.
    scope : Scope
        The sizes known so far.
    place : str
        Name of the value, for the error.
    """
    if not _CHECKS[spec.kind](value, spec, scope, place):
        raise DataFormatError(f"{place} is not sound: it must be {spec.text}")


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, of Python or of NumPy."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


Check = Callable[[Any, Spec, Scope, str], bool]


def _arrays(
    kinds: str, sound: Callable[[NDArray[Any], Spec, Scope], Any] | None = None
) -> Check:
    """Return a check of arrays of some dtypes, or of scalars without a shape.

    Parameters
    ----------
    kinds : str
        Kinds of dtypes.
    sound : callable, default=None
        Whether an array of the declared shape holds what it must.

    Returns
    -------
    check : callable
        Check of a value.
    """

    def check(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
        if spec.shape is None and isinstance(value, (bool, int, float, np.generic)):
            value = np.asarray(value)
            right = value.dtype.kind in kinds.replace("f", "fiu")
        else:
            right = isinstance(value, np.ndarray) and value.dtype.kind in kinds
            right = right and scope.fits(value.shape, spec.shape)
        return right and (sound is None or bool(sound(value, spec, scope)))

    return check


def _finite(A: NDArray[Any], spec: Spec, scope: Scope) -> Any:
    return np.isfinite(A).all()


def _within(A: NDArray[Any], spec: Spec, scope: Scope) -> bool:
    """Whether whole numbers are in the range of `spec`, if it has one."""
    low, _, high = spec.argument.partition("..")
    return not high or _between(A, int(low), int(high))


def _index(A: NDArray[Any], spec: Spec, scope: Scope) -> bool:
    name, _, low = spec.argument.partition(" from ")
    size = scope.size(name)
    return _between(A, int(low or 0), np.inf if size is None else size - 1)


def _between(A: NDArray[Any], low: float, high: float) -> bool:
    return A.size == 0 or bool(low <= A.min() and A.max() <= high)


def _labels(A: NDArray[Any], spec: Spec, scope: Scope) -> bool:
    if A.dtype.kind in "biuf":  # by their order: hashes of numbers may be made equal
        return spec.argument == "repeated" or len(np.unique(A)) == len(A)
    values = A.tolist()
    plain = all(isinstance(v, (bool, int, float, str, type(None))) for v in values)
    return plain and (spec.argument == "repeated" or len(set(values)) == len(values))


def _matrix(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
    if not sparse.issparse(value):
        return _CHECKS["real"](value, spec, scope, place)
    shape = scope.fits(value.shape, spec.shape)
    return shape and value.dtype.kind == "f" and bool(np.isfinite(value.data).all())


def _text(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
    words = {word.strip() for word in spec.argument.split(",")}
    return isinstance(value, str) and (not spec.argument or value in words)


def _list(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
    if type(value) is not list:
        return False
    for i, item in enumerate(value):
        check_value(item, spec.items[0], scope.item(), f"{place}[{i}]")
    return True


def _map(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
    if type(value) is not dict:
        return False
    for name, item in value.items():
        if not isinstance(name, (str, int)):
            return False
        check_value(item, spec.items[0], scope.item(), f"{place}[{str(name)[:40]!r}]")
    return True


def _tuple(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
    if type(value) is not tuple or len(value) != len(spec.items):
        return False
    for i, (item, part) in enumerate(zip(value, spec.items, strict=True)):
        check_value(item, part, scope, f"{place}[{i}]")
    return True


def _maybe(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
    if value is not None:
        check_value(value, spec.items[0], scope, place)
    return True


def _either(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
    for item in spec.items:
        trial = scope.item()
        try:
            check_value(value, item, trial, place)
        except DataFormatError:
            continue
        scope.sizes.update(trial.sizes.maps[0])
        return True
    return False


def _part(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
    if type(value).__name__ != spec.argument:
        return False
    state = vars(value)
    declared = PARTS.get(spec.argument, {})
    if undeclared := sorted(state.keys() - declared.keys()):
        raise DataFormatError(f"{place} has no field {undeclared[0]!r}")
    inner = scope.item(state)
    for name in in_order(state):
        check_value(state[name], parse(declared[name]), inner, f"{place}.{name}")
    return True


def in_order(state: Mapping[str, Any]) -> list[str]:
    """Return the names of attributes, arrays first, since they define sizes."""
    return sorted(state, key=lambda name: not isinstance(state[name], np.ndarray))


def _estimator(value: Any, spec: Spec, scope: Scope, place: str) -> bool:
    from sklearn.base import BaseEstimator

    if not isinstance(value, BaseEstimator):
        return False
    taken = vars(value).get("n_features_in_")
    if not spec.argument or taken is None:  # a pipeline has none of its own
        return True
    return scope.fits((int(taken),), (spec.argument,))


_CHECKS: dict[str, Check] = {
    "any": lambda value, spec, scope, place: True,
    "dtype": lambda value, spec, scope, place: isinstance(value, (np.dtype, type)),
    "either": _either,
    "estimator": _estimator,
    "flag": _arrays("b"),
    "index": _arrays("iu", _index),
    "labels": _arrays("biufUO", _labels),
    "list": _list,
    "loose": _arrays("f"),
    "map": _map,
    "matrix": _matrix,
    "maybe": _maybe,
    "none": lambda value, spec, scope, place: value is None,
    "part": _part,
    "real": _arrays("f", _finite),
    # Sums of shares may be one and a little.
    "share": _arrays("f", lambda A, spec, scope: _between(A, 0, 1 + 1e-6)),
    "slice": lambda value, spec, scope, place: isinstance(value, slice),
    "text": _text,
    "texts": _arrays(
        "UO", lambda A, *_: all(isinstance(v, str) for v in A.ravel().tolist())
    ),
    "tree": lambda value, spec, scope, place: True,  # checked where it is built
    "tuple": _tuple,
    "whole": _arrays("iu", _within),
}
