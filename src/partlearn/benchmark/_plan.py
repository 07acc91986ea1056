"""Plans: a comparison as data, read from TOML and checked before anything runs."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

from partlearn.benchmark._schema import FIELDS, Checker
from partlearn.benchmark._toml import PlanError, key_lines, read_toml

__all__ = [
    "DataSpec",
    "MethodSpec",
    "Plan",
    "as_tuple",
    "check_unique",
    "entry_name",
    "list_plans",
    "load_plan",
    "parse_plan",
    "read_methods",
    "read_parent",
]


@dataclass(frozen=True)
class DataSpec:
    """One ``[[data]]`` entry of a plan.

    Attributes
    ----------
    name : str
        Name in tables, and in the published figures.
    source : str
        File stem looked for in the data folder, or ``sklearn:NAME``.
    r : tuple of int (in a multi-label plan, of float) or None
        Numbers of false labels to add; None means the sets in the file.
    published_r : int or None
        The r under which figures were published when the file holds the sets.
    noise_seeds : tuple of int
        Seeds of the synthetic candidate sets.
    max_rows : int or None
        Use a random part of the rows.
    note : str
        Known difference from the published data set.
    """

    name: str
    source: str
    r: tuple[float, ...] | None = None
    published_r: int | None = None
    noise_seeds: tuple[int, ...] = (0,)
    max_rows: int | None = None
    note: str = ""


@dataclass(frozen=True)
class MethodSpec:
    """One ``[[reducers]]`` or ``[[learners]]`` entry, one point of its grid.

    Attributes
    ----------
    name : str
        Name in tables.
    cls : str
        Class name in partlearn, or ``package.module:Class``; empty for no reduction.
    params : dict
        Constructor parameters.
    published : str
        Name in the published figures.
    point : dict
        The parameters that the grid varied.
    optional : bool
        Left out without complaint where the class does not exist.
    by_data : dict
        Parameters that differ for one data set, by its name.
    supervised : bool
        A reducer that is fitted with the true labels: an upper reference.
    ranked : bool
        Whether a reducer takes part in ranks and tests; references do not.
    pass_confidence : bool
        A learner that starts from the confidences of the reducer.
    """

    name: str
    cls: str
    params: Mapping[str, Any] = field(default_factory=dict)
    published: str = ""
    point: Mapping[str, Any] = field(default_factory=dict)
    optional: bool = False
    by_data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    supervised: bool = False
    ranked: bool = True
    pass_confidence: bool = False

    def for_data(self, name: str) -> "MethodSpec":
        """Return the method with the parameters for one data set."""
        special = self.by_data.get(name)
        return replace(self, params={**self.params, **special}) if special else self


@dataclass(frozen=True)
class Plan:
    """A whole comparison.

    Attributes
    ----------
    name, title, citation : str
        What the plan is and where its published figures stand.
    data : tuple of DataSpec
        Data sets.
    reducers, learners : tuple of MethodSpec
        Methods, with grids expanded.
    protocols : tuple of str
        "inductive", "transductive" or both.
    folds, fold_seed : int
        Cross-validation.
    seed : int
        Root of the random states of the methods.
    metrics : tuple of str
        Scores to keep; the first one is the one in the tables.
    reference : str
        Reducer that win/tie/loss counts are about; empty means the last one.
    scale_reduced : bool
        Whether projected columns are z-scored before the learner.
    threads : int
        Threads of the numerical libraries inside one job.
    time_limit : float or None
        Seconds that one job may take.
    memory_limit : int or None
        Megabytes that one job may add.
    published : dict
        ``paper`` and ``table`` in the published figures.
    figure : dict
        How to draw the result.
    notes : tuple of str
        Printed in the report.
    task : str
        "partial", or "multilabel" where rows have several true labels.
    """

    name: str
    title: str
    data: tuple[DataSpec, ...]
    reducers: tuple[MethodSpec, ...]
    learners: tuple[MethodSpec, ...]
    citation: str = ""
    protocols: tuple[str, ...] = ("inductive",)
    folds: int = 10
    fold_seed: int = 0
    seed: int = 0
    metrics: tuple[str, ...] = ("accuracy",)
    reference: str = ""
    scale_reduced: bool = True
    threads: int = 1
    time_limit: float | None = None
    memory_limit: int | None = None
    published: Mapping[str, str] = field(default_factory=dict)
    figure: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    task: str = "partial"


def list_plans() -> list[str]:
    """Names of the plans that ship with partlearn.

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


