"""A real cluster of separate processes on this machine, one of which is killed."""

import gc
import json
import logging
import os
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

distributed = pytest.importorskip("distributed")

parse_plan = partial(benchmark.parse_plan, allow=["toy_methods"])

# Dask leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


PATIENCE = 300  # seconds until processes have started, also on a busy machine


def _start(*arguments, **variables):
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **variables},
    )


def _wait(condition, what, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.1)


@pytest.fixture
def cluster(tmp_path, toys, turns, request):
    """Scheduler and two workers, started by Dask's own commands.

    A parameter says how many fits of ``Waits`` the workers let through.
    """
    variables = turns(request.param) if hasattr(request, "param") else {}
    file = tmp_path / "scheduler.json"
    common = ("--scheduler-file", str(file), "--no-dashboard")
    processes = [_start("scheduler", "--host", "127.0.0.1", "--port", "0", *common)]
    try:
        _wait(lambda: file.is_file() and file.stat().st_size, "scheduler")
        worker = ("worker", "--nthreads", "1", "--no-nanny", *common)
        worker += ("--host", "127.0.0.1")
        processes += [_start(*worker, **variables) for _ in range(2)]
        address = json.loads(file.read_text())["address"]
        with distributed.Client(
            address, timeout=PATIENCE, set_as_default=False
        ) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
        yield address, processes
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()
        # What a lost connection leaves to be collected is not for a later test.
        gc.collect()


@pytest.mark.parametrize("cluster", [4], indirect=True)
def test_cluster_gives_the_same_bytes_even_when_a_worker_is_killed(
    cluster, plan_text, tmp_path
):
    address, (_, victim, _) = cluster
    learners = ("PLKNN", "toy_methods:Waits")
    plan = parse_plan(plan_text(learners=learners, noise="[0, 1]"))
    run_plan(plan, tmp_path / "serial")
    engine = make_engine(scheduler=address)
    assert isinstance(engine, DaskEngine)
    # What Dask logs of a lost connection, tracebacks included, is not shown.
    log = logging.getLogger("distributed.batched")
    assert not log.isEnabledFor(logging.ERROR)
    seen = threading.Event()

    def kill_one(done, total, label):
        # Reducers are done and learners are under way, which wait for more turns.
        if done > 7 and not seen.is_set():
            seen.set()
            victim.send_signal(signal.SIGKILL)
            for i in range(100):
                (tmp_path / "turns" / f"more {i}").touch()

    result = run_plan(plan, tmp_path / "dask", engine=engine, progress=kill_one)
    engine.close()
    assert log.isEnabledFor(logging.ERROR)
    assert seen.is_set()
    assert victim.wait(timeout=PATIENCE) == -signal.SIGKILL
    assert result.facts["n_failed"] == 0
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
    monkeypatch.setattr(distributed, "as_completed", lambda futures, loop: futures)
    ((number, failure),) = engine.run([(abs, (1,))])
    assert number == 0
    assert repr(failure) == "RuntimeError('killed')"
    FakeFuture.status = "cancelled"
    with pytest.raises(EngineLostError, match="tcp://nowhere is lost"):
        list(engine.run([(abs, (1,))]))


@pytest.mark.parametrize("cluster", [1], indirect=True)
def test_a_lost_scheduler_leaves_no_failed_results(cluster, plan_text, tmp_path):
    address, (scheduler, *_) = cluster
    plan = parse_plan(plan_text(learners=("toy_methods:Waits",), reducers=("none",)))
    engine = make_engine(scheduler=address)

    def kill(done, total, label):
        if scheduler.poll() is None:
            scheduler.send_signal(signal.SIGKILL)
            scheduler.wait()

    with pytest.raises(EngineLostError, match="finished jobs are kept"):
        run_plan(plan, tmp_path / "out", engine=engine, progress=kill)
    engine.close()
    result = run_plan(plan, tmp_path / "out")
    assert (result.facts["n_executed"], result.facts["n_failed"]) == (2, 0)


def test_no_scheduler_is_a_clear_error():
    with pytest.raises(ConnectionError, match="No Dask scheduler answers at"):
        DaskEngine("tcp://127.0.0.1:9", timeout=1)
