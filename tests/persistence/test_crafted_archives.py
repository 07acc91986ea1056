"""Archives that are damaged, too large, or hold something else than a model."""

import json
import os
import pickle
import struct
import zipfile

import pytest
from tests.persistence.crafted import members, refuse, state, write

from partlearn._sizes import SIZES
from partlearn.io import Limits


@pytest.mark.parametrize(
    "name",
    ["../model.json", "/etc/passwd", "arrays/../../x", "arrays/00", "arrays/-1",
     "arrays/1e3", "x.pkl", "arrays/0.npy", "arrays/", "arrays/\u0661", "C:\\x"],
)  # fmt: skip
def test_names_of_members(name, tmp_path):
    refuse(write(tmp_path / "m", {**members(), name: b""}), "has no member")
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_members_that_nothing_uses(tmp_path):
    path = write(tmp_path / "m", {**members(), "arrays/77": b"12345678"})
    refuse(path, "arrays that the model does not use")


# zipfile warns of what is done here on purpose.
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_the_same_name(tmp_path):
    path = write(tmp_path / "m", members())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.json", "{}")
    refuse(path, "two members of the file have the same name")


def test_no_structure(tmp_path):
    refuse(write(tmp_path / "m", {"arrays/0": b""}), "no model.json")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no zip",
        pickle.dumps({"a": 1}),
        b"PK\x03\x04" + b"\0" * 100,
        b"PK\x05\x06",
    ],
)
def test_files_that_are_no_zip(content, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    refuse(path, "not a model saved by partlearn, or damaged")


def test_truncated(tmp_path):
    whole = write(tmp_path / "whole", members()).read_bytes()
    path = tmp_path / "m"
    for size in range(0, len(whole), 37):
        path.write_bytes(whole[:size])
        refuse(path, "not a model saved by partlearn, or damaged")


def test_a_real_bomb(tmp_path):
    content = members()
    document = json.loads(content["model.json"])
    big = {"member": 50, "dtype": "uint8", "shape": [2**28 + 2**20], "order": "C"}
    state(document)["votes_"] = {"array": big}
    content["model.json"] = json.dumps(document)
    path = write(tmp_path / "m", content)
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("arrays/50", "w") as member,
    ):
        for _ in range(2**8 + 1):  # looked at above 256 MiB
            member.write(bytes(2**20))
    refuse(path, "would expand")
    refuse(path, "above the limit", limits=Limits(max_bytes=2**20))


def test_a_structure_that_would_not_fit_in_memory(tmp_path):
    content = {**members(), "model.json": "[" + "{}," * 4_000_000 + "{}]"}
    refuse(write(tmp_path / "m", content), "above the limit|would expand")


def patched_size(path, name, size):
    """Change the declared size of a member in both of its headers."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        old = archive.getinfo(name).file_size
    position = -1
    key = struct.pack("<L", old)
    while (position := data.find(key, position + 1)) != -1:
        data[position : position + 4] = struct.pack("<L", size)
    path.write_bytes(data)


@pytest.mark.parametrize("size", [0, 7, 2**31])
def test_declared_sizes_that_are_wrong(size, tmp_path):
    path = write(tmp_path / "m", members())
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda info: info.file_size).filename
        name = largest if largest != "model.json" else "arrays/0"
    patched_size(path, name, size)
    refuse(path, "does not fill its shape|cannot hold|damaged|declares")


def test_an_array_shorter_than_declared(tmp_path):
    content = members()
    number = json.loads(content["model.json"])
    name = f"arrays/{state(number)['_X']['array']['member']}"
    size = len(content[name])
    path = write(tmp_path / "m", {**content, name: content[name][:-8]})
    patched_size(path, name, size)
    refuse(path, "damaged|shorter than it declares")


def test_encrypted_members(tmp_path):
    path = write(tmp_path / "m", members())
    data = bytearray(path.read_bytes())
    position = data.find(b"PK\x01\x02")
    data[position + 8] |= 1
    path.write_bytes(data)
    refuse(path, "is encrypted")


def test_other_compressions(tmp_path):
    with zipfile.ZipFile(tmp_path / "m", "w", zipfile.ZIP_LZMA) as archive:
        for name, data in members().items():
            archive.writestr(name, data)
    refuse(tmp_path / "m", "compressed in a way that is not read")


def test_too_many_members(tmp_path, monkeypatch):
    monkeypatch.setattr(SIZES, "archive_members", 3)
    refuse(write(tmp_path / "m", members()), "at most 3 are read")


def test_only_files_are_opened(tmp_path):
    refuse(tmp_path, "not a file")
    os.mkfifo(tmp_path / "pipe")
    refuse(tmp_path / "pipe", "not a file")
