"""What a plan may say, and the checker that says where it is wrong."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

from partlearn.benchmark._plan import (
    CRITERIA,
    CURVE_METRICS,
    METRICS,
    NOISE_KINDS,
    PROTOCOLS,
    TRAINING_LABELS,
)
from partlearn.benchmark._toml import KeyPath, PlanError

Rule = Callable[[Any], str | None]
Rules = Mapping[str, tuple[bool, Rule]]
Schema = Mapping[str, Rules]


def _rule(good: Callable[[Any], bool], words: str) -> Rule:
    """What a value must be, in words, for all that are not."""
    return lambda value: None if good(value) else f"must be {words}"


def _list_of(good: Callable[[Any], bool], least: int = 1) -> Callable[[Any], bool]:
    return lambda v: isinstance(v, list) and len(v) >= least and all(map(good, v))


def _some(good: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """One good value, or a list of at least one."""
    several = _list_of(good)
    return lambda value: several(value) or good(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _at_least(minimum: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= minimum


def _whole(minimum: int) -> Rule:
    return _rule(_at_least(minimum), f"a whole number of at least {minimum}")


def _wholes(minimum: int) -> Rule:
    words = f"a whole number of at least {minimum}, or a list of them"
    return _rule(_some(_at_least(minimum)), words)


def _one_of(allowed: tuple[str, ...]) -> Rule:
    return _rule(lambda value: value in allowed, f"one of {', '.join(allowed)}")


def _some_of(allowed: tuple[str, ...]) -> Rule:
    good = _list_of(lambda value: value in allowed)
    return _rule(good, f"a list out of {', '.join(allowed)}")


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


_string = _rule(lambda value: _is_string(value) and value != "", "a string")
_strings = _rule(_list_of(_is_string), "a list of strings")
_flag = _rule(lambda value: isinstance(value, bool), "true or false")
_table = _rule(_is_table, "a table")
_tables = _rule(_list_of(_is_table, 0), "a list of tables, written [[...]]")
_positive = _rule(lambda value: _is_number(value) and value > 0, "a positive number")
_share = _rule(lambda v: isinstance(v, float) and 0 < v < 1, "a number between 0 and 1")
_amounts = _rule(
    _some(lambda value: _is_number(value) and value >= 0),
    "a number of at least 0, or a list of them",
)
_percentages = _rule(
    _list_of(lambda value: _is_number(value) and 0 < value <= 100),
    "a list of numbers above 0, up to 100",
)

_METHOD: Rules = {
    "name": (False, _string),
    "class": (False, _string),
    "params": (False, _table),
    "grid": (False, _table),
    "published": (False, _string),
    "optional": (False, _flag),
}
# Field name -> (required, rule). The user guide documents the same table.
FIELDS: dict[str, Rules] = {
    "document": {
        "plan": (True, _table),
        "data": (False, _tables),
        "reducers": (False, _tables),
        "learners": (False, _tables),
        "tune": (False, _table),
        "quick": (False, _table),
    },
    "tune": {
        "draws": (False, _whole(2)),
        "criterion": (False, _one_of(CRITERIA)),
        "held_out": (False, _share),
    },
    "plan": {
        "name": (True, _string),
        "title": (False, _string),
        "citation": (False, _string),
        "extends": (False, _string),
        "protocols": (False, _some_of(PROTOCOLS)),
        "folds": (False, _whole(2)),
        "fold_seed": (False, _whole(0)),
        "seed": (False, _whole(0)),
        "metrics": (False, _some_of(METRICS)),
        "reference": (False, _string),
        "scale_reduced": (False, _flag),
        "threads": (False, _whole(1)),
        "time_limit": (False, _positive),
        "memory_limit": (False, _whole(1)),
        "published": (False, _table),
        "figure": (False, _table),
        "notes": (False, _strings),
    },
    "data": {
        "name": (False, _string),
        "source": (True, _string),
        "r": (False, _wholes(1)),
        "published_r": (False, _whole(1)),
        "noise_seeds": (False, _wholes(0)),
        "max_rows": (False, _whole(2)),
        "note": (False, _string),
    },
    "reducers": {
        **_METHOD,
        "by_data": (False, _table),
        "supervised": (False, _flag),
        "ranked": (False, _flag),
    },
    "learners": {
        **_METHOD,
        "pass_confidence": (False, _flag),
        "search": (False, _table),
    },
    "quick": {
        "folds": (False, _whole(2)),
        "protocols": (False, _some_of(PROTOCOLS)),
        "data": (False, _strings),
        "reducers": (False, _strings),
        "learners": (False, _strings),
        "r": (False, _wholes(1)),
        "max_rows": (False, _whole(2)),
    },
}


def _without(rules: Rules, *names: str) -> dict[str, tuple[bool, Rule]]:
    return {name: rule for name, rule in rules.items() if name not in names}


_SELECTOR = {**_METHOD, "by_data": (False, _table)}
_CURVES: Rules = {
    "labels": (False, _some_of(TRAINING_LABELS)),
    "percentages": (False, _percentages),
    "random_draws": (False, _whole(1)),
    "inner_folds": (False, _whole(2)),
}
# Plans for multi-label data name their methods by what these do there.
MULTILABEL_FIELDS: dict[str, Rules] = {
    "document": {
        **_without(FIELDS["document"], "reducers", "tune"),
        "selectors": FIELDS["document"]["reducers"],
        "classifiers": FIELDS["document"]["reducers"],
    },
    "plan": {
        **_without(FIELDS["plan"], "protocols", "scale_reduced", "metrics"),
        **_CURVES,
        "task": (True, _one_of(("multilabel",))),
        "metrics": (False, _some_of(CURVE_METRICS)),
    },
    "data": {
        **_without(FIELDS["data"], "published_r"),
        "r": (False, _amounts),
        "noise": (False, _one_of(NOISE_KINDS)),
        "counts": (False, _wholes(1)),
        "learners": (False, _strings),
    },
    "selectors": _SELECTOR,
    "classifiers": _SELECTOR,
    "learners": _METHOD,
    "quick": {
        **_without(FIELDS["quick"], "protocols", "reducers"),
        **_CURVES,
        "selectors": (False, _strings),
        "classifiers": (False, _strings),
        "noise_seeds": (False, _wholes(0)),
        "r": (False, _amounts),
    },
}


class Checker:
    """Checks tables against rules; failures name file and line.

    Parameters
    ----------
    origin : str
        File name.
    lines : dict
        From :func:`partlearn.benchmark._toml.key_lines`.
    schema : mapping of str to rules
        :data:`FIELDS` or :data:`MULTILABEL_FIELDS`.
    quick : bool
        Whether the quick variant is wanted, which leaves out what the plan still
        speaks of.
    """

    def __init__(
        self, origin: str, lines: Mapping[KeyPath, int], schema: Schema, quick: bool
    ) -> None:
        self.origin, self.lines, self.schema, self.quick = origin, lines, schema, quick
        self.known_data: set[str] = set()

    def fail(self, path: KeyPath, message: str) -> NoReturn:
        """Raise a :class:`PlanError` that points at ``path``."""
        line = None
        for end in range(len(path), 0, -1):
            line = self.lines.get(path[:end])
            if line is not None:
                break
        where = f"{self.origin}:{line}" if line else self.origin
        raise PlanError(f"{where}: {message}.")

    def table(self, table: Any, path: KeyPath = ()) -> None:
        """Check names, required fields and values of one table."""
        rules = self.schema[str(path[0]) if path else "document"]
        shown = f" in [{path[0]}]" if path else ""
        shown = f" in [[{path[0]}]]" if len(path) > 1 else shown
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
