"""Read a CSV of a million rows: our reader beside pandas, in the same process.

    python -m benchmarks csv
    python -m benchmarks.datasets [rows] [columns]     # wall time as well, as JSON

Our reader parses the same numbers and, on top, turns the candidate column into sets.
The target is a ratio below 3. On a busy machine CPU time is the one to trust: Arrow
works in threads of its own, which wait in line one by one.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.runner import Run, case

LABELS = [f"label{k}" for k in range(20)]


def make(path: Path, rows: int, columns: int) -> None:
    """Write random numbers and sets of one to three of twenty labels."""
    import pyarrow as pa
    import pyarrow.csv

    rng = np.random.default_rng(0)
    table = {f"x{j}": rng.normal(size=rows).round(6) for j in range(columns)}
    picks = rng.integers(0, len(LABELS), size=(rows, 3))
    sizes = rng.integers(1, 4, size=rows)
    table["candidates"] = [
        "|".join(sorted({LABELS[k] for k in pick[:size]}))
        for pick, size in zip(picks.tolist(), sizes.tolist(), strict=True)
    ]
    pyarrow.csv.write_csv(pa.table(table), path)


@case("csv")
def csv(run: Run) -> None:
    """CSV of 1,000,000 rows with a candidate column, ours / pandas below 3."""
    import pandas as pd

    from partlearn.io import read

    rows = run.pick(1_000_000, 2_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "set.csv")
        make(path, rows, 10)
        theirs = pd.read_csv(path).iloc[:, :10].to_numpy()
        run.agree("numbers", read(path).data, theirs, tolerance=1e-12)
        times = run.time(
            f"{rows:,} rows",
            {"ours": lambda: read(path), "pandas": lambda: pd.read_csv(path)},
        )
    run.ratio("ours / pandas", times["ours"] / times["pandas"], at_most=3)


def clock(action):
    """Wall seconds and CPU seconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(rows: int = 1_000_000, columns: int = 10, repeats: int = 5) -> dict:
    """Best of some repeats of each reader, taken in turns."""
    import pandas as pd

    from partlearn.io import read

    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "set.csv")
        make(path, rows, columns)
        size = path.stat().st_size
        for _ in range(repeats):
            theirs.append(clock(lambda: pd.read_csv(path)))
            ours.append(clock(lambda: read(path)))
    (our_wall, our_cpu), (their_wall, their_cpu) = np.min(ours, 0), np.min(theirs, 0)
    return {
        "rows": rows,
        "columns": columns,
        "bytes": size,
        "ours_wall_s": round(our_wall, 3),
        "pandas_wall_s": round(their_wall, 3),
        "wall_ratio": round(our_wall / their_wall, 3),
        "ours_cpu_s": round(our_cpu, 3),
        "pandas_cpu_s": round(their_cpu, 3),
        "cpu_ratio": round(our_cpu / their_cpu, 3),
        "threads": os.environ.get("OMP_NUM_THREADS", "default"),
        "load": round(os.getloadavg()[0], 1),
    }


if __name__ == "__main__":
    print(json.dumps(measure(*(int(a) for a in sys.argv[1:]))))
