"""Measure the source: rules that tests hold, and lines of code.

``python tools/house.py`` measures this checkout, ``python tools/house.py PATH`` another
one (a folder with ``src/partlearn``), and two paths compare. ``--list`` names what the
measures count, ``--packages`` gives the lines of every package.
"""

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
SHARED = "_math"  # private to the library, so that all of its packages may use it
SHAPE = 6  # lines from which repeated code is counted


class Module:
    """A source file, parsed once."""

    def __init__(self, file: Path, source: Path) -> None:
        self.file = file
        self.path = file.relative_to(source)
        parts = ["partlearn", *self.path.with_suffix("").parts]
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.text = file.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)

    @property
    def package(self) -> str:
        """Dotted name of the package that holds the module."""
        return (
            self.name if self.file.stem == "__init__" else self.name.rpartition(".")[0]
        )

    @cached_property
    def names(self) -> list[tuple[str, int]]:
        """Dotted names imported or taken from what was imported, with their lines.

        Imports inside functions count.
        """
        aliases, names = {}, []
        nodes = list(ast.walk(self.tree))
        for node in nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.name if alias.asname else alias.name.split(".")[0]
                    aliases[alias.asname or bound] = bound
                    names.append((alias.name, node.lineno))
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    name = f"{node.module}.{alias.name}"
                    aliases[alias.asname or alias.name] = name
                    names.append((name, node.lineno))
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                whole = aliases.get(node.value.id, node.value.id)
                names.append((f"{whole}.{node.attr}", node.lineno))
        return names

    @cached_property
    def code_lines(self) -> list[int]:
        """Numbers of the lines that are neither blank, nor comment, nor docstring."""
        documentation = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                first = node.body[0] if node.body else None
                if (
                    isinstance(first, ast.Expr)
                    and isinstance(first.value, ast.Constant)
                    and isinstance(first.value.value, str)
                ):
                    documentation |= set(range(first.lineno, first.end_lineno + 1))
        return [
            number
            for number, line in enumerate(self.text.splitlines(), 1)
            if line.strip()
            and not line.strip().startswith("#")
            and number not in documentation
        ]


def read_modules(root: Path) -> list[Module]:
    """All modules of a checkout."""
    source = root / "src" / "partlearn"
    return [Module(file, source) for file in sorted(source.rglob("*.py"))]


def is_private(name: str) -> bool:
    """Whether a part of a dotted name starts with one underscore."""
    return any(p.startswith("_") and not p.startswith("__") for p in name.split("."))


def is_private_elsewhere(name: str, package: str) -> bool:
    """Whether a dotted name is private to a package that does not hold `package`."""
    parts = name.split(".")
    for i, part in enumerate(parts):
        if is_private(part) and part != SHARED:
            owner = ".".join(parts[:i])
            return not f"{package}.".startswith(f"{owner}.")
    return False


def private_imports(modules: list[Module]) -> list[str]:
    """Statements that import underscore modules or names of another package of ours.

    A private name belongs to the package that holds it and may be used inside it, at
    any depth; so all may import ``partlearn._registry``.
    """
    wrong = {}
    for module in modules:
        for name, line in module.names:
            if name.startswith("partlearn.") and is_private_elsewhere(
                name, module.package
            ):
                wrong.setdefault((module.path, line), name)
    return [f"{path}:{line} uses {name}" for (path, line), name in wrong.items()]


def private_sklearn(modules: list[Module]) -> list[str]:
    """Private names of scikit-learn outside the one file that may use them."""
    return [
        f"{module.path}:{line} uses {name}"
        for module in modules
        if module.path.name != "_sklearn_compat.py"
        for name, line in module.names
        if name.split(".")[0] == "sklearn" and is_private(name)
    ]


def graph(modules: list[Module]) -> dict[str, set[str]]:
    """Which module imports which."""
    known = {module.name for module in modules}
    edges: dict[str, set[str]] = {}
    for module in modules:
        edges[module.name] = set()
        for name, _ in module.names:
            while name and name not in known:
                name = name.rpartition(".")[0]
            edges[module.name] |= {name} - {"", "partlearn", module.name}
    return edges


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, in any number of steps."""
    names = sorted(edges)
    place = {name: i for i, name in enumerate(names)}
    rows = [place[a] for a in names for _ in edges[a]]
    columns = [place[b] for a in names for b in edges[a]]
    shape = (len(names), len(names))
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    _, component = connected_components(matrix, connection="strong")
    groups = [np.flatnonzero(component == c) for c in np.unique(component)]
    return [[names[i] for i in group] for group in groups if len(group) > 1]


class Shape(ast.NodeTransformer):
    """Forget the names of variables and the values of literals, keep what is called."""

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: D102
        name = node.func.id if isinstance(node.func, ast.Name) else None
        self.generic_visit(node)
        if name is not None:
            node.func = ast.Name(name, ast.Load())
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: D102
        return ast.Name("x", ast.Load())

    def visit_arg(self, node: ast.arg) -> ast.AST:  # noqa: D102
        return ast.arg("x")

    def visit_Constant(self, node: ast.Constant) -> ast.AST:  # noqa: D102
        return ast.Constant(type(node.value).__name__)


def is_style(node: ast.stmt) -> bool:
    """Whether a statement is what scikit-learn's style asks every class to repeat."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.AnnAssign):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Attribute):  # self.x = x
            return isinstance(node.value, ast.Name) and node.value.id == target.attr
        return isinstance(target, ast.Name) and target.id in {
            "_parameter_constraints",
            "__all__",
        }
    return False


