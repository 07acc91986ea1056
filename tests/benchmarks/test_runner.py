"""The benchmark runner: every case runs on tiny sizes, and lies are caught."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def runner(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import runner

    return runner


@pytest.fixture
def main(runner):
    from benchmarks import __main__

    return __main__


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "one.py").write_text(
        "from benchmarks.runner import case\n"
        '@case("first")\n'
        "def f(run): ...\n"
        "@other\n"
        "def g(run): ...\n"
        '@case("second", slow=True)\n'
        "def h(run): ...\n"
    )
    (tmp_path / "two.py").write_text("raise RuntimeError('never imported')\n")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["knn", "knn-growth", "simplex-projection", "simplex-qp"]
)
def test_cases_run_on_tiny_sizes(main, name, tmp_path, capsys):
    path = tmp_path / "new" / "out.json"
    assert main.main([name, "--quick", "--json", str(path)]) == 0
    results = json.loads(path.read_text())
    assert list(results["cases"]) == [name]
    assert results["cases"][name]["error"] is None
    kinds = {record["kind"] for record in results["cases"][name]["records"]}
    assert kinds & {"ratio", "growth"}
    assert results["environment"]["versions"]["numpy"] == np.__version__
    assert all(p["num_threads"] == 1 for p in results["environment"]["pools"])
    printed = capsys.readouterr().out
    assert printed.startswith(f"{name}: ")
    assert str(path) in printed


def test_runs_as_a_module():
    command = [sys.executable, "-m", "benchmarks", "--list"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    cases, commands = done.stdout.split("Commands of their own:")
    names = cases.split()
    assert {"knn", "knn-large", "simplex-qp"} <= set(names)
    assert len(names) == len(set(names))
    assert "python -m benchmarks.decomposition" in commands
    assert "python -m benchmarks.knn" not in commands  # a file of cases


def test_discovery_reads_without_importing(main, folder):
    assert main.discover(folder) == {"first": ("one", "f"), "second": ("one", "h")}
    (folder / "two.py").write_text('@case("first")\ndef z(run): ...\n')
    with pytest.raises(SystemExit, match="Two cases are called 'first'"):
        main.discover(folder)


def test_an_unknown_case_is_bad_use(main, capsys):
    with pytest.raises(SystemExit) as stopped:
        main.main(["nothing"])
    assert stopped.value.code == 2
    assert "no such case: nothing" in capsys.readouterr().err


def test_failures_are_recorded_and_slow_cases_wait(main, runner, monkeypatch, tmp_path):
    class Module:
        pass

    def lying(run):
        """Compares nothing."""
        run.agree("nothing", np.zeros(3), np.zeros(3))

    Module.bad = runner.case("bad")(lying)
    Module.slow = runner.case("slow", slow=True)(lying)
    known = {"bad": ("m", "bad"), "slow": ("m", "slow")}
    monkeypatch.setattr(main, "discover", lambda: known)
    monkeypatch.setattr(main.importlib, "import_module", lambda name: Module)
    path = tmp_path / "out.json"
    assert main.main(["--json", str(path)]) == 1
    cases = json.loads(path.read_text())["cases"]
    assert list(cases) == ["bad"]
    assert cases["bad"]["error"] == "AssertionError: nothing: all zero"
    results = main.run(["slow"], quick=False)
    assert results["cases"]["slow"]["error"]


def test_results_go_to_their_own_folder(main, monkeypatch, tmp_path):
    monkeypatch.setattr(main, "HERE", tmp_path)
    monkeypatch.setattr(main, "run", lambda names, quick: {"cases": {}})
    assert main.main(["--quick"]) == 0
    assert len(list((tmp_path / "results").glob("*.json"))) == 1


def test_missing_packages_are_told(main, monkeypatch):
    from importlib import metadata

    def version(name):
        if name == "numba":
            raise metadata.PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(metadata, "version", version)
    versions = main.environment()["versions"]
    assert versions["numba"] is None
    assert versions["scipy"] == "1"


def test_agreement_needs_something_to_agree_on(runner):
    run = runner.Run(show=lambda line: None)
    run.agree("equal", [1.0, 2.0], [1.0, 2.0 + 1e-9], tolerance=1e-8)
    assert 0 < run.records[-1]["gap"] <= 1e-8
    for ours, theirs, message in [
        ([1.0], [1.0, 2.0], "shapes differ"),
        ([], [], "nothing to compare"),
        ([np.nan], [1.0], "ours is not finite"),
        ([1.0], [np.inf], "theirs is not finite"),
        ([0.0], [0.0], "all zero"),
        ([1.0], [2.0], "differ by 1 > 0"),
    ]:
        with pytest.raises(AssertionError, match=message):
            run.agree("case", ours, theirs)


def test_ratios_are_judged_on_full_sizes_only(runner):
    lines = []
    run = runner.Run(show=lines.append)
    run.ratio("fast", 2.0, at_most=3)
    run.ratio("slow", 2.0, at_least=3)
    run.ratio("free", 2.0)
    assert [record["met"] for record in run.records] == [True, False, None]
    assert lines[0].endswith("(target <= 3) met")
    assert lines[1].endswith("(target >= 3) MISSED")
    quick = runner.Run(quick=True, show=lines.append)
    quick.ratio("slow", 2.0, at_most=1)
    assert quick.records[0]["met"] is None
    assert (run.pick(1, 2), quick.pick(1, 2)) == (1, 2)


def test_times_growth_and_memory(runner, monkeypatch):
    run = runner.Run(quick=True, show=lambda line: None)
    calls, clock = {"a": 0, "b": 0}, [0.0]
    time = SimpleNamespace(process_time=lambda: clock[0])
    monkeypatch.setattr(runner, "time", time)

    def work(name):
        calls[name] += 1
        clock[0] += {"a": 1e-3, "b": 1e-5}[name]

    times = run.time("work", {name: lambda n=name: work(n) for name in calls})
    assert times == pytest.approx({"a": 1e-3, "b": 1e-5})
    # Once for what only the first call pays, once to see how long it takes, and two
    # samples, inside which short work is repeated.
    assert calls == {"a": 4, "b": 202}
    once = {"a": 0, "b": 0}
    calls.update(once)
    run.time("once", {"a": lambda: work("a")}, repeats=1)
    assert calls["a"] == 1
    exponent = run.growth("squares", [1, 2, 4], [3.0, 12.0, 48.0], at_most=2)
    assert exponent == pytest.approx(2)
    assert run.growth("lines", [1, 2], [3.0, 6.0]) == pytest.approx(1)
    peak = run.memory("megabytes", lambda: np.ones(1_000_000), beside=8e6)
    assert 8e6 <= peak < 9e6
    assert run.memory("nothing", lambda: None) < 1e5
    assert {r["kind"] for r in run.records} == {"time", "growth", "memory"}
