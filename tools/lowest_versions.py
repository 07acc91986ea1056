"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

``python tools/lowest_versions.py cli data > constraints.txt`` lists those of the core
and of the named extras; without names, those of all extras.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
REQUIREMENT = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[([^]]+)\])?(?:>=([^,;\s]+))?")


def lowest_versions(extras: list[str], project: Path = PROJECT) -> dict[str, str]:
    """Map the packages of the core and of some extras to their lowest versions."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    waiting = list(table["dependencies"])
    for extra in extras or table["optional-dependencies"]:
        waiting += table["optional-dependencies"][extra]
    versions: dict[str, str] = {}
    while waiting:
        requirement = waiting.pop()
        match = REQUIREMENT.match(requirement)
        if match is None:
            raise ValueError(f"Cannot read the requirement {requirement!r}.")
        name, inner, version = match.groups()
        if name == table["name"]:  # an extra made of others
            for extra in inner.split(","):
                waiting += table["optional-dependencies"][extra.strip()]
        elif version is None:
            raise ValueError(f"{requirement!r} states no lowest version (>=).")
        else:
            versions[name] = version
    return versions


if __name__ == "__main__":
    for name, version in sorted(lowest_versions(sys.argv[1:]).items()):
        print(f"{name}=={version}")
