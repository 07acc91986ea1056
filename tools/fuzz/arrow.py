"""Damaged and crafted Arrow and Feather files, through every command that reads tables.

Half of the files have bytes damaged anywhere. The others stay sound but for one field:
a number of the description (a length, an offset, a count), a value of the buffers that
point into others (offsets of text and lists, codes of a dictionary), or the expanded
length in front of a compressed buffer.
"""

import contextlib
import io
import random
import struct
import warnings

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from partlearn.cli.__main__ import main
from tools.fuzz.mutate import mutate

ODD = (0, 1, -1, 7, 255, 2**15, 2**31 - 1, -(2**31), 2**32 - 1, 2**40, 2**62, -(2**62))


def _table(n=24):
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 3
    labels = ["|".join(s) for s in ([["a", "b"], ["b"], ["c", "a"]][t] for t in truth)]
    return pa.table(
        {
            "x": truth + rng.random(n),
            "y": pa.array([*rng.random(n).tolist()[:-1], None]),
            "count": pa.array(rng.integers(0, 9, n), pa.int16()),
            "flag": pa.array(rng.random(n) < 0.5),
            "kind": pa.array(rng.choice(["u", "v", "w"], n)).dictionary_encode(),
            "note": rng.choice(["some words", "more of them", "none"], n),
            "day": pa.array(rng.integers(0, 10**9, n), pa.timestamp("s")),
            "candidates": labels,
        }
    )


def _lists(n=24):
    table = _table(n)
    sets = [cell.split("|") for cell in table["candidates"].to_pylist()]
    numbers = table.select(["x", "y"]).set_column(1, "y", pa.array(np.arange(n) / n))
    return numbers.append_column("candidates", pa.array(sets))


def sound_files():
    """Files and streams, plain and compressed, of text, numbers, codes and lists."""
    for table in (_table(), _lists()):
        for compression in (None, "lz4", "zstd"):
            for new in (ipc.new_file, ipc.new_stream):
                buffer = io.BytesIO()
                options = ipc.IpcWriteOptions(compression=compression)
                with new(buffer, table.schema, options=options) as writer:
                    writer.write_table(table, max_chunksize=16)
                yield buffer.getvalue()


def craft(data, rng):
    """Change one number where the file is known to hold some."""
    out = bytearray(data)
    width = rng.choice([2, 4, 4, 8, 8])
    # Descriptions and buffers are aligned, and so are the numbers in them.
    place = width * rng.randrange(max(1, len(out) // width - 1))
    old = int.from_bytes(out[place : place + width], "little", signed=True)
    near = [old + 1, old - 1, old * 2, -old, old + 8, old ^ (1 << rng.randrange(16))]
    value = rng.choice([*ODD, *near]) % (1 << (8 * width))
    out[place : place + width] = value.to_bytes(width, "little")
    if rng.random() < 0.2:  # offsets of text: three that rise
        places = [i for i in range(0, len(out) - 12, 4) if _rises(out, i)]
        if places:
            place = rng.choice(places) + 4 * rng.randrange(3)
            struct.pack_into("<i", out, place, rng.choice(ODD[:8]))
    return bytes(out)


def _rises(data, place):
    a, b, c = struct.unpack_from("<3i", data, place)
    return 0 <= a < b < c < 1000


class Target:
    """Run a command on a damaged file: an answer or a sentence, no traceback."""

    batch = 2000
    checks_bounds = True

    def __init__(self, folder):
        self.folder = folder
        self.path, self.out = folder / "in.arrow", folder / "out.csv"
        self.seeds = list(sound_files())
        self.path.write_bytes(self.seeds[0])
        models = {name: folder / name for name in ("train", "reduce", "select")}
        for name, path in models.items():
            method = {"train": "plknn", "reduce": "cenda", "select": "saute"}[name]
            words = [name, self.path, "--method", method, "--save", path]
            words += ["--folds", 0] if name == "train" else ["--out", self.out]
            assert self._run(*words)[0] == 0, words
        out, numbers = ["--out", self.out], ["--task", "pll"]
        self.commands = [
            ["predict", self.path, "--load", models["train"], *out],
            ["reduce", self.path, "--load", models["reduce"], *out],
            ["select", self.path, "--load", models["select"], *out],
            ["check", self.path],
            ["disambiguate", self.path, "--method", "plknn", *out],
            ["train", self.path, "--method", "plknn", "--folds", 0, "--save", "SAVE"],
            ["reduce", self.path, "--method", "cenda", *out],
            ["select", self.path, "--method", "saute", *out],
            ["data", "info", self.path, *numbers],
            ["data", "convert", self.path, folder / "out.npz", *numbers],
        ]
        for words in self.commands[1:]:
            self._run(*words)  # imports, once

    def _run(self, *words):
        text = io.StringIO()
        words = [self.folder / "saved" if word == "SAVE" else word for word in words]
        with (
            contextlib.redirect_stdout(text),
            contextlib.redirect_stderr(text),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            try:
                main([str(word) for word in words])
            except SystemExit as end:
                return int(end.code or 0), text.getvalue()
        return 0, text.getvalue()

    def attempt(self, i):
        """Run one command on the i-th file; whether it found something to read."""
        rng = random.Random(f"arrow {i}")
        data = rng.choice(self.seeds)
        self.path.write_bytes(rng.choice([mutate, craft])(data, rng))
        words = self.commands[i % len(self.commands)]
        code, said = self._run(*words)
        if code not in (0, 1, 2) or "Traceback" in said:
            raise AssertionError(f"{words[0]} ended with {code}: {said[-500:]}")
        return code == 0
