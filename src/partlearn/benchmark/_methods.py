"""Find estimators by class name, and build them with reproducible seeds."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from partlearn import _registry
from partlearn._registry import MethodError, Role
from partlearn._sklearn_compat import validate_parameter_constraints
from partlearn.benchmark._plan import MethodSpec, Plan, TunedPlan
from partlearn.benchmark._toml import PlanError

# Kinds of methods in plans, and their roles in the registry.
KINDS: dict[str, tuple[Role, ...]] = {
    "reducer": ("reducer", "selector"),
    "learner": ("learner",),
    # Whatever has `ranking_` after fit.
    "ranker": ("multilabel selector", "multilabel learner", "selector"),
    "multilabel": ("multilabel learner",),
}


def find_class(name: str, kind: str) -> type:
    """Find a class by name, in any case, or by ``package.module:Class``.

    Parameters
    ----------
    name : str
        Class name.
    kind : {"reducer", "learner", "ranker", "multilabel"}
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
    return _registry.find(name, *KINDS[kind])


def build(
    name: str, params: Mapping[str, Any], kind: str, seed: int | None = None
) -> Any:
    """Build an estimator; ``seed`` is its random state unless its parameters set one.

    Parameters
    ----------
    name : str
        As for :func:`find_class`.
    params : mapping
        Constructor parameters, as for :func:`partlearn._registry.build`.
    kind : {"reducer", "learner", "ranker", "multilabel"}
        What the class is for.
    seed : int or None, default=None
        Random state.

    Returns
    -------
    estimator
        Not fitted.
    """
    return _registry.build(name, params, *KINDS[kind], seed=seed)


def available(
    plan: Plan, specs: tuple[MethodSpec, ...], kind: str
) -> tuple[MethodSpec, ...]:
    """Leave out the optional methods that this installation does not have.

    Parameters
    ----------
    plan : Plan
        The plan, for messages.
    specs : tuple of MethodSpec
        Methods of the plan.
    kind : str
        What they are for.

    Returns
    -------
    tuple of MethodSpec
        Those that can be built; one that cannot and is not optional is an error.
    """
    kept = []
    for spec in specs:
        known = False
        try:
            if spec.cls:
                find_class(spec.cls, kind)
                known = True
                for params in (spec.params, *spec.by_data.values()):
                    _check(spec, build(spec.cls, params, kind))
                if spec.pass_bags and not any(data.bags for data in plan.data):
                    raise PlanError(
                        "no data set has bags. Set `bags` of one, or leave `pass_bags` "
                        "out."
                    )
                if isinstance(plan, TunedPlan) and kind == "learner":
                    _check_search(spec, build(spec.cls, spec.params, kind))
        except (MethodError, PlanError) as error:
            if spec.optional and not known:
                continue
            raise PlanError(f"{plan.name}: {kind} {spec.name!r}: {error}") from None
        kept.append(spec)
    return tuple(kept)


def _check(spec: MethodSpec, estimator: Any) -> None:
    name = type(estimator).__name__
    if spec.pass_confidence and not has_fit_parameter(estimator, "confidence"):
        raise PlanError(
            f"{name} cannot start from confidences: its fit takes no `confidence`. "
            "Leave `pass_confidence` out."
        )
    if spec.pass_bags and not has_fit_parameter(estimator, "bags"):
        raise PlanError(
            f"{name} does not use bags: its fit takes none. Leave `pass_bags` out."
        )


def _check_search(spec: MethodSpec, estimator: Any) -> None:
    """Raise for settings that a learner does not accept, before anything runs."""
    name, known = type(estimator).__name__, estimator.get_params()
    if not hasattr(estimator, "predict_proba"):
        raise PlanError(
            f"{name} has no `predict_proba`, which [tune] needs to choose settings."
        )
    for parameter, values in spec.search.items():
        if parameter not in known:
            raise PlanError(
                f"{name} has no parameter {parameter!r} to search. It has: "
                f"{', '.join(sorted(known))}."
            )
        for value in values:
            changed = clone(estimator).set_params(**{parameter: value})
            part, _, last = parameter.rpartition("__")
            owner = changed.get_params()[part] if part else changed
            rules = getattr(owner, "_parameter_constraints", {})
            if last in rules:
                try:
                    validate_parameter_constraints(
                        {last: rules[last]}, {last: value}, type(owner).__name__
                    )
                except ValueError as error:
                    raise PlanError(str(error)) from None
