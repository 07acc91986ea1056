"""The store: atomic, one writer, and nothing believed that was not written by it."""

import builtins
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partlearn.benchmark import (
    BusyError,
    DamagedStoreError,
    Store,
    load_run,
    parse_plan,
    run_plan,
)
from partlearn.benchmark._records import Record
from partlearn.benchmark._store import _sealed, file_digest
from partlearn.io import DataError
from partlearn.report import summarize

KEY = "0123456789abcdef0123"
JOB, REDUCTION = f"jobs/{KEY}", f"reductions/{KEY}"
DONE = Record(
    values=(("accuracy", 0.5, None), ("n_train", 3.0, None), ("fit_time", 0.25, None)),
    warnings=("UserWarning: é",),
)
FITTED = Record(
    values=(("n_components", 2.0, None),), arrays={"Z": np.arange(6.0).reshape(3, 2)}
)


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    store.put(JOB, DONE)
    store.put(REDUCTION, FITTED)
    return store


def test_records_come_back_as_they_were(store):
    assert store.get(JOB) == DONE
    reduced = store.get(REDUCTION)
    np.testing.assert_array_equal(reduced.arrays["Z"], FITTED.arrays["Z"])
    assert replace(reduced, arrays={}) == replace(FITTED, arrays={})
    assert store.get(REDUCTION, arrays=False).arrays == {}
    assert store.get("jobs/other") is store.get("reductions/other") is None
    assert store.damaged == {}


def test_failed_reductions_have_no_arrays(store):
    store.put("reductions/r", Record.failed(ValueError("broken")))
    assert store.get("reductions/r").message == "broken"


@pytest.mark.parametrize("name", ["jobs/{}.json", "reductions/{}.json"])
@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_files_of_others_count_as_not_done_and_are_named(store, name, damage):
    name = name.format(KEY)
    (store.folder / name).write_bytes(damage)
    assert store.get(name.removesuffix(".json")) is None
    assert list(store.damaged) == [name]


@pytest.mark.parametrize("damage", [b"", b"not a zip file"])
def test_damaged_arrays_count_as_not_done(store, damage):
    (store.folder / "reductions" / f"{KEY}.npz").write_bytes(damage)
    assert store.get(REDUCTION) is None
    assert list(store.damaged) == [f"reductions/{KEY}.npz"]


@pytest.mark.parametrize("kind", ["compressed", "overlong"])
def test_arrays_that_would_become_large_are_not_expanded(store, kind):
    """A shipped run of few bytes once took as much memory as it declared."""
    path = store.folder / "reductions" / f"{KEY}.npz"
    if kind == "compressed":
        np.savez_compressed(path, Z=np.zeros(10**7))
    else:
        header = io.BytesIO()
        about = {"descr": "<f8", "fortran_order": False, "shape": (2**50,)}
        np.lib.format.write_array_header_1_0(header, about)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("Z.npy", header.getvalue())
    about = json.loads(path.with_suffix(".json").read_text())
    del about["digest"]
    about["arrays"] = file_digest(path)
    path.with_suffix(".json").write_bytes(_sealed(about))
    tracemalloc.start()
    assert store.get(REDUCTION) is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert list(store.damaged) == [f"reductions/{KEY}.npz"]
    assert peak < 10**6


def test_lost_arrays_are_not_done_and_not_damaged(store):
    (store.folder / "reductions" / f"{KEY}.npz").unlink()
    assert store.get(REDUCTION) is None
    assert store.damaged == {}


