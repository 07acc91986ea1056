"""Runs on a Dask cluster that loses workers, its scheduler or the network."""

import atexit
import json
import random
import shutil
import signal
import subprocess
import sys
import time

import distributed  # noqa: F401 - copies of this process need not import it

from tools.fuzz.bench import Bench, fragments, new_folder, poll

LOST = ("scheduler killed", "network cut")
WAYS = (*LOST, "worker killed", "workers killed", "scheduler stopped", "network slow")


class Target:
    """What a cluster loses is done again or left undone, and never stored as failed."""

    batch, patience = 100, 1500

    def __init__(self, folder):
        self.bench, self.folder = Bench(folder), folder
        self.processes = {}
        atexit.register(self.stop)

    def attempt(self, i):
        """Disturb the i-th run; whether jobs were done and others not."""
        rng = random.Random(f"clusters {i}")
        way = WAYS[i % len(WAYS)]
        address = self._cluster()
        out = new_folder(self.folder)
        pid = self.bench.start(out, "--scheduler", address)
        wanted = rng.randrange(self.bench.n_jobs)
        code = self.bench.wait(pid, lambda: fragments(out) >= wanted)
        time.sleep(rng.uniform(0, 0.05))
        done = fragments(out)
        if code is None and poll(pid) is None:
            self._disturb(way)
            code = self.bench.wait(pid)
            said = self.bench.said()
            assert "Traceback (most recent call last)" not in said, said
            if code:
                assert way in LOST, f"{way}: code {code}: {said}"
                assert code == 2, f"{way}: code {code}: {said}"
                assert "finished jobs are kept" in said, said
        self.bench.check(out)
        self.bench.finish(out)
        shutil.rmtree(out.parent)
        return 0 < done < self.bench.n_jobs

    def _disturb(self, way):
        if way == "scheduler killed":
            self._kill("scheduler")
        elif way == "network cut":
            self._kill("proxy")
        elif way == "worker killed":
            self._kill("worker 0")
        elif way == "workers killed":
            self._kill("worker 0")
            self._kill("worker 1")
            self._cluster()
        else:
            name = "scheduler" if way == "scheduler stopped" else "proxy"
            self.processes[name].send_signal(signal.SIGSTOP)
            time.sleep(3)
            self.processes[name].send_signal(signal.SIGCONT)

    def _kill(self, name):
        with self.processes.pop(name) as process:
            process.kill()

    def _cluster(self):
        """Start what is missing; the address that goes through the proxy."""
        file = self.folder / "scheduler.json"
        if "scheduler" not in self.processes:
            self.stop()
            file.unlink(missing_ok=True)
            self._dask("scheduler", "scheduler", "--port", "0")
            _until(lambda: file.is_file() and file.stat().st_size)
            self.inner = json.loads(file.read_text())["address"].rpartition(":")[2]
        if "proxy" not in self.processes:
            process = self._start("proxy", "tools.fuzz.proxy", self.inner)
            self.port = int(process.stdout.readline())
        for name in ("worker 0", "worker 1"):
            if name not in self.processes:
                self._dask(name, "worker", "--nthreads", "1", "--no-nanny")
        return f"tcp://127.0.0.1:{self.port}"

    def _dask(self, name, *arguments):
        file = ["--scheduler-file", str(self.folder / "scheduler.json")]
        self._start(
            name, "dask", *arguments, *file, "--no-dashboard", "--host", "127.0.0.1"
        )

    def _start(self, name, *arguments):
        out = subprocess.PIPE if name == "proxy" else subprocess.DEVNULL
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.DEVNULL,
        )
        return self.processes[name]

    def stop(self):
        """End every process of the cluster."""
        for name in list(self.processes):
            self._kill(name)


def _until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the cluster did not start")
        time.sleep(0.1)
