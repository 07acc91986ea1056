"""Findings about labels, features and columns."""

# SPDX-License-Identifier: BSD-3-Clause

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from partlearn._typing import Mask
from partlearn.candidates import bag_codes, equal_neighbors, is_missing
from partlearn.check._report import Finding, Severity, make_findings
from partlearn.tables import ColumnKind, deciding_columns

_SCALES = 1e3  # ratio of standard deviations that ruins distances


def cooccurrence(S: Mask) -> NDArray[np.int64]:
    """Count, for each pair of labels, the sets that contain both."""
    counts = sp.csr_array(S.astype(np.int64))
    return np.asarray((counts.T @ counts).toarray())


def ambiguity_degree(S: Mask, C: NDArray[np.int64], Y: Mask | None) -> float:
    """Return how often the worst false label accompanies a label.

    With known truth this is the ambiguity degree of Cour, Sapp and Taskar (2011),
    the largest probability of a false label given the true one; at 1 a label cannot
    be learned. Without truth, candidate labels stand in for true ones, which bounds
    the quantity only roughly.
    """
    together, totals = C, np.diag(C)
    if Y is not None:
        totals = Y.sum(axis=0)
        together = sp.csr_array(Y.T.astype(np.int64)) @ S.astype(np.int64)
    together = together.copy()
    np.fill_diagonal(together, 0)
    occurs = totals > 0
    if not occurs.any() or len(C) < 2:
        return 0.0
    return float((together[occurs] / totals[occurs, None]).max())


def label_findings(
    S: Mask, C: NDArray[np.int64], names: list[str], several: bool, empty_breaks: bool
) -> Iterator[Finding]:
    """Find problems of the sets; `several` labels of a row may be true."""
    m, q = S.shape
    sizes = S.sum(axis=1)
    empty = np.flatnonzero(sizes == 0)
    severity: Severity = "error" if empty_breaks else "warning"
    yield from make_findings("empty-sets", empty, severity=severity, total=m)
    occurring = np.flatnonzero(np.diag(C))
    if occurring.size == 1 and not several:
        yield from make_findings("one-label", items=(names[occurring[0]],))
    full = np.flatnonzero(sizes == q)
    if full.size and q > 1:
        severity = "error" if full.size == m else "warning"
        yield from make_findings("full-sets", full, severity=severity, total=m)
    counts = np.diag(C)
    never = np.flatnonzero(counts == 0)
    yield from make_findings("never-candidate", [names[i] for i in never])
    yield from _alone(S, sizes, counts, names)
    yield from _together(C, counts, names)


def bag_findings(
    S: Mask, bags: NDArray[Any] | None, Y: Mask | None
) -> Iterator[Finding]:
    """Describe the bags; without any, report whether rows seem to come in bags."""
    if bags is None:
        pairs = equal_neighbors(S)
        if pairs.bags_likely:
            yield from make_findings("bags-likely", pairs=pairs)
        return
    bare = np.array([is_missing(name) or name == "" for name in bags], dtype=bool)
    yield from make_findings("bags-missing", np.flatnonzero(bare & S.any(axis=1)))
    S, bags, Y = S[~bare], bags[~bare], None if Y is None else Y[~bare]
    codes = bag_codes(bags, len(S))
    if len(np.unique(codes)) == len(codes):
        yield from make_findings("bags-single")
        return
    lists = np.zeros((codes.max(initial=-1) + 1, S.shape[1]), dtype=bool)
    np.logical_or.at(lists, codes, S)
    sizes = np.bincount(codes)
    yield from make_findings(
        "bags",
        n_bags=len(sizes),
        mean=sizes.mean(),
        largest=sizes.max(),
        labels=lists.sum(axis=1).mean(),
    )
    odd = np.unique(codes[S.any(axis=1) & (lists[codes] != S).any(axis=1)])
    names = [str(bags[np.argmax(codes == b)]) for b in odd[:20]]
    yield from make_findings("bags-differ", [*names, *map(str, odd[20:])])
    if Y is not None:
        taken = np.zeros_like(lists)
        np.logical_or.at(taken, codes, Y)
        share = (lists & ~taken).sum() / max(lists.sum(), 1)
        if share:
            yield from make_findings("bags-stray", share=share)


