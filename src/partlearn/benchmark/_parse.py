"""Read plans from TOML and check them before anything runs."""

# SPDX-License-Identifier: BSD-3-Clause

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib import resources
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, TypeVar

from partlearn._registry import MethodError, check_packages
from partlearn.benchmark._methods import available
from partlearn.benchmark._plan import (
    CURVE_METRICS,
    DataSpec,
    MethodSpec,
    MultilabelPlan,
    Plan,
    TunedPlan,
)
from partlearn.benchmark._results import Control
from partlearn.benchmark._schema import (
    FIELDS,
    MOST_GRID_POINTS,
    MULTILABEL_FIELDS,
    Checker,
)
from partlearn.benchmark._toml import PlanError, read_toml

Table = Mapping[str, Any]
Specs = tuple[MethodSpec, ...]
S = TypeVar("S", DataSpec, MethodSpec)
MOST_BYTES = 2**24  # of a plan


def list_plans() -> list[str]:
    """List the names of the plans that ship with partlearn.

    Returns
    -------
    list of str
        Sorted names; each also exists with ``-quick`` appended when its file has
        a ``[quick]`` table.

    Examples
    --------
    >>> from partlearn.benchmark import list_plans
    >>> "demo" in list_plans()
    True
    """
    folder = resources.files("partlearn.benchmark") / "plans"
    names = []
    for item in folder.iterdir():
        if item.name.endswith(".toml"):
            name = item.name.removesuffix(".toml")
            names.append(name)
            if "\n[quick]" in item.read_text(encoding="utf-8"):
                names.append(f"{name}-quick")
    return sorted(names)


def _shipped(name: str) -> str | None:
    item = resources.files("partlearn.benchmark") / "plans" / f"{name}.toml"
    return item.read_text(encoding="utf-8") if item.is_file() else None


def load_plan(name: str | Path, *, allow: Collection[str] = ()) -> Plan:
    """Load a plan by name or from a TOML file.

    Parameters
    ----------
    name : str or Path
        Name from :func:`list_plans`, with ``-quick`` for the short variant, or
        the path of a TOML file.
    allow : collection of str, default=()
        Packages whose estimators the file may name, besides partlearn and
        scikit-learn. Importing a package runs its code: allow trusted packages only.

    Returns
    -------
    Plan
        The checked plan.

    Examples
    --------
    >>> from partlearn.benchmark import load_plan
    >>> load_plan("demo").protocols
    ('inductive',)
    """
    text = str(name)
    if text.endswith(".toml"):
        path = Path(text)
        if not path.is_file():
            raise PlanError(
                f"{path}: no such plan file; check its path, or name one of the plans "
                f"of partlearn ({', '.join(list_plans()[:3])} ...)."
            )
        if (size := path.stat().st_size) > MOST_BYTES:
            raise PlanError(
                f"{path}: {size:,} bytes, and a plan has at most {MOST_BYTES:,}."
            )
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise PlanError(f"{path}: not UTF-8 text: {error.reason}.") from None
        _find_beside(path, allow)
        return parse_plan(text, origin=str(path), allow=allow)
    for stem, quick in ((text, False), (text.removesuffix("-quick"), True)):
        if (shipped := _shipped(stem)) is not None:
            return parse_plan(shipped, origin=f"{stem}.toml", quick=quick)
    near = get_close_matches(text, list_plans(), n=3)
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    raise PlanError(
        f"There is no plan named {text!r}.{hint} "
        "`partlearn bench --list` shows all; a file name must end in .toml."
    )


def _find_beside(path: Path, allow: Collection[str]) -> None:
    """Add the folder of the plan to the import path if it has an allowed module."""
    folder = str(path.resolve().parent)
    for name in allow:
        top = Path(folder, name.partition(".")[0])
        there = top.with_suffix(".py").is_file() or top.is_dir()
        if there and folder not in sys.path:
            sys.path.append(folder)


