"""Layers point one way, and importing the package costs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import partlearn

SOURCE = Path(partlearn.__file__).parent
LAYERS = [
    {"cli", "__main__"},
    {"report"},
    {"benchmark"},
    {
        "_disambiguate",
        "base",
        "decomposition",
        "feature_selection",
        "classification",
        "multilabel",
        "model_selection",
        "utils",
    },
    {"datasets"},
    {"neighbors", "linalg", "simplex", "metrics"},
    {"candidates"},
    {"_version"},
]
RANK = {name: i for i, layer in enumerate(LAYERS) for name in layer}
OPTIONAL = {
    "typer", "rich", "skops", "matplotlib", "jinja2", "pyarrow", "pandas", "polars",
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
    wrong = []
    for path in own_files():
        here = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if here == "__init__":
            continue
        for module in imports(path, top_level=False):
            parts = module.split(".")
            if parts[0] == "partlearn" and len(parts) > 1 and parts[1] != here:
                target = parts[1]
                same_layer = RANK[here] == RANK[target]
                if RANK[target] < RANK[here] and not same_layer:
                    wrong.append(f"{path.relative_to(SOURCE)} imports {module}")
    assert not wrong


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
