"""Runs of a small plan that are disturbed, gone on with, and compared."""

import faulthandler
import os
import signal
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from partlearn.benchmark import Store, load_run
from partlearn.cli.__main__ import main

PLAN = """
[plan]
name = "disturbed"
folds = 3

[[data]]
source = "sklearn:iris"
r = 1
max_rows = 60
noise_seeds = [0, 1]

[[reducers]]
name = "none"

[[reducers]]
class = "CENDA"

[[reducers]]
class = "RandomSelection"
params = { n_features_to_select = 2 }

[[learners]]
class = "PLKNN"

[[learners]]
class = "CLPL"
"""
END = 400  # seconds for a run of a second, also on a busy machine


class Bench:
    """The plan, the result of a run that nothing disturbs, and runs that are."""

    def __init__(self, folder):
        self.folder, self._said = folder, None
        self.plan = folder / "plan.toml"
        self.plan.write_text(PLAN)
        # In this process, which then has imported all that its copies need.
        whole = folder / "whole"
        with (
            (folder / "said").open("w") as said,
            redirect_stdout(said),
            redirect_stderr(said),
            suppress(SystemExit),
        ):
            main(["bench", str(self.plan), "--out", str(whole)])
        self.whole = results(whole)
        self.n_jobs = fragments(whole)

    def start(self, out, *options, before=lambda: None):
        """Start the command in a process group of its own; a copy of this process.

        What it imports is here already, so that a try takes less than a second.
        """
        if self._said is not None:
            os.close(self._said)
        self._said, sink = os.pipe()  # a file could be too large
        os.set_blocking(self._said, False)
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            os.close(sink)
            return pid
        code = 70
        try:
            os.setsid()
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            sys.stdout, sys.stderr = open(1, "w"), open(2, "w")  # noqa: SIM115
            signal.signal(signal.SIGINT, signal.default_int_handler)
            faulthandler.register(signal.SIGUSR1)  # to see where it hangs
            before()
            code = 0
            main(["bench", str(self.plan), "--out", str(out), *options])
        except SystemExit as error:
            code = error.code
            if isinstance(code, str):
                print(code, file=sys.stderr)
                code = 1
        except KeyboardInterrupt:  # before the command could listen
            code = 130
        except BaseException:
            import traceback

            traceback.print_exc()
            code = 70
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code or 0)

    def said(self):
        """What the last command printed."""
        text = b""
        with suppress(BlockingIOError):
            while part := os.read(self._said, 1 << 16):
                text += part
        return text.decode()

    def finish(self, out, *options):
        """Go on with a run; its results must be those of the undisturbed one."""
        code = self.wait(self.start(out, *options))
        said = self.said()
        assert code == 0, f"code {code}: {said}"
        assert "failed" not in said, said
        assert results(out) == self.whole, "other results than undisturbed"
        assert len(load_run(out).frame())

    def check(self, out):
        """What is there is whole: no file half-written, no job stored as failed."""
        store = Store(out)
        for path in out.glob("jobs/*.json"):
            record = store.get(f"jobs/{path.stem}")
            assert record is not None, f"half-written: {path.name} {store.damaged}"
            assert record.ok, f"stored as failed: {record.error} {record.message}"
        for path in out.glob("reductions/*.json"):
            record = store.get(f"reductions/{path.stem}")
            assert record is not None, f"half-written: {path.name} {store.damaged}"
            assert record.ok, f"stored as failed: {record.error} {record.message}"

    def wait(self, pid, condition=lambda: False):
        """Wait for the end of a run, or for something before: its exit code or None."""
        end = time.monotonic() + END
        while (code := poll(pid)) is None and not condition():
            if time.monotonic() > end:
                os.kill(pid, signal.SIGUSR1)
                time.sleep(1)
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise TimeoutError(f"the run did not come back: {self.said()}")
            time.sleep(0.002)
        return code


def results(out):
    """Bytes of the table of results."""
    (path,) = out.glob("results.*")
    return path.read_bytes()


def fragments(out):
    """Number of finished jobs."""
    return len(list(out.glob("jobs/*.json")))


def poll(pid):
    """Exit code of a process, or None while it runs."""
    done, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else None


def children(pid):
    """Processes that a process has started."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in text.split()]


def new_folder(folder):
    """Fresh folder for one try."""
    return Path(tempfile.mkdtemp(dir=folder)) / "out"
