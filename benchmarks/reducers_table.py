"""Accuracy of PL-KNN behind the published reducers, under both protocols.

    python -m benchmarks.reducers_table run --data FOLDER --out results.csv
    python -m benchmarks.reducers_table table results.csv > table.csv

A line is appended per data set, reducer and protocol; a run that was stopped goes on
where it stopped. FOLDER and its sub-folders are searched for ``lost.npz`` and so on.
PL-KNN is the variant behind the published tables. Ten folds, three for the sets named
in ``LARGE`` where every fold needs a fit of minutes; the number is in the table. What a
reducer returns is standardised under both protocols, as in the published recipe.
"""

import argparse
import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from partlearn.candidates import make_candidates
from partlearn.classification import PLKNN
from partlearn.decomposition import CENDA, DELIN, PLDA, SDLPP, WPLDR
from partlearn.model_selection import cross_validate

FIELDS = [
    "data", "r", "reducer", "protocol", "folds", "accuracy", "std", "seconds"
]  # fmt: skip
WITH_CANDIDATES = ["lost", "fgnet", "birdsong", "slashdot_r1"]
DRAWN = ["dermatology", "vehicle", "vowel"]
# With three false labels every row of this set, which has four, carries all of them.
FULL = {("vehicle", 3)}
LARGE = {"birdsong", "slashdot_r1"}
REDUCERS = {
    "CENDA": lambda: CENDA(scaling="maxabs"),
    "DELIN": DELIN,
    "PLDA": lambda: PLDA(max_iter=30),
    "WPLDR": WPLDR,
    "SDLPP": SDLPP,
}
# Published for a given number of directions (CENDA, Table 7).
EXTRA = {
    "lost": {f"DELIN({r})": r for r in (6, 11, 13)},
    "slashdot_r1": {"DELIN(18)": 18},
}


def read(folder: Path, name: str):
    path = next(folder.rglob(f"{name}.npz"))
    with np.load(path, allow_pickle=False) as z:
        if "X" in z:
            X = z["X"].astype(float)
        else:
            parts = z["X_data"].astype(float), z["X_indices"].astype(int), z["X_indptr"]
            X = sp.csr_array(parts, shape=tuple(z["X_shape"]))
        y = np.unique(z["y"], return_inverse=True)[1] if "S" not in z else z["y"]
        return X, z.get("S"), y.astype(int)


def jobs(names: list[str]):
    for name in names:
        for r in ["own"] if name in WITH_CANDIDATES else [1, 2, 3]:
            if (name, r) in FULL:
                continue
            for protocol in ("transductive", "inductive"):
                for reducer in ["raw", *REDUCERS, *EXTRA.get(name, {})]:
                    yield name, str(r), reducer, protocol


def measure(folder: Path, name: str, r: str, reducer: str, protocol: str):
    X, S, y = read(folder, name)
    if S is None:
        S = make_candidates(y, int(r), random_state=0)
    folds = 3 if name in LARGE and protocol == "inductive" else 10
    if reducer == "raw":
        steps = [StandardScaler(with_mean=False)]
    elif reducer in REDUCERS:
        steps = [REDUCERS[reducer](), StandardScaler()]
    else:
        steps = [DELIN(EXTRA[name][reducer]), StandardScaler()]
    model = make_pipeline(*steps, PLKNN(variant="lab"))
    start = time.process_time()
    scores = cross_validate(model, X, S, y, cv=folds, protocol=protocol)["test_score"]
    return folds, scores.mean(), scores.std(ddof=1), time.process_time() - start


def run(options: argparse.Namespace) -> None:
    done = set()
    if options.out.exists():
        with options.out.open(newline="") as f:
            done = {tuple(row[k] for k in FIELDS[:4]) for row in csv.DictReader(f)}
    else:
        options.out.write_text(",".join(FIELDS) + "\n")
    for job in jobs(options.sets or [*WITH_CANDIDATES, *DRAWN]):
        if job in done:
            continue
        folds, mean, std, seconds = measure(options.data, *job)
        with options.out.open("a", newline="") as f:
            figures = [folds, f"{mean:.4f}", f"{std:.4f}", f"{seconds:.1f}"]
            csv.writer(f).writerow([*job, *figures])
        print(*job, f"{mean:.3f}", f"{seconds:.0f} s", file=sys.stderr, flush=True)


def table(options: argparse.Namespace) -> None:
    """One row per data set and protocol, one column per reducer."""
    with options.results.open(newline="") as f:
        rows = list(csv.DictReader(f))
    names = list(dict.fromkeys(row["reducer"] for row in rows))
    cells = {tuple(row[k] for k in FIELDS[:4]): row for row in rows}
    writer = csv.writer(sys.stdout)
    writer.writerow(["Data", "r", "Protocol", "Folds", *names])
    order = dict.fromkeys(
        (row["data"], row["r"], row["protocol"], row["folds"]) for row in rows
    )
    for data, r, protocol, folds in order:
        found = [cells.get((data, r, name, protocol)) for name in names]
        shown = [f"{float(c['accuracy']):.3f}" if c else "" for c in found]
        writer.writerow([data, r, protocol, folds, *shown])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    go = commands.add_parser("run")
    go.add_argument("--data", type=Path, required=True, help="folder with npz files")
    go.add_argument("--out", type=Path, required=True, help="CSV file to append to")
    go.add_argument("--sets", nargs="*", help="data sets, all by default")
    go.set_defaults(call=run)
    show = commands.add_parser("table")
    show.add_argument("results", type=Path)
    show.set_defaults(call=table)
    options = parser.parse_args(arguments)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options.call(options)


if __name__ == "__main__":
    main()
