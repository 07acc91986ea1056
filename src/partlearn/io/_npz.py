"""NumPy archives, read without pickle and within limits, and evidence in them."""

# SPDX-License-Identifier: BSD-3-Clause

import json
import math
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import NDArray

from partlearn._sizes import SIZES
from partlearn.candidates import Evidence, Votes, from_votes, from_weights
from partlearn.io._bunch import compressed, read_matrix
from partlearn.io._errors import DataFormatError, damage
from partlearn.io._options import Budget

_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # those of NumPy


def read_npz(path: Path, budget: Budget) -> dict[str, Any]:
    """Read all arrays: ndarray, or CSR when mostly zero; text stays text."""
    out: dict[str, Any] = {}
    with damage("the archive is damaged"), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > SIZES.npz_members:
            raise DataFormatError(f"{len(members):,} arrays are too many")
        for member in members:
            name = member.filename.removesuffix(".npy")
            where = f"array {name!r}"
            if member.compress_type not in _COMPRESSIONS:
                raise DataFormatError(f"{where} uses an unknown compression")
            stored = min(member.compress_size, budget.stored)
            budget.plausible(member.file_size, stored, where)
            budget.charge(member.file_size, where)
            with archive.open(member) as stream:
                out[name] = _array(stream, member.file_size, where)  # type: ignore[arg-type]
    return out


def read_npy(path: Path, budget: Budget) -> Any:
    """Read an npy file: ndarray, or CSR when mostly zero; text stays text."""
    budget.charge(budget.stored, "array")
    with damage("the array is damaged"), path.open("rb") as stream:
        return _array(stream, budget.stored, "array")


def _array(stream: BinaryIO, size: int, where: str) -> Any:
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, fortran, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, fortran, dtype = npy.read_array_header_2_0(stream)
    else:
        raise DataFormatError(f"{where} has the unknown version {version}")
    if dtype.hasobject:
        raise DataFormatError(
            f"{where} holds Python objects, which only pickle can read",
            advice="Objects are never loaded; save plain numbers or text instead.",
        )
    if dtype.kind not in "biufUS" or not dtype.itemsize:
        raise DataFormatError(f"{where} has the type {dtype}, which is not data")
    if any(n < 0 for n in shape):
        raise DataFormatError(f"{where} has a negative dimension")
    total = dtype.itemsize * math.prod(shape)
    if total > size:
        raise DataFormatError(f"{where} declares {total:,} bytes, and holds {size:,}")
    native = dtype.newbyteorder("=")
    if dtype.kind in "US" or len(shape) != 2 or not total:
        data = np.frombuffer(_exactly(stream, total, where), dtype=dtype)
        array = data.astype(native).reshape(shape, order="F" if fortran else "C")
        _drain(stream, where)
        return _as_text(array, where) if dtype.kind in "US" else array
    lines, length = shape[::-1] if fortran else shape

    def load(part: slice) -> NDArray[Any]:
        size = (part.stop - part.start) * length * dtype.itemsize
        block = np.frombuffer(_exactly(stream, size, where), dtype=dtype)
        return block.reshape(-1, length)

    matrix = read_matrix(load, lines, length, native)
    _drain(stream, where)
    return matrix.T if fortran else matrix


def _exactly(stream: BinaryIO, n: int, where: str) -> bytes:
    data = stream.read(n)
    if len(data) < n:
        raise DataFormatError(f"{where} ends too early")
    return data


def _drain(stream: BinaryIO, where: str) -> None:
    """Read to the end of a member, where zipfile verifies the checksum."""
    if stream.read(1):
        raise DataFormatError(f"{where} is longer than its shape")


def _as_text(array: NDArray[Any], where: str) -> str | list[str]:
    if array.dtype.kind == "U" and array.size:
        codes = np.ascontiguousarray(array.reshape(-1)).view(np.uint32)
        if ((codes > 0x10FFFF) | ((codes >= 0xD800) & (codes < 0xE000))).any():
            raise DataFormatError(f"{where} holds numbers that are not characters")
    lines = [
        line.decode("utf-8", "replace") if isinstance(line, bytes) else str(line)
        for line in array.ravel().tolist()
    ]
    return lines[0] if array.ndim == 0 else lines


def csr_parts(arrays: dict[str, Any]) -> dict[str, Any]:
    """Join ``X_data, X_indices, X_indptr, X_shape`` into one sparse ``X``."""
    keys = ["X_data", "X_indices", "X_indptr", "X_shape"]
    if not all(key in arrays for key in keys):
        return arrays
    out = {key: value for key, value in arrays.items() if key not in keys}
    values, index, pointer, shape = (_vector(arrays[key], key) for key in keys)
    whole = len(shape) == 2 and shape.dtype.kind in "iu"
    if not whole or (shape < 0).any() or (shape >= 2**31).any():
        raise DataFormatError("X_shape must be two numbers of rows and columns")
    m, d = (int(n) for n in shape)
    out["X"] = compressed(sp.csr_array, values, index, pointer, (m, d), "X")
    return out


