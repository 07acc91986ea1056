"""Check the JSON of a model as a whole, then build what it describes."""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
import math
import re
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn.io import DataFormatError, DataLimitError
from partlearn.persistence import _classes
from partlearn.persistence._archive import Archive
from partlearn.persistence._contract import complete_state, declared_state
from partlearn.persistence._encode import MAX_DEPTH
from partlearn.persistence._sound import build_tree, check_sound

_TEXT = re.compile(r"str([1-9][0-9]{0,6})", re.ASCII)
_MAX_ODD = 2000
_FLOATS = ("nan", "inf", "-inf")


class Decoder:
    """Reads the document of an archive; nothing is built before all is checked."""

    def __init__(self, archive: Archive) -> None:
        self.foreign = False  # is a class of scikit-learn inside?
        self._archive = archive
        self._sizes = archive.sizes()  # declared bytes of the arrays
        self._specs: dict[int, dict[str, Any]] = {}
        self._built: dict[int, NDArray[Any]] = {}

    def check(self, node: Any, owner: type[Any] = object, depth: int = 0) -> None:
        """Check a description; `owner` is the class whose state it belongs to."""
        if depth > MAX_DEPTH:
            raise DataFormatError("the model is nested too deeply")
        if node is None or isinstance(node, (bool, int, str)):
            return
        if isinstance(node, float):
            if not math.isfinite(node):
                raise DataFormatError("a number is too large")
            return
        if isinstance(node, list):
            for item in node:
                self.check(item, owner, depth + 1)
            return
        kind = next(iter(node), "nothing")
        checker = getattr(self, f"_check_{kind}", None) if kind in _KINDS else None
        if len(node) != 1 or checker is None:
            raise DataFormatError(f"the model holds an unknown kind {kind[:60]!r}")
        checker(node[kind], owner, depth)

    def check_members(self) -> None:
        """Refuse arrays that nothing refers to."""
        if self._specs.keys() != self._sizes.keys():
            raise DataFormatError("the file holds arrays that the model does not use")

    def _check_float(self, text: Any, owner: type[Any], depth: int) -> None:
        if text not in _FLOATS:
            raise DataFormatError("a number is neither finite, infinite nor NaN")

    def _check_tuple(self, items: Any, owner: type[Any], depth: int) -> None:
        if not isinstance(items, list):
            raise DataFormatError("a tuple is not a list of items")
        self.check(items, owner, depth)

    def _check_dict(self, pairs: Any, owner: type[Any], depth: int) -> None:
        if not isinstance(pairs, list):
            raise DataFormatError("a dictionary is not a list of pairs")
        for pair in pairs:
            if not (isinstance(pair, list) and len(pair) == 2 and _is_plain(pair[0])):
                raise DataFormatError("a dictionary does not hold pairs")
            self.check(pair[0], owner, depth + 1)
            self.check(pair[1], owner, depth + 1)
        keys = [self.build(pair[0]) for pair in pairs]
        _refuse_odd(keys)
        if len(set(keys)) < len(keys):
            raise DataFormatError("a dictionary has the same key twice")

    def _check_slice(self, bounds: Any, owner: type[Any], depth: int) -> None:
        if not (
            isinstance(bounds, list)
            and len(bounds) == 3
            and all(b is None or isinstance(b, (int, str)) for b in bounds)
        ):
            raise DataFormatError("a slice has no three bounds")

    def _check_dtype(self, name: Any, owner: type[Any], depth: int) -> None:
        if not isinstance(name, str) or name not in _classes.DTYPES:
            raise DataFormatError(f"unknown dtype {str(name)[:60]!r}")

    def _check_type(self, name: Any, owner: type[Any], depth: int) -> None:
        if not isinstance(name, str) or name not in _classes.TYPES:
            raise DataFormatError(f"unknown type {str(name)[:60]!r}")

    def _check_scalar(self, spec: Any, owner: type[Any], depth: int) -> None:
        _keys(spec, {"type", "value"}, "a number")
        self._check_type(spec["type"], owner, depth)
        self.check(spec["value"], owner, depth + 1)
        value: Any = self.build(spec["value"]) if _is_plain(spec["value"]) else None
        cls = _classes.TYPES[spec["type"]]
        kind = np.dtype(cls).kind
        wanted = {"b": bool, "i": int, "u": int, "f": float, "U": str}[kind]
        if type(value) is not wanted:
            raise DataFormatError(f"a {spec['type']} holds no such value")
        if (
            isinstance(value, int)
            and kind in "iu"
            and not (np.iinfo(cls).min <= value <= np.iinfo(cls).max)
        ):
            raise DataFormatError(f"a {spec['type']} is out of its range")

    def _check_objects(self, spec: Any, owner: type[Any], depth: int) -> None:
        _keys(spec, {"shape", "values"}, "an array of values")
        count = self._count(spec["shape"])
        values = spec["values"]
        if not isinstance(values, list) or len(values) != count:
            raise DataFormatError("an array of values does not fill its shape")
        for value in values:
            if not _is_plain(value):
                raise DataFormatError("an array of values holds other objects")
            self.check(value, owner, depth + 1)
        _refuse_odd(self.build(values))

    def _check_array(self, spec: Any, owner: type[Any], depth: int) -> None:
        _keys(spec, {"member", "dtype", "shape", "order"}, "an array")
        member, name = spec["member"], spec["dtype"]
        if type(member) is not int or member not in self._sizes:
            raise DataFormatError(f"the file lacks the array {str(member)[:20]}")
        text = _TEXT.fullmatch(name) if isinstance(name, str) else None
        if text is None:
            self._check_dtype(name, owner, depth)
        itemsize = 4 * int(text[1]) if text else _classes.DTYPES[name].itemsize
        if spec["order"] not in ("C", "F"):
            raise DataFormatError("the order of an array is neither C nor F")
        if self._count(spec["shape"]) * itemsize != self._sizes[member]:
            raise DataFormatError(f"the array {member} does not fill its shape")
        if member in self._specs:  # what is made of it may be made each time
            self._archive.budget.charge(self._sizes[member], f"the array {member}")
        if self._specs.setdefault(member, spec) != spec:
            raise DataFormatError(f"the array {member} is described in two ways")

    def _check_sparse(self, spec: Any, owner: type[Any], depth: int) -> None:
        parts = ("data", "indices", "indptr")
        _keys(spec, {"class", "shape", *parts}, "a sparse matrix")
        if not isinstance(spec["class"], str) or spec["class"] not in _classes.SPARSE:
            raise DataFormatError("a sparse matrix of an unknown class")
        shape = self._shape(spec["shape"])
        if len(shape) != 2:
            raise DataFormatError("a sparse matrix has rows and columns")
        for part in parts:
            self._check_array(spec[part], owner, depth)
            if len(spec[part]["shape"]) != 1:
                raise DataFormatError("a sparse matrix is not made of vectors")
        compressed = shape[0 if "csr" in spec["class"] else 1]
        lengths = {part: spec[part]["shape"][0] for part in parts}
        if (
            lengths["indptr"] != compressed + 1
            or lengths["indices"] != lengths["data"]
            or spec["indices"]["dtype"] not in ("int32", "int64")
            or spec["indptr"]["dtype"] != spec["indices"]["dtype"]
            or _TEXT.fullmatch(spec["data"]["dtype"])
        ):
            raise DataFormatError("the parts of a sparse matrix do not fit")

    def _check_tree(self, parts: Any, owner: type[Any], depth: int) -> None:
        if not isinstance(parts, dict) or parts.keys() != {"dict"}:
            raise DataFormatError("the description of a tree is incomplete")
        self.check(parts, owner, depth + 1)

    def _check_object(self, spec: Any, owner: type[Any], depth: int) -> None:
        _keys(spec, {"class", "state"}, "an estimator")
        name = spec["class"]
        cls = _classes.estimator_classes().get(name) if isinstance(name, str) else None
        if cls is None:
            raise DataFormatError(
                f"the model names {str(name)[:100]!r}, which is not among the classes "
                "that model files may hold"
            )
        self.foreign |= name.startswith("sklearn:")  # changes with other versions
        state = spec["state"]
        if not isinstance(state, dict):
            raise DataFormatError(f"the state of {name} is not an object")
        if lacking := sorted(inspect.signature(cls).parameters.keys() - state.keys()):
            raise DataFormatError(
                f"the state of {name} lacks parameters: {', '.join(lacking)}"
            )
        declared = declared_state(cls)
        for key, value in state.items():
            if key not in declared or _is_taken(cls, key):
                raise DataFormatError(f"{name} cannot have an attribute {key[:60]!r}")
            self.check(value, cls, depth + 1)

    def _check_part(self, spec: Any, owner: type[Any], depth: int) -> None:
        _keys(spec, {"class", "state"}, "a part")
        name = spec["class"]
        cls = _classes.state_types(owner).get(name) if isinstance(name, str) else None
        if cls is None:
            raise DataFormatError(
                f"{owner.__name__} holds no part called {str(name)[:100]!r}"
            )
        _keys(spec["state"], set(_field_names(cls)), name)
        for value in spec["state"].values():
            self.check(value, owner, depth + 1)

    def _shape(self, shape: Any) -> list[int]:
        if (
            not isinstance(shape, list)
            or len(shape) > 8
            or not all(type(n) is int and n >= 0 for n in shape)
        ):
            raise DataFormatError("a shape is not a short list of sizes")
        if any(n > self._archive.budget.limits.max_bytes for n in shape):
            raise DataLimitError("a shape is larger than any array may be")
        return shape

    def _count(self, shape: Any) -> int:
        return math.prod(self._shape(shape))

    def build(self, node: Any, owner: type = object) -> Any:
        """Build what a checked description describes."""
        if isinstance(node, list):
            return [self.build(item, owner) for item in node]
        if not isinstance(node, dict):
            return node
        ((kind, spec),) = node.items()
        return getattr(self, f"_build_{kind}")(spec, owner)

    def _build_float(self, text: str, owner: type) -> float:
        return float(text)

    def _build_tuple(self, items: list[Any], owner: type) -> tuple[Any, ...]:
        return tuple(self.build(items, owner))

    def _build_dict(self, pairs: list[Any], owner: type) -> dict[Any, Any]:
        return dict(self.build(pairs, owner))

    def _build_slice(self, bounds: list[Any], owner: type) -> slice:
        return slice(*bounds)

    def _build_dtype(self, name: str, owner: type) -> np.dtype[Any]:
        return np.dtype(name)

    def _build_type(self, name: str, owner: type) -> type:
        return _classes.TYPES[name]

    def _build_scalar(self, spec: dict[str, Any], owner: type) -> Any:
        return _classes.TYPES[spec["type"]](self.build(spec["value"]))

    def _build_objects(self, spec: dict[str, Any], owner: type) -> NDArray[Any]:
        flat = np.empty(len(spec["values"]), dtype=object)
        flat[:] = self.build(spec["values"])
        return flat.reshape(spec["shape"])

    def _build_array(self, spec: dict[str, Any], owner: type) -> NDArray[Any]:
        member = spec["member"]
        if member not in self._built:
            text = _TEXT.fullmatch(spec["dtype"])
            dtype = np.dtype(f"<U{text[1]}") if text else _classes.DTYPES[spec["dtype"]]
            flat = self._archive.array(member, dtype, math.prod(spec["shape"]))
            if dtype.kind == "b" and flat.size and flat.view(np.uint8).max() > 1:
                raise DataFormatError(f"the array {member} holds no truth values")
            if dtype.kind == "U" and flat.nbytes and flat.view("<u4").max() > 0x10FFFF:
                raise DataFormatError(f"the array {member} holds no text")
            native = flat.astype(dtype.newbyteorder("="), copy=False)
            self._built[member] = native.reshape(spec["shape"], order=spec["order"])
        return self._built[member]

    def _build_sparse(self, spec: dict[str, Any], owner: type) -> Any:
        parts = ("data", "indices", "indptr")
        data, indices, indptr = (self._build_array(spec[part], owner) for part in parts)
        shape = tuple(spec["shape"])
        n_columns = shape[1 if "csr" in spec["class"] else 0]
        # Compiled code of scipy reads wherever these point.
        if (
            indptr[0] != 0
            or indptr[-1] != len(indices)
            or (np.diff(indptr) < 0).any()
            or (len(indices) and not 0 <= indices.min() <= indices.max() < n_columns)
        ):
            raise DataFormatError("a sparse matrix has indices out of range")
        return _classes.SPARSE[spec["class"]]((data, indices, indptr), shape=shape)

    def _build_tree(self, parts: Any, owner: type) -> Any:
        return build_tree(self.build(parts, owner))

    def _build_object(self, spec: dict[str, Any], owner: type) -> Any:
        cls = _classes.estimator_classes()[spec["class"]]
        built = self._instance(cls, spec["state"], cls)
        if vars(built).get("n_jobs") is not None:
            built.n_jobs = 1  # how many workers to start is not for a file to say
        check_sound(built)
        complete_state(built)
        return built

    def _build_part(self, spec: dict[str, Any], owner: type) -> Any:
        return self._instance(
            _classes.state_types(owner)[spec["class"]], spec["state"], owner
        )

    def _instance(self, cls: type[Any], state: dict[str, Any], owner: type) -> Any:
        """An object; neither the constructor nor anything else of it is called."""
        values = {key: self.build(value, owner) for key, value in state.items()}
        if issubclass(cls, tuple):
            return tuple.__new__(cls, [values[name] for name in _field_names(cls)])
        built = object.__new__(cls)
        vars(built).update(values)
        return built


