"""Compare the results of two runs of a plan, of any two versions, value by value.

``partlearn bench PLAN --out FOLDER`` in both checkouts, then ``python
tools/compare_runs.py BEFORE AFTER`` on the folders. Identities of jobs and texts are
left out.
"""

import argparse
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

JOB = ("data", "r", "noise_seed", "protocol", "labels", "reducer", "draw", "learner")
JOB += ("fold", "percentage", "metric")


def differences(before: Path, after: Path) -> tuple[int, Counter[tuple[str, str]]]:
    """Number of values compared, and of those that differ by reducer and column."""
    runs = []
    for folder in (before, after):
        rows = pq.read_table(folder / "results.parquet").to_pylist()
        values = (row for row in rows if row["value"] is not None)
        runs.append({tuple(str(row[k]) for k in JOB): row for row in values})
    old, new = runs
    if old.keys() != new.keys():
        lost, more = len(old.keys() - new.keys()), len(new.keys() - old.keys())
        raise SystemExit(f"Other values: {lost} only before, {more} only after.")
    differ: Counter[tuple[str, str]] = Counter()
    for key, row in old.items():
        differ[row["reducer"], row["metric"]] += row["value"] != new[key]["value"]
    return len(old), +differ


def main() -> None:
    """Print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    compared, differ = differences(options.before, options.after)
    print(f"{compared} values, {sum(differ.values())} differ")
    for (reducer, column), count in sorted(differ.items()):
        print(f"    {reducer}: {column} in {count}")


if __name__ == "__main__":
    main()
