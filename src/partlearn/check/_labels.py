"""Checks of candidate sets."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partlearn._typing import Mask
from partlearn.check._report import Finding, about

__all__ = ["ambiguity_degree", "cooccurrence", "label_findings", "truth_findings"]


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
        Y = sp.csr_array(
            (np.ones(len(truth)), (np.arange(len(truth)), truth)), shape=(len(truth), q)
        )
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
    S: Mask, C: NDArray[np.int64], names: list[str], several: bool
) -> Iterator[Finding]:
    """Find what is wrong with the sets; `several` labels of a row may be true."""
    m, q = S.shape
    sizes = S.sum(axis=1)
    empty = np.flatnonzero(sizes == 0)
    yield from about(
        "empty-sets",
        "warning" if several else "error",
        "row",
        empty,
        f"of {m:,} without any candidate label.",
        "Leave these rows out, or give them every label that is possible (in "
        'Python check_candidates(y, empty="drop") or empty="all").',
    )
    occurring = np.flatnonzero(np.diag(C))
    if occurring.size == 1 and not several:
        yield Finding(
            "one-label",
            "error",
            "Only one label is ever a candidate.",
            "Nothing can be learnt from it. Add rows that may have other labels.",
            items=(names[occurring[0]],),
        )
    full = np.flatnonzero(sizes == q)
    if full.size and q > 1:
        yield from about(
            "full-sets",
            "error" if full.size == m else "warning",
            "row",
            full,
            f"of {m:,} with every label as a candidate.",
            "They say nothing about their label. That is fine for unlabelled rows; "
            "otherwise leave them out to save time.",
        )
    counts = np.diag(C)
    never = np.flatnonzero(counts == 0)
    yield from about(
        "never-candidate",
        "warning",
        "label",
        [names[i] for i in never],
        "never a candidate.",
        "No method can predict them. Drop these columns unless test data need them.",
    )
    yield from _alone(S, sizes, counts, names)
    yield from _together(C, counts, names)


def _alone(
    S: Mask, sizes: NDArray[Any], counts: NDArray[Any], names: list[str]
) -> Iterator[Finding]:
    single = sizes == 1
    if not single.any():
        if S.any():
            yield Finding(
                "no-singletons",
                "note",
                "No row has a single candidate.",
                "Every label has to be learnt from ambiguous rows. A few rows labelled "
                "with certainty would help much.",
            )
        return
    alone = S[single].any(axis=0)
    never = np.flatnonzero(~alone & (counts > 0))
    yield from about(
        "never-alone",
        "note",
        "label",
        [names[i] for i in never],
        "never the only candidate of a row.",
        "They are learnt from ambiguous rows only; expect lower accuracy on them.",
    )


def _together(
    C: NDArray[np.int64], counts: NDArray[Any], names: list[str]
) -> Iterator[Finding]:
    inside = (counts[:, None] > 0) & (counts[:, None] == C)  # row label needs column's
    np.fill_diagonal(inside, False)
    same = np.argwhere(np.triu(inside & inside.T))
    yield from about(
        "not-identifiable",
        "warning",
        "pair",
        [f"{names[a]} + {names[b]}" for a, b in same],
        "of labels always candidates together.",
        "Nothing tells the two labels of a pair apart. Merge them, or find rows "
        "in which only one of them is possible.",
    )
    oneway = inside & ~inside.T
    led = np.flatnonzero(oneway.any(axis=1))
    yield from about(
        "always-accompanied",
        "warning",
        "label",
        [f"{names[a]} (with {names[int(oneway[a].argmax())]})" for a in led],
        "always accompanied by another one.",
        "A method may prefer the companion, which explains all the same rows.",
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
    yield from about(
        "truth-outside",
        "error",
        "row",
        outside,
        "with a true label outside the candidate set.",
        "Candidate sets must contain the truth. Check that both use the same "
        "labels in the same order (counted from 0 or from 1?), then correct or "
        "leave out these rows.",
    )
    never = np.flatnonzero(np.asarray(~occurring & S.any(axis=0)))
    yield from about(
        "never-true",
        "note",
        "label",
        [names[i] for i in never],
        "a candidate but never the true label.",
        "Scores averaged over labels are not defined for them.",
    )