_KINDS = frozenset(
    name.removeprefix("_check_") for name in vars(Decoder) if name.startswith("_check_")
)


def _keys(spec: Any, wanted: set[str], what: str) -> None:
    if not isinstance(spec, dict) or spec.keys() != wanted:
        raise DataFormatError(f"the description of {what} is incomplete")


def _refuse_odd(values: list[Any]) -> None:
    """Refuse many numbers that may share one hash: to look them up takes for ever.

    Text has a hash that nobody can foresee, and small integers have different ones.
    """
    odd = sum(
        isinstance(value, float) or (isinstance(value, int) and abs(value) >= 2**31)
        for value in values
    )
    if odd > _MAX_ODD:
        raise DataFormatError(f"more than {_MAX_ODD:,} large numbers are looked up")


def _is_plain(node: Any) -> bool:
    """Whether a node is one value that a set or an array of values can hold."""
    if isinstance(node, dict):
        return len(node) == 1 and node.get("float") in _FLOATS
    return node is None or isinstance(node, (bool, int, float, str))


def _is_taken(cls: type[Any], name: str) -> bool:
    """Whether an attribute would hide a method or a property of the class."""
    try:
        inspect.getattr_static(cls, name)
    except AttributeError:
        return False
    return True


def _field_names(cls: type[Any]) -> tuple[str, ...]:
    if issubclass(cls, tuple):
        return tuple(cls._fields)  # type: ignore[attr-defined]
    return tuple(field.name for field in fields(cls))
