"""Fields of a plan, and a checker whose errors name the line."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Mapping
from datetime import date, time
from difflib import get_close_matches
from math import inf
from typing import Any, NoReturn

from partlearn.benchmark import _plan
from partlearn.benchmark._toml import KeyPath, PlanError, line_of

Good = Callable[[Any], bool]
Rule = tuple[Good, str]  # test of a value, and the requirement in words
Rules = Mapping[str, Rule]


def _list_of(good: Good, least: int = 1) -> Good:
    return lambda v: isinstance(v, list) and len(v) >= least and all(map(good, v))


def _some(good: Good) -> Good:
    """Accept one good value, or a list of at least one."""
    several = _list_of(good)
    return lambda value: several(value) or good(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(minimum: int, maximum: float = inf) -> Rule:
    words = f"a whole number of at least {minimum}"
    words += "" if maximum == inf else f" and at most {maximum:,}"
    return lambda value: type(value) is int and minimum <= value <= maximum, words


def _wholes(minimum: int, maximum: float = inf) -> Rule:
    good, words = _whole(minimum, maximum)
    return _some(good), f"{words}, or a list of them"


def _one_of(allowed: tuple[str, ...]) -> Rule:
    return lambda value: value in allowed, f"one of {', '.join(allowed)}"


def _some_of(allowed: tuple[str, ...]) -> Rule:
    good, _ = _one_of(allowed)
    return _list_of(good), f"a list out of {', '.join(allowed)}"


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _each(names: str, rule: Rule) -> dict[str, Rule]:
    """One rule for several fields."""
    return dict.fromkeys(names.split(), rule)


_string: Rule = lambda value: _is_string(value) and value != "", "a string"
_strings: Rule = _list_of(_is_string), "a list of strings"
_flag: Rule = lambda value: isinstance(value, bool), "true or false"
_table: Rule = _is_mapping, "a table"
_tables: Rule = _list_of(_is_mapping, 0), "a list of tables, written [[...]]"
_figures: Rule = (
    lambda value: (
        _is_mapping(value)
        and value.keys() in (set(), {"paper", "table"})
        and all(map(_is_string, value.values()))
    ),
    "empty, or a table with the strings paper and table",
)
_seconds: Rule = (
    lambda value: _is_number(value) and 0 < value <= 10**9,
    "a positive number of at most 1,000,000,000",
)
_share: Rule = lambda v: isinstance(v, float) and 0 < v < 1, "a number between 0 and 1"
_amounts: Rule = (
    _some(lambda value: _is_number(value) and 0 <= value <= 10**6),
    "a number of at least 0 and at most 1,000,000, or a list of them",
)
_percentages: Rule = (
    _list_of(lambda value: _is_number(value) and 0 < value <= 100),
    "a list of numbers above 0, up to 100",
)
_METHOD: Rules = {
    **_each("name class published", _string),
    **_each("params grid", _table),
    "optional": _flag,
}
SEED = 2**32 - 1  # the largest that NumPy takes
REQUIRED = {"document": "plan", "plan": "name", "data": "source"}
# The user guide documents the same table.
FIELDS: dict[str, Rules] = {
    "document": {
        **_each("plan tune quick change", _table),
        **_each("data reducers learners", _tables),
    },
    "tune": {
        "draws": _whole(2),
        "criterion": _one_of(_plan.CRITERIA),
        "held_out": _share,
    },
    "plan": {
        **_each("name title citation extends reference", _string),
        **_each("fold_seed seed", _whole(0, SEED)),
        "threads": _whole(1, 1024),
        "memory_limit": _whole(1, 10**9),
        "published": _figures,
        "protocols": _some_of(_plan.PROTOCOLS),
        "folds": _whole(2),
        "metrics": _some_of(_plan.METRICS),
        "scale_reduced": _flag,
        "time_limit": _seconds,
        "notes": _strings,
    },
    "data": {
        **_each("name source note bags labels truth", _string),
        "ignore": _strings,
        "r": _wholes(1),
        "published_r": _whole(1),
        "noise_seeds": _wholes(0, SEED),
        "max_rows": _whole(2),
    },
    "reducers": {**_METHOD, "by_data": _table, **_each("supervised ranked", _flag)},
    "learners": {
        **_METHOD,
        **_each("pass_confidence pass_bags", _flag),
        "search": _table,
    },
    "quick": {
        **_each("data reducers learners", _strings),
        **_each("folds max_rows", _whole(2)),
        "protocols": _some_of(_plan.PROTOCOLS),
        "r": _wholes(1),
    },
}


def _without(rules: Rules, *names: str) -> dict[str, Rule]:
    return {name: rule for name, rule in rules.items() if name not in names}


_SELECTOR = {**_METHOD, "by_data": _table}
_CURVES: Rules = {
    "labels": _some_of(_plan.TRAINING_LABELS),
    "percentages": _percentages,
    "random_draws": _whole(1, 1000),
    "cv": _whole(2, 1000),
}
# Multi-label plans have other kinds of methods.
MULTILABEL_FIELDS: dict[str, Rules] = {
    "document": {
        **_without(FIELDS["document"], "reducers", "tune"),
        **_each("selectors classifiers", _tables),
    },
    "plan": {
        **_without(FIELDS["plan"], "protocols", "scale_reduced"),
        **_CURVES,
        "task": _one_of(("multilabel",)),
        "metrics": _some_of(_plan.CURVE_METRICS),
    },
    "data": {
        **_without(FIELDS["data"], "published_r", "bags"),
        "r": _amounts,
        "noise": _one_of(_plan.NOISE_KINDS),
        "counts": _wholes(1),
        "learners": _strings,
        "max_labels": _whole(2),
        "max_features": _whole(1),
    },
    "selectors": _SELECTOR,
    "classifiers": _SELECTOR,
    "learners": _METHOD,
    "quick": {
        **_without(FIELDS["quick"], "protocols", "reducers"),
        **_CURVES,
        **_each("selectors classifiers", _strings),
        "noise_seeds": _wholes(0, SEED),
        "r": _amounts,
    },
}


# The largest whole number among the parameters of a method: a billion trees would take
# all memory before the first one is fitted. Numbers without such a cost have no limit.
LARGEST = {"random_state": inf, "max_iter": inf, "n_jobs": 256}
LARGEST_OTHER = 1_000_000
MOST_GRID_POINTS = 10_000


class Checker:
    """Check tables against rules; errors name file and line.

    Parameters
    ----------
    origin : str
        File name.
    text : str
        The file.
    schema : mapping of str to rules
        :data:`FIELDS` or :data:`MULTILABEL_FIELDS`.
    quick : bool
        Whether to check the quick variant, which may lack entries that the plan names.
    """

    def __init__(
        self,
        origin: str,
        text: str,
        schema: Mapping[str, Rules],
        quick: bool,
    ) -> None:
        self.origin, self.text, self.schema, self.quick = origin, text, schema, quick
        self.known_data: set[str] = set()

    def fail(self, path: KeyPath, message: str) -> NoReturn:
        """Raise a :class:`PlanError` that points at ``path``."""
        line = line_of(self.text, path)
        where = f"{self.origin}:{line}" if line else self.origin
        end_mark = "" if message.endswith("?") else "."
        raise PlanError(f"{where}: {message}{end_mark}")

    def sizes(self, value: Any, path: KeyPath) -> None:
        """Refuse parameters of absurd sizes, and of types that runs do not keep."""
        if isinstance(value, dict):
            for key, part in value.items():
                self.sizes(part, (*path, key))
        elif isinstance(value, list):
            for i, part in enumerate(value):
                self.sizes(part, (*path, i))
        elif type(value) is int:
            names = [str(key) for key in path if isinstance(key, str)]
            most = LARGEST.get(names[-1].rpartition("__")[2], LARGEST_OTHER)
            if value > most:
                self.fail(path, f"`{names[-1]}` must be at most {most:,}; got {value}")
        elif isinstance(value, date | time):
            self.fail(path, "parameters cannot be dates or times; write text")

    def table(self, table: Any, path: KeyPath = ()) -> None:
        """Check names, required fields and values of one table."""
        kind = str(path[0]) if path else "document"
        rules = self.schema[kind]
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
            good, words = rules[key]
            if not good(value):
                wrong = f"`{key}`{shown} must be {words}; got {value!r}"
                self.fail((*path, key), wrong)
        required = REQUIRED.get(kind)
        if required is not None and required not in table:
            self.fail(path, f"`{required}`{shown} is missing")
