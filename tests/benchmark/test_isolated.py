"""The child process: limits, deaths, chatter."""

import math
import os
import signal
import sys
import time
import types

import pytest

from partlearn._sizes import SIZES
from partlearn.benchmark import _isolated
from partlearn.benchmark._execute import guard, highest_size
from partlearn.benchmark._isolated import ChildDiedError, IsolatedProcess
from partlearn.benchmark._records import Record


@pytest.fixture(scope="module")
def child():
    child = IsolatedProcess()
    yield child
    child.close()
    child.close()  # closing twice does no harm


def test_values_and_errors_come_back(child):
    assert child.call(math.sqrt, (4.0,)) == 2.0
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        child.call(math.sqrt, (-1.0,))


def test_prints_do_not_disturb_the_answers(child):
    child.call(print, ("chatter",))
    assert child.call(abs, (-3,)) == 3


def test_time_limit_kills_and_a_new_child_starts(child):
    with pytest.raises(TimeoutError, match="longer than its limit of 1 s"):
        child.call(time.sleep, (60,), seconds=1)
    assert child.call(abs, (-3,), seconds=60) == 3


def test_death_is_told_from_time_out(child):
    with pytest.raises(ChildDiedError, match="ended with code 7"):
        child.call(os._exit, (7,), seconds=60)
    assert child.call(abs, (-3,)) == 3


def test_a_function_the_child_cannot_import_is_an_error(child, monkeypatch):
    module = types.ModuleType("only_here")
    exec("def absent():\n    return 1", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    with pytest.raises(RuntimeError, match="No module named 'only_here'"):
        child.call(module.absent, ())
    assert child.call(abs, (-3,)) == 3


def test_what_cannot_be_sent_is_an_error(child):
    with pytest.raises(RuntimeError, match="cannot be sent: cannot pickle"):
        child.call(eval, ("__import__('sys').stdout",))
    code = "(_ for _ in ()).throw(type('OddError', (Exception,), {})('told'))"
    with pytest.raises(RuntimeError, match="OddError: told"):
        child.call(eval, (code,))
    assert child.call(abs, (-3,)) == 3


def test_a_child_that_does_not_leave_is_killed(monkeypatch):
    monkeypatch.setattr(SIZES, "leaving_seconds", 0.05)
    child = IsolatedProcess()
    assert child.call(abs, (-3,)) == 3
    process = child._running()
    _isolated._send(process.stdin, (time.sleep, (60,), None, None))
    child.close()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="address-space limits need Linux")
def test_memory_limit(child):
    with pytest.raises(MemoryError):
        child.call(bytearray, (400 * 2**20,), megabytes=100)
    assert len(child.call(bytes, (2**20,), megabytes=100)) == 2**20


def test_highest_size_sees_an_allocation():
    before = highest_size(reset=True)
    if before is None:
        pytest.skip("this system does not say the size of a process")
    block = bytearray(64 * 2**20)
    block[::4096] = b"x" * len(block[::4096])
    del block
    assert 50 < highest_size() - before < 200
    assert highest_size(reset=True) - before < 40


def test_records_have_no_peak_where_it_is_unknown(monkeypatch):
    monkeypatch.setattr("partlearn.benchmark._execute.Path.read_text", _absent)
    assert highest_size() is None
    assert guard(1, Record).values == ()
    monkeypatch.undo()
    monkeypatch.setattr("partlearn.benchmark._execute.Path.read_text", _strange)
    assert highest_size() is None


def _strange(*args, **kwargs):
    return "VmSize: 1 kB"


def _absent(*args, **kwargs):
    raise FileNotFoundError
