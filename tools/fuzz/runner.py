"""Tries by number, in processes that may end."""

import faulthandler
import importlib
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from contextlib import contextmanager, nullcontext
from pathlib import Path

CEILING = 2**30  # bytes of resident memory above those after the start
BATCH = 5000  # a start costs as much as a thousand tries
PATIENCE = 60  # seconds for one try


def work(name, start, stop, folder):
    """Run some tries and note what came of them; the process may end at any."""
    faulthandler.enable(sys.__stderr__)
    target = _target(name)(folder)
    before, accepted = _peak(), 0
    with (folder / "notes").open("w", buffering=1) as notes:
        for i in range(start, stop):
            print(json.dumps({"at": i}), file=notes)
            signal.alarm(getattr(target, "patience", PATIENCE))
            try:
                accepted += bool(target.attempt(i))
            except BaseException:
                text = traceback.format_exc(limit=-3)
                print(json.dumps({"failure": [i, text]}), file=notes)
            signal.alarm(0)
        done = {"accepted": accepted, "grown": _peak() - before}
        print(json.dumps({"done": done}), file=notes)


def _target(name):
    return importlib.import_module(f"tools.fuzz.{name}").Target


def _peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def fuzz(name, *, start=0, tries=None, seconds=None, log=lambda text: None):
    """Run one target; counts and failures."""
    checks = getattr(_target(name), "checks_bounds", False)
    with checked_bounds() if checks else nullcontext():
        return _fuzz(name, start, tries, seconds, log)


def _fuzz(name, start, tries, seconds, log):
    total = {"target": name, "tries": 0, "accepted": 0, "failures": [], "peak": 0}
    begin, i = time.monotonic(), start
    size = getattr(_target(name), "batch", BATCH)
    while (tries is None or i < start + tries) and (
        seconds is None or time.monotonic() - begin < seconds
    ):
        stop = i + size if tries is None else min(i + size, start + tries)
        code, notes = _batch(name, i, stop)
        total["failures"] += [note["failure"] for note in notes if "failure" in note]
        done = notes[-1].get("done")
        if done is None:
            last = max(note["at"] for note in notes if "at" in note)
            total["failures"].append([last, f"the process ended with code {code}"])
            stop = last + 1
        else:
            total["accepted"] += done["accepted"]
            total["peak"] = max(total["peak"], done["grown"])
            if done["grown"] > CEILING:
                total["failures"].append(
                    [i, f"tries {i} to {stop} took too much memory"]
                )
        total["tries"] += stop - i
        i = stop
        log(f"{name}: {total['tries']:,} tries, {len(total['failures'])} failures")
    total["seconds"] = round(time.monotonic() - begin, 1)
    return total


@contextmanager
def checked_bounds():
    """Let compiled loops of new processes check their bounds.

    They get a folder of their own, since the usual one holds loops that were compiled
    without checks.
    """
    with tempfile.TemporaryDirectory() as folder:
        wanted = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": folder}
        before = {name: os.environ.get(name) for name in wanted}
        os.environ.update(wanted)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def _batch(name, start, stop):
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        arguments = (name, start, stop, Path(folder))
        process = context.Process(target=work, args=arguments)
        process.start()
        process.join()
        notes = Path(folder) / "notes"
        if not notes.exists():
            raise RuntimeError(f"the target {name} could not be prepared")
        lines = notes.read_text().splitlines()
        return process.exitcode, [json.loads(line) for line in lines]