def parse_plan(
    text: str,
    *,
    origin: str = "<plan>",
    quick: bool = False,
    allow: Collection[str] = (),
) -> Plan:
    """Parse and check the text of a plan.

    Parameters
    ----------
    text : str
        TOML document; the schema is described in the user guide.
    origin : str, default="<plan>"
        File name for messages.
    quick : bool, default=False
        Apply the ``[quick]`` table.
    allow : collection of str, default=()
        As for :func:`load_plan`.

    Returns
    -------
    Plan
        The checked plan.

    Examples
    --------
    >>> from partlearn.benchmark import parse_plan
    >>> plan = parse_plan('''
    ... [plan]
    ... name = "mine"
    ... [[data]]
    ... source = "sklearn:iris"
    ... r = 1
    ... [[reducers]]
    ... name = "none"
    ... [[learners]]
    ... class = "PLKNN"
    ... ''')
    >>> plan.learners[0].name, plan.data[0].r
    ('PLKNN', (1,))
    """
    document = read_toml(text, origin)
    schema = MULTILABEL_FIELDS if _task(document) == "multilabel" else FIELDS
    check = Checker(origin, text, schema, quick)
    check.table(document)
    check.table(document["plan"], ("plan",))
    merged = _with_parent(document, check)
    check.known_data = {_entry_name(entry) for entry in merged.get("data", [])}
    if quick:
        _apply_quick(merged, document.get("quick", {}), check)
    check.table(merged["plan"], ("plan",))
    try:
        check_packages(merged, allow)
    except MethodError as error:
        raise PlanError(f"{origin}: {error}") from None
    plan = _plan(merged, check)
    if isinstance(plan, TunedPlan):
        available(plan, plan.learners, "learner")
    return plan


def _task(document: Table) -> Any:
    """Return the task of a plan, or of the shipped plan that it extends."""
    head = document.get("plan")
    if not isinstance(head, Mapping):
        return None
    if "task" in head:
        return head["task"]
    name = head.get("extends")
    shipped = _shipped(name.removesuffix("-quick")) if isinstance(name, str) else None
    return None if shipped is None else _task(read_toml(shipped, f"{name}.toml"))


def _with_parent(document: Table, check: Checker) -> dict[str, Any]:
    """Complete the document by the entries of the plan that it extends."""
    own = {k: v for k, v in document.items() if k != "quick"}
    changes = own.pop("change", {})
    name = document["plan"].get("extends")
    if not name:
        if changes:
            check.fail(("change",), "only a plan that extends another can change it")
        return {**own, "plan": dict(document["plan"])}
    parent = _parent(name, check)
    merged = {**parent, **own, "plan": {**parent["plan"], **document["plan"]}}
    for key, entries in changes.items():
        merged[key] = _changed(merged.get(key, []), key, entries, check)
    return merged


