"""Describe an estimator as plain JSON and a list of arrays."""

# SPDX-License-Identifier: BSD-3-Clause

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn.persistence import _classes
from partlearn.persistence._contract import independent_state
from partlearn.persistence._sound import check_sound, is_tree, take_apart

MAX_DEPTH = 100
_TYPE_NAMES = {cls: name for name, cls in _classes.TYPES.items()}


class Encoder:
    """Converter of values to JSON; arrays are collected in `arrays`, each once."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self._seen: dict[int, int] = {}  # by id, while `arrays` keeps the object alive

    def encode(self, value: Any, place: str, owner: type[Any], depth: int = 0) -> Any:
        """Encode a value; `place` names it in errors, `owner` is its estimator."""
        if depth > MAX_DEPTH:
            raise ValueError(f"{place} is nested too deeply, or holds itself")
        if value is None or type(value) in (bool, int, str):
            return value
        kind = type(value)
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if kind is np.ndarray:
            return self._array(value, place)
        if isinstance(value, np.generic):
            return self._scalar(value, place)
        if isinstance(value, np.dtype) and value.name in _classes.DTYPES:
            return {"dtype": value.name}
        if isinstance(value, type) and value in _TYPE_NAMES:
            return {"type": _TYPE_NAMES[value]}
        if kind in (list, tuple):
            items = [
                self.encode(item, f"{place}[{i}]", owner, depth + 1)
                for i, item in enumerate(value)
            ]
            return items if kind is list else {"tuple": items}
        if kind is dict:
            return {"dict": self._pairs(value, place, owner, depth)}
        if kind is slice:
            bounds = (value.start, value.stop, value.step)
            return {"slice": [self.encode(b, place, owner, depth + 1) for b in bounds]}
        if _classes.SPARSE.get(kind.__name__) is kind:
            return self._sparse(value, place)
        if is_tree(value):
            return {"tree": self.encode(take_apart(value), place, owner, depth + 1)}
        return self._object(value, place, owner, depth)

    def _pairs(
        self, value: dict[Any, Any], place: str, owner: type[Any], depth: int
    ) -> list[Any]:
        for key in value:
            if not (key is None or isinstance(key, (bool, int, float, str))):
                raise self._refuse(key, f"a key of {place}")
        return [
            [
                self.encode(key, place, owner, depth + 1),
                self.encode(item, f"{place}[{key!r}]", owner, depth + 1),
            ]
            for key, item in value.items()
        ]

    def _object(self, value: Any, place: str, owner: type[Any], depth: int) -> Any:
        cls = type(value)
        name = _classes.class_names().get(cls)
        if name is not None:
            check_sound(value)  # what is saved can be loaded
            kind, owner, state = "object", cls, independent_state(value)
        elif _classes.state_types(owner).get(cls.__name__) is cls:
            kind, name = "part", cls.__name__
            state = vars(value)
        else:
            raise self._refuse(value, place)
        fields = {
            key: self.encode(item, f"{place}.{key}", owner, depth + 1)
            for key, item in state.items()
        }
        return {kind: {"class": name, "state": fields}}

    def _array(self, value: NDArray[Any], place: str) -> dict[str, Any]:
        shape = list(value.shape)
        if value.dtype == object:
            items = value.ravel().tolist()
            for item in items:
                if not (item is None or type(item) in (bool, int, float, str)):
                    raise self._refuse(item, f"an element of {place}")
            values = [self.encode(item, place, object) for item in items]
            return {"objects": {"shape": shape, "values": values}}
        text = value.dtype.kind == "U"
        if text and value.dtype.itemsize == 0:
            value = value.astype("U1")
        if not text and value.dtype.name not in _classes.DTYPES:
            raise ValueError(
                f"{place} is an array of {value.dtype}, which model files do not hold"
            )
        # Products and sums may be computed in another order for another layout.
        fortran = value.flags.f_contiguous and not value.flags.c_contiguous
        name = f"str{value.dtype.itemsize // 4}" if text else value.dtype.name
        order = "F" if fortran else "C"
        member = self._member(value)
        return {
            "array": {"member": member, "dtype": name, "shape": shape, "order": order}
        }

    def _member(self, value: NDArray[Any]) -> int:
        if id(value) not in self._seen:
            self._seen[id(value)] = len(self.arrays)
            self.arrays.append(value)
        return self._seen[id(value)]

    def _scalar(self, value: np.generic, place: str) -> dict[str, Any]:
        if type(value) not in _TYPE_NAMES:
            raise self._refuse(value, place)
        return {
            "scalar": {
                "type": _TYPE_NAMES[type(value)],
                "value": self.encode(value.item(), place, object),
            }
        }

    def _sparse(self, value: Any, place: str) -> dict[str, Any]:
        parts = {
            name: self._array(getattr(value, name), f"{place}.{name}")["array"]
            for name in ("data", "indices", "indptr")
        }
        return {
            "sparse": {
                "class": type(value).__name__,
                "shape": [int(n) for n in value.shape],
                **parts,
            }
        }

    @staticmethod
    def _refuse(value: Any, place: str) -> ValueError:
        cls = type(value)
        return ValueError(
            f"{place} is a {cls.__module__}.{cls.__qualname__}, which model files do "
            "not hold: they hold numbers, text, arrays, and the estimators that "
            "partlearn.persistence lists"
        )
