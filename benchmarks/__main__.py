"""Run benchmark cases: ``python -m benchmarks [case ...] [--quick] [--json PATH]``."""

import argparse
import ast
import importlib
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def discover(folder: Path = HERE) -> dict[str, tuple[str, str]]:
    """Names of all cases, each with its module and function; nothing is imported."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(folder.glob("*.py")):
        for function, name in _cases_in(path):
            if name in found:
                raise SystemExit(f"Two cases are called {name!r}; rename one of them.")
            found[name] = (path.stem, function)
    return found


def _cases_in(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "case":
                yield node.name, ast.literal_eval(mark.args[0])


def scripts(folder: Path = HERE) -> dict[str, str]:
    """Files that are commands of their own, each with what it does."""
    found = {}
    for path in sorted(folder.glob("[!_]*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        if "main" in names and not list(_cases_in(path)):
            found[path.stem] = (ast.get_docstring(tree) or "").split("\n")[0]
    return found


def environment() -> dict[str, Any]:
    """Versions and thread pools: what a ratio may depend on."""
    from importlib.metadata import PackageNotFoundError, version

    from threadpoolctl import threadpool_info

    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in ("partlearn", "numpy", "scipy", "scikit-learn", "numba"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = None
    pools = [
        {key: pool.get(key) for key in ("internal_api", "version", "num_threads")}
        for pool in threadpool_info()
    ]
    return {
        "versions": versions,
        "machine": platform.machine(),
        "system": platform.system(),
        "pools": pools,
        "date": time.strftime("%Y-%m-%dT%H:%M:%S"),
    }


def run(names: list[str], *, quick: bool) -> dict[str, Any]:
    """Run the cases one after another with one thread; failures are recorded."""
    from threadpoolctl import threadpool_limits

    from benchmarks.runner import Run

    known = discover()
    results: dict[str, Any] = {"quick": quick, "cases": {}}
    for name in names:
        module, function = known[name]
        case = getattr(importlib.import_module(f"benchmarks.{module}"), function)
        if case.slow and not quick and names == list(known):
            print(f"{name}: slow, runs only when named")
            continue
        print(f"{name}: {case.about}", flush=True)
        this = Run(quick=quick, show=lambda line: print(line, flush=True))
        entry: dict[str, Any] = {"records": this.records, "error": None}
        results["cases"][name] = entry
        # After the import: a limit binds only the libraries that are loaded.
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                case.function(this)
            except Exception as error:
                entry["error"] = f"{type(error).__name__}: {error}"
                print(f"  FAILED {entry['error']}", file=sys.stderr, flush=True)
            results["environment"] = environment()
    return results


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Print ratios of the hot paths to textbook forms and to limits, "
        "measured in one process with one thread.",
    )
    parser.add_argument("cases", nargs="*", metavar="case", help="all if none is named")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where to write")
    options = parser.parse_args(arguments)
    known = discover()
    if options.list:
        print("\n".join(known))
        print("\nCommands of their own:")
        for name, about in scripts().items():
            print(f"  python -m benchmarks.{name:20} {about}")
        return 0
    unknown = sorted(set(options.cases) - set(known))
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)} (known: {', '.join(known)})")
    results = run(options.cases or list(known), quick=options.quick)
    path = options.json
    if path is None:
        path = HERE / "results" / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"Written: {path}")
    return int(any(entry["error"] for entry in results["cases"].values()))


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # before NumPy starts its threads
    sys.exit(main())