def _parent(name: str, check: Checker) -> dict[str, Any]:
    """Read a shipped plan, or its quick variant, without title and notes."""
    stem = name if _shipped(name) is not None else name.removesuffix("-quick")
    shipped = _shipped(stem)
    if shipped is None:
        near = get_close_matches(name, list_plans(), n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        check.fail(("plan", "extends"), f"there is no plan named {name!r}{hint}")
    origin = f"{stem}.toml"
    document = read_toml(shipped, origin)
    own = Checker(origin, shipped, check.schema, name != stem)
    parent = _with_parent(document, own)
    if own.quick:
        _apply_quick(parent, document.get("quick", {}), own)
    # The title and the notes of the parent are about the parent only.
    for key in ("title", "notes", "name", "extends"):
        parent["plan"].pop(key, None)
    return parent


def _changed(
    entries: Sequence[Table], key: str, changes: Any, check: Checker
) -> list[Table]:
    """Change the fields of entries by name; entries with a class are added."""
    if key not in check.schema or not isinstance(changes, Mapping):
        check.fail(("change", key), f"[change.{key}] must be [change.reducers.NAME]")
    have = {_entry_name(entry): entry for entry in entries}
    for name, fields in changes.items():
        known = have.get(name, {})
        if not known and not {"class", "source"} & set(fields):
            there = ", ".join(have)
            wrong = f"no {key} entry is named {name!r} (there are: {there})"
            check.fail(("change", key, name), f"{wrong}; one to be added needs a class")
        params = {**known.get("params", {}), **fields.get("params", {})}
        given = {"params": params} if params else {}
        have[name] = {"name": name, **known, **fields, **given}
    return list(have.values())


def _apply_quick(merged: dict[str, Any], quick: Table, check: Checker) -> None:
    check.table(quick, ("quick",))
    of_data = {}
    for key, value in quick.items():
        if key in check.schema["document"]:
            have = {_entry_name(entry): entry for entry in merged.get(key, [])}
            for name in value:
                if name not in have:
                    check.fail(("quick", key), f"no {key} entry is named {name!r}")
            merged[key] = [have[name] for name in value]
        elif key in check.schema["plan"]:
            merged["plan"][key] = value
        else:
            of_data[key] = value
    merged["data"] = [
        {**e, **{k: v for k, v in of_data.items() if k != "r" or "r" in e}}
        for e in merged.get("data", [])
    ]


def _entry_name(entry: Table) -> str:
    name = entry.get("name") or entry.get("class") or entry.get("source") or ""
    return str(name).removeprefix("sklearn:")


def _plan(merged: Table, check: Checker) -> Plan:
    many, tune = check.schema is MULTILABEL_FIELDS, merged.get("tune")
    first, kind = ("selectors", MultilabelPlan) if many else ("reducers", Plan)
    needed = ["data", first, "learners"]
    if many and not (merged.get("selectors") or merged.get("learners")):
        # Classifiers alone are compared with each other.
        needed[1:], first = ["classifiers"], "classifiers"
        _without_thresholds(merged["plan"], check)
    for key in needed:
        if not merged.get(key):
            check.fail((), f"a plan needs at least one [[{key}]] entry")
    methods = _methods(merged, "selectors" if many else first, check)
    learners = _methods(merged, "learners", check)
    compared = methods
    more: dict[str, Any] = {}
    if many:
        more["classifiers"] = _methods(merged, "classifiers", check)
        _check_names(methods, more["classifiers"], check)
        compared = methods or more["classifiers"]
    elif tune is None:
        for learner in learners:
            if learner.search:
                wrong = f"{learner.name!r} has values to search"
                check.fail(("learners",), f"{wrong}, but the plan has no [tune] table")
    else:
        check.table(tune, ("tune",))
        if len(methods) > 1:
            check.fail(("reducers",), "a plan that tunes learners has one reducer")
        first, kind, compared, more = "learners", TunedPlan, learners, tune
    return kind(
        **_plan_fields(merged["plan"], check.quick),
        data=_data(merged["data"], [spec.name for spec in learners], check),
        reducers=methods,
        learners=learners,
        reference=_reference(merged["plan"], compared, first[:-1], check),
        **more,
    )


def _without_thresholds(head: dict[str, Any], check: Checker) -> None:
    """Refuse metrics with tuned thresholds, which only selectors have."""
    known = [name for name in CURVE_METRICS if not name.endswith("_tuned")]
    for name in head.setdefault("metrics", known):
        if name not in known:
            wrong = f"`{name}` is for plans with [[selectors]]; without them use "
            check.fail(("plan", "metrics"), wrong + ", ".join(known))


def _check_names(selectors: Specs, classifiers: Specs, check: Checker) -> None:
    names = [spec.name for spec in selectors]
    for key, specs in (("selectors", selectors), ("classifiers", classifiers)):
        for spec in specs:
            if spec.name in list(Control):
                check.fail((key,), f"{spec.name!r} is the name of a control")
            if key == "classifiers" and spec.name in names:
                check.fail((key,), f"two methods are named {spec.name!r}")


def _data(
    entries: Sequence[Table], learners: Sequence[str], check: Checker
) -> tuple[DataSpec, ...]:
    specs: list[DataSpec] = []
    for i, entry in enumerate(entries):
        check.table(entry, ("data", i))
        values = _data_fields(entry)
        if "learners" in entry:
            for name in entry["learners"]:
                if name not in learners and not check.quick:
                    check.fail(("data", i, "learners"), f"no learner is named {name!r}")
            some = [name for name in entry["learners"] if name in learners]
            values["learners"] = tuple(some) or None
        _add(specs, [DataSpec(**values)], ("data", i), check)
    return tuple(specs)


def _data_fields(entry: Table) -> dict[str, Any]:
    values = {**entry, "name": _entry_name(entry)}
    for key in ("r", "noise_seeds", "counts"):
        if key in values:
            value = values[key]
            values[key] = tuple(value) if isinstance(value, list) else (value,)
    return values


def _plan_fields(head: Table, quick: bool) -> dict[str, Any]:
    """Fields of the table ``[plan]``."""
    values = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in head.items()
        if key not in ("extends", "reference")
    }
    values["name"] = head["name"] + ("-quick" if quick else "")
    values.setdefault("title", values["name"])
    return values


