"""The store: atomic, tolerant of what a killed run leaves behind."""

import builtins
import os

import numpy as np
import pytest

from partlearn.benchmark import Store
from partlearn.benchmark._store import read_table, write_table
from partlearn.benchmark._tables import RESULTS, load_rows

COLUMNS = [("a", "string"), ("b", "int64"), ("c", "double")]
ROWS = [{"a": 'x,"y"\n', "b": 1, "c": 0.5}, {"a": "", "b": None, "c": None}]


def test_reductions_come_back_with_their_arrays(tmp_path):
    store = Store(tmp_path)
    arrays = {"Z": np.arange(6.0).reshape(3, 2)}
    store.put_reduction("r", {"status": "ok", "arrays": arrays})
    found = store.get_reduction("r")
    np.testing.assert_array_equal(found["arrays"]["Z"], arrays["Z"])
    assert "arrays" not in store.get_reduction("r", arrays=False)
    assert store.get_reduction("other") is None


def test_failed_reductions_have_no_arrays(tmp_path):
    store = Store(tmp_path)
    store.put_reduction("r", {"status": "failed"})
    assert store.get_reduction("r") == {"status": "failed"}


@pytest.mark.parametrize("damage", [b"", b"not a zip file"])
def test_damaged_files_count_as_not_done(tmp_path, damage):
    store = Store(tmp_path)
    store.put_job("j", {"status": "ok"})
    (tmp_path / "jobs" / "j.json").write_bytes(b'{"status": "o')
    assert store.get_job("j") is None
    store.put_reduction("r", {"status": "ok", "arrays": {"Z": np.ones(2)}})
    (tmp_path / "reductions" / "r.npz").write_bytes(damage)
    assert store.get_reduction("r") is None


def test_leftovers_are_cleaned_and_results_stay(tmp_path):
    store = Store(tmp_path)
    store.put_job("j", {"status": "ok"})
    (tmp_path / "jobs" / ".k.json.abc.tmp").write_text("half")
    (tmp_path / ".results.tmp").write_text("half")
    store.clean()
    assert [p.name for p in (tmp_path / "jobs").iterdir()] == ["j.json"]
    assert not (tmp_path / ".results.tmp").exists()


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    store = Store(tmp_path)
    store.put_job("j", {"status": "ok"})
    with pytest.raises(TypeError):
        store.put_job("j", {"status": object()})
    assert store.get_job("j") == {"status": "ok"}
    assert [p.name for p in (tmp_path / "jobs").iterdir()] == ["j.json"]


def test_tables_round_trip_as_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    assert write_table(tmp_path / "t", ROWS, COLUMNS).suffix == ".parquet"
    assert read_table(tmp_path / "t") == ROWS


def test_tables_round_trip_as_csv_without_pyarrow(tmp_path, monkeypatch):
    real = builtins.__import__

    def without_pyarrow(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    row = {name: None for name, _ in RESULTS} | {"id": "i", "fold": 2, "accuracy": 0.25}
    assert write_table(tmp_path / "results", [row], RESULTS).suffix == ".csv"
    write_table(tmp_path / "timings", [], [("id", "string")])
    (found,), timings = load_rows(tmp_path)
    assert timings == []
    assert (found["fold"], found["accuracy"], found["r"]) == (2, 0.25, None)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o007, 0o660)])
def test_files_follow_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        store = Store(tmp_path)
        store.put_job("j", {"status": "ok"})
        store.put_reduction("r", {"status": "ok", "arrays": {"Z": np.ones(2)}})
        table = write_table(tmp_path / "t", ROWS, COLUMNS)
    finally:
        os.umask(before)
    written = [*(tmp_path / "jobs").iterdir(), *(tmp_path / "reductions").iterdir()]
    assert len(written) == 3
    assert {path.stat().st_mode & 0o777 for path in [*written, table]} == {mode}


def test_a_file_holds_no_run(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    assert Store(path).read_json("run.json") is None


def test_forget_removes_fragments_and_nothing_else(tmp_path):
    store = Store(tmp_path)
    key = "0123456789abcdef0123"
    store.put_job(key, {"status": "ok"})
    store.put_reduction(key, {"status": "ok", "arrays": {"Z": np.zeros(1)}})
    own = tmp_path / "jobs" / "applications.json"
    own.write_text("{}")
    store.forget()
    assert store.get_job(key) is store.get_reduction(key) is None
    assert own.is_file()
    assert list((tmp_path / "reductions").iterdir()) == []
