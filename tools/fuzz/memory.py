"""Memory that small files would like to take: ``python -m tools.fuzz.memory``.

Every file is read in a process of its own, within a limit of 64 MiB. What is printed is
how far the resident memory of that process grew, at its peak. With ``--commands``,
commands read larger ones, within the limits that they have.
"""

import contextlib
import gzip
import io
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
from pyarrow import ipc

from partlearn import PartialClassifier
from partlearn.benchmark import Store, load_plan, run_plan
from partlearn.benchmark._store import file_digest
from partlearn.classification import PLKNN
from partlearn.cli.__main__ import main as main_command
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


def feather(path, n):
    """Batches of zeros, compressed."""
    batch = pa.record_batch({f"f{j}": np.zeros(n) for j in range(10)})
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_file(str(path), batch.schema, options=options) as writer:
        for _ in range(100):
            writer.write_batch(batch)


def gzip_cells(path, n):
    """Cells of nothing."""
    _packed(path, b"a,b,c\n", b",,\n" * n, 1000)


def gzip_objects(path, n):
    """Lines of JSON with empty lists."""
    _packed(path, b"", b'{"a":[],"b":[],"c":[]}\n' * n, 200)


def _packed(path, head, piece, count):
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(head)
        for _ in range(count):
            file.write(piece)


def empty_lists(path, n):
    """A model of 125 MiB of empty lists."""
    text = '{"format":[' + "[]," * (125 * 2**20 // 3) + "[]]}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("model.json", text)


def wide_model(path, n):
    """A model of `train` with more labels than anybody has."""
    rng = np.random.default_rng(0)
    table = {"x": rng.random(20), "label": ["a", "b"] * 10}
    model = PartialClassifier(labels="label", method=PLKNN(1)).fit(table)
    q = 10 * n
    model.classes_ = model.estimator_.classes_ = np.arange(q)
    model.prior_ = np.full(q, 1 / q)
    model.estimator_._S = np.zeros((20, q), dtype=bool)
    model.estimator_.votes_ = np.zeros((20, q))
    model.estimator_.votes_[:, :2] = 1
    save_model(model, path)
    path.with_suffix(".csv").write_text("x\n" + "0.5\n" * 500)


def store(path, n):
    """A run whose table of results has millions of rows."""
    with contextlib.redirect_stdout(io.StringIO()):
        run_plan(load_plan("demo-quick"), path)
    folder, run = Path(path), json.loads((Path(path) / "run.json").read_text())
    table = folder / "results.parquet"
    schema = pq.read_schema(table)
    batch = pa.nulls(n, pa.null())
    rows = pa.table([batch.cast(field.type) for field in schema], schema=schema)
    with pq.ParquetWriter(table, schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(rows)
    run["files"]["results.parquet"] = file_digest(table)
    run.pop("digest")
    Store(folder).write_json("run.json", run)


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


# Within the limits that commands have: 4 GiB, and 500 times what is stored.
COMMANDS = {
    "Feather, train": (feather, "arrow", ["train", "{}", "--save", "{}.model"]),
    "Feather, reduce": (feather, "arrow", ["reduce", "{}", "--out", "{}.csv"]),
    "gzip, cells": (gzip_cells, "csv.gz", ["check", "{}"]),
    "gzip, JSON": (gzip_objects, "jsonl.gz", ["disambiguate", "{}", "--out", "{}.csv"]),
    "empty lists": (
        empty_lists, "model", ["predict", "{}", "--load", "{}", "--out", "{}.csv"]
    ),
    "wide model": (
        wide_model, "model",
        ["predict", "{}.csv", "--load", "{}.model", "--out", "{}.jsonl"],
    ),
    "results of a run": (store, "run", ["report", "{}"]),
}  # fmt: skip
GIGABYTE = 10**9


def command(name, folder, n=200_000):
    """Bytes of the file, growth of memory while a command read it, its exit code."""
    make, suffix, words = COMMANDS[name]
    path = Path(folder, f"a.{suffix}")
    if not _in_a_copy(lambda: make(path, n))[0]:
        raise RuntimeError(f"{name} could not be made")
    stem = path.with_suffix("") if name == "wide model" else path
    words = [word.format(stem) for word in words]

    def attempt():
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            try:
                main_command(words)
            except SystemExit as end:
                return f"exit code {end.code or 0}: {text.getvalue()[:90]!r}"
        return "done"

    said, grown = _in_a_copy(attempt)
    size = path.stat().st_size
    if path.is_dir():
        size = (path / "results.parquet").stat().st_size
    return size, grown, said


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


def main(commands=False):
    """Print the table; 1 if a file took more than the ceiling."""
    over = False
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            size, grown, said = measure(name, folder)
            over |= grown > CEILING or said is None
            print(f"{name:16} {size:>11,} bytes {grown / 2**20:7.0f} MiB  {said}")
        for name in COMMANDS if commands else ():
            size, grown, said = command(name, folder)
            over |= grown > GIGABYTE or said is None
            print(f"{name:16} {size:>11,} bytes {grown / 2**20:7.0f} MiB  {said}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main(commands="--commands" in sys.argv))