def _reference(head: Table, methods: Specs, kind: str, check: Checker) -> str:
    reference = head.get("reference", "")
    if not reference or reference in [m.name for m in methods]:
        return str(reference)
    if not check.quick:
        wrong = f"no {kind} is named {reference!r}"
        if "extends" in head:
            wrong += (
                f", the `reference` of the plan that this one extends; own {kind}s "
                f"stand in place of its own, [change.{kind}s.NAME] adds to them"
            )
        check.fail(("plan", "reference"), wrong)
    return ""


def _add(
    specs: list[S], new: Iterable[S], path: tuple[str, int], check: Checker
) -> None:
    for spec in new:
        if spec.name in [known.name for known in specs]:
            check.fail(path, f"two {path[0]} entries are named {spec.name!r}")
        specs.append(spec)


def _methods(merged: Table, key: str, check: Checker) -> Specs:
    specs: list[MethodSpec] = []
    for i, entry in enumerate(merged.get(key, ())):
        path = (key, i)
        check.table(entry, path)
        supervised = entry.get("supervised", False)
        if supervised and "transductive" in merged["plan"].get("protocols", ()):
            check.fail(
                (*path, "supervised"),
                "a supervised reducer would see the truth of the test rows in the "
                "transductive protocol",
            )
        name = entry.get("name") or entry.get("class")
        if not name:
            check.fail(path, "give a `class` or a `name`")
        cls = entry.get("class", "")
        if not cls and not (key == "reducers" and name == "none"):
            hint = ' (only the reducer "none" needs no class)' * (key == "reducers")
            check.fail(path, f"{name!r} has no `class`{hint}")
        _check_by_data(entry.get("by_data", {}), path, merged, check)
        for table in ("params", "by_data", "search", "grid"):
            check.sizes(entry.get(table, {}), (*path, table))
        for table in ("search", "grid"):
            for parameter, values in entry.get(table, {}).items():
                if not isinstance(values, list) or not values:
                    wrong = f"{table}.{parameter} must be a list of values"
                    check.fail((*path, table), wrong)
        n_points = prod(map(len, entry.get("grid", {}).values()))
        if n_points > MOST_GRID_POINTS:
            wrong = f"`grid` has {n_points:,} points, and at most {MOST_GRID_POINTS:,}"
            check.fail((*path, "grid"), f"{wrong} are possible")
        given = {k: v for k, v in entry.items() if k not in ("name", "class", "grid")}
        spec = MethodSpec(name, cls, **{"published": name, **given})
        spec = replace(spec, ranked=spec.ranked and not supervised)
        _add(specs, _expand_grid(spec, entry.get("grid", {})), path, check)
    return tuple(specs)


def _check_by_data(
    special: Table, path: tuple[str, int], merged: Table, check: Checker
) -> None:
    names = [_entry_name(entry) for entry in merged["data"]]
    for name, params in special.items():
        where = (*path, "by_data", name)
        if not isinstance(params, dict):
            check.fail(where, f"by_data.{name} must be a table of parameters")
        if name not in names and name not in check.known_data:
            check.fail(where, f"by_data names {name!r}, which is not a data set here")


def _expand_grid(spec: MethodSpec, grid: Mapping[str, list[Any]]) -> list[MethodSpec]:
    if not grid:
        return [spec]
    points = []
    for values in product(*grid.values()):
        point = dict(zip(grid, values, strict=True))
        name = f"{spec.name}[{', '.join(f'{k}={v}' for k, v in point.items())}]"
        params = {**spec.params, **point}
        points.append(replace(spec, name=name, params=params, point=point))
    return points
