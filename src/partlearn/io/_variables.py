"""Find the roles, the orientation and the splits of the variables in a file.

The names and layouts are those met in public data: see the table of schemas in the
user guide. Ambiguous files raise an error that names the argument to resolve it.
"""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.utils import Bunch

from partlearn._arguments import argument
from partlearn._typing import Indices, Mask
from partlearn.io import _bunch
from partlearn.io._bunch import as_dtype
from partlearn.io._errors import AmbiguousDataError, DataFormatError
from partlearn.io._options import TASKS, Budget, Direction, ReadOptions, check_names

# Patterns of plain names.
_ROLES = {
    "data": r"(partial)?data|features?|x|fea|inputs",
    "candidates": r"candidate(label|set)?s?|p(artial)?(target|label)s?|partialy|yp|s",
    "truth": r"targets?|(logit|true)?labels?|y|gnd|(ground)?truth",
}
_FEATURE_NAMES = r"featurenames?|attributenames"
_LABEL_NAMES = r"labelnames?|targetnames|classnames|classes"
_WAYS: tuple[Direction, Direction] = ("rows", "columns")
Ways = tuple[Direction, Direction]


@dataclass(frozen=True)
class _Parts:
    """Values and names of variables by role."""

    values: dict[str, Any]
    names: dict[str, str]

    @property
    def labels(self) -> list[Any]:
        return [value for role, value in self.values.items() if role != "data"]


@dataclass(frozen=True)
class _Told:
    """Context that all steps of the assembly share."""

    options: ReadOptions
    budget: Budget
    origin: str
    matlab: bool  # numbers of classes and rows start at one
    classes: list[str] | None  # names that the file gives them


def _plain(name: str) -> str:
    """``"lost.Partial_Target"`` and ``"partialTarget"`` are the same name."""
    return name.rsplit(".", 1)[-1].replace("_", "").replace("-", "").lower()


