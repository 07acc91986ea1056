"""The loops of `_redundancy` compiled by numba."""

# SPDX-License-Identifier: BSD-3-Clause

# numba types its functions itself, when it compiles them.
# mypy: disable-error-code="no-untyped-def, call-arg, var-annotated"

import math

import numpy as np
from numba import njit
from numba.extending import intrinsic


@intrinsic
def _popcount(typingctx, word):
    """Count the bits of an integer that are set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return word(word), codegen


@njit(nogil=True)
def _information(planes, counts, f, g, log_table, joint):
    """Mutual information of two features; ``log_table[n]`` is ``n ln n``."""
    bins = (0, 1, 3, 4)
    for i in range(4):
        a = bins[i]
        if counts[f, a] == 0:
            joint[a] = 0
            continue
        s0 = s1 = s2 = s3 = np.uint64(0)
        for w in range(planes.shape[2]):
            bits = planes[f, i, w]
            s0 += _popcount(bits & planes[g, 0, w])
            s1 += _popcount(bits & planes[g, 1, w])
            s2 += _popcount(bits & planes[g, 2, w])
            s3 += _popcount(bits & planes[g, 3, w])
        joint[a, 0] = s0
        joint[a, 1] = s1
        joint[a, 3] = s2
        joint[a, 4] = s3
    total = 0.0
    for a in bins:
        left = counts[f, a]
        for b in bins:
            left -= joint[a, b]
            total += log_table[joint[a, b]]
        joint[a, 2] = left  # what is in no other bin is in the middle
        total += log_table[left]
    for b in range(5):
        left = counts[g, b]
        for a in bins:
            left -= joint[a, b]
        total += log_table[left] - log_table[counts[g, b]] - log_table[counts[f, b]]
    m = len(log_table) - 1
    return max(total / m + math.log(m), 0.0)


@njit(cache=True, nogil=True)
def enter(planes, counts, log_table, selected, features, table, entered, redundancy):
    """Bring the redundancy of some features up to date, in place.

    ``table[p, g]`` is the mutual information of ``selected[p]`` and g, NaN where it has
    to be computed; the first ``entered[g]`` lines are in ``redundancy[g]`` already. One
    feature after the other meets the selected ones, so that its bits are fetched once.
    """
    joint = np.zeros((5, 5), np.int64)
    for g in features:
        for p in range(entered[g], len(selected)):
            if math.isnan(table[p, g]):
                table[p, g] = _information(
                    planes, counts, selected[p], g, log_table, joint
                )
            redundancy[g] += table[p, g]
        entered[g] = len(selected)


@njit(cache=True, nogil=True)
def pack(X, first, cuts, planes):
    """Pack the bins of columns `first` and after into `planes` (b, 4, w).

    ``cuts`` (4, b) are the thresholds of the bins.
    """
    m, b = X.shape[0], planes.shape[0]
    words = np.empty((4, b), np.uint64)
    for w in range(planes.shape[2]):
        words[:] = 0
        for i in range(w * 64, min(m, w * 64 + 64)):
            row = X[i, first : first + b]
            bit = np.uint64(1) << np.uint64(i - w * 64)
            for k in range(4):
                for j in range(b):
                    words[k, j] |= bit if row[j] > cuts[k, j] else np.uint64(0)
        inside = np.uint64(0xFFFFFFFFFFFFFFFF)
        if w * 64 + 64 > m:
            inside >>= np.uint64(w * 64 + 64 - m)
        for j in range(b):
            planes[j, 0, w] = ~words[0, j] & inside
            planes[j, 1, w] = words[0, j] & ~words[1, j]
            planes[j, 2, w] = words[2, j] & ~words[3, j]
            planes[j, 3, w] = words[3, j]
