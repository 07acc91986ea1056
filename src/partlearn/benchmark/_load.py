"""A finished run on disk: one long frame, plan and facts."""

# SPDX-License-Identifier: BSD-3-Clause

import csv
import io
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from partlearn._extras import import_optional
from partlearn._version import __version__
from partlearn.benchmark import _plan
from partlearn.benchmark._cells import Scores, scores_of
from partlearn.benchmark._engines import Engine
from partlearn.benchmark._jobs import Job, source_hash
from partlearn.benchmark._records import COSTS, Record
from partlearn.benchmark._store import (
    DamagedStoreError,
    Store,
    file_digest,
    is_run_file,
)
from partlearn.benchmark._typed import as_declared
from partlearn.io import Budget, DataError, atomic_write, table_blocks

if TYPE_CHECKING:
    from pandas import DataFrame

# Columns of the frame; the first ones identify the job.
COLUMNS = {
    **dict.fromkeys(("id", "reduction", "data"), "string"),
    "r": "double",
    "noise_seed": "int64",
    **dict.fromkeys(("protocol", "labels", "reducer"), "string"),
    "draw": "int64",
    "learner": "string",
    "fold": "int64",
    "percentage": "double",
    "metric": "string",
    "value": "double",
    "text": "string",
}
METRIC = list(COLUMNS).index("metric")
Row = tuple[Any, ...]  # of these columns
VALUE = 64  # bytes of a value in a frame
RUN_FORMAT = "partlearn-run/3"
PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "numba", "distributed")
_FROM_PLAN = ("protocols", "folds", "fold_seed", "seed", "time_limit", "memory_limit")
_PLANS = {"multilabel": _plan.MultilabelPlan, "tuned": _plan.TunedPlan}


class _Facts(TypedDict):
    """Content of `run_facts`."""

    partlearn: str
    sources: str
    python: str
    versions: dict[str, str]
    system: str
    cores: int | None
    engine: str
    workers: int | None
    threads_per_job: int
    protocols: list[str]
    folds: int
    fold_seed: int
    seed: int
    time_limit: float | None
    memory_limit: int | None
    wall_time: float
    work_time: float
    n_jobs: int
    n_executed: int
    n_failed: int


class _DataFacts(TypedDict):
    """What a task says of a data set."""

    name: str
    n_samples: int
    n_features: int
    classes: list[str]
    noise_seed: int | None
    fingerprint: str
    mean_labels: float
    r: list[float]
    noise: str


class _AbsentFacts(TypedDict):
    """What is said of a data set without a file."""

    name: str
    source: str
    file: str
    reason: str