def _vector(value: Any, key: str) -> NDArray[Any]:
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise DataFormatError(f"{key} must be a vector of numbers")
    return value


def parse_meta(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the content of ``meta``, JSON text, or an empty dict."""
    text = arrays.get("meta")
    if not isinstance(text, str):
        return {}
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataFormatError("the meta text is not JSON", where="meta") from error
    return meta if isinstance(meta, dict) else {}


# Arrays of an npz file that hold evidence; its note says which of the two forms.
KEYS = ("weights", "votes", "annotators", "known")


def evidence_arrays(labels: Evidence) -> dict[str, Any]:
    """Return weights or votes as arrays for an npz file.

    Parameters
    ----------
    labels : Evidence
        The evidence.

    Returns
    -------
    arrays : dict of str to ndarray
        ``weights``; or ``votes`` (row, annotator and label, as numbers), the names
        ``annotators`` and, if some labels are known, ``known``.
    """
    if isinstance(labels, Votes):
        table = labels.table
        triples = np.stack([table.row, table.annotator, table.label], axis=1)
        people = np.asarray([str(a) for a in labels.annotators.tolist()], dtype=np.str_)
        arrays = {"votes": triples.astype(np.int64), "annotators": people}
        if (labels.known >= 0).any():
            arrays["known"] = labels.known.astype(np.int64)
        return arrays
    return {"weights": np.asarray(labels.weights, dtype=np.float64)}


def check_fit(labels: Any, m: int, names: list[str]) -> None:
    """Raise if evidence does not match the rows and classes.

    Parameters
    ----------
    labels : object
        Evidence to check.
    m : int
        Number of rows of the data.
    names : list of str
        Names of the classes.
    """
    if not isinstance(labels, Evidence):
        raise DataFormatError("`evidence` must be an Evidence object")
    if len(labels) != m:
        raise DataFormatError(f"the data have {m} rows, the evidence has {len(labels)}")
    if [str(c) for c in labels.classes.tolist()] != names:
        raise DataFormatError("the evidence and `target_names` name different classes")


def read_evidence(arrays: dict[str, Any], m: int, names: list[str]) -> Evidence:
    """Rebuild evidence from the arrays of :func:`evidence_arrays`, and check it.

    Parameters
    ----------
    arrays : dict of str to object
        As read from a file: anything may be wrong with them.
    m : int
        Number of rows of the data.
    names : list of str
        Names of the classes.

    Returns
    -------
    labels : Evidence
        Weights or votes.
    """
    with damage("the evidence is damaged"):
        if "weights" in arrays:
            W = arrays["weights"]
            W = np.asarray(W.toarray() if hasattr(W, "toarray") else W)
            if W.shape != (m, len(names)):
                raise ValueError(f"weights of shape {W.shape}")
            return from_weights(W, classes=names, empty="all")
        triples, people = arrays["votes"], arrays["annotators"]
        triples = triples.toarray() if hasattr(triples, "toarray") else triples
        people = [people] if isinstance(people, str) else people
        rows, who, label = _triples(triples, m, len(people), len(names))
        votes = from_votes(
            rows,
            [people[a] for a in who.tolist()],
            [names[j] for j in label.tolist()],
            n_rows=m,
            classes=names,
            empty="all",
        )
        known = np.asarray(arrays.get("known", np.full(m, -1)))
        if known.shape != (m,) or known.dtype.kind not in "iu":
            raise ValueError(f"known labels must be {m} whole numbers")
        places = np.flatnonzero(known >= 0)
        if len(places) and known.max() >= len(names):
            raise ValueError(f"a known label is beyond the {len(names)} classes")
        return votes.with_known({int(i): names[known[i]] for i in places})


def _triples(table: Any, *sizes: int) -> list[NDArray[Any]]:
    values = np.asarray(table)
    if values.ndim != 2 or values.shape[1] != 3 or values.dtype.kind not in "iu":
        raise ValueError("votes must be rows of three whole numbers")
    for k, (column, size) in enumerate(zip(values.T, sizes, strict=True)):
        if len(column) and not (column.min() >= 0 and column.max() < size):
            raise ValueError(
                f"column {k} of the votes has values outside 0..{size - 1}"
            )
    return list(values.T)


def weight_texts(W: NDArray[Any], names: list[str]) -> list[str]:
    """Write weights as shares, ``cat:0.7|dog:0.3``.

    Parameters
    ----------
    W : ndarray of shape (n_samples, n_classes)
        Weights.
    names : list of str
        Names of the classes, without separators.

    Returns
    -------
    texts : list of str
        One per row.
    """
    return [
        "|".join(f"{names[j]}:{float(row[j])!r}" for j in np.flatnonzero(row))
        for row in W / W.sum(axis=1, keepdims=True)
    ]
