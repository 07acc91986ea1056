"""Cells of a benchmark in several processes; a run that was stopped goes on.

Each finished cell is one line of ``cells.jsonl`` in the folder ``--out``. Cells that
the file has already are not computed again. Cells that failed are printed and stay
open.
"""

import argparse
import csv
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from multiprocessing import TimeoutError, get_context
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

Cell = dict[str, Any]
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `computed`."""
    parser.add_argument("--data", type=Path, required=True, help="folder of npz files")
    parser.add_argument("--out", type=Path, required=True, help="folder of results")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--minutes", type=float, default=1e4, help="stop then with what is finished"
    )
    parser.add_argument("--tables", action="store_true", help="compute nothing more")


def computed(
    cells: Iterable[Cell],
    work: Callable[[Path, Cell], Cell],
    options: argparse.Namespace,
) -> list[Cell]:
    """Compute the cells that are missing; return the finished ones with their values.

    Parameters
    ----------
    cells : iterable of dict
        What tells the cells apart; values that JSON keeps as they are.
    work : callable
        A function of a module that takes the folder of the data and a cell, and returns
        the values that it found.
    options : Namespace
        The options of `add_options`.

    Returns
    -------
    finished : list of dict
        Cells with their values, in the order of `cells`.
    """
    store = options.out / "cells.jsonl"
    options.out.mkdir(parents=True, exist_ok=True)
    lines = store.read_text(encoding="utf-8").splitlines() if store.exists() else []
    cells, known = list(cells), [json.loads(line) for line in lines]
    names = sorted({name for cell in cells for name in cell})

    def key(cell: Cell) -> tuple[Any, ...]:
        return tuple(cell.get(name) for name in names)

    found = {key(line): line for line in known}
    missing = [cell for cell in cells if key(cell) not in found]
    if missing and not options.tables:
        end = time.monotonic() + 60 * options.minutes
        jobs = [(work, options.data, cell) for cell in missing]
        os.environ.update(ONE_THREAD)  # The processes of the pool have these
        with (
            get_context("spawn").Pool(options.jobs, _one_thread) as pool,
            store.open("a", encoding="utf-8") as file,
        ):
            results = pool.imap_unordered(_result, jobs)
            for number in range(len(jobs)):
                try:
                    line = results.next(timeout=max(end - time.monotonic(), 0))
                except TimeoutError:
                    print(f"Stopped with {len(jobs) - number} cells to go.")
                    break
                print(json.dumps(line), flush=True)
                if "error" not in line:
                    found[key(line)] = line
                    file.write(json.dumps(line) + "\n")
                    file.flush()
    return [found[key(cell)] for cell in cells if key(cell) in found]


def _one_thread() -> None:
    threadpool_limits(1)
    warnings.simplefilter("ignore")


def _result(job: tuple[Callable[[Path, Cell], Cell], Path, Cell]) -> Cell:
    work, data, cell = job
    start = time.process_time()
    try:
        with threadpool_limits(1):  # libraries that were loaded with the job
            values = work(data, cell)
    except Exception as error:  # printed; the cell stays open
        return {**cell, "error": f"{type(error).__name__}: {error}"}
    line = {**cell, **values, "seconds": round(time.process_time() - start, 2)}
    return dict(json.loads(json.dumps(line)))  # as it is when it is read back


def share(value: float) -> str:
    """Write a share as tables have it; empty for NaN."""
    return "" if np.isnan(value) else f"{value:.3f}".removeprefix("0")


def write_table(path: Path, table: list[list[str]]) -> None:
    """Write a table as CSV, and print it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)
    print(path.read_text(encoding="utf-8"))
