"""Find estimators by class name, and build them with reproducible seeds."""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from sklearn.utils.validation import has_fit_parameter

from partlearn.benchmark._plan import MethodSpec, Plan
from partlearn.benchmark._toml import PlanError

__all__ = ["available", "build", "check_methods", "find_class", "known_classes"]

PACKAGES = {
    "reducer": ("partlearn.decomposition", "partlearn.feature_selection"),
    "selector": ("partlearn.feature_selection",),
    "projection": ("partlearn.decomposition",),
    "learner": ("partlearn.classification",),
    "ranker": ("partlearn.feature_selection", "partlearn.multilabel"),
    "multilabel": ("partlearn.multilabel", "partlearn.benchmark._multilabel._svm"),
    # A part of another method may be any of them.
    "part": (
        "partlearn.decomposition",
        "partlearn.feature_selection",
        "partlearn.classification",
    ),
}
_METHOD = {
    "reducer": "transform",
    "selector": "transform",
    "projection": "transform",
    "learner": "predict",
    "ranker": "fit",
    "multilabel": "predict",
    "part": "fit",
}


def known_classes(kind: str) -> dict[str, type]:
    """Classes of one kind that this installation offers, by name.

    Parameters
    ----------
    kind : {"reducer", "projection", "selector", "learner"}
        What the class is for; reducers are projections and selectors.

    Returns
    -------
    dict
        Class name to class.

    Examples
    --------
    >>> from partlearn.benchmark import known_classes
    >>> "CENDA" in known_classes("reducer")
    True
    """
    found: dict[str, type] = {}
    for package in PACKAGES[kind]:
        module = import_module(package)
        for name in getattr(module, "__all__", ()):
            item = getattr(module, name)
            if (
                inspect.isclass(item)
                and hasattr(item, "fit")
                and hasattr(item, _METHOD[kind])
                and not inspect.isabstract(item)
            ):
                found[name] = item
    return found


def find_class(name: str, kind: str) -> type:
    """Find a class by name, in any case, or by ``package.module:Class``.

    Parameters
    ----------
    name : str
        Class name.
    kind : {"reducer", "projection", "selector", "learner"}
        What the class is for.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> from partlearn.benchmark import find_class
    >>> find_class("cenda", "reducer").__name__
    'CENDA'
    """
    if ":" in name:
        return _import(name)
    known = known_classes(kind)
    folded = {_fold(key): item for key, item in known.items()}
    if _fold(name) in folded:
        return folded[_fold(name)]
    near = get_close_matches(_fold(name), folded, n=1)
    hint = f" Did you mean {folded[near[0]].__name__}?" if near else ""
    raise PlanError(
        f"There is no {kind} named {name!r} in this version of partlearn.{hint} "
        f"Known: {', '.join(sorted(known))}. "
        "Your own class is named `package.module:Class`."
    )


def _fold(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _import(name: str) -> type:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise PlanError(f"The class {name!r} cannot be imported: {error}.") from error
    if not inspect.isclass(found):
        raise PlanError(f"{name!r} is not a class.")
    return found


def build(
    name: str, params: Mapping[str, Any], kind: str, seed: int | None = None
) -> Any:
    """Build an estimator; give it ``seed`` if it takes one and none was asked for.

    Parameters
    ----------
    name : str
        As for :func:`find_class`.
    params : mapping
        Constructor parameters. A table with ``class`` among them, also inside a list,
        is an estimator that is built first.
    kind : {"reducer", "projection", "selector", "learner"}
        What the class is for.
    seed : int or None, default=None
        Random state.

    Returns
    -------
    estimator
        Not fitted.
    """
    cls = find_class(name, kind)
    accepted = inspect.signature(cls).parameters
    for key in params:
        if key not in accepted:
            near = get_close_matches(key, accepted, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            raise PlanError(
                f"{cls.__name__} has no parameter `{key}`.{hint} "
                f"It takes: {', '.join(accepted) or 'none'}."
            )
    chosen = {key: _with_parts(value, seed) for key, value in params.items()}
    if seed is not None and "random_state" in accepted:
        chosen.setdefault("random_state", seed)
    return cls(**chosen)


def _with_parts(value: Any, seed: int | None) -> Any:
    """Build the estimators among parameters, such as the steps of a pipeline."""
    if isinstance(value, list | tuple):
        return [_with_parts(item, seed) for item in value]
    if not isinstance(value, Mapping) or "class" not in value:
        return value
    unknown = set(value) - {"class", "params"}
    if unknown:
        raise PlanError(
            f"An estimator among parameters has `class` and `params`, not "
            f"`{min(unknown)}`."
        )
    return build(value["class"], value.get("params", {}), "part", seed)


def check_methods(plan: Plan) -> Plan:
    """Fail before anything runs if a method does not exist or a parameter is wrong.

    Parameters
    ----------
    plan : Plan
        The plan to check.

    Returns
    -------
    Plan
        Without the optional methods that this installation does not have.

    Examples
    --------
    >>> from partlearn.benchmark import check_methods, load_plan
    >>> check_methods(load_plan("demo")).learners[0].name
    'PL-KNN'
    """
    from partlearn.benchmark._multilabel._plan import MultilabelPlan

    if isinstance(plan, MultilabelPlan):
        from partlearn.benchmark._multilabel._runner import check_multilabel

        return check_multilabel(plan)
    reducers = available(plan, plan.reducers, "reducer")
    return replace(
        plan,
        reducers=reducers,
        learners=available(plan, plan.learners, "learner"),
        reference=plan.reference
        if plan.reference in {m.name for m in reducers}
        else "",
    )


def available(
    plan: Plan, specs: tuple[MethodSpec, ...], kind: str
) -> tuple[MethodSpec, ...]:
    kept = []
    for spec in specs:
        try:
            if spec.cls:
                find_class(spec.cls, kind)
        except PlanError as error:
            if spec.optional:
                continue
            raise PlanError(f"{plan.name}: {kind} {spec.name!r}: {error}") from None
        try:
            for params in (spec.params, *spec.by_data.values()):
                if spec.cls:
                    _check_confidence(spec, build(spec.cls, params, kind))
        except PlanError as error:
            raise PlanError(f"{plan.name}: {kind} {spec.name!r}: {error}") from None
        kept.append(spec)
    return tuple(kept)


def _check_confidence(spec: MethodSpec, estimator: Any) -> None:
    if spec.pass_confidence and not has_fit_parameter(estimator, "confidence"):
        raise PlanError(
            f"{type(estimator).__name__} cannot start from confidences: its fit takes "
            "no `confidence`. Leave `pass_confidence` out."
        )
