"""Find which function implements which equation of which paper.

A docstring says so by a line such as ``Source: CENDA, Eq. (13).``, where the first
word is the class of the method, whose docstring cites the paper. ``docs/conf.py``
writes the page from this list; ``python tools/equations.py`` prints it.
"""

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "partlearn"
LINE = re.compile(r"^Source: (\w+), (.+)\.$", re.MULTILINE)
NUMBERS = re.compile(r"\((\d+)\)")
INTRODUCTION = """\
Equations and functions
=======================

Which function implements which equation of a paper; a click on its name shows the
source. Numbers are those of the published text as its specification gives them. It
names five of them only in passing: CENDA (6) and (7), the eigenproblem and the sum of
eigenvalues that decides the dimension; SAUTE (10), the entropy given a feature; WPLDR
(8) and (9), the weights of the graph and their quadratic programme. What it says of
them fits the functions below; the printed papers were not at hand to compare. Where a
method is known from a program or is a reconstruction, the step is named in words.
CRISP, KernelCRISP, CRISPClassifier, CandidateClassifier and TRACE are methods of this
library, described in the user guide.
"""


@dataclass(frozen=True)
class Place:
    """A function and the part of a paper that it implements."""

    method: str  # class of the method, e.g. "CENDA"
    part: str  # e.g. "Eq. (13)"
    file: Path
    name: str  # of the function, with its class

    @property
    def numbers(self) -> set[int]:
        """Numbers of the equations named."""
        return (
            {int(n) for n in NUMBERS.findall(self.part)}
            if "Eq." in self.part
            else set()
        )

    @property
    def label(self) -> str:
        """Name of the place on the page of sources."""
        parts = [*self.file.relative_to(SOURCE).with_suffix("").parts, self.name]
        return "source-" + re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower())


def places() -> list[Place]:
    """All lines ``Source: ...`` of the library."""
    return [
        Place(method, part, file, name)
        for file in sorted(SOURCE.rglob("*.py"))
        for name, doc in docstrings(ast.parse(file.read_text(encoding="utf-8")))
        for method, part in LINE.findall(doc)
    ]


def docstrings(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names and docstrings of the functions and methods of a module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield prefix + node.name, ast.get_docstring(node) or ""
            if isinstance(node, ast.ClassDef):
                yield from docstrings(node, f"{prefix}{node.name}.")


def reference(cls: type) -> str:
    """What a class cites, as one paragraph."""
    doc = inspect.getdoc(cls) or ""
    match = re.search(r"^References\n-+\n(.*?)(?=^\S+\n-+\n|\Z)", doc, re.S | re.M)
    return " ".join(re.sub(r"\.\. \[\d+\]", "", match[1]).split()) if match else ""


def order(place: Place) -> tuple[bool, list[int], str]:
    """Numbered equations first, by number."""
    return not place.numbers, sorted(place.numbers), place.part


def write_pages(folder: Path) -> None:
    """Write the table of equations, and the sources that it links to."""
    from partlearn.utils import all_estimators

    classes = dict(all_estimators())
    by_method = defaultdict(list)
    for place in places():
        by_method[place.method].append(place)
    lines = [*INTRODUCTION.splitlines(), ""]
    for method in sorted(by_method):
        cls = classes[method]
        package = cls.__module__.rpartition(".")[0]  # where its page is
        lines += [method, "-" * len(method), "", f":class:`~{package}.{method}`. "]
        lines[-1] += reference(cls) or "A method of this library: there is no paper."
        lines += ["", ".. list-table::", "   :widths: 40 60", ""]
        for place in sorted(by_method[method], key=order):
            file = place.file.relative_to(SOURCE).as_posix()
            lines.append(f"   * - {place.part}")
            lines.append(f"     - :ref:`{place.name} <{place.label}>` in ``{file}``")
        lines.append("")
    sources = [
        ":orphan:",
        "",
        "Sources of the equations",
        "========================",
        "",
    ]
    unique = {place.label: place for place in places()}
    for label, place in sorted(unique.items()):
        file = place.file.relative_to(SOURCE)
        sources += [f".. _{label}:", "", place.name, "-" * len(place.name), ""]
        include = Path("..", "..", "src", "partlearn", file).as_posix()
        sources += [f".. literalinclude:: {include}", f"   :pyobject: {place.name}", ""]
    folder.mkdir(exist_ok=True)
    for name, text in [("equations", lines), ("equation_sources", sources)]:
        (folder / f"{name}.rst").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    for place in sorted(places(), key=lambda p: (p.method, order(p))):
        file = place.file.relative_to(ROOT)
        print(f"{place.method:14} {place.part:55} {place.name} ({file})")
