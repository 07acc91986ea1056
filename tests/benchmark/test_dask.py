"""A real cluster of separate processes on this machine, one of which is killed."""

import json
import logging
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from partlearn import benchmark
from partlearn.benchmark import (
    DaskEngine,
    EngineLostError,
    make_engine,
    run_plan,
)

pytest.importorskip("distributed")

parse_plan = partial(benchmark.parse_plan, allow=["toy_methods"])

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


def _start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wait(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.1)


@pytest.fixture
def cluster(tmp_path, toys):
    """Scheduler and two workers, started by Dask's own commands."""
    file = tmp_path / "scheduler.json"
    common = ("--scheduler-file", str(file), "--no-dashboard")
    processes = [_start("scheduler", "--host", "127.0.0.1", "--port", "0", *common)]
    try:
        _wait(lambda: file.is_file() and file.stat().st_size, "scheduler")
        worker = ("worker", "--nthreads", "1", "--no-nanny", *common)
        processes += [_start(*worker, "--host", "127.0.0.1") for _ in range(2)]
        address = json.loads(file.read_text())["address"]
        yield address, processes
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_cluster_gives_the_same_bytes_even_when_a_worker_is_killed(
    cluster, plan_text, tmp_path
):
    address, (_, victim, _) = cluster
    plan = parse_plan(plan_text(learners=("PLKNN", "toy_methods:Slow"), noise="[0, 1]"))
    run_plan(plan, tmp_path / "serial")
    engine = make_engine(scheduler=address)
    assert isinstance(engine, DaskEngine)
    engine._client.wait_for_workers(2, timeout=120)
    # What Dask logs of a lost connection, tracebacks included, is not shown.
    log = logging.getLogger("distributed.batched")
    assert not log.isEnabledFor(logging.ERROR)
    seen = threading.Event()

    def kill_one(done, total, label):
        # Reducers are done and learners are under way.
        if done > 7 and not seen.is_set():
            seen.set()
            victim.send_signal(signal.SIGKILL)

    result = run_plan(plan, tmp_path / "dask", engine=engine, progress=kill_one)
    engine.close()
    assert log.isEnabledFor(logging.ERROR)
    assert seen.is_set()
    assert victim.wait(timeout=60) == -signal.SIGKILL
    assert result.n_failed == 0
    (serial,) = (tmp_path / "serial").glob("results.*")
    (dask,) = (tmp_path / "dask").glob("results.*")
    assert dask.read_bytes() == serial.read_bytes()


def test_exceptions_of_the_cluster_are_failures(monkeypatch):
    class Client:
        loop = None

        def submit(self, function, *args, **kwargs):
            return FakeFuture()

    class FakeFuture:
        status = "error"

        def exception(self):
            return RuntimeError("killed")

    engine = DaskEngine.__new__(DaskEngine)
    engine._client, engine._address = Client(), "tcp://nowhere"
    import distributed

    monkeypatch.setattr(distributed, "as_completed", lambda futures, loop: futures)
    ((number, failure),) = engine.run([(abs, (1,))])
    assert number == 0
    assert (failure.error, failure.message) == ("RuntimeError", "killed")
    FakeFuture.status = "cancelled"
    with pytest.raises(EngineLostError, match="tcp://nowhere is gone"):
        list(engine.run([(abs, (1,))]))


def test_a_lost_scheduler_leaves_no_failed_results(cluster, plan_text, tmp_path):
    address, (scheduler, *_) = cluster
    plan = parse_plan(plan_text(learners=("toy_methods:Slow",), reducers=("none",)))
    engine = make_engine(scheduler=address)
    engine._client.wait_for_workers(2, timeout=120)

    def kill(done, total, label):
        if scheduler.poll() is None:
            scheduler.send_signal(signal.SIGKILL)
            scheduler.wait()

    with pytest.raises(EngineLostError, match="finished jobs are kept"):
        run_plan(plan, tmp_path, engine=engine, progress=kill)
    engine.close()
    result = run_plan(plan, tmp_path)
    assert 0 < result.n_executed < 3
    assert result.n_failed == 0


def test_no_scheduler_is_a_clear_error():
    with pytest.raises(ConnectionError, match="No Dask scheduler answers at"):
        DaskEngine("tcp://127.0.0.1:9", timeout=1)
