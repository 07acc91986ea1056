"""The loop of `_redundancy` compiled by numba."""

# SPDX-License-Identifier: BSD-3-Clause

# numba types its functions itself, when it compiles them.
# mypy: disable-error-code="no-untyped-def, call-arg, var-annotated"

import math

import numpy as np
from numba import njit
from numba.extending import intrinsic

__all__ = ["information_row"]


@intrinsic
def _popcount(typingctx, word):
    """Count the bits of an integer that are set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return word(word), codegen


@njit(cache=True, nogil=True)
def information_row(planes, counts, f, log_table):
    """Mutual information of feature `f` with all features, from packed bins.

    ``log_table[n]`` is ``n ln n``; otherwise as `joint_counts` and `information`.
    """
    d, _, words = planes.shape
    m = len(log_table) - 1
    bins = (0, 1, 3, 4)
    mine = planes[f]
    joint = np.zeros((5, 5), np.int64)
    result = np.empty(d)
    base = 0.0
    for a in range(5):
        base += log_table[counts[f, a]]
    for g in range(d):
        other = planes[g]
        joint[:] = 0
        for i in range(4):
            if counts[f, bins[i]] == 0:
                continue
            s0 = s1 = s2 = s3 = np.uint64(0)
            for w in range(words):
                bits = mine[i, w]
                s0 += _popcount(bits & other[0, w])
                s1 += _popcount(bits & other[1, w])
                s2 += _popcount(bits & other[2, w])
                s3 += _popcount(bits & other[3, w])
            joint[bins[i], 0] = s0
            joint[bins[i], 1] = s1
            joint[bins[i], 3] = s2
            joint[bins[i], 4] = s3
        total = 0.0
        for a in (0, 1, 3, 4):
            left = counts[f, a]
            for b in (0, 1, 3, 4):
                left -= joint[a, b]
                total += log_table[joint[a, b]]
            joint[a, 2] = left
            total += log_table[left]
        for b in range(5):
            left = counts[g, b]
            for a in (0, 1, 3, 4):
                left -= joint[a, b]
            total += log_table[left] - log_table[counts[g, b]]
        result[g] = max((total - base) / m + math.log(m), 0.0)
    return result
