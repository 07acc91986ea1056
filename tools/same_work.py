"""Count the lines of code that two versions run to do the same work.

``python tools/same_work.py BEFORE AFTER [--data FOLDER]``, where both are checkouts:
all that the first documents (docstrings, pages, README) and its commands run in both,
and lines inside functions that ran are counted by floor. Examples that fail are named.
The folder of real data adds the quick plans of two papers.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.house import Module, read_modules

FLOORS = {
    "benchmark and report": ("benchmark", "report"),
    "command line": ("cli",),
    "data": ("datasets", "io", "check"),
    "labels and evidence": ("candidates",),
    "tables, model files, displays": ("tables", "persistence", "inspection"),
}
REST = "methods and their mathematics"
TABLE = ("animals.csv", "--labels", "candidates", "--truth", "label", "--ignore", "id")
COMMANDS = [
    ("check", *TABLE),
    ("check", *TABLE, "--html", "check.html"),
    *(
        ("disambiguate", *TABLE, "--method", method, "--out", f"{method}.csv")
        for method in ("crisp", "cenda", "ipal", "pl-knn", "saute")
    ),
    *(
        ("reduce", *TABLE, "--method", method, "--out", f"{method}-reduced.csv")
        for method in ("crisp", "cenda", "delin", "wpldr")
    ),
    ("reduce", *TABLE, "--out", "reduced.csv", "--save", "model.skops"),
    ("reduce", TABLE[0], "--load", "model.skops", "--out", "reduced.parquet"),
    *(
        ("select", *TABLE, "--method", method, "--out", f"{method}-selected.csv")
        for method in ("crisp-selector", "saute")
    ),
    ("data", "list"),
    *(
        command
        for suffix in ("parquet", "mat", "npz")
        for command in (
            ("data", "convert", TABLE[0], f"animals.{suffix}", *TABLE[1:]),
            ("data", "info", f"animals.{suffix}"),
        )
    ),
    ("bench", "--list"),
    ("demo", "--quick", "--out", "demo"),
]
PLANS = ("demo-quick", "cenda-table7-quick", "pml-fsla-table2-quick")


def lines_that_ran(module: Module, ran: set[int]) -> int:
    """Lines of code inside functions: signatures of those entered, statements that ran.

    `ran` has the first lines of statements, as coverage gives them.
    """
    lines: set[int] = set()
    for function in ast.walk(module.tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        statements = [
            node
            for node in ast.walk(function)
            if isinstance(node, ast.stmt)
            and node is not function
            and node.lineno in ran
        ]
        if statements:
            start = min(n.lineno for n in (function, *function.decorator_list))
            lines |= set(range(start, function.body[0].lineno))
        for node in statements:
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno
            lines |= set(range(node.lineno, last + 1))
    return len(lines & set(module.code_lines))


def floor_of(path: Path) -> str:
    """Name of the floor on which a module stands."""
    for name, packages in FLOORS.items():
        if path.parts[0] in packages:
            return name
    return REST


def examples(checkout: Path) -> list[tuple[str, str]]:
    """Texts with examples: docstrings of what is public, pages and the README."""
    texts = []
    for module in read_modules(checkout):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                name = getattr(node, "name", "")
                if not name.startswith("_"):
                    text = ast.get_docstring(node) or ""
                    texts.append((f"{module.name}:{name}", text))
    pages = [*sorted((checkout / "docs").rglob("*.rst")), checkout / "README.md"]
    texts += [(page.name, page.read_text(encoding="utf-8")) for page in pages]
    return [(name, text) for name, text in texts if ">>>" in text]


def write_table(path: Path) -> None:
    """Write a table of 150 animals with candidate labels."""
    import numpy as np

    generator = np.random.default_rng(0)
    names = np.array(["cat", "dog", "fox"])
    y = generator.integers(0, 3, 150)
    X = generator.normal(size=(150, 6)) + 2 * y[:, None] * [1, -1, 0.5, 0, 0, 0]
    lines = ["id," + ",".join(f"f{j}" for j in range(6)) + ",candidates,label"]
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        candidates = "|".join(sorted({names[label], names[generator.integers(3)]}))
        numbers = ",".join(f"{value:.4f}" for value in row)
        lines.append(f"r{i},{numbers},{candidates},{names[label]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def work(documented: Path, data: str | None) -> list[str]:
    """Do the work in the current folder, with the version on the path; what failed."""
    import doctest
    import warnings

    from partlearn.cli.__main__ import main as run_command

    warnings.simplefilter("ignore")
    failures = []

    def attempt(name: str, action: Callable[[], object]) -> bool:
        try:
            action()
        except SystemExit as stop:
            if stop.code not in (0, None):
                failures.append(f"{name}: exit code {stop.code}")
                return False
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
            return False
        return True

    for name, text in examples(documented):
        names = {"__name__": "__main__"}
        for example in doctest.DocTestParser().get_examples(text):
            code = compile(example.source, name, "single")
            if example.exc_msg:  # it shows an error
                try:
                    exec(code, names)
                except Exception:
                    continue
            elif not attempt(name, lambda code=code, names=names: exec(code, names)):
                break
    write_table(Path(TABLE[0]))
    commands = list(COMMANDS)
    for plan in PLANS if data else PLANS[:1]:
        folder = ("--data", data) if plan != PLANS[0] else ()
        commands.append(("bench", plan, "--jobs", "1", "--out", plan, *folder))
        commands.append(("report", plan))
        commands += [
            ("report", plan, f"--{suffix}", f"{plan}.{suffix}")
            for suffix in ("html", "markdown", "latex")
        ]
    for command in commands:
        attempt(" ".join(command[:2]), lambda command=command: run_command(command))
    return failures


def measure(checkout: Path, documented: Path, data: str | None) -> dict:
    """Lines that ran by floor, and what failed, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    with TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        command = [sys.executable, __file__, str(checkout), str(documented)]
        command += ["--one", str(result), *(("--data", data) if data else ())]
        subprocess.run(command, env=environment, cwd=folder, check=True)
        return json.loads(result.read_text(encoding="utf-8"))


def measure_here(checkout: Path, documented: Path, data: str | None) -> dict:
    """As `measure`, in this process, whose path leads to the checkout."""
    import coverage

    source = checkout / "src" / "partlearn"
    recorder = coverage.Coverage(data_file=None, source=[str(source)])
    recorder.start()
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        failures = work(documented, data)
    recorder.stop()
    lines: Counter[str] = Counter()
    for module in read_modules(checkout):
        ran = set(recorder.get_data().lines(str(module.file)) or ())
        lines[floor_of(module.path)] += lines_that_ran(module, ran)
    return {"lines": lines, "failures": failures}


def main() -> None:
    """Print a table of both versions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--data", help="folder of real data sets")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    before, after = options.before.resolve(), options.after.resolve()
    data = str(Path(options.data).resolve()) if options.data else None
    if options.one:
        result = measure_here(before, after, data)
        options.one.write_text(json.dumps(result), encoding="utf-8")
        return
    old, new = (measure(tree, before, data) for tree in (before, after))
    print(f"{'lines that ran':32}{'before':>8}{'after':>8}")
    for name in (*FLOORS, REST):
        counts = (run["lines"].get(name, 0) for run in (old, new))
        print(f"{name:32}" + "".join(f"{count:8d}" for count in counts))
    totals = (sum(run["lines"].values()) for run in (old, new))
    print(f"{'all':32}" + "".join(f"{total:8d}" for total in totals))
    for name, run in (("before", old), ("after", new)):
        for failure in run["failures"]:
            print(f"failed {name}: {failure}")


if __name__ == "__main__":
    main()
