"""Count the places that differ from the table of terms on the developers' pages.

``python tools/terms.py`` prints each row of the table with the number of places;
``--list`` prints the places too. Rules read names (functions, classes, arguments,
variables) or the text of files. Functions that round numbers are left out, found by
their type hints, and so are parameters of released programs, found by their entry in
the docstring.
"""

import argparse
import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "partlearn"
Places = Iterator[tuple[Path, int, str]]
# A parameter in a docstring that repeats what a released program does.
RELEASED = r"\n    (\w+) : [^\n]*\n(?:        [^\n]*\n)*?        [^\n]*released program"


@cache
def nodes(file: Path) -> list[ast.AST]:
    """Return the syntax nodes of a source file."""
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


@cache
def lines(file: Path) -> list[str]:
    """Return the lines of a file."""
    return file.read_text(encoding="utf-8").splitlines()


def rounds(node: ast.AST) -> bool:
    """Whether a function turns arrays into rounded arrays: `round` is its verb."""
    if not isinstance(node, ast.FunctionDef):
        return False
    kind = ast.unparse(node.returns) if node.returns else ""
    return node.name.startswith("round_") and kind in ("Array", "NDArray", "float")


def names(pattern: str) -> Callable[[], Places]:
    """Places where a definition or an argument of the source has such a name."""

    def find() -> Places:
        for file in sorted(SOURCE.rglob("*.py")):
            released = set(re.findall(RELEASED, "\n".join(lines(file))))
            for node in nodes(file):
                if isinstance(node, ast.arg | ast.keyword):
                    name = node.arg
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    name = node.id
                else:
                    name = getattr(node, "name", None)
                if not isinstance(name, str) or name in released or rounds(node):
                    continue
                if re.fullmatch(pattern, name):
                    yield file, node.lineno, name

    return find


def text(pattern: str, *globs: str) -> Callable[[], Places]:
    """Places where a line of some files matches."""

    def find() -> Places:
        for glob in globs:
            for file in sorted(ROOT.glob(glob)):
                if "generated" in file.parts or file.name in ("terms.py", "terms.rst"):
                    continue
                for number, line in enumerate(lines(file), 1):
                    if re.search(pattern, line):
                        yield file, number, line.strip()

    return find


def arguments(pattern: str) -> Callable[[], Places]:
    """Places where a parameter of a class of estimators has such a name."""

    def find() -> Places:
        for file in sorted(SOURCE.rglob("*.py")):
            for node in nodes(file):
                if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                    for argument in (*node.args.args, *node.args.kwonlyargs):
                        if re.fullmatch(pattern, argument.arg):
                            yield file, argument.lineno, argument.arg

    return find


def both(*rules: Callable[[], Places]) -> Callable[[], Places]:
    """Places of several rules."""

    def find() -> Places:
        for rule in rules:
            yield from rule()

    return find


SOURCES = ("src/**/*.py", "src/**/*.j2", "src/**/*.toml")
PAGES = ("docs/**/*.rst", "*.md", "examples/*.py")
BRITISH = (
    "(neighbour|standardis|normalis|optimis(e|a)|minimis|summaris|recognis|penalis"
    "|colour|favour|centre|(un)?labell(ed|ing)(?!by)|learnt)"
)
# One rule for each row of the table, by its first column.
RULES = {
    "Labels given by annotators": names(r"\w*opinions?"),
    "Labels of the k nearest rows": both(
        names(r"\w*(TiedVotes|tied_votes|rank_vote)\w*"),
        text(r"\bvotes=(\"auto\"|True|False)", *SOURCES, *PAGES),
    ),
    "A set of possible labels, one of which is true": both(
        names(r"\w*label_?sets?\w*"), text(r"\b[Ll]abel sets?\b", *SOURCES, *PAGES)
    ),
    "Graded likelihood of each label": names(r"\w*beliefs?\w*"),
    "Estimated probability of each candidate of a training row": names(
        r"\w*(belief|certainty)\w*"
    ),
    "Several true labels": text(r"(?i)\bmultiple[ _]labels?\b", *SOURCES, *PAGES),
    "Rows that share one list of labels": text(
        r"(?i)\b(runs?|groups?) of rows that share\b", *SOURCES, *PAGES
    ),
    "Rows kept together in cross-validation": text(
        r"cross_validate\([^)]*bags=", *SOURCES, *PAGES
    ),
    "True label of a row": text(r"\by_true\b", "src/partlearn/model_selection/*.py"),
    "One pass of an iterative method": names(r"(n_)?rounds?(_\w+)?|\w+_rounds?"),
    "Number of folds of a cross-validation": names(r"n_folds|inner_folds"),
    "Rows that a model was not fitted on": text(
        r"(?i)\b(unseen|left[- ]out) rows?\b", *SOURCES, *PAGES
    ),
    "Change below which an iteration stops": names(r"epsilon|eps_abs"),
    "Value from which a decision changes": both(
        names(r"\w*cut_?offs?"), text(r"(?i)\bcut-?offs?\b", *SOURCES, *PAGES)
    ),
    "Share of rows that get a prediction": text(
        r"(?i)\bshare (of rows )?answered\b", *SOURCES, *PAGES
    ),
    "Share of errors among the rows that get a prediction": text(
        r"(?i)\berrors among the answered\b", *SOURCES, *PAGES
    ),
    "Dimensions of a reduction": arguments(r"n_dims?|dims?"),
    "Rows that span a kernel approximation": names(r"(n_)?anchors_?"),
    "Mean zero, variance one": names(r"(standardise|z_?norm)\w*"),
    "Smallest value zero, largest one": names(r"(min_?max_)?normali[sz]e_range"),
    "Length of the directions of a projection": arguments(r"direction_\w+"),
    "Rows read or computed at once": names(r"(?i)\w*chunks?(_\w+)?"),
    "Kind of labels: one true, or several": names(r"(label|task)_(kind|mode)"),
    "Estimator that reduces, selects or classifies": arguments(r"learners?"),
    "Seed of random numbers": arguments(r"seed"),
    "File of a fitted model": text(r"\.skops\b", *SOURCES, *PAGES, "tests/**/*.py"),
    "Spelling": both(
        names(rf"(?i)\w*{BRITISH}\w*"),
        text(rf"(?i)\b{BRITISH}\w*", *SOURCES, *PAGES),
    ),
}


def table() -> list[str]:
    """Return the first column of the table of terms."""
    page = (ROOT / "docs" / "developers" / "terms.rst").read_text(encoding="utf-8")
    return re.findall(r"^   \* - (.+)$", page, re.MULTILINE)[1:]


def main() -> None:
    """Print the number of places of each row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the places too")
    arguments = parser.parse_args()
    for row in table():
        places = list(RULES[row]())
        print(f"{len(places):5}  {row}")
        if arguments.list:
            for file, line, word in places:
                print(f"       {file.relative_to(ROOT)}:{line} {word}")


if __name__ == "__main__":
    main()
