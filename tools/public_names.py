"""Print everything that the page on stability promises to keep, one line each.

Names that public modules list in ``__all__``, commands with their options, and the
plans that ship with the library. ``python tools/public_names.py >
tests/tools/public_names.txt`` is run at each release; in between, a test compares.
"""

import importlib
import pkgutil
from collections.abc import Iterator

from typer.main import get_command

import partlearn
from partlearn.benchmark import list_plans


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


def public_names() -> set[str]:
    """Return all that is promised."""
    from partlearn.cli._app import app

    names = {f"plan {name}" for name in list_plans()} | set(commands(get_command(app)))
    for name in modules():
        module = importlib.import_module(name)
        names |= {f"{name}.{public}" for public in getattr(module, "__all__", ())}
    return names


if __name__ == "__main__":
    print("\n".join(sorted(public_names())))
