"""What a plan may say, and the checker that says where it is wrong."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

from partlearn.benchmark._toml import Path, PlanError

__all__ = [
    "FIELDS",
    "METRICS",
    "PROTOCOLS",
    "Checker",
    "some_of",
    "texts",
    "whole",
    "wholes",
]

PROTOCOLS = ("inductive", "transductive")
METRICS = ("accuracy", "disambiguation", "candidate_hit")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) and value else "must be a text"


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _table(value: Any) -> str | None:
    return None if isinstance(value, dict) else "must be a table"


def _tables(value: Any) -> str | None:
    good = isinstance(value, list) and all(isinstance(v, dict) for v in value)
    return None if good else "must be a list of tables, written [[...]]"


def texts(value: Any) -> str | None:
    good = isinstance(value, list) and all(isinstance(v, str) for v in value)
    return None if good and value else "must be a list of texts"


def whole(minimum: int) -> Callable[[Any], str | None]:
    def rule(value: Any) -> str | None:
        good = _is_int(value) and value >= minimum
        return None if good else f"must be a whole number of at least {minimum}"

    return rule


def wholes(minimum: int) -> Callable[[Any], str | None]:
    def rule(value: Any) -> str | None:
        values = value if isinstance(value, list) else [value]
        good = bool(values) and all(_is_int(v) and v >= minimum for v in values)
        return (
            None
            if good
            else f"must be a whole number of at least {minimum}, or a list of them"
        )

    return rule


def _positive(value: Any) -> str | None:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return None if good and value > 0 else "must be a positive number"


def some_of(allowed: tuple[str, ...]) -> Callable[[Any], str | None]:
    def rule(value: Any) -> str | None:
        good = isinstance(value, list) and value and all(v in allowed for v in value)
        return None if good else f"must be a list out of {', '.join(allowed)}"

    return rule


Rules = Mapping[str, tuple[bool, Callable[[Any], str | None]]]

# Field name -> (required, rule). The user guide documents the same table.
FIELDS: dict[str, Rules] = {
    "document": {
        "plan": (True, _table),
        "data": (False, _tables),
        "reducers": (False, _tables),
        "learners": (False, _tables),
        "quick": (False, _table),
    },
    "plan": {
        "name": (True, _text),
        "title": (False, _text),
        "citation": (False, _text),
        "extends": (False, _text),
        "protocols": (False, some_of(PROTOCOLS)),
        "folds": (False, whole(2)),
        "fold_seed": (False, whole(0)),
        "seed": (False, whole(0)),
        "metrics": (False, some_of(METRICS)),
        "reference": (False, _text),
        "scale_reduced": (False, _flag),
        "threads": (False, whole(1)),
        "time_limit": (False, _positive),
        "memory_limit": (False, whole(1)),
        "published": (False, _table),
        "figure": (False, _table),
        "notes": (False, texts),
    },
    "data": {
        "name": (False, _text),
        "source": (True, _text),
        "r": (False, wholes(1)),
        "published_r": (False, whole(1)),
        "noise_seeds": (False, wholes(0)),
        "max_rows": (False, whole(2)),
        "note": (False, _text),
    },
    "reducers": {
        "name": (False, _text),
        "class": (False, _text),
        "params": (False, _table),
        "grid": (False, _table),
        "by_data": (False, _table),
        "published": (False, _text),
        "optional": (False, _flag),
        "supervised": (False, _flag),
        "ranked": (False, _flag),
    },
    "learners": {
        "name": (False, _text),
        "class": (False, _text),
        "params": (False, _table),
        "grid": (False, _table),
        "published": (False, _text),
        "optional": (False, _flag),
        "pass_confidence": (False, _flag),
    },
    "quick": {
        "folds": (False, whole(2)),
        "protocols": (False, some_of(PROTOCOLS)),
        "data": (False, texts),
        "reducers": (False, texts),
        "learners": (False, texts),
        "r": (False, wholes(1)),
        "max_rows": (False, whole(2)),
    },
}

# Plans for multi-label data name their methods by what these do there.
FIELDS["selectors"] = FIELDS["classifiers"] = FIELDS["reducers"]


class Checker:
    """Checks tables against :data:`FIELDS`; failures name file and line.

    Parameters
    ----------
    origin : str
        File name.
    lines : dict
        From :func:`partlearn.benchmark._toml.key_lines`.
    """

    def __init__(self, origin: str, lines: Mapping[Path, int]) -> None:
        self.origin = origin
        self.lines = lines
        # A quick variant leaves data out that the plan still speaks of.
        self.known_data: set[str] = set()

    def fail(self, path: Path, message: str) -> NoReturn:
        """Raise a :class:`PlanError` that points at ``path``."""
        line = None
        for end in range(len(path), 0, -1):
            line = self.lines.get(path[:end])
            if line is not None:
                break
        where = f"{self.origin}:{line}" if line else self.origin
        raise PlanError(f"{where}: {message}.")

    def table(self, table: Any, path: Path, rules: Rules) -> None:
        """Check names, required fields and values of one table."""
        shown = _shown(path)
        for key, value in table.items():
            if key not in rules:
                near = get_close_matches(key, rules, n=1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                allowed = ", ".join(sorted(rules))
                self.fail(
                    (*path, key),
                    f"unknown field `{key}`{shown}{hint} (allowed: {allowed})",
                )
            complaint = rules[key][1](value)
            if complaint:
                self.fail((*path, key), f"`{key}`{shown} {complaint}; got {value!r}")
        for key, (required, _) in rules.items():
            if required and key not in table:
                self.fail(path, f"`{key}`{shown} is missing")

    def required_list(self, document: Mapping[str, Any], key: str) -> None:
        """Fail unless the document has at least one ``[[key]]``."""
        if not document.get(key):
            self.fail((), f"a plan needs at least one [[{key}]] entry")


def _shown(path: Path) -> str:
    if not path:
        return ""
    text = str(path[0])
    return f" in [[{text}]]" if len(path) > 1 else f" in [{text}]"
