"""Memory that small files would like to take: ``python -m tools.fuzz.memory``.

Every file is read in a process of its own, within a limit of 64 MiB. What is printed is
how far the resident memory of that process grew, at its peak.
"""

import gzip
import json
import os
import resource
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io

from partlearn.classification import PLKNN
from partlearn.io import DataError, Limits, read
from partlearn.persistence import Model, load_model, save_model
from tools.fuzz.mutate import members

LIMITS = Limits(max_bytes=2**26)
CEILING = 2 * LIMITS.max_bytes  # bytes, for the content and for making it


def gzip_table(path, n):
    """Cells of one character, which become numbers of eight bytes."""
    header = ",".join([*(f"f{j}" for j in range(99)), "candidates\n"])
    path.write_bytes(gzip.compress((header + ("1," * 99 + "a\n") * n).encode()))


def gzip_line(path, n):
    """A header without an end."""
    path.write_bytes(gzip.compress(b"a" * 200 * n))


def parquet(path, n):
    """Columns of zeros."""
    zeros = np.zeros(n * 10)
    columns = {f"f{j}": zeros for j in range(10)}
    pq.write_table(pa.table({**columns, "candidates": pa.array(["a"] * n * 10)}), path)


def npz(path, n):
    """A matrix of zeros."""
    np.savez_compressed(path, X=np.zeros((n, 100)), y=np.zeros(n))


def mat(path, n):
    """A matrix of zeros."""
    content = {"data": np.zeros((n, 100)), "target": np.zeros((n, 2))}
    scipy.io.savemat(path, content, do_compression=True)


def arff(path, n):
    """Sparse rows in front of many columns."""
    head = "@relation x\n" + "".join(f"@attribute a{j} numeric\n" for j in range(999))
    rows = "{0 1}\n" * (n // 5)
    path.write_bytes(gzip.compress((head + "@data\n" + rows).encode()))


def libsvm(path, n):
    """One entry far to the right."""
    path.write_text("1 1:1\n" * (n // 100) + "1 2000000000:1\n")


def model_array(path, n):
    """An array of a model that is declared large."""
    X, S = np.zeros((4, 2)), np.eye(4, 2, dtype=bool) | np.eye(4, 2, -2, dtype=bool)
    save_model(Model(PLKNN(1).fit(X, S)), path)
    content = members(path.read_bytes())
    document = json.loads(content["model.json"])
    big = {"member": 50, "dtype": "float64", "shape": [n, 100], "order": "C"}
    document["estimator"]["object"]["state"]["votes_"] = {"array": big}
    content |= {"model.json": json.dumps(document), "arrays/50": bytes(800 * n)}
    _archive(path, content)


def model_document(path, n):
    """A document of nothing but brackets."""
    _archive(path, {"model.json": "[" + "{}," * (100 * n) + "{}]"})


def _archive(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)


FILES = {
    "gzip, table": (gzip_table, "csv.gz", read),
    "gzip, one line": (gzip_line, "csv.gz", read),
    "Parquet": (parquet, "parquet", read),
    "npz": (npz, "npz", read),
    "mat": (mat, "mat", read),
    "ARFF": (arff, "arff.gz", read),
    "LIBSVM": (libsvm, "libsvm", read),
    "model, array": (model_array, "model", load_model),
    "model, document": (model_document, "model", load_model),
}


def measure(name, folder, n=200_000):
    """Bytes of the file, growth of memory while it was read, and what came of it."""
    make, suffix, reader = FILES[name]
    path = Path(folder, f"a.{suffix}")
    if not _in_a_copy(lambda: make(path, n))[0]:
        raise RuntimeError(f"{name} could not be made")

    def attempt():
        try:
            reader(path, limits=LIMITS)
        except DataError as error:
            return type(error).__name__
        return "read"

    said, grown = _in_a_copy(attempt)
    return path.stat().st_size, grown, said


def _in_a_copy(function):
    """What a function returns in a copy of this process, and what memory it took."""
    here, there = os.pipe()
    if pid := os.fork():
        os.close(there)
        with open(here) as stream:
            text = stream.read()
        os.waitpid(pid, 0)
        return json.loads(text) if text else (None, 0)
    try:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        said = function() or "done"
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os.write(there, json.dumps([said, 1024 * grown]).encode())
    finally:
        os._exit(0)


def main():
    """Print the table; 1 if a file took more than the ceiling."""
    over = False
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            size, grown, said = measure(name, folder)
            over |= grown > CEILING or said is None
            print(f"{name:16} {size:>11,} bytes {grown / 2**20:7.0f} MiB  {said}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
