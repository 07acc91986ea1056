"""Build a model from its JSON; each part is checked first."""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
import math
import re
from dataclasses import fields
from typing import Any

import numpy as np
import sklearn
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
    """Reader of the document of an archive, written by `versions`.

    A node of the document is a plain value, a list, or an object with one key, which
    names the kind of its content. The method ``_decode_`` of that kind checks the
    content and builds the value. No constructor and no method of a built object is
    called before its whole state has been checked.
    """

    def __init__(self, archive: Archive, versions: dict[str, str]) -> None:
        self._archive = archive
        self._versions = versions
        self._sizes = archive.sizes()  # declared bytes of the arrays
        self._specs: dict[int, dict[str, Any]] = {}
        self._built: dict[int, NDArray[Any]] = {}

    def decode(self, node: Any, owner: type[Any] = object, depth: int = 0) -> Any:
        """Build a value; `owner` is the class whose state it belongs to."""
        if depth > MAX_DEPTH:
            raise DataFormatError("the model is nested too deeply")
        if isinstance(node, float) and not math.isfinite(node):
            raise DataFormatError("a number is too large")
        if isinstance(node, list):
            return [self.decode(item, owner, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        kind = next(iter(node), "nothing")
        decode = getattr(self, f"_decode_{kind}", None)
        if len(node) != 1 or decode is None:
            raise DataFormatError(f"the model holds an unknown kind {kind[:60]!r}")
        return decode(node[kind], owner, depth)

    def check_members(self) -> None:
        """Raise for arrays that the document does not refer to."""
        if self._specs.keys() != self._sizes.keys():
            raise DataFormatError("the file holds arrays that the model does not use")

    def _decode_float(self, text: Any, owner: type[Any], depth: int) -> float:
        if text not in _FLOATS:
            raise DataFormatError("a number is neither finite, infinite nor NaN")
        return float(text)

    def _decode_tuple(self, items: Any, owner: type[Any], depth: int) -> Any:
        if not isinstance(items, list):
            raise DataFormatError("a tuple is not a list of items")
        return tuple(self.decode(items, owner, depth))

    def _decode_dict(self, pairs: Any, owner: type[Any], depth: int) -> Any:
        if not isinstance(pairs, list):
            raise DataFormatError("a dictionary is not a list of pairs")
        for pair in pairs:
            if not (isinstance(pair, list) and len(pair) == 2 and _is_plain(pair[0])):
                raise DataFormatError("a dictionary does not hold pairs")
        keys = [self.decode(key) for key, _ in pairs]
        _refuse_odd(keys)
        if len(set(keys)) < len(keys):
            raise DataFormatError("a dictionary has the same key twice")
        values = [self.decode(value, owner, depth + 1) for _, value in pairs]
        return dict(zip(keys, values, strict=True))

    def _decode_slice(self, bounds: Any, owner: type[Any], depth: int) -> slice:
        if not (
            isinstance(bounds, list)
            and len(bounds) == 3
            and all(b is None or isinstance(b, (int, str)) for b in bounds)
        ):
            raise DataFormatError("a slice has no three bounds")
        return slice(*bounds)

    def _decode_dtype(self, name: Any, owner: type[Any], depth: int) -> np.dtype[Any]:
        return _find(_classes.DTYPES, name, "dtype").newbyteorder("=")

    def _decode_type(self, name: Any, owner: type[Any], depth: int) -> type:
        return _find(_classes.TYPES, name, "type")

    def _decode_scalar(self, spec: Any, owner: type[Any], depth: int) -> Any:
        _keys(spec, {"type", "value"}, "a number")
        cls: type = _find(_classes.TYPES, spec["type"], "type")
        value = self.decode(spec["value"]) if _is_plain(spec["value"]) else None
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
        return cls(value)

    def _decode_objects(self, spec: Any, owner: type[Any], depth: int) -> NDArray[Any]:
        _keys(spec, {"shape", "values"}, "an array of values")
        count = math.prod(self._shape(spec["shape"]))
        values = spec["values"]
        if not isinstance(values, list) or len(values) != count:
            raise DataFormatError("an array of values does not fill its shape")
        if not all(map(_is_plain, values)):
            raise DataFormatError("an array of values holds other objects")
        flat = np.empty(count, dtype=object)
        flat[:] = [self.decode(value) for value in values]
        _refuse_odd(flat)
        return flat.reshape(spec["shape"])

    def _decode_array(self, spec: Any, owner: type[Any], depth: int) -> NDArray[Any]:
        _keys(spec, {"member", "dtype", "shape", "order"}, "an array")
        member, name = spec["member"], spec["dtype"]
        if type(member) is not int or member not in self._sizes:
            raise DataFormatError(f"the file lacks the array {str(member)[:20]}")
        if text := _TEXT.fullmatch(name) if isinstance(name, str) else None:
            dtype = np.dtype(f"<U{text[1]}")
        else:
            dtype = _find(_classes.DTYPES, name, "dtype")
        if spec["order"] not in ("C", "F"):
            raise DataFormatError("the order of an array is neither C nor F")
        count = math.prod(self._shape(spec["shape"]))
        if count * dtype.itemsize != self._sizes[member]:
            raise DataFormatError(f"the array {member} does not fill its shape")
        if member not in self._specs:
            self._specs[member] = spec
            self._built[member] = self._read(member, dtype, spec)
        else:  # what is made of it may be made each time
            self._archive.budget.charge(self._sizes[member], f"the array {member}")
        if self._specs[member] != spec:
            raise DataFormatError(f"the array {member} is described in two ways")
        return self._built[member]

    def _read(
        self, member: int, dtype: np.dtype[Any], spec: dict[str, Any]
    ) -> NDArray[Any]:
        flat = self._archive.array(member, dtype, math.prod(spec["shape"]))
        if dtype.kind == "b" and flat.size and flat.view(np.uint8).max() > 1:
            raise DataFormatError(f"the array {member} holds no truth values")
        if dtype.kind == "U" and flat.nbytes and flat.view("<u4").max() > 0x10FFFF:
            raise DataFormatError(f"the array {member} holds no text")
        native = flat.astype(dtype.newbyteorder("="), copy=False)
        return native.reshape(spec["shape"], order=spec["order"])

    def _decode_sparse(self, spec: Any, owner: type[Any], depth: int) -> Any:
        names = ("data", "indices", "indptr")
        _keys(spec, {"class", "shape", *names}, "a sparse matrix")
        cls = _find(_classes.SPARSE, spec["class"], "class of a sparse matrix")
        shape = self._shape(spec["shape"])
        if len(shape) != 2:
            raise DataFormatError("a sparse matrix has rows and columns")
        parts = [self._decode_array(spec[name], owner, depth) for name in names]
        if any(part.ndim != 1 for part in parts):
            raise DataFormatError("a sparse matrix is not made of vectors")
        data, indices, indptr = parts
        compressed, n_columns = shape if "csr" in spec["class"] else shape[::-1]
        if (
            len(indptr) != compressed + 1
            or len(indices) != len(data)
            or indices.dtype not in (np.int32, np.int64)
            or indptr.dtype != indices.dtype
            or data.dtype.kind == "U"
        ):
            raise DataFormatError("the parts of a sparse matrix do not fit")
        # Compiled code of scipy reads wherever these point.
        if (
            indptr[0] != 0
            or indptr[-1] != len(indices)
            or (np.diff(indptr) < 0).any()
            or (len(indices) and not 0 <= indices.min() <= indices.max() < n_columns)
        ):
            raise DataFormatError("a sparse matrix has indices out of range")
        return cls((data, indices, indptr), shape=tuple(shape))

    def _decode_tree(self, parts: Any, owner: type[Any], depth: int) -> Any:
        return build_tree(self.decode(parts, owner, depth + 1))

    def _decode_object(self, spec: Any, owner: type[Any], depth: int) -> Any:
        _keys(spec, {"class", "state"}, "an estimator")
        name, state = spec["class"], spec["state"]
        cls = _classes.estimator_classes().get(name) if isinstance(name, str) else None
        if cls is None:
            raise DataFormatError(
                f"the model names {str(name)[:100]!r}, which is not among the classes "
                "that model files may hold"
            )
        if name.startswith("sklearn:"):  # changes with other versions
            check_version("scikit-learn", self._versions, sklearn.__version__)
        if not isinstance(state, dict):
            raise DataFormatError(f"the state of {name} is not an object")
        if lacking := sorted(inspect.signature(cls).parameters.keys() - state.keys()):
            raise DataFormatError(
                f"the state of {name} lacks parameters: {', '.join(lacking)}"
            )
        declared = declared_state(name)
        for key in state:
            if key not in declared or _is_taken(cls, key):
                raise DataFormatError(f"{name} cannot have an attribute {key[:60]!r}")
        built = self._instance(cls, state, cls, depth)
        if vars(built).get("n_jobs") is not None:
            built.n_jobs = 1  # how many workers to start is not for a file to say
        check_sound(built)
        complete_state(built)
        return built

    def _decode_part(self, spec: Any, owner: type[Any], depth: int) -> Any:
        _keys(spec, {"class", "state"}, "a part")
        name = spec["class"]
        cls = _classes.state_types(owner).get(name) if isinstance(name, str) else None
        if cls is None:
            raise DataFormatError(
                f"{owner.__name__} holds no part called {str(name)[:100]!r}"
            )
        _keys(spec["state"], {field.name for field in fields(cls)}, name)
        return self._instance(cls, spec["state"], owner, depth)

    def _instance(
        self, cls: type[Any], state: dict[str, Any], owner: type[Any], depth: int
    ) -> Any:
        """Create an object without calling its constructor."""
        values = {
            key: self.decode(value, owner, depth + 1) for key, value in state.items()
        }
        built = object.__new__(cls)
        vars(built).update(values)
        return built

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


def check_version(package: str, versions: dict[str, str], here: str) -> None:
    """Raise for files of other versions, whose attributes may differ."""
    saved = versions[package]
    if saved.split(".")[:2] != here.split(".")[:2]:
        raise DataFormatError(
            f"the model was saved with {package} {saved}, and this is {here}",
            advice=f"Train it again with this version, or load it with {package} "
            f"{saved}.",
        )


def _keys(spec: Any, wanted: set[str], what: str) -> None:
    if not isinstance(spec, dict) or spec.keys() != wanted:
        raise DataFormatError(f"the description of {what} is incomplete")


def _find(known: dict[str, Any], name: Any, what: str) -> Any:
    if not isinstance(name, str) or name not in known:
        raise DataFormatError(f"unknown {what} {str(name)[:60]!r}")
    return known[name]


def _refuse_odd(values: Any) -> None:
    """Raise for many numbers that may share one hash, whose lookup would not end.

    Hashes of text are randomized, and small integers have different hashes.
    """
    odd = sum(
        isinstance(value, float) or (isinstance(value, int) and abs(value) >= 2**31)
        for value in values
    )
    if odd > _MAX_ODD:
        raise DataFormatError(f"more than {_MAX_ODD:,} large numbers are looked up")


def _is_plain(node: Any) -> bool:
    """Whether a node is a single value that a set or an array of values can hold."""
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
