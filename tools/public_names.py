"""Print the public line: what the page on stability promises to keep, one line each.

Names in ``__all__`` of public modules, commands with their options, and the plans that
ship with the library. ``--write`` renews ``tests/tools/public_names.txt`` at a release;
in between, a test compares. ``--names`` prints the names of Python objects only, and
their number.
"""

import argparse
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from typer.main import get_command

import partlearn
from partlearn.benchmark import list_plans

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests" / "tools" / "public_names.txt"


def modules() -> Iterator[str]:
    """Public modules, without those of the command line."""
    yield "partlearn"
    for module in pkgutil.walk_packages(partlearn.__path__, "partlearn."):
        if "._" not in module.name and not module.name.startswith("partlearn.cli"):
            yield module.name


def commands(command, path=()) -> Iterator[str]:
    """Commands with the options that each takes."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*path, name))
    if not hasattr(command, "commands"):
        options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
        for option in sorted(o for o in options if o.startswith("--")):
            yield f"partlearn {' '.join(path)} {option}"


def python_names() -> set[str]:
    """Return the dotted names of all public Python objects."""
    return {
        f"{name}.{public}"
        for name in modules()
        for public in getattr(importlib.import_module(name), "__all__", ())
        if public != "__version__"
    }


def public_names() -> set[str]:
    """Return all that is promised: names, commands with options, plans."""
    from partlearn.cli._app import app

    plans = {f"plan {name}" for name in list_plans()}
    return plans | set(commands(get_command(app))) | python_names()


def main() -> None:
    """Print the names, or write them to the record that a test compares with."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", action="store_true", help="Python names only")
    parser.add_argument("--write", action="store_true", help="renew the record")
    arguments = parser.parse_args()
    names = sorted(python_names() if arguments.names else public_names())
    if arguments.write:
        RECORD.write_text("\n".join(names) + "\n", encoding="utf-8")
    else:
        print("\n".join(names))
        print(f"{len(names)} names" if arguments.names else "", end="\n")


if __name__ == "__main__":
    main()
