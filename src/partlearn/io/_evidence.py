"""Read and write weights and votes in npz files."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partlearn.candidates import Evidence, Votes, from_votes, from_weights
from partlearn.io._errors import DataFormatError, damage

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
