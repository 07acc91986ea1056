"""Measure the house: what the table on the developers' page says, before and after.

``python tools/house.py`` measures this checkout, ``python tools/house.py PATH`` another
one (a folder with ``src/partlearn``), and two paths compare. ``--list`` names what the
measures count, ``--packages`` gives the lines of every package, ``--page`` puts the
figures of two checkouts into the table of a page.
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
VAGUE = {"found", "ending", "tell", "keep_apart", "blame_values", "_own", "OWN"}
VAGUE |= {"smallest_good", "is_better"}
CONTRACT = {("_ask.py", "found")}  # public arguments that keep their names
MANY_PARAMETERS = ("PMLFSLA", "ParticleMAP", "PMLFSSO", "MIFS", "DRMFS")


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


def vague_names(modules: list[Module]) -> list[str]:
    """Variables, functions and classes whose names do not say what they are."""
    return [
        f"{module.path}:{node.lineno} {name}"
        for module in modules
        for node in ast.walk(module.tree)
        if not isinstance(node, ast.keyword | ast.alias)
        and not isinstance(getattr(node, "ctx", None), ast.Load)
        for name in (getattr(node, field, None) for field in ("id", "arg", "name"))
        if isinstance(name, str) and name in VAGUE
        if (module.path.as_posix(), name) not in CONTRACT
    ]


def constructor_parameters(modules: list[Module]) -> list[str]:
    """Parameters of the selectors and classifiers that had the most."""
    return [
        f"{node.name}({argument.arg})"
        for module in modules
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and node.name in MANY_PARAMETERS
        for part in node.body
        if isinstance(part, ast.FunctionDef) and part.name == "__init__"
        for argument in (*part.args.args[1:], *part.args.kwonlyargs)
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


def lines_of(module: Module, node: ast.FunctionDef | ast.ClassDef) -> int:
    """Lines of code of a function or class, decorators included."""
    start = min(n.lineno for n in (node, *node.decorator_list))
    return len(set(module.code_lines) & set(range(start, node.end_lineno + 1)))


def lines_by_definition(modules: list[Module]) -> Counter[str]:
    """Lines of each function and class of a module's top level; "" has the others."""
    lines: Counter[str] = Counter()
    for module in modules:
        inside = 0
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                lines[node.name] += (size := lines_of(module, node))
                inside += size
        lines[""] += len(module.code_lines) - inside
    return lines


def public_names(modules: list[Module]) -> set[str]:
    """Dotted names that users have: ``__all__`` of public modules, and commands."""
    names = set()
    for module in modules:
        if ".cli." in module.name:
            parts = (n.name for n in module.tree.body if isinstance(n, ast.FunctionDef))
            names |= {f"{module.name}.{n}" for n in parts if not is_private(n)}
        elif not is_private(module.name):
            parts = (n for node in module.tree.body for n in exported(node))
            names |= {f"{module.name}.{n}" for n in parts}
    return names


def exported(node: ast.stmt) -> set[str]:
    """Names of an ``__all__``; none for other statements."""
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
        return {item.value for item in ast.walk(node) if isinstance(item, ast.Constant)}
    return set()


def lines_needed(modules: list[Module], names: set[str]) -> int:
    """Lines of functions and classes behind dotted names, and of all that they use.

    What a name stands for is followed through imports; what is looked up by a string,
    as methods are in the registry, is not.
    """
    defined: dict[str, tuple[Module, ast.stmt]] = {}
    imported: dict[str, str] = {}
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    bound = f"{module.name}.{alias.asname or alias.name}"
                    imported[bound] = f"{node.module}.{alias.name}"
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined[f"{module.name}.{node.name}"] = module, node
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = (
                    node.targets if isinstance(node, ast.Assign) else [node.target]
                )
                for target in targets:
                    defined[f"{module.name}.{ast.unparse(target)}"] = module, node

    def stands_for(name: str) -> str:
        while name not in defined and name in imported and imported[name] != name:
            name = imported[name]
        return name

    needed = {stands_for(name) for name in names} & defined.keys()
    open_ = list(needed)
    while open_:
        module, node = defined[open_.pop()]
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                name = stands_for(f"{module.name}.{part.id}")
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                package = stands_for(f"{module.name}.{part.value.id}")
                name = stands_for(f"{package}.{part.attr}")
            else:
                continue
            if name in defined and name not in needed:
                needed.add(name)
                open_.append(name)
    return sum(
        lines_of(*defined[name])
        for name in needed
        if isinstance(defined[name][1], ast.FunctionDef | ast.ClassDef)
    )


def growth(before: list[Module], after: list[Module]) -> dict[str, tuple[int, int]]:
    """Lines of names that both checkouts have, of those that one has, and the rest.

    A function that was renamed, or moved out of another, is of one checkout only. So
    there is a second count: what the public names of the first checkout need.
    """
    old, new = lines_by_definition(before), lines_by_definition(after)
    parts = {
        "of it functions and classes whose names both have": (old.keys() & new.keys())
        - {""},
        "of it functions and classes whose names only one has": old.keys() ^ new.keys(),
        "of it imports, __all__ and constants": {""},
    }
    lines = {
        part: (sum(old[n] for n in names), sum(new[n] for n in names))
        for part, names in parts.items()
    }
    names = public_names(before)
    plain = {name.rpartition(".")[2] for name in names}
    kept = {n for n in public_names(after) if n.rpartition(".")[2] in plain}
    lines["functions and classes that the names of before need"] = (
        lines_needed(before, names),
        lines_needed(after, kept),
    )
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
    "files of a second benchmark and report for multi-labels": lambda modules: [
        str(m.path) for m in modules if "_multilabel" in m.path.parts
    ],
    "mappings to Any in benchmark and report": untyped_mappings,
    "names that do not say what they are": vague_names,
    "files in datasets": lambda modules: [
        str(m.path) for m in modules if m.path.parts[0] == "datasets"
    ],
    "parameters of " + ", ".join(MANY_PARAMETERS): constructor_parameters,
    "steps of papers named in docstrings": lambda modules: [
        f"{m.path}: {line.strip()}"
        for m in modules
        for line in m.text.splitlines()
        if line.strip().startswith("Source: ")
    ],
}


def measure(checkouts: list[list[Module]]) -> dict[str, list[int]]:
    """All measures of some checkouts; of two also what grew."""
    counts = {"lines of code": [count_lines(modules) for modules in checkouts]}
    if len(checkouts) == 2:
        counts |= {part: list(lines) for part, lines in growth(*checkouts).items()}
    for name, list_all in MEASURES.items():
        counts[name] = [len(list_all(modules)) for modules in checkouts]
    return counts


def renew(page: str, counts: dict[str, list[int]]) -> str:
    """Put the figures of two checkouts into the table of the developers' page."""
    lines = page.splitlines(keepends=True)
    for i, line in enumerate(lines):
        name = line.strip().removeprefix("* - ").replace("``", "")
        if name in counts and line.lstrip().startswith("* - "):
            lines[i + 1 : i + 3] = [f"     - {count}\n" for count in counts[name]]
    return "".join(lines)


def main() -> None:
    """Print the measures of one or more checkouts side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("roots", nargs="*", type=Path, default=[ROOT])
    parser.add_argument("--list", action="store_true", help="name what is counted")
    parser.add_argument("--packages", action="store_true", help="lines of each package")
    parser.add_argument("--page", type=Path, help="page whose table is renewed")
    options = parser.parse_args()
    checkouts = [read_modules(root) for root in options.roots]
    counts = measure(checkouts)
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        options.page.write_text(renew(page, counts), encoding="utf-8")
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