def _shipped(name: str) -> tuple[str, str] | None:
    item = resources.files("partlearn.benchmark") / "plans" / f"{name}.toml"
    if not item.is_file():
        return None
    return item.read_text(encoding="utf-8"), f"{name}.toml"


def load_plan(name: str | Path) -> Plan:
    """Load a plan by name or from a TOML file.

    Parameters
    ----------
    name : str or Path
        Name from :func:`list_plans`, with ``-quick`` for the short variant, or
        the path of a TOML file.

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
            raise PlanError(f"{path}: no such plan file.")
        return parse_plan(path.read_text(encoding="utf-8"), origin=str(path))
    for stem, quick in ((text, False), (text.removesuffix("-quick"), True)):
        found = _shipped(stem)
        if found and (not quick or text.endswith("-quick")):
            return parse_plan(found[0], origin=found[1], quick=quick)
    from difflib import get_close_matches

    near = get_close_matches(text, list_plans(), n=3)
    hint = f" Did you mean {', '.join(near)}?" if near else ""
    raise PlanError(
        f"There is no plan named {text!r}.{hint} "
        "`partlearn bench --list` shows all; a file name must end in .toml."
    )


def parse_plan(text: str, *, origin: str = "<plan>", quick: bool = False) -> Plan:
    """Parse and check the text of a plan.

    Parameters
    ----------
    text : str
        TOML document; the schema is described in the user guide.
    origin : str, default="<plan>"
        File name for messages.
    quick : bool, default=False
        Apply the ``[quick]`` table.

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
    check = Checker(origin, key_lines(text))
    if _is_multilabel(document.get("plan")):
        from partlearn.benchmark._multilabel._plan import parse_multilabel

        return parse_multilabel(document, check, quick=quick)
    check.table(document, (), FIELDS["document"])
    head = document["plan"]
    check.table(head, ("plan",), FIELDS["plan"])
    base: dict[str, Any] = {}
    if extends := head.get("extends"):
        base = read_parent(extends, check)
    merged = {**base, **{k: v for k, v in document.items() if k != "quick"}}
    merged["plan"] = {**base.get("plan", {}), **head}
    check.known_data = {entry_name(entry) for entry in merged.get("data", [])}
    if quick:
        _apply_quick(merged, document.get("quick", {}), check)
    return _build(merged, check, quick)


def _is_multilabel(plan: Any) -> bool:
    return isinstance(plan, Mapping) and plan.get("task") == "multilabel"


def read_parent(name: str, check: Checker) -> dict[str, Any]:
    found = _shipped(name)
    if found is None:
        check.fail(("plan", "extends"), f"there is no shipped plan named {name!r}")
    parent = read_toml(*found)
    parent.pop("quick", None)
    # What the parent's figures and texts say is about the parent only.
    for key in ("title", "figure", "notes", "name"):
        parent["plan"].pop(key, None)
    return parent


def _apply_quick(merged: dict[str, Any], quick: Any, check: Checker) -> None:
    check.table(quick, ("quick",), FIELDS["quick"])
    for key in ("folds", "protocols"):
        if key in quick:
            merged["plan"][key] = quick[key]
    for key in ("data", "reducers", "learners"):
        if key not in quick:
            continue
        wanted = quick[key]
        have = {entry_name(entry): entry for entry in merged.get(key, [])}
        for name in wanted:
            if name not in have:
                check.fail(("quick", key), f"no {key} entry is named {name!r}")
        merged[key] = [have[name] for name in wanted]
    overrides = {k: quick[k] for k in ("r", "max_rows") if k in quick}
    merged["data"] = [
        {**e, **{k: v for k, v in overrides.items() if k != "r" or "r" in e}}
        for e in merged.get("data", [])
    ]


def entry_name(entry: Mapping[str, Any]) -> str:
    name = entry.get("name") or entry.get("class") or entry.get("source") or ""
    return str(name).removeprefix("sklearn:")