class _RunFile(TypedDict):
    """Content of ``run.json``."""

    format: str
    facts: _Facts
    data: list[_DataFacts]
    absent: list[_AbsentFacts]
    files: dict[str, str]


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes
    ----------
    folder : Path
        Where it is.
    plan : Plan
        As it ran.
    facts : dict
        Versions, machine, settings, times and counts of jobs; no host or user name.
    data : tuple of dict
        Data sets that were there: name, numbers of rows and features, classes, noise.
    absent : tuple of dict
        Those that were not: name, source, file, reason.
    files : tuple of str
        Names of the files with the frame.
    damaged : mapping of str to str
        Files that were not what a run had written, and why; they were made again.
    """

    folder: Path
    plan: _plan.Plan
    facts: Mapping[str, Any] = field(repr=False)
    data: tuple[dict[str, Any], ...] = field(repr=False)
    absent: tuple[dict[str, str], ...]
    files: tuple[str, ...] = ()
    damaged: Mapping[str, str] = field(default_factory=dict)

    @property
    def multilabel(self) -> bool:
        """Whether rows have several true labels."""
        return self.plan.task == "multilabel"

    def frame(self) -> "DataFrame":
        """Return all results as one long frame.

        Returns
        -------
        DataFrame
            One row per value. The columns ``id`` to ``fold`` identify the job,
            ``percentage`` the point of a curve; ``metric`` and ``value`` hold scores,
             counts, seconds (``fit_time``, ``predict_time``) and megabytes
            (``peak_mb``), those of the reducer with the prefix ``reducer_``. Errors,
            tracebacks and warnings are rows with a ``text``.

        Examples
        --------
        >>> import tempfile
        >>> from partlearn.benchmark import load_plan, load_run, run_plan
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = run_plan(load_plan("demo-quick"), folder)
        ...     frame = load_run(folder).frame()
        >>> scores = frame[frame["metric"] == "accuracy"]
        >>> scores.groupby(["reducer", "learner"])["value"].mean().size
        6
        """
        pd = import_optional("pandas", "Frames of a run", "report")
        parts = [_read(pd, self.folder / name) for name in self.files]
        return pd.concat(parts, ignore_index=True)

    def scores(self) -> Scores:
        """Return folds, curves and cells of the tables, grouped from the frame."""
        return scores_of(self.plan, self.frame())


def merge(jobs: Sequence[Job], store: Store) -> list[Row]:
    """Collect the records of jobs and their reductions.

    Parameters
    ----------
    jobs : sequence of Job
        All jobs of a plan, in the order of the tables.
    store : Store
        Finished jobs.

    Returns
    -------
    list of tuple
        Rows of the frame. Jobs without a fragment are left out.
    """
    rows: list[Row] = []
    reductions: dict[str, Record] = {}
    for job in jobs:
        record = store.get(job.name)
        if record is None:
            continue
        reduced, of = Record(), job.reduction
        if of.reducer.cls:
            if of.name not in reductions:
                reductions[of.name] = store.get(of.name, arrays=False) or reduced
            reduced = reductions[of.name]
        key = tuple(job.columns.values())
        of_reducer = ((f"reducer_{name}", *rest) for name, *rest in reduced.values)
        values = [*record.values, *of_reducer]
        rows += [(*key, share, name, value, "") for name, value, share in values]
        warnings = dict.fromkeys([*reduced.warnings, *record.warnings])
        texts = [("warning", text) for text in warnings]
        if not record.ok:
            error = f"{record.error}: {record.message}"
            texts = [("error", error), ("traceback", record.traceback), *texts]
        rows += [(*key, None, name, None, text) for name, text in texts]
    return rows


def _write(path: Path, rows: Sequence[Row]) -> Path:
    """Write a table as Parquet, or CSV without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        target, text = path.with_suffix(".csv"), io.StringIO()
        csv.writer(text).writerows([tuple(COLUMNS), *rows])
        with atomic_write(target) as file:
            file.write(text.getvalue().encode())
        return target
    kinds = COLUMNS.items()
    schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in kinds])
    columns = [list(column) for column in zip(*rows, strict=True)]
    target = path.with_suffix(".parquet")
    with atomic_write(target) as file:
        pq.write_table(pa.table(columns, schema=schema), file)
    return target


def _read(pd: Any, path: Path) -> "DataFrame":
    if path.suffix == ".parquet":
        budget = Budget.of_table(path.stat().st_size)
        blocks = []
        for block in table_blocks(path, whole=True):
            # In a frame they take much more than in the file.
            budget.charge(VALUE * block.num_rows * block.num_columns, "the table")
            blocks.append(block.to_pandas())
        frame = pd.concat(blocks, ignore_index=True)
    else:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(frame.columns) != list(COLUMNS):
        raise DamagedStoreError("its columns are not those of a run", path=path)
    try:
        return _with_kinds(frame)
    except (TypeError, ValueError):
        raise DamagedStoreError("its columns hold other values", path=path) from None


def _with_kinds(frame: "DataFrame") -> "DataFrame":
    for name, kind in COLUMNS.items():
        if kind != "string" and frame[name].dtype.kind not in "iufb":
            # Text of a CSV file with all digits, which pandas may round.
            frame[name] = [float(text or "nan") for text in frame[name]]
    texts = [name for name, kind in COLUMNS.items() if kind == "string"]
    kinds = dict.fromkeys(texts, "str")  # the reader of tables may give categories
    kinds |= {"draw": "int64", "fold": "int64", "noise_seed": "float64"}
    return frame.astype(kinds)


def run_facts(plan: _plan.Plan, engine: Engine, **outcome: Any) -> dict[str, Any]:
    """Collect versions, machine and settings of a run.

    Parameters
    ----------
    plan : Plan
        The plan.
    engine : Engine
        Where it ran.
    **outcome : float or int
        Times and counts of jobs.

    Returns
    -------
    dict
        No host or user name.
    """
    versions = {}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "partlearn": __version__,
        "sources": source_hash(),
        "python": platform.python_version(),
        "versions": versions,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "engine": engine.name,
        "workers": engine.workers,
        "threads_per_job": plan.threads,
        **{name: getattr(plan, name) for name in _FROM_PLAN},
        **outcome,
    }


