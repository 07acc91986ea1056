"""The loop of `_relevance` compiled by numba.

In single precision the exponential is a polynomial after the reduction of its argument,
so that the compiler turns the loop over points into vector instructions; one
exponential per point and class is all the work there is.
"""

# SPDX-License-Identifier: BSD-3-Clause

# numba types its functions itself, when it compiles them.
# mypy: disable-error-code="no-untyped-def, call-arg, var-annotated"

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

_TILE = 512  # points whose sums stay in the first cache
_ROWS = 16  # rows that are transposed together: a cache line of float32
_LOG2E = 1.4426950408889634
_LN2 = 0.6931471805599453


@intrinsic
def _bits(typingctx, x):
    """Bits of a float32 as an int32."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.int32))

    return types.int32(types.float32), codegen


@intrinsic
def _from_bits(typingctx, i):
    """Read an int32 as the bits of a float32."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(types.float32))

    return types.float32(types.int32), codegen


@njit(inline="always")
def _exp2(a):
    """Two to the power of a float32, to about 1e-7; below -126 as at -126."""
    a = max(a, np.float32(-126.0))
    # Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    shifted = a + np.float32(12582912.0)
    r = a - (shifted - np.float32(12582912.0))
    p = np.float32(1.327647116e-3)
    p = p * r + np.float32(9.675541328e-3)
    p = p * r + np.float32(5.550713276e-2)
    p = p * r + np.float32(2.402211972e-1)
    p = p * r + np.float32(6.931469671e-1)
    p = p * r + np.float32(1.000000072)
    # The integer goes straight into the exponent.
    bits = _bits(p)
    power = _bits(shifted) << np.int32(23)
    return _from_bits(np.int32(bits + power))


@njit(nogil=True, inline="always")
def _one_entropy(x, mean, inverse, offset):
    """Entropy at one point, in double precision, safe far from all classes."""
    top = -np.inf
    for k in range(len(mean)):
        t = (x - mean[k]) * inverse[k]
        top = max(top, offset[k] - t * t)
    Z = 0.0
    E = 0.0
    for k in range(len(mean)):
        t = (x - mean[k]) * inverse[k]
        a = offset[k] - t * t - top
        e = math.exp(a)
        Z += e
        E += e * a
    return math.log(Z) - E / Z


@njit(cache=True, nogil=True)
def entropy_sums(values, indptr, mean, inverse, offset):
    """Twin of the function of the same name in `_relevance`, double precision."""
    b = mean.shape[0]
    sums = np.zeros(b)
    for j in range(b):
        for i in range(indptr[j], indptr[j + 1]):
            sums[j] += _one_entropy(values[i], mean[j], inverse[j], offset[j])
    return sums


@njit(cache=True, nogil=True, fastmath={"contract", "nnan", "ninf", "nsz"})
def entropy_sums_single(values, indptr, mean, inverse, offset):
    """Twin of `entropy_sums` whose `values` and exponentials are float32.

    The parameters come in double precision. Exponents are shifted by their largest
    possible value, not by the largest found, which saves a pass; points so far from all
    classes that this would lose digits are done again in double precision.
    """
    b, q = mean.shape
    sums = np.zeros(b)
    Z = np.empty(_TILE, np.float32)
    E = np.empty(_TILE, np.float32)
    root = math.sqrt(_LOG2E)
    for j in range(b):
        shift = offset[j].max()
        total = 0.0
        product = 1.0  # sum of logarithms = logarithm of the product
        for start in range(indptr[j], indptr[j + 1], _TILE):
            n = min(_TILE, indptr[j + 1] - start)
            x = values[start : start + n]
            for i in range(n):
                Z[i] = 0
                E[i] = 0
            for k in range(q):
                mu = np.float32(mean[j, k])
                s = np.float32(inverse[j, k] * root)
                c = np.float32((offset[j, k] - shift) * _LOG2E)
                for i in range(n):
                    t = (x[i] - mu) * s
                    a = c - t * t
                    e = _exp2(a)
                    Z[i] += e
                    E[i] += e * a
            low = np.float32(1.0)
            for i in range(n):
                E[i] = E[i] / Z[i]
                low = min(low, Z[i])
            if low < np.float32(1e-7):
                for i in range(n):
                    if Z[i] < np.float32(1e-7):
                        total += _one_entropy(
                            np.float64(x[i]), mean[j], inverse[j], offset[j]
                        )
                        Z[i] = 1
                        E[i] = 0
            for i in range(n, _TILE):
                Z[i] = 1
                E[i] = 0
            for i in range(_TILE // 2):
                Z[i] *= Z[i + _TILE // 2]
                E[i] += E[i + _TILE // 2]
            for i in range(_TILE // 4):
                Z[i] *= Z[i + _TILE // 4]
                E[i] += E[i + _TILE // 4]
            for i in range(_TILE // 8):
                E[i] += E[i + _TILE // 8]
            for i in range(_TILE // 8):
                total -= E[i] * _LN2
            for i in range(_TILE // 4):
                product *= Z[i]
                if product > 1e250 or product < 1e-250:
                    total += math.log(product)
                    product = 1.0
        sums[j] = total + math.log(product)
    return sums


@njit(cache=True, nogil=True, fastmath={"contract"})
def points_and_sums(X, first, mean, inverse, indptr, classes, q):
    """Twin of the method of `DenseColumns`, with float32 points.

    The columns are `first` and those after it, as many as `mean` has entries;
    `indptr` and `classes` are the rows of the membership matrix in CSR form.
    """
    m, b = X.shape[0], len(mean)
    points = np.empty((b, m), np.float32)
    sums = np.zeros((q, b))
    squares = np.zeros((q, b))
    tile = np.empty((_ROWS, b))
    for start in range(0, m, _ROWS):
        n = min(_ROWS, m - start)
        for i in range(n):
            row = X[start + i, first : first + b]
            for j in range(b):
                tile[i, j] = (row[j] - mean[j]) * inverse[j]
            for a in range(indptr[start + i], indptr[start + i + 1]):
                k = classes[a]
                for j in range(b):
                    z = tile[i, j]
                    sums[k, j] += z
                    squares[k, j] += z * z
        for j in range(b):
            for i in range(n):
                points[j, start + i] = tile[i, j]
    return points, sums, squares