def _alone(
    S: Mask, sizes: NDArray[Any], counts: NDArray[Any], names: list[str]
) -> Iterator[Finding]:
    single = sizes == 1
    if not single.any():
        if S.any():
            yield from make_findings("no-singletons")
        return
    alone = S[single].any(axis=0)
    never = np.flatnonzero(~alone & (counts > 0))
    yield from make_findings("never-alone", [names[i] for i in never])


def _together(
    C: NDArray[np.int64], counts: NDArray[Any], names: list[str]
) -> Iterator[Finding]:
    inside = (counts[:, None] > 0) & (counts[:, None] == C)  # row label needs column's
    np.fill_diagonal(inside, False)
    same = np.argwhere(np.triu(inside & inside.T))
    pairs = [f"{names[a]} + {names[b]}" for a, b in same]
    yield from make_findings("not-identifiable", pairs)
    oneway = inside & ~inside.T
    led = np.flatnonzero(oneway.any(axis=1))
    lead = oneway.argmax(axis=1)
    yield from make_findings(
        "always-accompanied", [f"{names[a]} (with {names[lead[a]]})" for a in led]
    )


def truth_findings(S: Mask, Y: Mask, names: list[str]) -> Iterator[Finding]:
    """Compare the true labels with the candidate sets."""
    yield from make_findings("truth-outside", np.flatnonzero((Y & ~S).any(axis=1)))
    never = np.flatnonzero(~Y.any(axis=0) & S.any(axis=0))
    yield from make_findings("never-true", [names[i] for i in never])


def label_text_findings(S: Mask, names: Sequence[str]) -> Iterator[Finding]:
    """Find labels that may be the same one, and labels that hardly occur."""
    groups = [" / ".join(map(repr, group)) for group in look_alikes(names)]
    yield from make_findings("look-alike-labels", groups)
    once = np.flatnonzero(S.sum(axis=0) == 1)
    rows = tuple(int(S[:, j].argmax()) for j in once[:10])
    yield from make_findings("rare-labels", [names[int(j)] for j in once], rows=rows)


def look_alikes(names: Sequence[str]) -> list[list[str]]:
    """Return groups of names that are the same without case, spaces and marks."""
    groups: dict[str, list[str]] = {}
    for name in names:
        key = re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name)).casefold()
        groups.setdefault(key or name, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def column_findings(kinds: Mapping[str, ColumnKind]) -> Iterator[Finding]:
    """Report the inferred kinds of columns that may be unexpected."""
    for kind in ("text", "date", "category", "id", "constant"):
        names = [name for name, column in kinds.items() if column.kind == kind]
        if kind in ("id", "constant"):
            names = [f"{name} ({kinds[name].reason})" for name in names]
        yield from make_findings(f"{kind}-columns", names)
    gaps = {
        name: int(match[1])
        for name, column in kinds.items()
        if column.used and (match := re.search(r"(\d+) of \d+ missing", column.reason))
    }
    yield from make_findings("gaps", [f"{name} ({n})" for name, n in gaps.items()])


def feature_findings(X: Any, S: Mask, names: list[str]) -> Iterator[Finding]:
    """Find useless, badly scaled and contradictory data."""
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        place = sp.coo_array(X).coords[0] if sp.issparse(X) else np.arange(len(X))
        bad = ~np.isfinite(values)
        rows = np.unique(place[bad if bad.ndim == 1 else bad.any(axis=1)])
        yield from make_findings("not-finite", rows)
        return
    low, high = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(0), X.max(0))
    constant = np.asarray(low == high)
    flat = np.flatnonzero(constant)
    yield from make_findings(
        "constant-features",
        [names[i] for i in flat],
        severity="error" if flat.size == constant.size else None,
    )
    yield from _duplicate_features(X, constant, names)
    yield from _duplicate_rows(X, S)
    deviation = _deviation(X)
    moving = deviation[~constant & (deviation > 0)]
    if moving.size and moving.max() / _SCALES > moving.min():
        yield from make_findings("scales", factor=moving.max() / moving.min())
    columns = sp.csc_array(X) if sp.issparse(X) else X
    yield from _leakage(columns, S, names)


