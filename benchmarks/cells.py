"""Fits that are measured one by one, each in a process of its own with one thread.

What was measured is kept in a file of lines, so that a run that was stopped goes on.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.runner import Run

Cell = dict[str, Any]


class CellError(Exception):
    """A fit failed or was killed; the message is its last line."""


def fitted(method: str, estimator: Any, X: Any, labels: Any, truth: Any) -> Cell:
    """Fit in this process: seconds of the processor, peak of memory, labels right."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, labels)
    seconds = time.process_time() - start
    confidence = getattr(estimator, "label_confidence_", None)
    right = None
    if confidence is not None:
        right = float((confidence.argmax(axis=1) == truth).mean())
    return {
        "method": method,
        "rows": X.shape[0],
        "seconds": seconds,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "rounds": getattr(estimator, "n_iter_", None),
        "right": right,
    }


def finished(store: Path) -> dict[tuple[str, int], Cell]:
    """Cells that were measured before."""
    if not store.exists():
        return {}
    lines = store.read_text(encoding="utf-8").splitlines()
    cells = [json.loads(line) for line in lines if line]
    return {(cell["method"], cell["rows"]): cell for cell in cells}


def cell(module: str, method: str, m: int, store: Path) -> Cell:
    """Measure in a process of its own, or read what was measured."""
    known = finished(store)
    if (method, m) in known:
        return known[method, m]
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    answer = subprocess.run(
        [sys.executable, "-m", module, "--cell", method, str(m)],
        env={**os.environ, **dict.fromkeys(threads, "1")},
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        raise CellError((answer.stderr.strip().splitlines() or ["killed"])[-1])
    found: Cell = json.loads(answer.stdout)
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")
    return found


def main(
    module: str,
    methods: Iterable[str],
    measure: Callable[[str, int], Cell],
    report: Callable[[Run, list[str], list[int], Path], None],
    rows: Iterable[int],
    store: Path,
    arguments: list[str] | None = None,
) -> int:
    """Report on the methods and numbers of rows that the command line asks for.

    Parameters
    ----------
    module : str
        Name of the module that calls.
    methods : iterable of str
        Methods there are.
    measure : callable
        Fits a method to a number of rows in this process.
    report : callable
        Takes a run, methods, numbers of rows and the store.
    rows, store : iterable of int and Path
        What the command line need not say.
    arguments : list of str, default=None
        The command line; that of this process by default.

    Returns
    -------
    status : int
        Zero.
    """
    names = list(methods)
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    number = {"type": lambda n: int(float(n)), "nargs": "+"}
    parser.add_argument("--rows", **number, default=list(rows))
    parser.add_argument("--methods", nargs="+", default=names)
    parser.add_argument("--store", type=Path, default=store)
    parser.add_argument("--cell", nargs=2, metavar=("METHOD", "ROWS"))
    options = parser.parse_args(arguments)
    if options.cell:
        print(json.dumps(measure(options.cell[0], int(options.cell[1]))))
        return 0
    unknown = sorted(set(options.methods) - set(names))
    if unknown:
        parser.error(f"no such method: {', '.join(unknown)}")
    report(Run(), options.methods, options.rows, options.store)
    return 0
