"""A short run of the fuzzer with fixed numbers, and that it finds what it looks for."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tools.fuzz import __main__ as command
from tools.fuzz import arrow, memory, models, readers, runner
from tools.fuzz.watch import nothing_but


@pytest.mark.parametrize(
    ("module", "tries"), [(models, 300), (readers, 300), (arrow, 60)]
)
def test_a_short_run(module, tries, tmp_path):
    target = module.Target(tmp_path)
    accepted = sum(target.attempt(i) for i in range(tries))
    # Some damage is harmless; if all were, or none, nothing would be tested.
    assert tries // 50 < accepted < tries // 2


ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def unmeasured(monkeypatch):
    """Measure no coverage in processes: a signal may leave its lock closed for ever."""
    for name in [n for n in os.environ if n.startswith("COVERAGE_PROCESS")]:
        monkeypatch.delenv(name)


# Numbers of tries in which a run is stopped in the midst of its jobs.
@pytest.mark.skipif(sys.platform != "linux", reason="copies and kills processes")
@pytest.mark.parametrize(
    ("target", "start", "tries"), [("kills", 1, 2), ("disks", 1, 3), ("clusters", 1, 2)]
)
@pytest.mark.usefixtures("unmeasured")
def test_a_short_run_of_disturbed_runs(target, start, tries):
    if target == "clusters":
        pytest.importorskip("distributed")
    command = [sys.executable, "-m", "tools.fuzz", target]
    command += ["--start", str(start), "--tries", str(tries)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{target}: {tries} tries" in done.stdout
    assert "0 failures" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="copies processes")
def test_small_files_take_little_memory():
    command = [sys.executable, "-m", "tools.fuzz.memory"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in memory.FILES:
        assert f"\n{name}" in f"\n{done.stdout}"


class Broken:
    """A target that fails in every way a target can."""

    def __init__(self, folder):
        pass

    def attempt(self, i):
        if i == 3:
            raise KeyError("wrong error")
        if i == 5:
            os.kill(os.getpid(), signal.SIGSEGV)
        return i % 2


def test_failures_are_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(readers, "Target", Broken)
    # With fork the child sees the broken target.
    context = runner.multiprocessing.get_context("fork")
    monkeypatch.setattr(runner.multiprocessing, "get_context", lambda kind: context)
    report = tmp_path / "counts.json"
    assert command.main(["readers", "--tries", "8", "--json", str(report)]) == 1
    assert "--- readers 5" in capsys.readouterr().out
    (found,) = json.loads(report.read_text())
    assert found["tries"] == 8
    (third, text), (fifth, crash) = found["failures"]
    assert (third, fifth) == (3, 5)
    assert "wrong error" in text
    assert "ended with code -11" in crash
    assert found["accepted"] == 1  # the seventh; the process of the others ended


def test_memory_has_a_ceiling(monkeypatch):
    monkeypatch.setattr(readers, "Target", Broken)
    monkeypatch.setattr(runner, "CEILING", -1)
    context = runner.multiprocessing.get_context("fork")
    monkeypatch.setattr(runner.multiprocessing, "get_context", lambda kind: context)
    found = runner.fuzz("readers", tries=2)
    assert "too much memory" in found["failures"][0][1]


def test_targets_that_cannot_start(monkeypatch):
    monkeypatch.setattr(readers, "Target", None)
    context = runner.multiprocessing.get_context("fork")
    monkeypatch.setattr(runner.multiprocessing, "get_context", lambda kind: context)
    with pytest.raises(RuntimeError, match="could not be prepared"):
        runner.fuzz("readers", seconds=5)


BEYOND = (
    "import numpy as np\n"
    "from partlearn._math.crossfit import _kernels_numba\n"
    "_kernels_numba._add(np.ones((1, 4)), np.ones((3, 600)), np.zeros((1, 600)))"
)


def test_compiled_loops_check_their_bounds():
    pytest.importorskip("numba")
    python = [sys.executable, "-c", BEYOND]
    # As usual: what was compiled without checks is kept for later processes.
    subprocess.run(python, cwd=ROOT, check=True)
    before = dict(os.environ)
    with runner.checked_bounds():
        done = subprocess.run(python, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "IndexError: index is out of bounds" in done.stderr
    assert dict(os.environ) == before


def test_what_reaches_outside_is_seen(tmp_path):
    path = tmp_path / "a"
    path.write_text("x")
    with nothing_but(path):
        path.read_text()
    with pytest.raises(AssertionError, match="reached outside"), nothing_but(path):
        subprocess.run(["true"], check=True)
    with pytest.raises(AssertionError, match="reached outside"), nothing_but(path):
        (tmp_path / "b").write_text("x")