def _duplicate_features(X: Any, constant: Mask, names: list[str]) -> Iterator[Finding]:
    columns = sp.csr_array(X.T) if sp.issparse(X) else X.T
    groups = group_lines(columns)
    _, first = np.unique(groups, return_index=True)
    repeated = np.setdiff1d(np.arange(len(groups)), first)
    repeated = repeated[~constant[repeated]]
    yield from make_findings("duplicate-features", [names[i] for i in repeated])


def _duplicate_rows(X: Any, S: Mask) -> Iterator[Finding]:
    groups = group_lines(X)
    number, first, size = np.unique(groups, return_index=True, return_counts=True)
    extra = len(groups) - len(number)
    if not extra:
        return
    # Sets of equal rows that have no label in common cannot all be right.
    several = np.flatnonzero(size[groups] > 1)
    order = several[np.argsort(groups[several], kind="stable")]
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    common = np.logical_and.reduceat(S[order], starts, axis=0).any(axis=1)
    apart = first[groups[order[starts[~common]]]]
    copies = np.setdiff1d(np.arange(len(groups)), first)
    yield from make_findings("duplicate-rows", copies)
    yield from make_findings("contradictions", np.sort(apart))


def _leakage(X: Any, S: Mask, names: list[str]) -> Iterator[Finding]:
    """Find features that look like a label; a sparse X comes as CSC."""
    labeled = np.flatnonzero(S.any(axis=1))
    suspects = []
    if labeled.size:
        columns = (
            (name, _column(X, j)[labeled].astype(float)) for j, name in enumerate(names)
        )
        suspects = deciding_columns(columns, S[labeled])
    yield from make_findings("leakage", suspects)
    counting = [j for j in range(X.shape[1]) if _counts_rows(_column(X, j))]
    yield from make_findings("row-numbers", [names[j] for j in counting])


def _column(X: Any, j: int) -> NDArray[Any]:
    if not sp.issparse(X):
        return np.asarray(X[:, j])
    column = np.zeros(X.shape[0], dtype=X.dtype)
    part = slice(X.indptr[j], X.indptr[j + 1])
    column[X.indices[part]] = X.data[part]
    return column


def _counts_rows(column: NDArray[Any]) -> bool:
    if len(column) <= 10 or float(column[1]) != float(column[0]) + 1:
        return False
    return bool((column == float(column[0]) + np.arange(len(column))).all())


def group_lines(X: Any) -> NDArray[np.int64]:
    """Number the distinct rows; equal rows get the same number."""
    if sp.issparse(X):
        X = sp.csr_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        parts = pairwise(X.indptr)
        lines = (X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in parts)
    else:
        X = X + 0 if X.dtype.kind == "f" else X  # -0.0 equals 0.0
        lines = (row.tobytes() for row in X)
    digests = (blake2b(line, digest_size=16).digest() for line in lines)
    seen: dict[bytes, int] = {}
    numbers = (seen.setdefault(digest, len(seen)) for digest in digests)
    return np.fromiter(numbers, dtype=np.int64, count=X.shape[0])


def _deviation(X: Any) -> NDArray[Any]:
    """Return the standard deviation of each column, without densifying."""
    if sp.issparse(X):
        return np.sqrt(mean_variance_axis(X.astype(np.float64), axis=0)[1])
    with np.errstate(over="ignore", invalid="ignore"):  # values near the largest
        return np.asarray(X.std(axis=0, dtype=float))
