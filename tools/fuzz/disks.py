"""Runs on a disk that is full at any moment, and then gone on with."""

import os
import random
import resource
import shutil
import subprocess

from tools.fuzz.bench import Bench, fragments, new_folder

ROOM = 400_000  # bytes, about what a run leaves


class Target:
    """A full disk stops a run with a sentence and leaves nothing half-written.

    A process may be kept from writing files above some size, which is what a test can
    do anywhere. Where file systems can be mounted, a small one is, and fills up.
    """

    batch, patience = 100, 1500

    def __init__(self, folder):
        self.bench = Bench(folder)
        self.largest = max(p.stat().st_size for p in (folder / "whole").rglob("*"))
        self.small = folder / "small"
        self.small.mkdir()

    def attempt(self, i):
        """Run on the i-th disk; whether it was too small."""
        rng = random.Random(f"disks {i}")
        if rng.random() < 0.5 and _mount(self.small, rng.randrange(ROOM)):
            try:
                return self._on(self.small / "out", rng, grow=True)
            finally:
                # Lazily: a process that is just ending may still hold a file of it.
                subprocess.run(["umount", "--lazy", self.small], check=True)
        return self._on(new_folder(self.bench.folder), rng, grow=False)

    def _on(self, out, rng, *, grow):
        limit = int(self.largest * rng.random() ** 2)

        def less():
            if not grow:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        options = ("--jobs", rng.choice(["1", "1", "2"]))
        code = self.bench.wait(self.bench.start(out, *options, before=less))
        said = self.bench.said()
        assert "Traceback" not in said, said
        if code:
            assert code == 2, f"code {code}: {said}"
            assert "no space left" in said.lower(), said
        leftovers = list(out.rglob(".*.tmp"))
        assert not leftovers, leftovers
        self.bench.check(out)
        stopped = code != 0 and fragments(out) < self.bench.n_jobs
        if grow:
            size = ["mount", "-o", "remount,size=64m", self.small]
            subprocess.run(size, check=True)
        self.bench.finish(out)
        if not grow:
            shutil.rmtree(out.parent)
        return stopped


def _mount(folder, size):
    if os.geteuid():
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={max(4096, size)}", "none", folder]
    return subprocess.run(command, capture_output=True).returncode == 0