def _flat(variables: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield variables and fields of structs by dotted name."""
    for name, value in variables.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _plays(key: str, role: str, part: str) -> bool:
    """Whether a name fits a role, with "train" or "test" on either side."""
    names = _ROLES[role]
    return re.fullmatch(rf"{part}({names})|({names}){part}", _plain(key)) is not None


def _is_numeric(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_numeric(v) for v in value)
    if sp.issparse(value):
        return True
    return isinstance(value, np.ndarray) and value.ndim in (1, 2) and value.size > 0


def _could_be_labels(value: Any) -> bool:
    if not isinstance(value, list):
        return _is_numeric(value)
    return bool(value) and all(
        isinstance(v, str | list) or _is_numeric(v) for v in value
    )


def assemble(
    variables: dict[str, Any],
    options: ReadOptions,
    budget: Budget,
    meta: dict[str, Any],
    *,
    origin: str,
    matlab: bool,
    notes: str = "",
) -> Bunch:
    """Find the roles of named arrays and build the Bunch.

    Parameters
    ----------
    variables : dict
        Named values: arrays, sparse matrices, text, lists (cells), dicts (structs).
    options : ReadOptions
        Arguments of the caller.
    budget : Budget
        Memory limits.
    meta : dict
        Note that ``write`` stored in the file: the task and the orientation.
    origin : str
        Name of the format, for the description.
    matlab : bool
        Whether class numbers and row numbers start at one, and our own writer puts
        samples into the columns of label matrices.
    notes : str, default=""
        More text for the description.
    """
    own = meta.get("task") in TASKS and "sparse" in meta
    options = options.completed(meta)
    if own:
        options = replace(
            options,
            orientation=options.orientation or "rows",
            label_orientation=options.label_orientation or _WAYS[matlab],
        )
    flat = dict(_flat(variables))
    if options.data_key is None:
        flat, part = _main_part(flat)
    else:
        part = "train" if _plain(options.data_key).startswith("train") else ""
        prefix = options.data_key.rpartition(".")[0]
        if prefix:  # a struct was named: the other parts are looked for inside it
            flat = {k: v for k, v in flat.items() if k.startswith(prefix + ".")}
    parts = _find(flat, part, options)
    if "data" not in parts.values:
        raise AmbiguousDataError(
            f"no data matrix was recognized among {_listing(flat)}",
            advice=f"Name it with {argument('data_key')}.",
        )
    parts = _choose_fold(parts, options)
    if not parts.labels:
        raise AmbiguousDataError(
            f"no labels were recognized among {_listing(flat)}",
            advice=f"Name them with {argument('candidates_key')} or "
            f"{argument('truth_key')}.",
        )
    ways = _orient(parts, options)
    told = _Told(options, budget, origin, matlab, _text_list(flat, _LABEL_NAMES))
    bunch = _build(parts, ways, told, _text_list(flat, _FEATURE_NAMES), notes)
    if part == "train":
        test = _find(flat, "test", ReadOptions())
        if "data" in test.values and test.labels:
            bunch["test"] = _build_test(_choose_fold(test, options), bunch, ways, told)
    folds = find_folds(flat, bunch.data.shape[0], matlab)
    if folds is not None:
        bunch["folds"] = folds
    if own:
        bunch.data = as_dtype(bunch.data, meta.get("dtype"))
    return bunch


def _main_part(flat: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the struct or top level with the data, and "train" or ""."""
    for part in ("", "train"):
        holders = {
            key.rpartition(".")[0]
            for key, value in flat.items()
            if _plays(key, "data", part) and _is_numeric(value)
        }
        if not holders:
            continue
        if "" in holders:
            return flat, part
        if len(holders) > 1:
            options = ", ".join(repr(f"{h}.data") for h in sorted(holders))
            raise AmbiguousDataError(
                f"{len(holders)} structs hold data ({', '.join(sorted(holders))})",
                advice=f"Choose with {argument('data_key')}, for instance one of "
                f"{options}.",
            )
        prefix = holders.pop() + "."
        return {k: v for k, v in flat.items() if k.startswith(prefix)}, part
    return flat, ""


def _listing(flat: dict[str, Any]) -> str:
    return ", ".join(map(repr, sorted(flat)[:20])) or "no variables at all"


def _pick(
    flat: dict[str, Any], role: str, part: str, options: ReadOptions
) -> str | None:
    """Find the variable for a role, by argument or by name."""
    named = f"{role}_key"
    key: str | None = getattr(options, named)
    if key is not None:
        return check_names([key], flat, named, "variable")[0]
    taken = {options.data_key, options.candidates_key, options.truth_key}
    fits = _is_numeric if role == "data" else _could_be_labels
    keys = [k for k, v in flat.items() if _plays(k, role, part) and fits(v)]
    keys = [k for k in keys if k not in taken]
    keys = [k for k in keys if "." not in k] or keys
    if len(keys) > 1:
        raise AmbiguousDataError(
            f"{', '.join(map(repr, sorted(keys)))} could all be the {role}",
            advice=f"Choose with {argument(named)}.",
        )
    return keys[0] if keys else None


def _find(flat: dict[str, Any], part: str, options: ReadOptions) -> _Parts:
    picked = {role: _pick(flat, role, part, options) for role in _ROLES}
    names = {role: key for role, key in picked.items() if key is not None}
    return _Parts({role: flat[key] for role, key in names.items()}, names)


def _choose_fold(parts: _Parts, options: ReadOptions) -> _Parts:
    """Join cells that are views of the same rows, or choose one of several folds."""
    X, labels = parts.values["data"], parts.labels
    if not isinstance(X, list):
        X = X.reshape(-1, 1) if X.ndim == 1 else X
        return replace(parts, values=parts.values | {"data": X})
    n = len(X)
    if labels and all(isinstance(v, list) and len(v) == n for v in labels):
        if options.fold is None or not 0 <= options.fold < n:
            raise AmbiguousDataError(
                f"the data come in {n} folds",
                advice=f"Choose one with {argument('fold')}, from 0 to {n - 1}.",
            )
        chosen = {role: value[options.fold] for role, value in parts.values.items()}
        return _choose_fold(replace(parts, values=chosen), options)
    views = [v for v in X if not isinstance(v, list) and v.ndim == 2]
    if len(views) < n or len({v.shape[0] for v in views}) != 1:
        raise AmbiguousDataError(
            f"the data are {n} cells that are neither views of the same rows nor folds "
            "with labels of their own",
            advice=f"Name another variable with {argument('data_key')}.",
        )
    sparse = any(sp.issparse(v) for v in views)
    joined = sp.hstack(views, format="csc") if sparse else np.hstack(views)
    return replace(parts, values=parts.values | {"data": joined})


def _shape(value: Any) -> tuple[int, int]:
    if isinstance(value, list):
        return (len(value), 0)
    return (value.shape[0], 1) if value.ndim == 1 else value.shape


def _is_vector(value: Any, options: ReadOptions) -> bool:
    """Whether a value is a vector; single rows and columns are, if not ruled out."""
    if isinstance(value, list) or value.ndim == 1:
        return True
    return 1 in value.shape and options.label_orientation is None


def _orient(parts: _Parts, options: ReadOptions) -> Ways:
    """Return the orientation of the data and of the label matrices."""
    X, labels = parts.values["data"], parts.labels
    shapes = [_shape(v) for v in labels]
    readings: list[Ways] = [
        (data_way, way)
        for (data_way, m), way in product(zip(_WAYS, X.shape, strict=True), _WAYS)
        if options.orientation in (None, data_way)
        and options.label_orientation in (None, way)
        and all(way in _ways(v, m, options) for v in labels)
    ]
    if X.shape[0] == X.shape[1] and options.orientation is None:
        # A square X fits both ways; samples in rows is what everyone does.
        readings = [r for r in readings if r[0] == "rows"]
    if all(_is_vector(v, options) for v in labels):
        readings = [r for r in readings if r[1] == "rows"] or readings[:1]
    if len(readings) > 1:
        readings = _plausible(readings, labels) or readings
    if not readings:
        sizes = ", ".join(f"{a} x {b}" for a, b in shapes)
        raise DataFormatError(
            f"data of {X.shape[0]} x {X.shape[1]} do not match labels of {sizes}"
        )
    if len(readings) > 1:
        both = {r[0] for r in readings}
        way = "orientation" if len(both) > 1 else "label_orientation"
        raise AmbiguousDataError(
            f"data of {X.shape[0]} x {X.shape[1]} and labels of "
            f"{shapes[0][0]} x {shapes[0][1]} fit in more than one way",
            advice=f"Pass {argument(way)}: 'rows' or 'columns', whichever holds one "
            f"sample of the {'data' if len(both) > 1 else 'labels'}.",
        )
    return readings[0]


def _ways(value: Any, m: int, options: ReadOptions) -> set[str]:
    shape = _shape(value)
    if _is_vector(value, options):  # which lies either way
        return set(_WAYS) if max(shape) == m else set()
    return {w for w, n in zip(_WAYS, shape, strict=True) if n == m}


def _plausible(readings: list[Ways], labels: list[Any]) -> list[Ways]:
    """Keep the readings in which every sample has exactly one true label."""
    matrix = [v for v in labels if not isinstance(v, list) and v.ndim == 2][-1] > 0
    axes = {"rows": 1, "columns": 0}
    kept = [r for r in readings if (matrix.sum(axis=axes[r[1]]) == 1).all()]
    return kept if len(kept) == 1 else []


def _text_list(flat: dict[str, Any], names: str) -> list[str] | None:
    for key, value in flat.items():
        if re.fullmatch(names, _plain(key)):
            if isinstance(value, str):
                return [value]
            if isinstance(value, list) and all(isinstance(v, str) for v in value):
                return list(value)
    return None


def _build(
    parts: _Parts,
    ways: Ways,
    told: _Told,
    features: list[str] | None = None,
    notes: str = "",
) -> Bunch:
    values = parts.values
    X = values["data"] if ways[0] == "rows" else values["data"].T
    names: list[str] = []
    S = truth = None
    if "candidates" in values:
        S, names = _candidate_matrix(values["candidates"], ways[1], told)
    if "truth" in values:
        truth, truth_names = _truth(values["truth"], ways[1], S, told)
        names = names or truth_names
    if told.classes is not None and len(told.classes) == len(names):
        names = told.classes
    roles = ", ".join(f"{role} from {name!r}" for role, name in parts.names.items())
    return _bunch.make_bunch(
        X,
        S,
        truth,
        told.options,
        told.budget,
        target_names=names,
        feature_names=features,
        descr=f"Read from {told.origin}: {roles}.{notes}",
        key_argument=f"{argument('candidates_key')} or {argument('truth_key')}",
        variables=parts.names,
    )


def _build_test(parts: _Parts, train: Bunch, ways: Ways, told: _Told) -> Bunch:
    """Build the test part of a file, with the classes of its train part."""
    plain = ReadOptions(orientation=ways[0], sparse=sp.issparse(train.data))
    if not any(_is_vector(v, plain) for v in parts.labels):
        plain = replace(plain, label_orientation=ways[1])
    ways = _orient(parts, plain)
    test = _build(parts, ways, replace(told, options=plain, classes=None))
    if len(test.target_names) == len(train.target_names):
        test.target_names = train.target_names
    elif set(test.target_names) <= set(train.target_names) and test.truth is not None:
        where = [train.target_names.index(name) for name in test.target_names]
        test.truth = np.asarray(where)[test.truth]
        test.target_names = train.target_names
    else:
        raise DataFormatError("the train and the test part have different classes")
    test.feature_names = train.feature_names
    return test


def _matrix(
    value: Any, way: Direction, what: str, told: _Told
) -> tuple[Mask, list[str]]:
    """Read a binary matrix, one row per sample."""
    M = _bunch.binary_matrix(value, told.budget, what)
    M = M if way == "rows" else np.ascontiguousarray(M.T)
    return M, [str(j + told.matlab) for j in range(M.shape[1])]


def _candidate_matrix(
    value: Any, way: Direction, told: _Told
) -> tuple[Mask, list[str]]:
    if isinstance(value, list):
        return _set_matrix(value, told)
    if _is_vector(value, told.options):
        raise DataFormatError("candidates are a matrix or a cell of sets, not a vector")
    return _matrix(value, way, "candidates", told)


def _set_matrix(sets: list[Any], told: _Told) -> tuple[Mask, list[str]]:
    """Read candidate sets given as text, lists of text or vectors of numbers."""
    as_text = [_members(value) for value in sets]
    names = _bunch.sort_names(list({name for row in as_text for name in row}))
    given = told.classes or []
    if set(names) <= set(given) and len(set(given)) == len(given):
        names = given
    told.budget.matrix(len(sets), len(names), 1, "the candidate matrix")
    binarizer = MultiLabelBinarizer(classes=names, sparse_output=True)
    return binarizer.fit_transform(as_text).astype(bool).toarray(), names


def _members(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [name for v in value for name in _members(v)]
    entries = value.toarray() if sp.issparse(value) else np.asarray(value)
    return _bunch.class_codes(entries.ravel(), "candidates")[1] if entries.size else []


def _truth(
    value: Any, way: Direction, S: Mask | None, told: _Told
) -> tuple[NDArray[Any], list[str]]:
    if isinstance(value, list):
        return _set_matrix(value, told)
    if not _is_vector(value, told.options):
        return _matrix(value, way, "truth", told)
    flat = (value.toarray() if sp.issparse(value) else value).ravel()
    if S is None and told.classes is None:
        return _bunch.class_codes(flat, "truth")
    q = S.shape[1] if S is not None else len(told.classes or ())
    return _numbered(flat, q, S, told), [str(j) for j in range(q)]


def _numbered(values: NDArray[Any], q: int, S: Mask | None, told: _Told) -> Indices:
    """Convert class numbers that count from 0 or 1 to column numbers."""
    whole = _bunch.as_whole(values)
    if whole.dtype.kind == "f":
        raise DataFormatError("class numbers are missing or not whole", where="truth")
    numbers = whole.astype(np.int64)
    fits = [
        first
        for first in ((1, 0) if told.matlab else (0, 1))
        if numbers.min() >= first and numbers.max() < q + first
    ]
    if S is not None and len(fits) > 1 and told.options.label_orientation is None:
        # Our own files say how they lie, and are never reinterpreted.
        rows = np.arange(len(S))
        fits = [first for first in fits if S[rows, numbers - first].all()] or fits
    if not fits:
        raise DataFormatError(
            f"class numbers run from {numbers.min()} to {numbers.max()}, there are "
            f"{q} classes",
            where="truth",
        )
    return numbers - fits[0]


Fold = tuple[Indices, Indices]
_SPLITS = {
    "train": r"tridx|train(idx|index|indices)",
    "test": r"teidx|test(idx|index|indices)",
    "number": r"(fold)?indices|foldid",
}


def find_folds(flat: dict[str, Any], m: int, one_based: bool) -> list[Fold] | None:
    """Return (train, test) row numbers per fold, from masks, cells or fold numbers.

    A variable that does not fit is passed over: splits are a courtesy of some files
    and no part of the data.
    """
    parts: dict[str, Any] = {}
    for key, value in flat.items():
        name = key.rsplit(".", 1)[-1].replace("_", "").lower()
        for role, names in _SPLITS.items():
            if re.fullmatch(names, name):
                parts.setdefault(role, value)
    if "train" in parts and "test" in parts:
        train = _rows(parts["train"], m, one_based)
        test = _rows(parts["test"], m, one_based)
        if train is not None and test is not None and len(train) == len(test):
            return list(zip(train, test, strict=True))
        return None
    number: Any = parts.get("number")
    whole = isinstance(number, np.ndarray) and number.dtype.kind in "iu"
    if not whole or number.size != m:
        return None
    return [
        (np.flatnonzero(number != k), np.flatnonzero(number == k))
        for k in np.unique(number)
    ]


def _rows(value: Any, m: int, one_based: bool) -> list[Indices] | None:
    """Return row numbers per fold from an m x folds mask or cells of row numbers."""
    if sp.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[0] == m:
        if not np.isin(value, (0, 1)).all():
            return None
        return [np.flatnonzero(column) for column in value.T]
    if not isinstance(value, list):
        return None
    out = []
    for fold in value:
        if not isinstance(fold, np.ndarray) or fold.dtype.kind not in "iuf":
            return None
        rows = fold.ravel()
        if rows.size == m and np.isin(rows, (0, 1)).all():
            out.append(np.flatnonzero(rows))
            continue
        numbers = rows.astype(np.int64) - int(one_based)
        if numbers.size and (numbers.min() < 0 or numbers.max() >= m):
            return None
        out.append(numbers)
    return out