@pytest.mark.parametrize(
    "change",
    [
        {"warnings": "none"},
        {"warnings": [1]},
        {"error": None},
        {"values": {"accuracy": 0.5}},
        {"values": [["accuracy", 0.5]]},
        {"values": [[7, 0.5, None]]},
        {"values": [["accuracy", 7.5, None]]},
        {"values": [["accuracy", -0.5, None]]},
        {"values": [["accuracy", True, None]]},
        {"values": [["n_train", -1, None]]},
        {"values": [["mine", "x", None]]},
        {"values": [["mine", 0.5, 101.0]]},
        {"values": [["mine", 0.5, -1.0]]},
        {"values": [["mine", 0.5, "all"]]},
    ],
)
def test_records_that_break_the_schema_are_not_believed(store, change):
    """Also where somebody took the trouble to mend the digest."""
    path = store.folder / "jobs" / f"{KEY}.json"
    content = json.loads(path.read_text())
    del content["digest"]
    content["record"] |= change
    path.write_bytes(_sealed(content))
    assert store.get(JOB) is None
    assert f"`{next(iter(change))}`" in store.damaged[f"jobs/{KEY}.json"]


def test_a_renamed_key_and_a_fragment_of_another_job(store):
    path = store.folder / "jobs" / f"{KEY}.json"
    good = json.loads(path.read_text())
    del good["digest"]
    record = good["record"]
    renamed = {**good, "record": {**record, "state": record["error"]}}
    del renamed["record"]["error"]
    path.write_bytes(_sealed(renamed))
    assert store.get(JOB) is None
    path.write_bytes(_sealed({**good, "name": "jobs/other"}))
    assert store.get(JOB) is None
    assert "another format or job" in store.damaged[f"jobs/{KEY}.json"]


def test_a_write_that_fails_leaves_the_old_file(store):
    with pytest.raises(TypeError):
        store.put(JOB, replace(DONE, values=(("n_train", object(), None),)))
    assert store.get(JOB) == DONE
    assert [p.name for p in (store.folder / "jobs").iterdir()] == [f"{KEY}.json"]


def test_leftovers_are_cleaned_and_results_stay(store):
    mark = "0123456789abcdef"
    (store.folder / "jobs" / f".{KEY}.json.{mark}.tmp").write_text("half")
    (store.folder / f".results.parquet.{mark}.tmp").write_text("half")
    mine = store.folder / ".my notes.tmp"  # of whoever has the folder
    mine.write_text("mine")
    with store.writing():
        assert [p.name for p in (store.folder / "jobs").iterdir()] == [f"{KEY}.json"]
    assert not list(store.folder.glob(f".*.{mark}.tmp"))
    assert mine.read_text() == "mine"


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("name", ["jobs", "reductions", ".lock"])
def test_links_are_not_followed(tmp_path, name):
    """Files behind a link were once replaced, and removed by --fresh."""
    precious = tmp_path / "precious" / "0123456789abcdef0123.json"
    precious.parent.mkdir()
    precious.write_text("{}")
    (tmp_path / "run").mkdir()
    target = precious if name == ".lock" else precious.parent
    (tmp_path / "run" / name).symlink_to(target)
    store = Store(tmp_path / "run")
    with pytest.raises(OSError, match="is a link"), store.writing():
        pass
    store.forget()
    assert precious.read_text() == "{}"


