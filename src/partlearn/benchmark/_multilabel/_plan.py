"""Plans for partial multi-label data: what they may say, and what they become."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from partlearn.benchmark._multilabel._protocol import NOISE
from partlearn.benchmark._multilabel._rank import (
    ALL_FEATURES,
    CONTROLS,
    LABEL_FREQUENCY,
)
from partlearn.benchmark._multilabel._scores import METRICS
from partlearn.benchmark._plan import (
    DataSpec,
    MethodSpec,
    Plan,
    as_tuple,
    check_unique,
    entry_name,
    read_methods,
    read_parent,
)
from partlearn.benchmark._schema import (
    FIELDS,
    Checker,
    Rules,
    some_of,
    texts,
    whole,
    wholes,
)

__all__ = ["MultilabelDataSpec", "MultilabelPlan", "parse_multilabel"]

LABELS = ("candidates", "clean")
RESERVED = (*CONTROLS, ALL_FEATURES, LABEL_FREQUENCY)


def _one_of(allowed: tuple[str, ...]) -> Any:
    def rule(value: Any) -> str | None:
        return None if value in allowed else f"must be one of {', '.join(allowed)}"

    return rule


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _amounts(value: Any) -> str | None:
    values = as_tuple(value)
    good = bool(values) and all(_is_number(v) and v >= 0 for v in values)
    return None if good else "must be a number of at least 0, or a list of them"


def _percentages(value: Any) -> str | None:
    good = isinstance(value, list) and all(
        _is_number(v) and 0 < v <= 100 for v in value
    )
    return None if good and value else "must be a list of numbers above 0, up to 100"


def _without(rules: Rules, *names: str) -> dict[str, Any]:
    return {name: rule for name, rule in rules.items() if name not in names}


_METHOD = _without(FIELDS["reducers"], "supervised", "ranked")
MULTILABEL_FIELDS: dict[str, Rules] = {
    "document": {
        **_without(FIELDS["document"], "reducers"),
        "selectors": FIELDS["document"]["reducers"],
        "classifiers": FIELDS["document"]["reducers"],
    },
    "plan": {
        **_without(FIELDS["plan"], "protocols", "scale_reduced", "metrics"),
        "task": (True, _one_of(("multilabel",))),
        "metrics": (False, some_of(METRICS)),
        "labels": (False, some_of(LABELS)),
        "percentages": (False, _percentages),
        "random_draws": (False, whole(1)),
        "inner_folds": (False, whole(2)),
    },
    "data": {
        **_without(FIELDS["data"], "published_r"),
        "r": (False, _amounts),
        "noise": (False, _one_of(tuple(NOISE))),
        "counts": (False, wholes(1)),
        "learners": (False, texts),
    },
    "selectors": _METHOD,
    "classifiers": _METHOD,
    "learners": _without(FIELDS["learners"], "pass_confidence"),
    "quick": {
        **_without(FIELDS["quick"], "protocols", "reducers"),
        "selectors": (False, texts),
        "classifiers": (False, texts),
        "labels": (False, some_of(LABELS)),
        "percentages": (False, _percentages),
        "random_draws": (False, whole(1)),
        "inner_folds": (False, whole(2)),
        "noise_seeds": (False, wholes(0)),
        "r": (False, _amounts),
    },
}


@dataclass(frozen=True)
class MultilabelDataSpec(DataSpec):
    """One ``[[data]]`` entry of a multi-label plan.

    Attributes
    ----------
    noise : str
        How false candidates are drawn.
    counts : tuple of int or None
        Numbers of features to select, where percentages make no sense.
    learners : tuple of str or None
        Names of the learners to use on this set; None means all.
    """

    noise: str = "add"
    counts: tuple[int, ...] | None = None
    learners: tuple[str, ...] | None = None


@dataclass(frozen=True)
class MultilabelPlan(Plan):
    """A comparison of feature selectors on partial multi-label data.

    Attributes
    ----------
    task : str
        Always "multilabel".
    classifiers : tuple of MethodSpec
        Methods used on all features as they are.
    labels : tuple of str
        What learners are trained on: "candidates", "clean" or both. Selectors see
        candidates always.
    percentages : tuple of float
        Shares of the features to select.
    random_draws : int
        Random orders per fold and seed.
    inner_folds : int
        Folds by which learners are tuned on training rows.
    """

    task: str = "multilabel"
    classifiers: tuple[MethodSpec, ...] = ()
    labels: tuple[str, ...] = LABELS
    percentages: tuple[float, ...] = tuple(range(1, 21))
    random_draws: int = 20
    inner_folds: int = 3
    metrics: tuple[str, ...] = METRICS


def parse_multilabel(
    document: Mapping[str, Any], check: Checker, *, quick: bool
) -> MultilabelPlan:
    """Check the document of a multi-label plan and build it.

    Parameters
    ----------
    document : mapping
        The parsed TOML.
    check : Checker
        Reports where something is wrong.
    quick : bool
        Apply the ``[quick]`` table.

    Returns
    -------
    MultilabelPlan
        The plan.
    """
    fields = MULTILABEL_FIELDS
    check.table(document, (), fields["document"])
    head = document["plan"]
    check.table(head, ("plan",), fields["plan"])
    base = read_parent(head["extends"], check) if "extends" in head else {}
    merged = {**base, **{k: v for k, v in document.items() if k != "quick"}}
    merged["plan"] = {**base.get("plan", {}), **head}
    merged.setdefault("classifiers", [])
    check.known_data = {entry_name(entry) for entry in merged.get("data", [])}
    if quick:
        _apply_quick(merged, document.get("quick", {}), check)
    for key in ("data", "selectors", "learners"):
        check.required_list(merged, key)
    return _build(merged, check, quick)


def _apply_quick(
    merged: dict[str, Any], quick: Mapping[str, Any], check: Checker
) -> None:
    check.table(quick, ("quick",), MULTILABEL_FIELDS["quick"])
    for key in ("data", "selectors", "classifiers", "learners"):
        if key not in quick:
            continue
        have = {entry_name(entry): entry for entry in merged.get(key, [])}
        for name in quick[key]:
            if name not in have:
                check.fail(("quick", key), f"no {key} entry is named {name!r}")
        merged[key] = [have[name] for name in quick[key]]
    for key in ("folds", "labels", "percentages", "random_draws", "inner_folds"):
        if key in quick:
            merged["plan"][key] = quick[key]
    over = {k: quick[k] for k in ("r", "max_rows", "noise_seeds") if k in quick}
    merged["data"] = [
        {**e, **{k: v for k, v in over.items() if k != "r" or "r" in e}}
        for e in merged.get("data", [])
    ]


def _build(merged: Mapping[str, Any], check: Checker, quick: bool) -> MultilabelPlan:
    head = merged["plan"]
    found = {}
    for key in ("selectors", "classifiers", "learners"):
        for i, entry in enumerate(merged[key]):
            check.table(entry, (key, i), MULTILABEL_FIELDS[key])
        found[key] = read_methods(merged, key, check)
    for key in ("selectors", "classifiers"):
        for spec in found[key]:
            if spec.name in RESERVED:
                check.fail((key,), f"{spec.name!r} is the name of a control")
    names = [spec.name for spec in (*found["selectors"], *found["classifiers"])]
    for name in names:
        if names.count(name) > 1:
            check.fail(("classifiers",), f"two methods are named {name!r}")
    reference = head.get("reference", "")
    if reference and reference not in [m.name for m in found["selectors"]]:
        if not quick:
            check.fail(("plan", "reference"), f"no selector is named {reference!r}")
        reference = ""
    plain = ["citation", "folds", "fold_seed", "seed", "threads", "time_limit"]
    plain += ["memory_limit", "random_draws", "inner_folds"]
    listed = ("metrics", "labels", "percentages", "notes")
    given: dict[str, Any] = {key: head[key] for key in plain if key in head}
    given |= {key: tuple(head[key]) for key in listed if key in head}
    name = head["name"] + ("-quick" if quick else "")
    return MultilabelPlan(
        name=name,
        title=head.get("title", name),
        data=_datasets(merged, found["learners"], check, quick),
        reducers=found["selectors"],
        classifiers=found["classifiers"],
        learners=found["learners"],
        reference=reference,
        published=dict(head.get("published", {})),
        figure=dict(head.get("figure", {})),
        **given,
    )


def _datasets(
    merged: Mapping[str, Any],
    learners: tuple[MethodSpec, ...],
    check: Checker,
    quick: bool,
) -> tuple[MultilabelDataSpec, ...]:
    names = [spec.name for spec in learners]
    found: list[MultilabelDataSpec] = []
    for i, entry in enumerate(merged["data"]):
        path = ("data", i)
        check.table(entry, path, MULTILABEL_FIELDS["data"])
        for name in entry.get("learners", ()):
            if name not in names and not quick:
                check.fail((*path, "learners"), f"no learner is named {name!r}")
        wanted = [n for n in entry.get("learners", ()) if n in names]
        spec = MultilabelDataSpec(
            name=entry_name(entry),
            source=entry["source"],
            r=as_tuple(entry["r"]) if "r" in entry else None,
            noise_seeds=as_tuple(entry.get("noise_seeds", (0,))),
            max_rows=entry.get("max_rows"),
            note=entry.get("note", ""),
            noise=entry.get("noise", "add"),
            counts=as_tuple(entry["counts"]) if "counts" in entry else None,
            learners=tuple(wanted) or None,
        )
        check_unique([spec], found, path, check)
        found.append(spec)
    return tuple(found)
