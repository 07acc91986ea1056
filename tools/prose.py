"""Draw docstrings, messages and guide pages at random, to be read aloud.

``python tools/prose.py --seed 0`` prints the docstrings of twenty public names, twenty
messages of errors and warnings, and the names of five guide pages. The same seed draws
the same items from the same sources.
"""

import argparse
import ast
import importlib
import inspect
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

RAISING = ("Error", "Warning", "warn", "warn_caller", "warn_user")


def docstrings() -> dict[str, str]:
    """Docstring of every public name, without its examples."""
    python_names = importlib.import_module("public_names").python_names
    texts = {}
    for dotted in sorted(python_names()):
        module, _, name = dotted.rpartition(".")
        thing = getattr(importlib.import_module(module), name)
        text = (inspect.getdoc(thing) or "").partition("Examples\n---")[0].strip()
        if text:
            texts[dotted] = text
    return texts


def messages() -> dict[str, str]:
    """Text of every error and warning that the source raises."""
    texts = {}
    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and node.args):
                continue
            if ast.unparse(node.func).endswith(RAISING):
                text = ast.unparse(node.args[0])
                if text.startswith(("'", '"', "f'", 'f"')):
                    texts[f"{file.relative_to(ROOT)}:{node.lineno}"] = text
    return texts


def main() -> None:
    """Print what was drawn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--whole", action="store_true", help="whole docstrings")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    for texts in (docstrings(), messages()):
        for place in draw.sample(sorted(texts), 20):
            text = texts[place]
            if not arguments.whole and text[0] not in "'\"f":
                text = text.partition("\nParameters\n")[0].strip()
            print(f"{place}\n    " + text.replace("\n", "\n    "))
    pages = sorted((ROOT / "docs" / "user_guide").glob("*.rst"))
    for page in draw.sample(pages, 5):
        print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
