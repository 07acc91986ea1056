"""Multi-label data of a plan: found by name, never given noise before the split."""

# SPDX-License-Identifier: BSD-3-Clause

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from partlearn.benchmark._data import absent_data, find_file, read_data
from partlearn.benchmark._multilabel._plan import MultilabelDataSpec, MultilabelPlan
from partlearn.benchmark._toml import PlanError

__all__ = ["MultilabelData", "describe", "load_multilabel"]


@dataclass(frozen=True)
class MultilabelData:
    """One multi-label data set.

    Attributes
    ----------
    spec : MultilabelDataSpec
        The entry of the plan.
    X : ndarray or csr_array of shape (n_samples, n_features)
        Features.
    Y : ndarray of bool of shape (n_samples, n_labels)
        True labels.
    labels : tuple of str
        Names of the labels.
    candidates : ndarray of bool or None
        Those of the file, where the plan does not draw any.
    fingerprint : str
        Hash of the content.
    """

    spec: MultilabelDataSpec
    X: Any
    Y: NDArray[np.bool_]
    labels: tuple[str, ...]
    candidates: NDArray[np.bool_] | None = None
    fingerprint: str = ""


def load_multilabel(
    plan: MultilabelPlan, folder: str | Path | None
) -> tuple[list[MultilabelData], list[dict[str, str]]]:
    """Load every data set of a plan that is there.

    Parameters
    ----------
    plan : MultilabelPlan
        The plan.
    folder : str, Path or None
        Data folder.

    Returns
    -------
    data : list of MultilabelData
        One per data set; noise is added to training rows later.
    absent : list of dict
        Name, source and reason for those that are not there.
    """
    data: list[MultilabelData] = []
    absent: list[dict[str, str]] = []
    for spec in plan.data:
        assert isinstance(spec, MultilabelDataSpec)
        loaded = _load(spec, folder)
        if loaded is None:
            absent.append(absent_data(spec.name, spec.source, folder))
            continue
        n = loaded.Y.shape[0]
        if plan.folds > n:
            raise PlanError(f"Data {spec.name!r}: {plan.folds} folds of {n} rows.")
        data.append(_fingerprinted(loaded))
    return data, absent


def _load(spec: MultilabelDataSpec, folder: str | Path | None) -> MultilabelData | None:
    if spec.source == "sklearn:multilabel":
        data = _made(spec)
    else:
        path = find_file(spec.source, folder)
        if path is None:
            return None
        data = _from_file(spec, path)
    n = data.Y.shape[0]
    if spec.max_rows is not None and spec.max_rows < n:
        rows = np.sort(np.random.default_rng(0).permutation(n)[: spec.max_rows])
        C = data.candidates
        data = replace(
            data,
            X=data.X[rows],
            Y=data.Y[rows],
            candidates=None if C is None else C[rows],
        )
    d = data.X.shape[1]
    if spec.counts is not None and max(spec.counts) > d:
        raise PlanError(
            f"Data {spec.name!r}: `counts` asks for {max(spec.counts)} of {d} features."
        )
    return data


def _made(spec: MultilabelDataSpec) -> MultilabelData:
    from sklearn.datasets import make_multilabel_classification

    if spec.r is None:
        raise PlanError(f"Data {spec.name!r}: give `r`, the noise to add.")
    X, Y = make_multilabel_classification(
        n_samples=300, n_features=40, n_classes=6, n_labels=2, random_state=0
    )
    names = tuple(f"label {j}" for j in range(Y.shape[1]))
    return MultilabelData(spec, X.astype(np.float64), Y.astype(bool), names)


def _from_file(spec: MultilabelDataSpec, path: Path) -> MultilabelData:
    bunch = read_data(spec.name, path)
    if bunch.truth is None or bunch.truth.ndim != 2:
        raise PlanError(
            f"Data {spec.name!r}: {path.name} does not have a matrix of true labels; "
            "a comparison needs it to score."
        )
    candidates = None
    if spec.r is None:
        if bunch.candidates is None:
            raise PlanError(
                f"Data {spec.name!r}: {path.name} has no candidates; give `r`, the "
                "noise to add to the training labels."
            )
        candidates = np.asarray(bunch.candidates, dtype=bool)
    return MultilabelData(
        spec,
        bunch.data,
        np.asarray(bunch.truth, dtype=bool),
        tuple(str(name) for name in bunch.target_names),
        candidates,
    )


def _fingerprinted(data: MultilabelData) -> MultilabelData:
    digest = hashlib.sha256()
    X = data.X
    parts = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
    parts.append(np.packbits(data.Y, axis=1))
    if data.candidates is not None:
        parts.append(np.packbits(data.candidates, axis=1))
    for part in parts:
        array = np.ascontiguousarray(part)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return replace(data, fingerprint=digest.hexdigest()[:16])


def describe(data: MultilabelData) -> dict[str, Any]:
    """Facts of a data set for the report.

    Parameters
    ----------
    data : MultilabelData
        The data set.

    Returns
    -------
    dict
        Plain values.
    """
    return {
        "name": data.spec.name,
        "n_samples": int(data.X.shape[0]),
        "n_features": int(data.X.shape[1]),
        "n_labels": int(data.Y.shape[1]),
        "labels": list(data.labels),
        "mean_labels": float(data.Y.sum(axis=1).mean()),
        "r": list(data.spec.r or ()),
        "noise": data.spec.noise if data.spec.r is not None else "of the file",
        "fingerprint": data.fingerprint,
    }