def _build(merged: Mapping[str, Any], check: Checker, quick: bool) -> Plan:
    head = merged["plan"]
    check.table(head, ("plan",), FIELDS["plan"])
    for key in ("data", "reducers", "learners"):
        check.required_list(merged, key)
    data = _datasets(merged, check)
    reducers = read_methods(merged, "reducers", check)
    learners = read_methods(merged, "learners", check)
    reference = head.get("reference", "")
    if reference and reference not in [m.name for m in reducers]:
        if not quick:
            check.fail(("plan", "reference"), f"no reducer is named {reference!r}")
        reference = ""
    limits = {k: head[k] for k in ("time_limit", "memory_limit") if k in head}
    name = head["name"] + ("-quick" if quick else "")
    return Plan(
        name=name,
        title=head.get("title", name),
        citation=head.get("citation", ""),
        data=data,
        reducers=reducers,
        learners=learners,
        protocols=tuple(head.get("protocols", ("inductive",))),
        folds=head.get("folds", 10),
        fold_seed=head.get("fold_seed", 0),
        seed=head.get("seed", 0),
        metrics=tuple(head.get("metrics", ("accuracy",))),
        reference=reference,
        scale_reduced=head.get("scale_reduced", True),
        threads=head.get("threads", 1),
        published=dict(head.get("published", {})),
        figure=dict(head.get("figure", {})),
        notes=tuple(head.get("notes", ())),
        **limits,
    )


def check_unique(
    new: Sequence[DataSpec | MethodSpec],
    old: Sequence[DataSpec | MethodSpec],
    path: tuple[str, int],
    check: Checker,
) -> None:
    taken = {spec.name for spec in old}
    for spec in new:
        if spec.name in taken:
            check.fail(path, f"two {path[0]} entries are named {spec.name!r}")


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _datasets(merged: Mapping[str, Any], check: Checker) -> tuple[DataSpec, ...]:
    found: list[DataSpec] = []
    for i, entry in enumerate(merged["data"]):
        spec = _data(entry, ("data", i), check)
        check_unique([spec], found, ("data", i), check)
        found.append(spec)
    return tuple(found)


def _data(entry: Any, path: tuple[str, int], check: Checker) -> DataSpec:
    check.table(entry, path, FIELDS["data"])
    r = as_tuple(entry["r"]) if "r" in entry else None
    return DataSpec(
        name=entry_name(entry),
        source=entry["source"],
        r=r,
        published_r=entry.get("published_r"),
        noise_seeds=as_tuple(entry.get("noise_seeds", (0,))),
        max_rows=entry.get("max_rows"),
        note=entry.get("note", ""),
    )


def read_methods(
    merged: Mapping[str, Any], key: str, check: Checker
) -> tuple[MethodSpec, ...]:
    found: list[MethodSpec] = []
    for i, entry in enumerate(merged[key]):
        path = (key, i)
        check.table(entry, path, FIELDS[key])
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
            check.fail(
                path,
                f"{name!r} has no `class`"
                + (' (only the reducer "none" needs no class)' * (key == "reducers")),
            )
        spec = MethodSpec(
            name=name,
            cls=cls,
            params=dict(entry.get("params", {})),
            published=entry.get("published", name),
            optional=entry.get("optional", False),
            by_data=_by_data(entry.get("by_data", {}), path, merged, check),
            supervised=supervised,
            ranked=entry.get("ranked", True) and not supervised,
            pass_confidence=entry.get("pass_confidence", False),
        )
        points = _expand_grid(spec, entry.get("grid", {}), path, check)
        check_unique(points, found, path, check)
        found += points
    return tuple(found)


def _by_data(
    special: Mapping[str, Any],
    path: tuple[str, int],
    merged: Mapping[str, Any],
    check: Checker,
) -> dict[str, dict[str, Any]]:
    names = [entry_name(entry) for entry in merged["data"]]
    for name, params in special.items():
        where = (*path, "by_data", name)
        if not isinstance(params, dict):
            check.fail(where, f"by_data.{name} must be a table of parameters")
        if name not in names and name not in check.known_data:
            check.fail(where, f"by_data names {name!r}, which is no data set here")
    return dict(special)


def _expand_grid(
    spec: MethodSpec, grid: Mapping[str, Any], path: tuple[str, int], check: Checker
) -> list[MethodSpec]:
    if not grid:
        return [spec]
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            check.fail((*path, "grid"), f"grid.{name} must be a list of values")
    points = [
        dict(zip(grid, values, strict=True)) for values in product(*grid.values())
    ]
    return [
        replace(
            spec,
            name=spec.name + "[" + ", ".join(f"{k}={v}" for k, v in p.items()) + "]",
            params={**spec.params, **p},
            point=p,
        )
        for p in points
    ]