@pytest.mark.parametrize("name", ["jobs", "reductions", ".lock"])
def test_what_is_in_the_way_of_results_is_named(tmp_path, name):
    (tmp_path / name).mkdir() if name == ".lock" else (tmp_path / name).touch()
    message = rf"{name} is not a (folder|regular file).*Remove it, or choose"
    with pytest.raises(OSError, match=message), Store(tmp_path).writing():
        pass
    assert (tmp_path / name).exists()


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_to_nothing_is_no_folder(tmp_path):
    (tmp_path / "run").symlink_to(tmp_path / "nowhere")
    store = Store(tmp_path / "run")
    with (
        pytest.raises(FileNotFoundError, match="is a link to nothing"),
        store.writing(),
    ):
        pass
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_files_behind_links_are_neither_replaced_nor_removed(tmp_path):
    precious = tmp_path / "precious.json"
    precious.write_text("{}")
    store = Store(tmp_path / "run")
    (store.folder / "jobs").mkdir(parents=True)
    for name in ("run.json", f"{JOB}.json", ".run.json.0123456789abcdef.tmp"):
        (store.folder / name).symlink_to(precious)
    with store.writing():
        store.write_json("run.json", {"a": 1})
        store.forget()
        store.put(JOB, DONE)
    assert store.get(JOB) == DONE
    assert precious.read_text() == "{}"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_pipes_and_devices_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "run.json")
    with pytest.raises(DataError, match="a pipe or a device") as caught:
        Store(tmp_path).read_json("run.json")
    assert str(caught.value).count("run.json") == 1
    (tmp_path / "plan.json").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="a pipe or a device"):
        Store(tmp_path).read_json("plan.json")


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
@pytest.mark.parametrize("name", ["ENOLCK", "ENOTSUP", "ENOSYS"])
def test_file_systems_without_locks(tmp_path, monkeypatch, name):
    import errno
    import fcntl

    def flock(*arguments):
        raise OSError(getattr(errno, name), "not supported")

    monkeypatch.setattr(fcntl, "flock", flock)
    with (
        pytest.warns(UserWarning, match="no locks. Start only one run"),
        Store(tmp_path).writing(),
    ):
        pass


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_a_lock_that_fails_is_no_second_run(tmp_path, monkeypatch):
    import errno
    import fcntl

    def flock(*arguments):
        raise OSError(errno.EIO, "the disk is broken")

    monkeypatch.setattr(fcntl, "flock", flock)
    store = Store(tmp_path)
    with pytest.raises(OSError, match="disk is broken") as caught, store.writing():
        pass
    assert not isinstance(caught.value, BusyError)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o007, 0o660)])
def test_files_follow_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        store = Store(tmp_path)
        store.put("jobs/j", DONE)
        store.put("reductions/r", FITTED)
    finally:
        os.umask(before)
    written = [*(tmp_path / "jobs").iterdir(), *(tmp_path / "reductions").iterdir()]
    assert len(written) == 3
    assert {path.stat().st_mode & 0o777 for path in written} == {mode}


