"""Seconds of the commands on a large CSV file, with their defaults."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.crisp import make
from benchmarks.runner import Run, case

LARGE = (
    ("disambiguate", "--out", "labels.csv"),
    ("train", "--save", "model.partlearn"),
    ("reduce", "--out", "reduced.csv"),
)
SECONDS = 60  # of one core that each command on the large file may take
# Rows, columns and labels of a file; commands, and the seconds that each may take.
FIRST_HOUR = (
    ((10_000, 8, 5), ("disambiguate", "--out", "labels.csv"), 15),
    ((10_000, 8, 5), ("train", "--save", "model.partlearn"), 60),
    ((5_000, 8, 5), ("predict", "--load", "model.partlearn", "--out", "new.csv"), 3),
    ((400, 5_000, 5), ("train", "--save", "wide.partlearn"), 60),
    ((200_000, 20, 5), ("select", "--out", "kept.csv"), 120),
)


def write_rows(path: Path, m: int, d: int, q: int) -> None:
    """Write a table of numbers and candidate sets, unless it is there."""
    if path.exists():
        return
    X, _, S = make(m, d, q, None)
    with path.open("w") as file:
        print(*(f"x{j}" for j in range(d)), "candidates", sep=",", file=file)
        for x, s in zip(X, S, strict=True):
            labels = "|".join(map(str, np.flatnonzero(s)))
            print(*(f"{v:.6g}" for v in x), labels, sep=",", file=file)


def seconds_of(folder: str, name: str, data: str, *words: str) -> float:
    """CPU seconds of a command, of program and system, in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if name != "predict":
        words = ("--labels", "candidates", *words)
    subprocess.run(
        [sys.executable, "-m", "partlearn", name, data, *words],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@case("command-line", slow=True)
def command_line(run: Run) -> None:
    """`disambiguate`, `train` and `reduce` on 100,000 x 50 numbers in a CSV file."""
    size = run.pick(100_000, 300), run.pick(50, 5), run.pick(20, 4)
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder, "rows.csv"), *size)
        for name, *output in LARGE:
            seconds = seconds_of(folder, name, "rows.csv", *output)
            run.ratio(
                f"{name}, {seconds:.1f} s, over {SECONDS} s",
                seconds / SECONDS,
                at_most=1,
            )


@case("first-hour", slow=True)
def first_hour(run: Run) -> None:
    """CPU seconds of commands on tables of a first hour, with their defaults."""
    with tempfile.TemporaryDirectory() as folder:
        for (m, d, q), (name, *words), limit in FIRST_HOUR:
            size = run.pick(m, 300), run.pick(d, min(d, 8)), q
            data = f"{m}x{d}.csv"
            write_rows(Path(folder, data), *size)
            seconds = seconds_of(folder, name, data, *words)
            run.ratio(
                f"{name}, {m:,} x {d:,}, {seconds:.1f} s, over {limit} s",
                seconds / limit,
                at_most=1,
            )
