"""Read a CSV of a million rows: our reader against pandas, in the same run.

Our reader parses the same numbers and, on top, turns the candidate column into sets.
Run ``python benchmarks/datasets.py [rows] [columns]``; it prints one JSON line.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

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


def measure(rows: int = 1_000_000, columns: int = 10, repeats: int = 3) -> dict:
    """Best of some repeats of each reader, taken in turns."""
    import pandas as pd

    from partlearn.datasets import read

    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "set.csv")
        make(path, rows, columns)
        size = path.stat().st_size
        for _ in range(repeats):
            start = time.perf_counter()
            frame = pd.read_csv(path)
            theirs.append(time.perf_counter() - start)
            start = time.perf_counter()
            bunch = read(path)
            ours.append(time.perf_counter() - start)
    same = np.allclose(frame.iloc[:, :columns].to_numpy(), bunch.data)
    return {
        "case": "csv",
        "rows": rows,
        "columns": columns,
        "bytes": size,
        "candidates": list(bunch.candidates.shape),
        "same_values": bool(same),
        "ours_s": round(min(ours), 3),
        "pandas_s": round(min(theirs), 3),
        "ratio": round(min(ours) / min(theirs), 3),
        "threads": os.environ.get("OMP_NUM_THREADS", "default"),
        "cpus": os.cpu_count(),
    }


if __name__ == "__main__":
    print(json.dumps(measure(*(int(a) for a in sys.argv[1:]))))
