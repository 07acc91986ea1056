"""Checks of candidate sets."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._typing import Mask
from partlearn.check._report import Finding, Severity, found


def cooccurrence(S: Mask) -> NDArray[np.int64]:
    """Count, for each pair of labels, the sets that contain both."""
    counts = sp.csr_array(S.astype(np.int64))
    return np.asarray((counts.T @ counts).toarray())


def ambiguity_degree(
    S: Mask, C: NDArray[np.int64], truth: NDArray[Any] | None
) -> float:
    """Return how often the worst false label accompanies a label.

    With known truth this is the ambiguity degree of Cour, Sapp and Taskar (2011),
    the largest probability of a false label given the true one; at 1 a label cannot
    be learnt. Without truth, candidate labels stand in for true ones, which bounds
    the quantity only roughly.
    """
    q = S.shape[1]
    if truth is not None and truth.ndim == 1:
        Y = sp.eye_array(q, format="csr")[truth]
        together = np.asarray((Y.T @ sp.csr_array(S.astype(np.float64))).toarray())
        totals = np.bincount(truth, minlength=q).astype(float)
    else:
        together, totals = C.astype(float), np.diag(C).astype(float)
    together = together.copy()
    np.fill_diagonal(together, 0.0)
    occurs = totals > 0
    if not occurs.any() or q < 2:
        return 0.0
    return float((together[occurs] / totals[occurs, None]).max())


def label_findings(
    S: Mask, C: NDArray[np.int64], names: list[str], several: bool, empty_breaks: bool
) -> Iterator[Finding]:
    """Find what is wrong with the sets; `several` labels of a row may be true."""
    m, q = S.shape
    sizes = S.sum(axis=1)
    empty = np.flatnonzero(sizes == 0)
    severity: Severity = "error" if empty_breaks else "warning"
    yield from found("empty-sets", empty, severity=severity, total=m)
    occurring = np.flatnonzero(np.diag(C))
    if occurring.size == 1 and not several:
        yield from found("one-label", items=(names[occurring[0]],))
    full = np.flatnonzero(sizes == q)
    if full.size and q > 1:
        severity = "error" if full.size == m else "warning"
        yield from found("full-sets", full, severity=severity, total=m)
    counts = np.diag(C)
    never = np.flatnonzero(counts == 0)
    yield from found("never-candidate", [names[i] for i in never])
    yield from _alone(S, sizes, counts, names)
    yield from _together(C, counts, names)


def _alone(
    S: Mask, sizes: NDArray[Any], counts: NDArray[Any], names: list[str]
) -> Iterator[Finding]:
    single = sizes == 1
    if not single.any():
        if S.any():
            yield from found("no-singletons")
        return
    alone = S[single].any(axis=0)
    never = np.flatnonzero(~alone & (counts > 0))
    yield from found("never-alone", [names[i] for i in never])


def _together(
    C: NDArray[np.int64], counts: NDArray[Any], names: list[str]
) -> Iterator[Finding]:
    inside = (counts[:, None] > 0) & (counts[:, None] == C)  # row label needs column's
    np.fill_diagonal(inside, False)
    same = np.argwhere(np.triu(inside & inside.T))
    pairs = [f"{names[a]} + {names[b]}" for a, b in same]
    yield from found("not-identifiable", pairs)
    oneway = inside & ~inside.T
    led = np.flatnonzero(oneway.any(axis=1))
    lead = oneway.argmax(axis=1)
    yield from found(
        "always-accompanied", [f"{names[a]} (with {names[lead[a]]})" for a in led]
    )


def truth_findings(S: Mask, truth: NDArray[Any], names: list[str]) -> Iterator[Finding]:
    """Compare the true labels with the candidate sets."""
    if truth.ndim == 1:
        outside = np.flatnonzero(~S[np.arange(len(S)), truth])
        occurring = np.zeros(S.shape[1], dtype=bool)
        occurring[truth] = True
    else:
        outside = np.flatnonzero((truth & ~S).any(axis=1))
        occurring = np.asarray(truth.any(axis=0))
    yield from found("truth-outside", outside)
    never = np.flatnonzero(np.asarray(~occurring & S.any(axis=0)))
    yield from found("never-true", [names[i] for i in never])
