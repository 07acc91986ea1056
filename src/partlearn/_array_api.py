"""Arrays of other libraries, and functions that the array API standard lacks.

With scikit-learn's ``array_api_dispatch`` on, rows may be arrays of PyTorch, CuPy or
any library of the array API standard, on any device; results are in the same library on
the same device. The functions here are missing in the standard, or have a better
implementation in NumPy, which is used for NumPy's arrays.
"""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
import scipy.linalg

from partlearn._sklearn_compat import array_device as array_device
from partlearn._sklearn_compat import get_namespace, is_array, move_to
from partlearn._sklearn_compat import is_numpy_namespace as is_numpy_namespace


def namespace(*arrays: Any) -> Any:
    """Return the namespace of arrays: NumPy, unless dispatch is on."""
    return get_namespace(*(array for array in arrays if is_array(array)))[0]


def is_numpy(*arrays: Any) -> bool:
    """Whether arrays are NumPy's, or are treated as such."""
    return bool(is_numpy_namespace(namespace(*arrays)))


def to_numpy(array: Any) -> Any:
    """Copy an array of another library to the host; return other objects unchanged."""
    if is_numpy(array):
        return array
    return move_to(array, xp=get_namespace(np.empty(0))[0], device="cpu")


def like(array: Any, reference: Any, dtype: Any = None) -> Any:
    """Move a NumPy array to the library and the device of `reference`.

    `dtype` is a type of the namespace of `reference`; by default the type of `array`.
    """
    xp = namespace(reference)
    if is_numpy_namespace(xp):
        return np.asarray(array, dtype=dtype)
    moved = xp.asarray(np.ascontiguousarray(array), device=array_device(reference))
    return moved if dtype is None else xp.astype(moved, dtype, copy=False)


def follow(names: Any, reference: Any) -> Any:
    """Move class numbers to the library of `reference`; text stays in NumPy."""
    if is_numpy(reference) or names.dtype.kind not in "biuf":
        return names
    return like(names, reference)


def float_dtypes(X: Any) -> tuple[Any, ...]:
    """Return the float types that are kept; other types become the first one."""
    xp = namespace(X)
    return (xp.float64, xp.float32)


def on_host(X: Any) -> bool:
    """Whether an array lies in the memory of the host."""
    return is_numpy(X) or "cpu" in str(array_device(X)).lower()


def numpy_dtype(X: Any) -> Any:
    """Return NumPy's type for the precision of an array of floats."""
    xp = namespace(X)
    if is_numpy_namespace(xp):
        return X.dtype
    return np.dtype(np.float32 if X.dtype == xp.float32 else np.float64)


def same_namespace(estimator: Any, X: Any, fitted: Any, *methods: str) -> None:
    """Raise if rows are in another library or on another device than in `fit`.

    Parameters
    ----------
    estimator : estimator
        For the message.
    X : array
        Checked rows.
    fitted : array
        An attribute in the library and on the device of `fit`.
    *methods : str
        Methods that may have been called, for the message.
    """
    of_X, of_fit = namespace(X), namespace(fitted)
    both = is_numpy_namespace(of_X) and is_numpy_namespace(of_fit)
    if both or (of_X == of_fit and array_device(X) == array_device(fitted)):
        return
    name = type(estimator).__name__
    called = " or ".join(f"{name}.{method}()" for method in methods)
    raise ValueError(
        f"Inputs passed to {called} must use the same namespace and the same device "
        f"as those passed to fit(): {of_fit.__name__} on {array_device(fitted)}; "
        f"got {of_X.__name__} on {array_device(X)}."
    )


def take(A: Any, places: Any, axis: int = 0) -> Any:
    """Return rows or columns of an array by indices, which may be NumPy's."""
    xp = namespace(A)
    if is_numpy_namespace(xp):
        return A[places] if axis == 0 else A[:, places]
    places = like(places, A) if isinstance(places, np.ndarray) else places
    return xp.take(A, places, axis=axis)


def replaced(A: Any, B: Any, mask: Any) -> Any:
    """Return a copy of `A` with the rows in `mask` replaced by the rows of `B`."""
    xp = namespace(A, B)
    n = A.shape[0]
    own = xp.arange(n, dtype=xp.int64, device=array_device(A))
    other = n + xp.cumulative_sum(xp.astype(mask, xp.int64)) - 1
    return take(xp.concat([A, B], axis=0), xp.where(mask, other, own))


def as_double(A: Any) -> Any:
    """Convert an array to float64, without a copy if it has this type."""
    xp = namespace(A)
    return xp.astype(A, xp.float64, copy=False)


def at_least(A: Any, floor: float, *, overwrite: bool = False) -> Any:
    """Return the entrywise maximum of `A` and `floor`."""
    xp = namespace(A)
    if is_numpy_namespace(xp):
        return np.maximum(A, floor, out=A if overwrite else None)
    return xp.clip(A, min=floor)


def where_true(A: Any, mask: Any, axis: int = 0) -> Any:
    """Return rows or columns of an array by a mask, which may be NumPy's."""
    if is_numpy(A):
        return A[mask] if axis == 0 else A[:, mask]
    if isinstance(mask, np.ndarray):
        return take(A, np.flatnonzero(mask), axis)
    return take(A, namespace(A).nonzero(mask)[0], axis)