def test_a_file_holds_no_run(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    assert Store(path).read_json("run.json") is None


def test_forget_removes_fragments_and_nothing_else(store):
    own = store.folder / "jobs" / "applications.json"
    own.write_text("{}")
    folder = store.folder / "jobs" / "00000000000000000000.json"
    folder.mkdir()
    store.forget()
    assert store.get(JOB) is store.get(REDUCTION) is None
    assert own.is_file()
    assert folder.is_dir()
    assert list((store.folder / "reductions").iterdir()) == []


HOLD = """
import sys
from partlearn.benchmark import Store
with Store(sys.argv[1]).writing():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_until_the_first_is_gone(store):
    (store.folder / "jobs" / ".half.tmp").write_text("in flight")
    with store.writing():
        pass
    command = [sys.executable, "-c", HOLD, str(store.folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as other:
        assert other.stdout.readline().strip() == b"held"
        (store.folder / "jobs" / ".half.tmp").write_text("in flight")
        with pytest.raises(BusyError, match="another run is writing"), store.writing():
            pass
        assert (store.folder / "jobs" / ".half.tmp").exists()
        other.kill()
    with store.writing():
        pass


PLAN = """
[plan]
name = "p"
folds = 2
[[data]]
source = "sklearn:iris"
r = 1
max_rows = 40
[[reducers]]
name = "none"
[[reducers]]
class = "CENDA"
[[learners]]
class = "PLKNN"
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    run_plan(parse_plan(PLAN), folder)
    return folder


def _edit(path, rng):
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    path.write_bytes(data)


def test_any_single_byte_that_is_edited_is_noticed(finished):
    """100 of 100: by the reader of the run, or as a damaged fragment."""
    plan, rng = parse_plan(PLAN), random.Random(0)
    files = [p for p in finished.rglob("*") if p.is_file() and p.name != ".lock"]
    assert len(files) == 4 + 2 * 2 + 5
    noticed = 0
    for _ in range(100):
        path = rng.choice(files)
        before = path.read_bytes()
        _edit(path, rng)
        if path.parent == finished:
            with pytest.raises(DamagedStoreError, match=path.name):
                load_run(finished)
            noticed += 1
        else:
            store = Store(finished)
            assert store.get(f"{path.parent.name}/{path.stem}") is None
            noticed += len(store.damaged)
        path.write_bytes(before)
    assert noticed == 100
    load_run(finished)
    assert run_plan(plan, finished).facts["n_executed"] == 0


def test_what_was_damaged_runs_again_to_the_same_bytes(finished):
    plan, rng = parse_plan(PLAN), random.Random(1)
    (table,) = finished.glob("results.*")
    whole = table.read_bytes()
    job = min((finished / "jobs").iterdir())
    array = min((finished / "reductions").glob("*.npz"))
    record = max((finished / "reductions").glob("*.json"))
    for path in (job, array, record):
        _edit(path, rng)
    result = run_plan(plan, finished)
    assert set(result.damaged) == {
        str(path.relative_to(finished)) for path in (job, array, record)
    }
    assert result.facts["n_executed"] == 1
    assert table.read_bytes() == whole
    assert run_plan(plan, finished).damaged == {}


def test_results_are_not_written_into_a_file(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    with pytest.raises(NotADirectoryError, match="is a file; name a folder"):
        run_plan(parse_plan(PLAN), file)
    assert file.read_text() == PLAN


def test_runs_of_another_format_are_refused(tmp_path):
    (tmp_path / "plan.json").write_text('{"name": "old"}')
    (tmp_path / "run.json").write_text('{"facts": {}}')
    with pytest.raises(DamagedStoreError, match="without a digest"):
        load_run(tmp_path)
    store = Store(tmp_path)
    store.write_json("plan.json", {})
    store.write_json("run.json", {"format": "partlearn-run/99"})
    with pytest.raises(DamagedStoreError, match="its format is 'partlearn-run/99'"):
        load_run(tmp_path)


def test_a_plan_with_other_fields_is_of_another_version(tmp_path):
    run_plan(parse_plan(PLAN), tmp_path)
    store = Store(tmp_path)
    store.write_json("plan.json", {**store.read_json("plan.json"), "n_planets": 9})
    run = store.read_json("run.json")
    run["files"]["plan.json"] = file_digest(tmp_path / "plan.json")
    store.write_json("run.json", run)
    with pytest.raises(DamagedStoreError, match=r"not of this version .*'n_planets'"):
        load_run(tmp_path)


def _crafted(finished, folder, edits):
    """Copy a run with other content, and with digests that are right."""
    shutil.copytree(finished, folder)
    store = Store(folder)
    content = {name: store.read_json(name) for name in ("plan.json", "run.json")}
    table = next(folder.glob("results.parquet"))
    for name, edit in edits.items():
        if name in content:
            edit(content[name])
        else:
            pq.write_table(edit(pq.read_table(table)), table)
    store.write_json("plan.json", content["plan.json"])
    files = {f: file_digest(folder / f) for f in content["run.json"].get("files", ())}
    if files:
        content["run.json"]["files"] = files
    store.write_json("run.json", content["run.json"])
    return folder


def _without(*path):
    def edit(content):
        for key in path[:-1]:
            content = content[key]
        del content[path[-1]]

    return edit


def _with(value, *path):
    def edit(content):
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("name", "edit", "said"),
    [
        ("run.json", _without("absent"), "lacks the field 'absent'"),
        ("run.json", _without("files"), "lacks the field 'files'"),
        ("run.json", _with([1], "absent"), r"`run.absent\[0\]` is no table"),
        ("run.json", _with([{"a": "b"}], "absent"), "unknown field 'a'"),
        ("run.json", _with(None, "data"), "`run.data` is not of the type"),
        ("run.json", _without("data", 0, "classes"), "lacks the field 'classes'"),
        ("run.json", _with(10**400, "facts", "n_jobs"), "`run.facts.n_jobs` is not"),
        ("run.json", _with(1e999, "facts", "work_time"), "work_time` is not"),
        ("run.json", _with({"x": [1]}, "facts", "versions"), "versions` is not|.x` is"),
        ("plan.json", _with("x", "folds"), "`plan.folds` is not of the type int"),
        ("plan.json", _with(-1, "folds"), "no sound plan"),
        ("plan.json", _with([None], "metrics"), "`plan.metrics"),
        ("plan.json", _with([], "metrics"), "no sound plan"),
        ("plan.json", _with(["x"], "protocols"), "no sound plan"),
        ("plan.json", _with({"a": "x"}, "published"), "no sound plan"),
        ("plan.json", _with([{"name": 1}], "data"), r"`plan.data\[0\]`"),
        ("plan.json", _with([1], "reducers"), r"`plan.reducers\[0\]` is no table"),
        ("plan.json", _with({"a": []}, "learners", 0, "name"), "is not of the type"),
    ],
)
def test_crafted_facts_and_plans_are_refused(finished, tmp_path, name, edit, said):
    """Their digests are right; they once ended in a traceback of the report."""
    folder = _crafted(finished, tmp_path / "run", {name: edit})
    with pytest.raises(DamagedStoreError, match=said) as caught:
        load_run(folder)
    assert name in str(caught.value)


def _column(name, make):
    def edit(table):
        place = table.schema.get_field_index(name)
        return table.set_column(place, name, make(table.num_rows))

    return edit


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda table: table.drop_columns(["id"]), "columns are not those of a run"),
        (_column("r", lambda n: pa.array([[1]] * n)), "hold other values"),
        (_column("fold", lambda n: pa.array(["x"] * n)), "hold other values"),
        (_column("draw", lambda n: pa.nulls(n, pa.int64())), "hold other values"),
        (_column("reducer", lambda n: pa.nulls(n, pa.string())), "do not fit together"),
    ],
)
def test_crafted_tables_are_refused(finished, tmp_path, edit, said):
    folder = _crafted(finished, tmp_path / "run", {"results": edit})
    with pytest.raises(DamagedStoreError, match=said):
        summarize(folder)


