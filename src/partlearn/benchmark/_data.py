"""Find, read and fingerprint the data sets of a plan."""

# SPDX-License-Identifier: BSD-3-Clause

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from partlearn.benchmark._plan import DataSpec, Plan
from partlearn.benchmark._toml import PlanError
from partlearn.io import AmbiguousDataError, DataFormatError, is_table
from partlearn.tables import Dataset, dataset_of

SUFFIXES = (
    *(".npz", ".mat", ".parquet", ".arff", ".csv", ".tsv"),
    *(".xlsx", ".jsonl", ".json", ".zip"),
)


@dataclass(frozen=True)
class BenchmarkData:
    """One data set of a run, with its candidate sets.

    Attributes
    ----------
    name : str
        Name in the plan.
    X : ndarray or csr_array of shape (n_samples, n_features)
        Features.
    S : ndarray of bool of shape (n_samples, n_classes), or None
        Candidate sets; None where noise is drawn on training rows only.
    truth : ndarray
        Numbers of the true classes, or a matrix of true labels; never given to ``fit``.
    classes : tuple of str
        Names of the classes or labels.
    r : int, float or None
        Amount of synthetic false labels, as in the plan.
    noise_seed : int or None
        Seed of the synthetic sets.
    fingerprint : str
        Hash of the content.
    bags : ndarray of shape (n_samples,) or None
        Rows that are held out together.
    """

    name: str
    X: Any
    S: Any
    truth: np.ndarray
    classes: tuple[str, ...]
    r: float | None = None
    noise_seed: int | None = None
    fingerprint: str = ""
    bags: np.ndarray | None = None

    def facts(self, **more: Any) -> dict[str, Any]:
        """Facts of the data set for reports."""
        return {
            "name": self.name,
            "n_samples": int(self.X.shape[0]),
            "n_features": int(self.X.shape[1]),
            "classes": list(self.classes),
            "noise_seed": self.noise_seed,
            "fingerprint": self.fingerprint,
            **more,
        }


def load_all(
    plan: Plan,
    folder: str | Path | None,
    made: Callable[[DataSpec], BenchmarkData],
    from_bunch: Callable[[DataSpec, Bunch, str], BenchmarkData],
) -> tuple[list[BenchmarkData], list[dict[str, str]]]:
    """Load the data sets of a plan; those without a file are listed.

    Parameters
    ----------
    plan : Plan
        Its data sets; each must have as many rows as there are folds.
    folder : str, Path or None
        Data folder.
    made : callable
        Makes a data set whose source is ``sklearn:NAME``.
    from_bunch : callable
        Makes a data set from the content of a file.

    Returns
    -------
    data : list of BenchmarkData
        In the order of the plan.
    absent : list of dict
        Data sets without a file: name, source, expected file name and reason.
    """
    data: list[BenchmarkData] = []
    absent: list[dict[str, str]] = []
    for spec in plan.data:
        if spec.source.startswith("sklearn:"):
            item = made(spec)
        elif path := find_file(spec.source, folder):
            item = from_bunch(spec, _read(spec, path), path.name)
        else:
            known = _plain(Path(spec.source)).suffix in SUFFIXES
            file = spec.source if known else f"{spec.source}.npz"
            where = (
                f" in {Path(folder).name}" if folder else "; no data folder was given"
            )
            reason = f"no file such as {file}{where}"
            names = {"name": spec.name, "source": spec.source, "file": file}
            absent.append({**names, "reason": reason})
            continue
        item = _some_rows(item, spec.max_rows)
        n = item.truth.shape[0]
        if plan.folds > n:
            raise spec.error(f"{plan.folds} folds of {n} rows.")
        data.append(item)
    return data, absent


def _some_rows(data: BenchmarkData, max_rows: int | None) -> BenchmarkData:
    n = data.truth.shape[0]
    if max_rows is None or max_rows >= n:
        return data
    rows = np.sort(np.random.default_rng(0).permutation(n)[:max_rows])
    S = None if data.S is None else data.S[rows]
    bags = None if data.bags is None else data.bags[rows]
    return replace(data, X=data.X[rows], S=S, truth=data.truth[rows], bags=bags)


def find_file(source: str, folder: str | Path | None) -> Path | None:
    """Find the file of a data set by its stem, in any case, in any subfolder.

    The first match in the order of formats npz, mat, parquet, arff, csv.
    """
    direct = Path(source)
    if _plain(direct).suffix in SUFFIXES:
        inside = Path(folder) / direct if folder else direct
        return next((p for p in (inside, direct) if p.is_file()), None)
    if folder is None:
        return None
    if not Path(folder).is_dir():
        raise PlanError(f"{folder}: no such data folder; check its path.")
    matches = [
        path
        for path in sorted(Path(folder).rglob("*"))
        if _plain(path).stem == source.lower() and _plain(path).suffix in SUFFIXES
    ]
    return min(matches, key=lambda p: SUFFIXES.index(_plain(p).suffix), default=None)


def _plain(path: Path) -> Path:
    """File name in lower case, without ``.gz``."""
    return Path(path.name.lower().removesuffix(".gz"))


def _read(spec: DataSpec, path: Path) -> Bunch:
    """Read the file of a data set; a table is encoded once, without its labels."""
    named = bool(spec.labels or spec.truth or spec.ignore)
    if named and not is_table(path):
        raise spec.error(
            f"`labels`, `truth` and `ignore` are for tables; {path.name} is a matrix of"
            " numbers: leave them out."
        )
    ignored = {"ignore": list(spec.ignore)}
    try:
        data = dataset_of(path, spec.labels or None, spec.truth or None, roles=ignored)
        return _with_both_labels(spec, data) if named else data.to_bunch()
    except PlanError:
        raise
    except ValueError as error:
        found = isinstance(error, (AmbiguousDataError, DataFormatError))
        ambiguous = is_table(path) or isinstance(error, AmbiguousDataError)
        if not named and not (found and ambiguous):
            raise
        more = "Say which columns of a table they are with `labels`, `truth` and "
        more += "`ignore` in the entry of the data."
        raise spec.error(f"{error}" if named else f"{error} {more}") from None


def _with_both_labels(spec: DataSpec, data: Dataset) -> Bunch:
    """Rows of a table that have a label and a true one."""
    rows, evidence, labels = data.rows, data.evidence, data.truth
    classes = [str(name) for name in evidence.classes.tolist()]
    place = {name: code for code, name in enumerate(classes)}
    truth = np.full(len(rows), None) if labels is None else labels
    odd = next((t for t in truth if t is not None and t not in place), None)
    if odd is not None:
        raise spec.error(f"the true label {odd!r} is never a candidate.")
    known = np.flatnonzero([label is not None for label in truth])
    return Bunch(
        data=rows[known],
        candidates=evidence.candidates[known],
        truth=np.array([place[truth[i]] for i in known]) if len(known) else None,
        target_names=classes,
        feature_names=data.names,
    )


def fingerprint(X: Any, *labels: np.ndarray) -> str:
    """Hash of features and labels.

    Parameters
    ----------
    X : ndarray or sparse array
        Features.
    *labels : ndarray
        What else defines the data.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    for part in (*parts, *labels):
        array = np.ascontiguousarray(part)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]