def by_row(parts: Any, folds: Any) -> Any:
    """Join parts; `folds` holds the row numbers of each part, in NumPy."""
    xp = namespace(*parts)
    if not is_numpy_namespace(xp):
        return take(xp.concat(parts, axis=0), np.argsort(np.concatenate(folds)))
    out = np.empty((sum(map(len, folds)), parts[0].shape[1]))
    for part, rows in zip(parts, folds, strict=True):
        out[rows] = part
    return out


def softmax(logits: Any) -> Any:
    """Return the softmax of each row."""
    xp = namespace(logits)
    P = xp.exp(logits - xp.max(logits, axis=1, keepdims=True))
    P /= xp.sum(P, axis=1, keepdims=True)
    return P


def row_dots(A: Any, B: Any) -> Any:
    """Return the products of each row of `A` with the same row of `B`, shape (m,)."""
    xp = namespace(A, B)
    if is_numpy_namespace(xp):
        return np.einsum("ij,ij->i", A, B)
    return xp.sum(A * B, axis=1)


def squared_sum(A: Any, B: Any = None) -> Any:
    """Return the sum of the entrywise products of `A` and `B` (default: `A`)."""
    B = A if B is None else B
    xp = namespace(A, B)
    if is_numpy_namespace(xp):
        return np.einsum("ij,ij->", A, B)
    return xp.sum(A * B)


def diagonal_added(K: Any, value: Any) -> Any:
    """Return ``K + value I``; the matrix is changed in place if possible."""
    xp = namespace(K)
    if is_numpy_namespace(xp):
        K.flat[:: K.shape[0] + 1] += value
        return K
    return K + value * xp.eye(K.shape[0], dtype=K.dtype, device=array_device(K))


def cholesky(K: Any) -> tuple[Any, bool]:
    """Return the lower Cholesky factor of a matrix, which may be overwritten."""
    xp = namespace(K)
    if is_numpy_namespace(xp):
        return scipy.linalg.cho_factor(
            K, lower=True, overwrite_a=True, check_finite=False
        )
    return xp.linalg.cholesky(K), True


def cholesky_solve(factor: tuple[Any, bool], B: Any) -> Any:
    """Solve a linear system by the factor from `cholesky`."""
    if is_numpy(B):
        return scipy.linalg.cho_solve(factor, B, check_finite=False)
    return solve_triangular(factor[0], solve_triangular(factor[0], B), transposed=True)


def solve_triangular(L: Any, B: Any, *, transposed: bool = False) -> Any:
    """Solve ``L x = B``, or the transposed system, for a lower triangular `L`."""
    xp = namespace(L, B)
    if is_numpy_namespace(xp):
        return scipy.linalg.solve_triangular(
            L, B, lower=True, trans="T" if transposed else "N", check_finite=False
        )
    A = L.T if transposed else L
    # PyTorch has it beside the standard's functions; the others solve in general.
    special = getattr(xp.linalg, "solve_triangular", None)
    if special is None:
        return xp.linalg.solve(A, B)
    return special(A, B, upper=transposed)


def eigh(A: Any, B: Any = None, **options: Any) -> tuple[Any, Any]:
    """Return eigenvalues, ascending, and eigenvectors of ``A v = w B v``.

    Parameters
    ----------
    A, B : array of shape (n, n)
        Symmetric; `B` is positive definite, the identity by default.
    **options
        Options of LAPACK, used for NumPy only.

    Returns
    -------
    values, vectors : array
        As from :func:`scipy.linalg.eigh`.
    """
    xp = namespace(A)
    if is_numpy_namespace(xp):
        return scipy.linalg.eigh(A, B, check_finite=False, **options)
    if B is None:
        return xp.linalg.eigh(A)
    L = xp.linalg.cholesky(B)
    half = solve_triangular(L, A)
    C = solve_triangular(L, half.T)
    values, vectors = xp.linalg.eigh((C + C.T) / 2)
    return values, solve_triangular(L, vectors, transposed=True)


def descending(values: Any, vectors: Any) -> tuple[Any, Any]:
    """Return eigenvalues and eigenvectors in reverse order, largest first."""
    xp = namespace(values)
    return xp.flip(values, axis=0), xp.flip(vectors, axis=1)


def orthonormal(A: Any) -> Any:
    """Return an orthonormal basis of the columns of a tall `A`; may overwrite it."""
    xp = namespace(A)
    if is_numpy_namespace(xp):
        return scipy.linalg.qr(
            A, mode="economic", overwrite_a=True, check_finite=False
        )[0]
    return xp.linalg.qr(A, mode="reduced")[0]


def contiguous(A: Any, dtype: Any = None) -> Any:
    """Return an array in row order and in a given precision."""
    xp = namespace(A)
    if is_numpy_namespace(xp):
        return np.ascontiguousarray(A, dtype=dtype)
    return A if dtype is None else xp.astype(A, dtype, copy=False)


def top_k(H: Any, k: int) -> tuple[Any, Any]:
    """Return values and places of the `k` smallest entries of each row, ascending."""
    xp = namespace(H)
    special = getattr(xp, "topk", None)  # PyTorch; not in the standard
    if special is not None:
        return special(H, k, largest=False, sorted=True)
    if hasattr(xp, "argpartition"):  # CuPy; not in the standard
        places = xp.argpartition(H, k - 1, axis=1)[:, :k]
        values = xp.take_along_axis(H, places, axis=1)
        order = xp.argsort(values, axis=1)
        places = xp.take_along_axis(places, order, axis=1)
    else:
        places = xp.argsort(H, axis=1)[:, :k]
    return xp.take_along_axis(H, places, axis=1), places
