"""Data of a plan: found by name, given candidate sets, fingerprinted."""

# SPDX-License-Identifier: BSD-3-Clause

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from partlearn.benchmark._plan import DataSpec, Plan
from partlearn.benchmark._toml import PlanError
from partlearn.candidates import make_candidates
from partlearn.datasets import AmbiguousDataError, read

__all__ = [
    "BenchmarkData",
    "absent_data",
    "find_file",
    "load_data",
    "load_plan_data",
    "read_data",
]

SUFFIXES = (".npz", ".mat", ".parquet", ".arff", ".csv", ".tsv")


@dataclass(frozen=True)
class BenchmarkData:
    """One data set of a run, with its candidate sets.

    Attributes
    ----------
    name : str
        Name in the plan.
    X : ndarray or csr_array of shape (n_samples, n_features)
        Features.
    S : ndarray of bool of shape (n_samples, n_classes)
        Candidate sets.
    truth : ndarray of int of shape (n_samples,)
        True class numbers; never given to ``fit``.
    classes : tuple of str
        Names of the classes.
    r : int, float or None
        Amount of synthetic false labels, as in the plan.
    noise_seed : int or None
        Seed of the synthetic sets.
    fingerprint : str
        Hash of the content.
    """

    name: str
    X: Any
    S: np.ndarray
    truth: np.ndarray
    classes: tuple[str, ...]
    r: float | None = None
    noise_seed: int | None = None
    fingerprint: str = ""


def find_file(source: str, folder: str | Path | None) -> Path | None:
    """Find the file of a data set by its stem, in any case, in any subfolder.

    Parameters
    ----------
    source : str
        File stem, or a path.
    folder : str, Path or None
        Where to look.

    Returns
    -------
    Path or None
        The first match in the order of formats npz, mat, parquet, arff, csv.
    """
    direct = Path(source)
    if _plain(direct).suffix in SUFFIXES:
        inside = Path(folder) / direct if folder else direct
        return next((p for p in (inside, direct) if p.is_file()), None)
    if folder is None:
        return None
    if not Path(folder).is_dir():
        raise PlanError(f"{folder}: no such data folder.")
    found = [
        path
        for path in sorted(Path(folder).rglob("*"))
        if _plain(path).stem == source.lower() and _plain(path).suffix in SUFFIXES
    ]
    return min(found, key=lambda p: SUFFIXES.index(_plain(p).suffix), default=None)


def _plain(path: Path) -> Path:
    """Name of a file in small letters and without the end of a compressed one."""
    return Path(path.name.lower().removesuffix(".gz"))


def absent_data(name: str, source: str, folder: str | Path | None) -> dict[str, str]:
    """Say that a data set is not there, and where it was looked for."""
    file = source if _plain(Path(source)).suffix in SUFFIXES else f"{source}.npz"
    where = f" in {Path(folder).name}" if folder else "; no data folder was given"
    reason = f"no file such as {file}{where}"
    return {"name": name, "source": source, "file": file, "reason": reason}


def read_data(name: str, path: Path) -> Bunch:
    """Read the file of a data set, which has to speak for itself."""
    try:
        return read(path)
    except AmbiguousDataError as error:
        raise PlanError(
            f"Data {name!r}: {error} A plan has no place for that: make a file that "
            f"says it with `partlearn data convert {path.name} {_plain(path).stem}.npz "
            "--labels ... --truth ... --ignore ...`."
        ) from None


def load_plan_data(
    plan: Plan, folder: str | Path | None
) -> tuple[list[Any], list[dict[str, str]]]:
    """Load every data set of a plan that is there.

    Parameters
    ----------
    plan : Plan
        The plan.
    folder : str, Path or None
        Data folder.

    Returns
    -------
    data : list of BenchmarkData
        One per data set, r and noise seed. For a multi-label plan one per data set,
        without noise, which belongs on training rows.
    absent : list of dict
        Name, source and reason for those that are not there.
    """
    from partlearn.benchmark._multilabel._data import load_multilabel
    from partlearn.benchmark._multilabel._plan import MultilabelPlan

    if isinstance(plan, MultilabelPlan):
        return load_multilabel(plan, folder)
    data: list[BenchmarkData] = []
    absent: list[dict[str, str]] = []
    for spec in plan.data:
        loaded = load_data(spec, folder)
        if loaded is None:
            absent.append(absent_data(spec.name, spec.source, folder))
        else:
            n = loaded.truth.shape[0]
            if plan.folds > n:
                raise PlanError(f"Data {spec.name!r}: {plan.folds} folds of {n} rows.")
            data += list(_with_candidates(spec, loaded))
    return data, absent