def save_run(
    store: Store,
    plan: _plan.Plan,
    facts: Mapping[str, Any],
    data: Iterable[Mapping[str, Any]],
    absent: Iterable[Mapping[str, str]],
    rows: Sequence[Row],
) -> Run:
    """Write the files of a finished run.

    Parameters
    ----------
    store : Store
        Where to.
    plan : Plan
        As it ran.
    facts : mapping
        From :func:`run_facts`.
    data, absent : iterable of mapping
        Data sets that were there, and those that were not.
    rows : sequence of tuple
        From :func:`merge`.

    Returns
    -------
    Run
        The run as :func:`load_run` reads it.
    """
    # Seconds and bytes apart: two runs of a plan give the same file of results.
    files = []
    for name, wanted in (("results", False), ("timings", True)):
        part = [
            row
            for row in rows
            if (row[METRIC].removeprefix("reducer_") in COSTS) is wanted
        ]
        if part:
            files.append(_write(store.folder / name, part))
    # Last, and together: an interrupted run keeps the report of the previous one.
    store.write_json("plan.json", asdict(plan))
    names = ("plan.json", "splits.json")
    files += [store.folder / name for name in names if (store.folder / name).is_file()]
    content = {
        "facts": facts,
        "absent": list(absent),
        "data": list(data),
        "files": {path.name: file_digest(path) for path in files},
    }
    store.write_json("run.json", {"format": RUN_FORMAT, **content})
    return _run(store.folder, plan, content)


def _run(folder: Path, plan: _plan.Plan, content: Mapping[str, Any]) -> Run:
    data, absent = tuple(content["data"]), tuple(content["absent"])
    files = tuple(name for name in content["files"] if not name.endswith(".json"))
    return Run(folder, plan, content["facts"], data, absent, files)


def load_run(folder: str | Path) -> Run:
    """Load the results of a finished run.

    Parameters
    ----------
    folder : str or Path
        As given to :func:`partlearn.benchmark.run_plan`.

    Returns
    -------
    Run
        Plan and facts of the run; its methods return the frame of all results.

    Raises
    ------
    FileNotFoundError
        When there is no finished run.
    DamagedStoreError
        If a file changed since the run wrote it.

    Examples
    --------
    >>> import tempfile
    >>> from partlearn.benchmark import load_plan, load_run, run_plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run_plan(load_plan("demo-quick"), folder)
    ...     run = load_run(folder)
    >>> run.plan.name, run.facts["n_failed"]
    ('demo-quick', 0)
    """
    folder = Path(folder)
    store = Store(folder)
    plan, run = store.read_json("plan.json"), store.read_json("run.json")
    if plan is None or run is None:
        raise FileNotFoundError(
            f"{folder} holds no finished run (plan.json, run.json). "
            "`partlearn bench PLAN --out FOLDER` makes one."
        )
    if run.get("format") != RUN_FORMAT:
        raise DamagedStoreError(
            f"its format is {run.get('format')!r}, not {RUN_FORMAT!r}", path=folder
        )
    run = _declared(_RunFile, run, folder / "run.json")
    for name, digest in run["files"].items():
        path = folder / name
        if not is_run_file(folder, path) or not path.is_file():
            raise DamagedStoreError("a file of the run is missing", path=path)
        if file_digest(path) != digest:
            raise DamagedStoreError("changed since the run wrote it", path=path)
    store.read_json("splits.json")
    kind = _PLANS.get(str(plan.get("task")), _plan.Plan)
    read = _declared(kind, plan, folder / "plan.json")
    known = _plan.CURVE_METRICS if read.task == "multilabel" else _plan.METRICS
    if not (
        _some_of(read.metrics, known)
        and _some_of(read.protocols, _plan.PROTOCOLS)
        and read.folds >= 2
        and read.published.keys() in (set(), {"paper", "table"})
    ):
        raise DamagedStoreError("it is no sound plan", path=folder / "plan.json")
    return _run(folder, read, run)


def _declared(kind: Any, content: Any, path: Path) -> Any:
    try:
        return as_declared(kind, content, path.stem)
    except ValueError as error:
        what = f"not of this version of partlearn ({error})"
        raise DamagedStoreError(what, path=path) from None


def _some_of(given: Sequence[str], known: Sequence[str]) -> bool:
    return len(given) > 0 and set(given) <= set(known)


@contextmanager
def fitting(folder: Path) -> Iterator[None]:
    """Name the folder of a run if its files are sound but do not fit together.

    Anybody can write files whose digests are right: the jobs in a table may be none of
    the plan, and arrays may have other rows than the data.

    Parameters
    ----------
    folder : Path
        Folder of the run.

    Raises
    ------
    DamagedStoreError
        Instead of the error that using the files raised.
    """
    try:
        yield
    except (DataError, _plan.PlanError):
        raise
    except (
        ArithmeticError, AttributeError, LookupError, TypeError, ValueError
    ) as error:  # fmt: skip
        what = f"its files do not fit together ({type(error).__name__}: {error})"
        raise DamagedStoreError(what, path=folder) from error
