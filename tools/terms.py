"""Count the places that differ from the table of terms on the developers' pages.

``python tools/terms.py`` prints one line per rule with the number of places; ``--list``
prints the places too. Rules read names (functions, classes, arguments, variables) or
the text of a kind of file, whichever the term is about. Functions that round numbers
are left out, found by their type hints. So are parameters that stand for a released
program, found by their entry in the docstring.
"""

import argparse
import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "partlearn"
Places = Iterator[tuple[Path, int, str]]
# A parameter in a docstring that repeats what a released program does.
RELEASED = r"\n    (\w+) : [^\n]*\n(?:        [^\n]*\n)*?        [^\n]*released program"


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
            source = file.read_text(encoding="utf-8")
            released = set(re.findall(RELEASED, source))
            for node in ast.walk(ast.parse(source)):
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
                lines = file.read_text(encoding="utf-8").splitlines()
                for number, line in enumerate(lines, 1):
                    if re.search(pattern, line):
                        yield file, number, line.strip()

    return find


RULES = {
    "neighbors, not votes": names(r"\w*(TiedVotes|tied_votes|rank_vote)\w*"),
    "use_neighbors, not votes=": text(
        r"\bvotes=(\"auto\"|True|False)", "src/**/*.py", "docs/**/*.rst", "*.md"
    ),
    "confidence, not belief": names(r"\w*belief\w*"),
    "iteration, not round": names(r"(n_)?rounds?(_\w+)?|\w+_rounds?"),
    "cv, not n_folds": names(r"n_folds|inner_folds"),
    "tol, not eps": names(r"epsilon|eps_abs"),
    "n_landmarks, not n_anchors": names(r"n_anchors"),
    "block, not chunk": names(r"\w*chunk\w*"),
    "American spelling in names": names(
        r"(?i)\w*(neighbour|standardis|normalis|optimis|minimis|summaris|colour"
        r"|centre|labelled)\w*"
    ),
    "model files end in .partlearn": text(
        r"\.skops\b", "src/**/*.py", "docs/**/*.rst", "tests/**/*.py", "*.md"
    ),
}


def main() -> None:
    """Print the number of places of each rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the places too")
    arguments = parser.parse_args()
    for rule, find in RULES.items():
        places = list(find())
        print(f"{len(places):5}  {rule}")
        if arguments.list:
            for file, line, word in places:
                print(f"       {file.relative_to(ROOT)}:{line} {word}")


if __name__ == "__main__":
    main()
