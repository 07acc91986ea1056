"""Runs that are killed at any moment, in any way, and then gone on with."""

import os
import random
import shutil
import signal
import time

from tools.fuzz.bench import Bench, children, fragments, new_folder, poll

WAYS = {
    "all killed": signal.SIGKILL,
    "killed": signal.SIGKILL,
    "ended": signal.SIGTERM,
    "interrupted": signal.SIGINT,
    "worker killed": signal.SIGKILL,
}


class Target:
    """A run that was killed goes on and gives what an undisturbed one gives."""

    batch, patience = 100, 1500

    def __init__(self, folder):
        self.bench = Bench(folder)

    def attempt(self, i):
        """Kill the i-th run, sometimes twice; whether jobs were done and others not."""
        rng = random.Random(f"kills {i}")
        out = new_folder(self.bench.folder)
        midst = False
        for _ in range(rng.choice([1, 1, 1, 2])):
            midst |= self._disturb(out, rng)
        self.bench.finish(out)
        leftovers = list(out.parent.rglob(".*.tmp"))
        assert not leftovers, leftovers
        shutil.rmtree(out.parent)
        return midst

    def _disturb(self, out, rng):
        way = rng.choice(list(WAYS))
        jobs = "2" if way == "worker killed" else rng.choice(["1", "1", "2"])
        pid = self.bench.start(out, "--jobs", jobs)
        wanted = rng.randrange(-2, self.bench.n_jobs + 1)
        code = self.bench.wait(pid, lambda: wanted < 0 or fragments(out) >= wanted)
        time.sleep(rng.uniform(0, 0.4 if wanted < 0 else 0.05))
        code = poll(pid) if code is None else code
        if code is None:
            _send(pid, way, rng)
            code = self.bench.wait(pid)
        said = self.bench.said()
        assert "Traceback" not in said, said
        if way in ("worker killed", "interrupted"):  # the run itself says how it went
            allowed = (0,) if way == "worker killed" else (0, 1, 130)
            assert code in allowed, f"code {code}: {said}"
        self.bench.check(out)
        return 0 < fragments(out) < self.bench.n_jobs


def _send(pid, way, rng):
    if way == "worker killed":
        pid = rng.choice(children(pid) or [None])
    if pid is None:
        return
    try:
        (os.killpg if way == "all killed" else os.kill)(pid, WAYS[way])
    except ProcessLookupError:
        return
