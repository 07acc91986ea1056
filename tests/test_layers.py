"""Layers point one way, and importing the package costs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import partlearn

SOURCE = Path(partlearn.__file__).parent
LAYERS = [
    {"cli", "__main__"},
    {"report"},
    {"benchmark"},
    {"check", "persistence", "_ask", "_disambiguate", "utils"},
    {"_disambiguation"},
    {"tables"},
    {"inspection"},
    {"decomposition", "feature_selection", "classification", "multilabel"},
    {"base"},
    {"model_selection", "metrics"},
    {"_math.crossfit"},
    {"_math.graphs"},
    {"_math.neighbors", "_math.linalg", "_math.simplex"},
    {"datasets"},
    {"io"},
    {"candidates"},
    {"_math.blocks", "_math.bags"},
    {"_array_api"},
    {
        "_arguments",
        "_extras",
        "_pages",
        "_progress",
        "_registry",
        "_sizes",
        "_sklearn_compat",
        "_typing",
        "_version",
    },
]
# Packages of one layer that may import each other, and in which direction.
# A fitted CRISPClassifier hands out the reducer of its fit.
SIDEWAYS = {
    "__main__": {"cli"},
    "_registry": {"_arguments"},
    "model_selection": {"metrics"},
    "classification": {"decomposition"},
}
MATHEMATICS = "_math"  # private to the library, and divided into layers itself
RANK = {name: i for i, layer in enumerate(LAYERS) for name in layer}
OPTIONAL = {
    "typer", "rich", "matplotlib", "jinja2", "pyarrow", "pandas", "polars",
    "h5py", "arff", "platformdirs", "numba", "pynndescent", "dask", "distributed",
}  # fmt: skip


def imports(path, *, top_level):
    """Modules imported by a file: anywhere, or when it is imported itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"relative import in {path}"
            yield node.module
            if node.module == "partlearn":  # a package, or a name that it hands on
                parts = (alias.name for alias in node.names)
                yield from (f"partlearn.{name}" for name in parts if name in RANK)


def room(parts):
    """The package or module that a dotted name, without `partlearn`, belongs to."""
    deep = 2 if parts[0] == MATHEMATICS else 1
    return ".".join(parts[:deep]).removesuffix(".py")


def own_files():
    return sorted(SOURCE.rglob("*.py"))


def test_every_module_has_a_layer():
    rooms = {room(p.relative_to(SOURCE).parts) for p in own_files()}
    assert rooms - {"__init__", "_math.__init__"} <= set(RANK)


def test_layers_point_down():
    """Below, or sideways where the list above says so."""
    wrong, used = [], set()
    for path in own_files():
        here = room(path.relative_to(SOURCE).parts)
        if here in ("__init__", "_math.__init__"):
            continue
        for module in imports(path, top_level=False):
            parts = module.split(".")
            there = room(parts[1:]) if len(parts) > 1 else here
            if parts[0] == "partlearn" and there != here:
                if there in SIDEWAYS.get(here, ()):
                    used.add((here, there))
                elif RANK[there] <= RANK[here]:
                    wrong.append(f"{path.relative_to(SOURCE)} imports {module}")
    assert not wrong
    assert used == {(a, b) for a, others in SIDEWAYS.items() for b in others}


@pytest.fixture(scope="module")
def house(load_tool):
    return load_tool("house")


@pytest.fixture(scope="module")
def modules(house):
    return house.read_modules(SOURCE.parents[1])


def test_packages_share_public_names_only(house, modules):
    assert not house.private_imports(modules)


def test_modules_do_not_import_each_other(house, modules):
    """Imports inside functions count: they only hide a cycle."""
    assert not house.cycles(house.graph(modules))


def test_imports_by_string_are_those_of_the_registry():
    """A name in a string would hide an import from the tests above."""
    hidden = {}
    for path in own_files():
        here = path.relative_to(SOURCE).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
                for part in ast.walk(node.args[0]):
                    if isinstance(part, ast.Constant) and "partlearn." in part.value:
                        hidden.setdefault(here, set()).add(part.value.split(".")[1])
    assert hidden == {"_registry.py": {""}}  # all packages of methods, on demand


def test_no_block_is_repeated(house, modules):
    """Six lines or more of the same shape are a function that is missing."""
    assert not house.repeated(modules)


def test_files_are_short(house, modules):
    assert not house.MEASURES["files of more than 600 lines"](modules)


def test_private_names_of_sklearn_are_in_one_file(house, modules):
    """Only `_sklearn_compat.py` changes when scikit-learn moves a private name."""
    assert not house.private_sklearn(modules)


def test_extras_are_imported_where_they_are_used():
    """Optional packages are imported inside functions, outside the CLI and numba."""
    wrong = []
    for path in own_files():
        if path.name.endswith("_numba.py") or "cli" in path.parts:
            continue
        wrong += [
            f"{path.relative_to(SOURCE)} imports {module}"
            for module in imports(path, top_level=True)
            if module.split(".")[0] in OPTIONAL
        ]
    assert not wrong


def test_import_is_light():
    code = (
        "import sys, partlearn; "
        "print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
