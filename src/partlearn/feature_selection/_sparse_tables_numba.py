"""The greedy path over sparse columns, compiled by numba.

Two features that are never both away from their zeros have a mutual information that
depends on nothing but how often each is away. So every selection adds one number to all
features that are away equally often, and something else only to the features that meet
the selected one in some row.
"""

# SPDX-License-Identifier: BSD-3-Clause

# numba types its functions itself, when it compiles them.
# mypy: disable-error-code="no-untyped-def, call-arg, var-annotated"

import math

import numpy as np
from numba import njit

from partlearn.feature_selection._columns import N_BINS


@njit(nogil=True)
def apart(away_f, away_g, log_table):
    """Mutual information of two features that never meet."""
    m = len(log_table) - 1
    both = log_table[max(m - away_f - away_g, 0)]
    total = both - log_table[m - away_f] - log_table[m - away_g]
    return max(total / m + math.log(m), 0.0)


@njit(nogil=True)
def meetings(f, by_column, by_row, counts, rest, log_table, slot, joint, met, extra):
    """Find features with rows in common with `f`, and their further terms.

    ``by_column`` and ``by_row`` are (indptr, indices, bin) of the entries that are away
    from the bin of the zeros, ``rest``. ``slot`` is -1 everywhere, before and after.
    Returns how many entries of ``met`` and ``extra`` were filled.
    """
    m = len(log_table) - 1
    column_ptr, column_row, column_bin = by_column
    row_ptr, row_column, row_bin = by_row
    n = 0
    for e in range(column_ptr[f], column_ptr[f + 1]):
        i, a = column_row[e], column_bin[e]
        for h in range(row_ptr[i], row_ptr[i + 1]):
            g = row_column[h]
            if slot[g] < 0:
                slot[g] = n
                met[n] = g
                joint[n, :, :] = 0
                n += 1
            joint[slot[g], a, row_bin[h]] += 1
    away_f = m - counts[f, rest[f]]
    for k in range(n):
        g = met[k]
        slot[g] = -1
        table = joint[k]
        away_g = m - counts[g, rest[g]]
        total = 0.0
        meet = 0
        for a in range(N_BINS):
            total -= log_table[counts[f, a]] + log_table[counts[g, a]]
            if a != rest[f]:
                left = counts[f, a]
                for b in range(N_BINS):
                    left -= table[a, b]
                    meet += table[a, b]
                    total += log_table[table[a, b]]
                total += log_table[left]
            if a != rest[g]:
                left = counts[g, a]
                for b in range(N_BINS):
                    left -= table[b, a]
                total += log_table[left]
        total += log_table[m - away_f - away_g + meet]
        information = max(total / m + math.log(m), 0.0)
        extra[k] = information - apart(away_f, away_g, log_table)
    return n


@njit(cache=True, nogil=True)
def select(
    order, path, p, until, features, outside, open_, relevance, state, tie, data
):
    """Continue from selection `p` up to `until` among some features; return the end.

    It ends early where the best of these features is not clearly better than
    ``outside``, a bound on the scores of all others. Fills ``order`` and ``path``, the
    mean redundancy when selected, and keeps up the redundancies in ``state``: ``base``
    by how often a feature is away, and ``own`` of each feature. ``kept`` remembers what
    :func:`meetings` found: ``start`` and ``stop`` of each feature in ``kept_met`` and
    ``kept_extra``, -1 where unknown, and how much of these is ``used``.
    """
    entries, kept, work = data
    by_column, by_row, counts, rest, level, aways, log_table = entries
    start, stop, kept_met, kept_extra, used = kept
    slot, joint, met, extra = work
    base, own = state
    while p < until:
        best = -np.inf
        for g in features:
            if open_[g]:
                mean = (base[level[g]] + own[g]) / max(p, 1)
                best = max(best, relevance[g] - mean)
        least = best - tie * max(1.0, abs(best))
        if not least > outside:
            break
        for f in features:  # the lowest index of those that are as good as the best
            mean = (base[level[f]] + own[f]) / max(p, 1)
            if open_[f] and relevance[f] - mean >= least:
                order[p], path[p], open_[f] = f, mean, False
                break
        f = order[p]
        p += 1
        for k in range(len(aways)):
            base[k] += apart(aways[level[f]], aways[k], log_table)
        if start[f] >= 0:
            for k in range(start[f], stop[f]):
                own[kept_met[k]] += kept_extra[k]
            continue
        n = meetings(
            f, by_column, by_row, counts, rest, log_table, slot, joint, met, extra
        )
        for k in range(n):
            own[met[k]] += extra[k]
        if used[0] + n <= len(kept_met):
            start[f], stop[f] = used[0], used[0] + n
            for k in range(n):
                kept_met[start[f] + k], kept_extra[start[f] + k] = met[k], extra[k]
            used[0] += n
    return p