def load_data(spec: DataSpec, folder: str | Path | None = None) -> BenchmarkData | None:
    """Load one data set, without adding candidates.

    Parameters
    ----------
    spec : DataSpec
        The entry of the plan.
    folder : str, Path or None
        Data folder.

    Returns
    -------
    BenchmarkData or None
        None when there is no such file.
    """
    if spec.source.startswith("sklearn:"):
        data = _from_sklearn(spec)
    else:
        path = find_file(spec.source, folder)
        if path is None:
            return None
        data = _from_file(spec, path)
    if spec.max_rows is not None and spec.max_rows < data.truth.shape[0]:
        rng = np.random.default_rng(0)
        rows = np.sort(rng.permutation(data.truth.shape[0])[: spec.max_rows])
        data = replace(data, X=data.X[rows], S=data.S[rows], truth=data.truth[rows])
    return data


def _from_sklearn(spec: DataSpec) -> BenchmarkData:
    from sklearn import datasets

    name = spec.source.removeprefix("sklearn:")
    loaders = {
        "digits": datasets.load_digits,
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
        "breast_cancer": datasets.load_breast_cancer,
    }
    if name not in loaders:
        raise PlanError(
            f"Data {spec.name!r}: scikit-learn source must be one of "
            f"{', '.join(loaders)}; got {name!r}."
        )
    bunch = loaders[name]()
    truth = np.asarray(bunch.target, dtype=np.int64)
    names = tuple(str(c) for c in bunch.target_names)
    return BenchmarkData(
        name=spec.name,
        X=np.asarray(bunch.data, dtype=np.float64),
        S=_one_hot(truth, len(names)),
        truth=truth,
        classes=names,
    )


def _one_hot(truth: np.ndarray, q: int) -> np.ndarray:
    return truth[:, None] == np.arange(q)


def _from_file(spec: DataSpec, path: Path) -> BenchmarkData:
    bunch = read_data(spec.name, path)
    if bunch.truth is None or bunch.truth.ndim != 1:
        raise PlanError(
            f"Data {spec.name!r}: {path.name} does not have one true label per row; "
            "a comparison needs it to score (it is never given to fit)."
        )
    names = tuple(str(name) for name in bunch.target_names)
    if len(names) < 2:
        raise PlanError(
            f"Data {spec.name!r}: {path.name} has one class, {names[0]!r}; there is "
            "nothing to compare."
        )
    truth = np.asarray(bunch.truth, dtype=np.int64)
    if bunch.candidates is not None:
        S = np.asarray(bunch.candidates, dtype=bool)
    elif spec.r is None:
        raise PlanError(
            f"Data {spec.name!r}: {path.name} has no candidate sets; give `r`, "
            "the number of false labels to add."
        )
    else:
        S = _one_hot(truth, len(names))
    X = bunch.data
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return BenchmarkData(spec.name, X, S, truth, names)


def _with_candidates(spec: DataSpec, data: BenchmarkData) -> Iterator[BenchmarkData]:
    if spec.r is None:
        yield _fingerprinted(replace(data, r=spec.published_r))
        return
    q = len(data.classes)
    for r in spec.r:
        if r > q - 1:
            raise PlanError(
                f"Data {spec.name!r}: r = {r} false labels need {r + 1} classes; "
                f"there are {q}."
            )
        for seed in spec.noise_seeds:
            S = _draw(data.truth, r, q, seed)
            yield _fingerprinted(replace(data, S=S, r=r, noise_seed=seed))


def _draw(truth: np.ndarray, r: float, q: int, seed: int) -> np.ndarray:
    present, codes = np.unique(truth, return_inverse=True)
    S = np.zeros((truth.size, q), dtype=bool)
    # A plan has whole numbers only here.
    S[:, present] = make_candidates(codes, n_false=int(r), random_state=seed)
    return S


def _fingerprinted(data: BenchmarkData) -> BenchmarkData:
    digest = hashlib.sha256()
    X = data.X
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    for part in (*parts, np.packbits(data.S, axis=1), data.truth):
        array = np.ascontiguousarray(part)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return replace(data, fingerprint=digest.hexdigest()[:16])
