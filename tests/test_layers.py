"""Layers point one way, and importing the package costs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import partlearn

SOURCE = Path(partlearn.__file__).parent
LAYERS = [
    {"cli", "__main__"},
    {"report"},
    {"benchmark"},
    {"check", "persistence", "_disambiguate", "utils"},
    {"inspection"},
    {"decomposition", "feature_selection", "classification", "multilabel"},
    {"base"},
    {"model_selection", "metrics"},
    {"crossfit"},
    {"graphs"},
    {"neighbors", "linalg", "simplex"},
    {"datasets"},
    {"io"},
    {"candidates"},
    {"_registry", "_sklearn_compat", "_version"},
]
# Packages of one layer that may import each other, and in which direction.
SIDEWAYS = {"__main__": {"cli"}, "model_selection": {"metrics"}}
# To be emptied: what still reaches into private modules of another package, and
# modules that still import each other.
PRIVATE_TODAY = {
    "cli/_console.py",
    "cli/_console_multilabel.py",
    "report/_multilabel/_areas.py",
    "report/_multilabel/_summary.py",
}
CYCLES_TODAY = ("partlearn.benchmark.", "partlearn.report.")
RANK = {name: i for i, layer in enumerate(LAYERS) for name in layer}
OPTIONAL = {
    "typer", "rich", "matplotlib", "jinja2", "pyarrow", "pandas", "polars",
    "h5py", "arff", "pooch", "numba", "pynndescent", "dask", "distributed",
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


def own_files():
    return sorted(SOURCE.rglob("*.py"))


def test_every_module_has_a_layer():
    parts = {p.relative_to(SOURCE).parts[0].removesuffix(".py") for p in own_files()}
    assert parts - {"__init__"} <= set(RANK)


def test_layers_point_down():
    """Below, or sideways where the list above says so."""
    wrong, used = [], set()
    for path in own_files():
        here = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if here == "__init__":
            continue
        for module in imports(path, top_level=False):
            parts = module.split(".")
            if parts[0] == "partlearn" and len(parts) > 1 and parts[1] != here:
                if parts[1] in SIDEWAYS.get(here, ()):
                    used.add((here, parts[1]))
                elif RANK[parts[1]] <= RANK[here]:
                    wrong.append(f"{path.relative_to(SOURCE)} imports {module}")
    assert not wrong
    assert used == {(a, b) for a, others in SIDEWAYS.items() for b in others}


def module_name(path):
    """Dotted name of a file of the library."""
    parts = ("partlearn", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_private_elsewhere(name, package):
    """Whether a dotted name is private to a package that does not hold `package`."""
    parts = name.split(".")
    for i, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__"):
            owner = ".".join(parts[:i])
            return not f"{package}.".startswith(f"{owner}.")
    return False


def test_packages_share_public_names_only():
    wrong = {}
    for path in own_files():
        module = module_name(path)
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        for name in names_of(path):
            if name.startswith("partlearn.") and is_private_elsewhere(name, package):
                wrong.setdefault(str(path.relative_to(SOURCE)), set()).add(name)
    for file in PRIVATE_TODAY:
        wrong.pop(file, None)
    assert not wrong


def test_private_names_elsewhere_are_told_apart():
    private = is_private_elsewhere
    assert private("partlearn.io._limits.Limits", "partlearn.datasets")
    assert private("partlearn.io.Limits._largest", "partlearn.datasets")
    assert private("partlearn.a.b._c", "partlearn.a")
    assert not private("partlearn.a._c", "partlearn.a.b")
    assert not private("partlearn.io._limits.Limits", "partlearn.io")
    assert not private("partlearn._sklearn_compat.Interval", "partlearn.io")
    assert not private("partlearn.io.__doc__", "partlearn.datasets")


def circles(edges):
    """Modules that import each other, in any number of steps."""
    names = sorted(edges)
    place = {name: i for i, name in enumerate(names)}
    rows = [place[a] for a in names for b in edges[a] if b != a]
    columns = [place[b] for a in names for b in edges[a] if b != a]
    shape = (len(names), len(names))
    graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    _, component = connected_components(graph, connection="strong")
    groups = [np.flatnonzero(component == c) for c in np.unique(component)]
    return [{names[i] for i in group} for group in groups if len(group) > 1]


def test_modules_do_not_import_each_other():
    """Imports inside functions count: they only hide a cycle."""
    files = {module_name(path): path for path in own_files()}
    edges = {}
    for module, path in files.items():
        edges[module] = set()
        for name in names_of(path):
            while name and name not in files:
                name = name.rpartition(".")[0]
            edges[module] |= {name} - {"", "partlearn"}
    together = [sorted(circle) for circle in circles(edges)]
    assert not [c for c in together if not c[0].startswith(CYCLES_TODAY)]


def test_circles():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "d"}, "e": set()}
    assert circles(edges) == [{"a", "b", "c"}]


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


def names_of(path):
    """Dotted names that a file imports or takes from what it imported."""
    aliases = {}
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.name if alias.asname else alias.name.split(".")[0]
                aliases[alias.asname or bound] = bound
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}"
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{aliases.get(node.value.id, node.value.id)}.{node.attr}"


def is_private_sklearn(name):
    first, *rest = name.removesuffix(".__version__").split(".")
    return first == "sklearn" and any(part.startswith("_") for part in rest)


def test_private_names_of_sklearn_are_in_one_file():
    """Only `_sklearn_compat.py` changes when scikit-learn moves a private name."""
    wrong = [
        f"{path.relative_to(SOURCE)} uses {name}"
        for path in own_files()
        if path.name != "_sklearn_compat.py"
        for name in names_of(path)
        if is_private_sklearn(name)
    ]
    assert not wrong


def test_names_of_finds_private_names(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(
        "import sklearn\n"
        "import sklearn.utils as u\n"
        "from sklearn.utils import _x as x, validation\n"
        "def f():\n"
        "    from sklearn.utils._param_validation import Interval\n"
        "    return validation._num_samples, u._y, sklearn._config\n",
        encoding="utf-8",
    )
    private = {name for name in names_of(file) if is_private_sklearn(name)}
    assert private == {
        "sklearn.utils._x",
        "sklearn.utils._param_validation.Interval",
        "sklearn.utils.validation._num_samples",
        "sklearn.utils._y",
        "sklearn._config",
    }


def test_import_is_light():
    code = (
        "import sys, partlearn; "
        "print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
