"""Write down what an installation consists of: exact versions, and licenses.

``python tools/dependencies.py lock`` prints the versions that are installed here of all
that ``partlearn[test]`` needs, as constraints for pip; ``make lock`` keeps them for
``make test``. ``python tools/dependencies.py licenses`` prints the page of licenses of
what we depend on directly.
"""

import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = """Licenses
========

Packages that partlearn requires, or uses with an extra, and their licenses. None of
them is part of our files; pip installs them. ``make licenses`` writes this page from
the metadata of the packages, and a test compares it with ``pyproject.toml``.

.. list-table::
   :header-rows: 1
   :widths: 30 30 40

   * - package
     - needed for
     - license
"""
# Packages that state a whole text instead of a name.
_SHORT = (
    (r"Apache", "Apache-2.0"),
    (r"Redistribution and use in source", "BSD"),
    (r"Permission is hereby granted, free of charge", "MIT"),
)


def project(root=ROOT):
    """Table ``project`` of the project file."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]


def direct(table):
    """Packages that the project file names, with the extras that need them."""
    found = {}
    groups = {"": table["dependencies"], **table["optional-dependencies"]}
    for extra, requirements in groups.items():
        for text in requirements:
            name = canonicalize_name(Requirement(text).name)
            if name != table["name"]:
                found.setdefault(name, []).append(extra)
    return dict(sorted(found.items()))


def closure(table, extra):
    """Installed versions of all that an extra needs, directly or not."""
    waiting = [(Requirement(text), "") for text in table["dependencies"]]
    waiting.append((Requirement(f"{table['name']}[{extra}]"), ""))
    seen, versions = set(), {}
    while waiting:
        requirement, of = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": of}):
            continue
        name = canonicalize_name(requirement.name)
        if name == table["name"]:
            for inner in requirement.extras:
                texts = table["optional-dependencies"][inner]
                waiting += [(Requirement(text), "") for text in texts]
            continue
        for inner in {"", *requirement.extras} - {e for n, e in seen if n == name}:
            seen.add((name, inner))
            found = distribution(name)
            versions[name] = found.version
            waiting += [(Requirement(text), inner) for text in found.requires or ()]
    return dict(sorted(versions.items()))


def license(found: Distribution) -> str:
    """What a package says of its license, in a few words."""
    about = found.metadata
    if about.get("License-Expression"):
        return about["License-Expression"]
    text = about.get("License") or ""
    if text and len(text) < 60:
        return text
    for entry in about.get_all("Classifier") or ():
        if entry.startswith("License ::") and entry.count("::") > 1:
            return entry.rpartition("::")[2].strip()
    for pattern, name in _SHORT:
        if re.search(pattern, text):
            return name
    return "see its page"


def page(table):
    """The page of licenses."""
    text = PAGE
    for name, extras in direct(table).items():
        try:
            words = license(distribution(name))
        except PackageNotFoundError:
            words = "not installed where this page was made"
        needed = ", ".join(f"``[{e}]``" if e else "everything" for e in extras)
        text += f"   * - {name}\n     - {needed}\n     - {words}\n"
    return text


def main(what):
    """Print what is asked for."""
    if what == "lock":
        for name, version in closure(project(), "test").items():
            print(f"{name}=={version}")
    else:
        print(page(project()), end="")


if __name__ == "__main__":
    main(sys.argv[1])