def blocks(module: Module) -> Iterator[list[tuple[str, int, int, int]]]:
    """Statements that follow each other: shape, first and last line, lines of code."""
    code = set(module.code_lines)
    for node in ast.walk(module.tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if not isinstance(body, list) or isinstance(
                node, ast.ClassDef | ast.Module
            ):
                continue
            yield [
                (
                    ast.dump(Shape().visit(ast.parse(ast.unparse(statement)))),
                    statement.lineno,
                    statement.end_lineno,
                    len(code & set(range(statement.lineno, statement.end_lineno + 1))),
                )
                for statement in body
                if not is_style(statement)
            ]


def repeated(modules: list[Module]) -> list[str]:
    """Runs of statements, six lines or more, that occur again in the same shape."""
    places: dict[tuple[str, ...], list[tuple[str, int, int, int]]] = defaultdict(list)
    for module in modules:
        for block in blocks(module):
            for i in range(len(block)):
                lines = 0
                for j in range(i, len(block)):
                    lines += block[j][3]
                    if lines >= SHAPE:
                        key = tuple(statement[0] for statement in block[i : j + 1])
                        place = (str(module.path), block[i][1], block[j][2], lines)
                        places[key].append(place)
    again = sorted(
        (where for where in places.values() if len(where) > 1),
        key=lambda where: -where[0][3],
    )
    covered: set[tuple[str, int]] = set()
    result = []
    for where in again:  # the longest first; parts of it are not counted again
        fresh = [
            place
            for place in where
            if not {(place[0], n) for n in range(place[1], place[2] + 1)} & covered
        ]
        if len(fresh) > 1:
            for path, first, last, _ in fresh:
                covered |= {(path, n) for n in range(first, last + 1)}
            spots = ", ".join(
                f"{path}:{first}-{last}" for path, first, last, _ in fresh
            )
            result.append(f"{fresh[0][3]} lines in {spots}")
    return result


def untyped_mappings(modules: list[Module]) -> list[str]:
    """Mappings of names to anything that the benchmark and its report pass around."""
    return [
        f"{module.path}:{node.lineno}"
        for module in modules
        if module.path.parts[0] in ("benchmark", "report")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Subscript)
        and ast.unparse(node) in ("Mapping[str, Any]", "dict[str, Any]")
    ]


def count_lines(modules: list[Module]) -> int:
    """Lines of code: neither blank, nor comment, nor docstring."""
    return sum(len(module.code_lines) for module in modules)


def lines_by_package(modules: list[Module]) -> Counter[str]:
    """Lines of code of each package; those of single files are "partlearn"."""
    lines: Counter[str] = Counter()
    for module in modules:
        parts = module.path.parts
        lines[parts[0] if len(parts) > 1 else "partlearn"] += len(module.code_lines)
    return lines


MEASURES = {
    "imports of private modules of another package": private_imports,
    "cycles of modules": lambda modules: [
        " <-> ".join(group) for group in cycles(graph(modules))
    ],
    "files with private names of scikit-learn": lambda modules: sorted(
        {use.split(":")[0] for use in private_sklearn(modules)}
    ),
    "files of more than 600 lines": lambda modules: [
        str(m.path) for m in modules if len(m.text.splitlines()) > 600
    ],
    "repeated blocks of six lines or more": repeated,
    "mappings to Any in benchmark and report": untyped_mappings,
    "steps of papers named in docstrings": lambda modules: [
        f"{m.path}: {line.strip()}"
        for m in modules
        for line in m.text.splitlines()
        if line.strip().startswith("Source: ")
    ],
}


def measure(checkouts: list[list[Module]]) -> dict[str, list[int]]:
    """All measures of some checkouts."""
    counts = {"lines of code": [count_lines(modules) for modules in checkouts]}
    for name, list_all in MEASURES.items():
        counts[name] = [len(list_all(modules)) for modules in checkouts]
    return counts


def main() -> None:
    """Print the measures of one or more checkouts side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("roots", nargs="*", type=Path, default=[ROOT])
    parser.add_argument("--list", action="store_true", help="name what is counted")
    parser.add_argument("--packages", action="store_true", help="lines of each package")
    options = parser.parse_args()
    checkouts = [read_modules(root) for root in options.roots]
    counts = measure(checkouts)
    if options.packages:
        packages = [lines_by_package(modules) for modules in checkouts]
        for package in sorted(set().union(*packages)):
            counts[f"    {package}"] = [count[package] for count in packages]
    for name, numbers in counts.items():
        print(f"{name:57}", *(f"{number:8}" for number in numbers))
        if options.list and name in MEASURES:
            print(*(f"    {line}" for line in MEASURES[name](checkouts[-1])), sep="\n")


if __name__ == "__main__":
    main()