def test_crafted_arrays_are_refused(finished, tmp_path):
    """Rows of a reduction that the data do not have."""
    folder = _crafted(finished, tmp_path / "run", {})
    store = Store(folder)
    for path in (folder / "reductions").glob("*.json"):
        name = f"reductions/{path.stem}"
        record = store.get(name)
        rows = {"rows": np.asarray(record.arrays["rows"]) + 10**6}
        store.put(name, replace(record, arrays={**record.arrays, **rows}))
    with pytest.raises(DamagedStoreError, match=r"do not fit together \(IndexError"):
        summarize(folder)


def test_tables_are_csv_without_pyarrow(finished, tmp_path, monkeypatch):
    real = builtins.__import__

    def without_pyarrow(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    run_plan(parse_plan(PLAN), tmp_path)
    assert (tmp_path / "results.csv").is_file()
    monkeypatch.undo()
    expected = load_run(finished).frame()
    costs = expected["metric"].str.endswith(("_time", "peak_mb"))
    frame = load_run(tmp_path).frame()
    pd.testing.assert_frame_equal(
        frame[: (~costs).sum()], expected[~costs], check_dtype=False
    )
    # A table that a run of another installation left beside these is not theirs.
    (table,) = finished.glob("results.parquet")
    copy = tmp_path / "results.parquet"
    copy.write_bytes(table.read_bytes()[:-1])
    pd.testing.assert_frame_equal(load_run(tmp_path).frame(), frame)
