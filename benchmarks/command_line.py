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

COMMANDS = {
    "disambiguate": ("--out", "labels.csv"),
    "train": ("--save", "model.partlearn"),
    "reduce": ("--out", "reduced.csv"),
}
SECONDS = 60  # of one core that each command may take


def spent() -> float:
    """CPU seconds, of programs and system, of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@case("command-line", slow=True)
def command_line(run: Run) -> None:
    """`disambiguate`, `train` and `reduce` on 100,000 x 50 numbers in a CSV file."""
    X, _, S = make(run.pick(100_000, 300), run.pick(50, 5), run.pick(20, 4), None)
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        with (Path(folder) / "rows.csv").open("w") as file:
            print(
                *(f"x{j}" for j in range(X.shape[1])), "candidates", sep=",", file=file
            )
            for x, s in zip(X, S, strict=True):
                labels = "|".join(map(str, np.flatnonzero(s)))
                print(*(f"{v:.6g}" for v in x), labels, sep=",", file=file)
        for name, output in COMMANDS.items():
            before = spent()
            words = ["partlearn", name, "rows.csv", "--labels", "candidates", *output]
            subprocess.run(
                [sys.executable, "-m", *words],
                cwd=folder,
                env=os.environ | one_thread,
                check=True,
                capture_output=True,
            )
            seconds = spent() - before
            run.ratio(
                f"{name}, {seconds:.1f} s, over {SECONDS} s",
                seconds / SECONDS,
                at_most=1,
            )
