"""The whole command killed in mid-run: what was finished stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 300  # seconds until a run has started, also on a busy machine


def _command(plan, out, jobs="2"):
    arguments = ["bench", str(plan), "--out", str(out), "--jobs", jobs]
    arguments += ["--allow", "toy_methods"]
    return [sys.executable, "-m", "partlearn", *arguments]


def _fragments(out):
    return len(list(out.glob("jobs/*.json")))


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_kill_and_resume(plan_text, tmp_path, toys, turns):
    plan = tmp_path / "plan.toml"
    plan.write_text(plan_text(learners=("toy_methods:Waits",), noise="[0, 1]"))
    out = tmp_path / "killed"
    process = subprocess.Popen(
        _command(plan, out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, **turns(5)},
    )
    end = time.monotonic() + PATIENCE
    while _fragments(out) < 5:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.02)
    # The whole group, as an out-of-memory killer or a power cut would.
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert _fragments(out) == 5
    assert not list(out.glob("results.*"))
    resumed = subprocess.run(
        _command(plan, out, jobs="1"), capture_output=True, text=True
    )
    assert resumed.returncode == 0, resumed.stderr
    assert "7 jobs in" in resumed.stderr

    from partlearn.benchmark import load_plan, run_plan

    run_plan(load_plan(plan, allow=["toy_methods"]), tmp_path / "whole")
    (killed,) = out.glob("results.*")
    (whole,) = (tmp_path / "whole").glob("results.*")
    assert killed.read_bytes() == whole.read_bytes()


def _running(pattern):
    """Processes of this machine that have some text in their environment."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if pattern.encode() in (entry / "environ").read_bytes():
                found.add(int(entry.name))
        except (OSError, ValueError):
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("limit", ["", "time_limit = 600\n"])
def test_processes_end_with_the_run_that_started_them(
    plan_text, tmp_path, toys, how, limit
):
    plan = tmp_path / "plan.toml"
    text = plan_text(learners=("toy_methods:Sleeps",), reducers=("none",), head=limit)
    plan.write_text(text)
    mark = f"PARTLEARN_TEST={tmp_path}"
    process = subprocess.Popen(
        _command(plan, tmp_path / "out"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PARTLEARN_TEST": str(tmp_path)},
    )
    children = 2 * (2 if limit else 1)  # under limits a job has a process of its own
    end = time.monotonic() + PATIENCE
    while len(_running(mark)) < 1 + children:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.1)
    time.sleep(1)  # let them begin to work
    process.send_signal(how)  # to the parent alone
    process.wait()
    while _running(mark):
        assert time.monotonic() < end
        time.sleep(0.1)
