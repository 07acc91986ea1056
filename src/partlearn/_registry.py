"""List of all methods by name, read from the exports of the packages.

A method is a public class of one of the packages below. Its role follows from its
package and its interface. The command line, plans, :func:`partlearn.disambiguate` and
the tests find a new method as soon as its package exports it. Packages are imported on
the first use.
"""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Literal, get_args

from partlearn._arguments import argument

__all__ = [
    "DEFAULT_METHOD",
    "DEFAULT_TAG_METHOD",
    "PARTIAL_LABEL_ROLES",
    "ROLES",
    "Method",
    "MethodError",
    "Role",
    "build",
    "check_packages",
    "find",
    "methods",
]

Role = Literal[
    "reducer", "selector", "learner", "multilabel selector", "multilabel learner"
]
ROLES: tuple[Role, ...] = get_args(Role)
PARTIAL_LABEL_ROLES: tuple[Role, ...] = ("reducer", "selector", "learner")
# What finds labels where nobody names a method, in Python and on the command line.
DEFAULT_METHOD = "crisp-classifier"
# The same for tags.
DEFAULT_TAG_METHOD = "crisp-multi-label-classifier"
# Packages whose classes a plan may name without being asked.
TRUSTED = ("partlearn", "sklearn")
_PACKAGES = (
    "decomposition",
    "feature_selection",
    "classification",
    "multilabel.feature_selection",
    "multilabel.classification",
)


class MethodError(ValueError):
    """Error for a method or a parameter that does not exist."""


@dataclass(frozen=True)
class Method:
    """A method of this library.

    Attributes
    ----------
    name : str
        Name of the class.
    role : str
        Role of the method, one of :data:`ROLES`.
    cls : type
        The class.
    required : tuple of str
        Parameters without a default.
    """

    name: str
    role: Role
    cls: type[Any]

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the parameters without a default."""
        return _required(self.cls)


def _required(cls: type[Any]) -> tuple[str, ...]:
    parameters = inspect.signature(cls).parameters.values()
    return tuple(
        p.name
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    )


def methods(*roles: Role) -> dict[str, Method]:
    """Return the methods of some roles, sorted by name.

    Parameters
    ----------
    *roles : str
        Out of :data:`ROLES`; none means all.

    Returns
    -------
    dict of str to Method
        Class name to method.

    Examples
    --------
    >>> from partlearn._registry import methods
    >>> "CENDA" in methods("reducer"), "PMLFSLA" in methods("selector")
    (True, False)
    """
    known: dict[str, Method] = {}
    for package in _PACKAGES:
        module = import_module(f"partlearn.{package}")
        for name in module.__all__:
            role = _role(getattr(module, name))
            if role is not None and (not roles or role in roles):
                known[name] = Method(name, role, getattr(module, name))
    return dict(sorted(known.items()))


def _role(item: Any) -> Role | None:
    """Return the role of a public name; None if it is not a method."""
    if not inspect.isclass(item) or inspect.isabstract(item):
        return None
    if not hasattr(item, "fit"):
        return None
    if hasattr(item, "get_support"):
        return "multilabel selector" if _is_multilabel(item) else "selector"
    if hasattr(item, "predict"):
        return "multilabel learner" if _is_multilabel(item) else "learner"
    return "reducer" if hasattr(item, "transform") else None


def _is_multilabel(cls: type[Any]) -> bool:
    """Whether rows may have several true labels, by the package of the class."""
    return cls.__module__.startswith("partlearn.multilabel.")


def find(name: str, *roles: Role) -> type[Any]:
    """Return the class of a method by its name.

    Parameters
    ----------
    name : str
        Class name in any case, with or without hyphens ("PL-KNN", "crisp-selector"), or
        ``package.module:Class`` for an estimator of any package, which is imported.
    *roles : str
        Roles that the method may have; none means any.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> from partlearn._registry import find
    >>> find("pl-knn", "learner").__name__
    'PLKNN'
    """
    if ":" in name:
        return _import(name)
    known = {_plain(key): method for key, method in methods(*roles).items()}
    key = _plain(name)
    if key in known:
        return known[key].cls
    near = get_close_matches(key, known, n=1)
    hint = f" Did you mean {known[near[0]].name}?" if near else ""
    names = ", ".join(method.name for method in known.values())
    role = roles[0] if len(roles) == 1 else "method"
    raise MethodError(
        f"There is no {role} named {name!r} in this version of partlearn.{hint} "
        f"Known: {names}. "
        "Your own class is named `package.module:Class`."
    )


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _import(name: str) -> type[Any]:
    module, _, attribute = name.partition(":")
    try:
        item = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise MethodError(f"The class {name!r} cannot be imported: {error}.") from error
    from sklearn.base import BaseEstimator

    if not inspect.isclass(item) or not issubclass(item, BaseEstimator):
        raise MethodError(
            f"{name!r} is not a class of estimators, which derive from "
            "sklearn.base.BaseEstimator."
        )
    return item


def check_packages(value: Any, allow: Collection[str] = ()) -> None:
    """Raise for classes of packages that are not allowed, before an import.

    An import runs the code of a module, so a file that may name any module is a
    program. Parameters by which scikit-learn would read or write files are refused too.

    Parameters
    ----------
    value : str, mapping or list
        A name as for :func:`find`, or parameters as for :func:`build`; nested
        parameters are checked too.
    allow : collection of str, default=()
        Packages besides partlearn and scikit-learn.

    Examples
    --------
    >>> from partlearn._registry import check_packages
    >>> check_packages("sklearn.decomposition:PCA")
    >>> check_packages({"class": "sklearn.pipeline:Pipeline", "memory": "."})
    Traceback (most recent call last):
        ...
    partlearn._registry.MethodError: The parameter `memory` = '.' would make ...
    >>> check_packages("subprocess:Popen")
    Traceback (most recent call last):
        ...
    partlearn._registry.MethodError: 'subprocess:Popen' is a class of the package ...
    """
    if isinstance(value, str) and ":" in value:
        package = value.partition(":")[0].partition(".")[0]
        if package not in (*TRUSTED, *allow):
            raise MethodError(
                f"{value!r} is a class of the package {package!r}, which is not "
                f"allowed. If you trust it, add it to {argument('allow')}."
            )
    elif isinstance(value, Mapping | list | tuple):
        if isinstance(value, Mapping):
            _refuse_files(value)
        parts = value.values() if isinstance(value, Mapping) else value
        for item in parts:
            if not isinstance(item, str):
                check_packages(item, allow)
        if isinstance(value, Mapping):
            check_packages(value.get("class"), allow)


# Parameters by which estimators of scikit-learn read or write files, or compute text,
# and the values that do neither.
_OF_FILES = {
    "memory": r"(?!)",
    "input": "content",
    "pre_dispatch": r"all|([1-9]\d{0,2} ?\* ?)?n_jobs",
}


def _refuse_files(params: Mapping[str, Any]) -> None:
    """Raise for parameters by which scikit-learn would read or write files.

    A cache on disk is unpickled, which runs code in its files.
    """
    for key, value in params.items():
        name = str(key).rpartition("__")[2]  # of a part, as in a grid of a search
        if name not in _OF_FILES:
            continue
        values = value if isinstance(value, list | tuple) else [value]
        for item in values:
            if isinstance(item, str) and not re.fullmatch(_OF_FILES[name], item):
                raise MethodError(
                    f"The parameter `{key}` = {item!r} would make scikit-learn read or "
                    "write files, or compute text, which a plan may not do. Leave it "
                    "out."
                )


def build(
    name: Any, params: Mapping[str, Any], *roles: Role, seed: int | None = None
) -> Any:
    """Build a method by name.

    Parameters
    ----------
    name : str or estimator
        As for :func:`find`; an estimator is cloned as it is.
    params : mapping of str to object
        Constructor parameters. A table with ``class`` among them, also inside a list,
        is an estimator that is built first.
    *roles : str
        As for :func:`find`.
    seed : int or None, default=None
        Random state of a method that takes one, if `params` does not set it.

    Returns
    -------
    estimator
        Not fitted.

    Examples
    --------
    >>> from partlearn._registry import build
    >>> build("plknn", {"n_neighbors": 3}, "learner")
    PLKNN(n_neighbors=3)
    """
    if not isinstance(name, str):
        from sklearn.base import clone

        if not hasattr(name, "fit"):
            raise TypeError(
                "`method` must be the name of a method or an estimator; got "
                f"{type(name).__name__}."
            )
        return clone(name)
    cls = find(name, *roles)
    accepted = inspect.signature(cls).parameters
    for key in params:
        if key not in accepted:
            near = get_close_matches(key, accepted, n=1)
            hint = f" Did you mean `{near[0]}`?" if near else ""
            raise MethodError(
                f"{cls.__name__} has no parameter `{key}`.{hint} "
                f"It takes: {', '.join(accepted) or 'none'}."
            )
    chosen = {key: _with_parts(value, seed) for key, value in params.items()}
    if seed is not None and "random_state" in accepted:
        chosen.setdefault("random_state", seed)
    for key in _required(cls):
        if key not in chosen:
            raise MethodError(f"{cls.__name__} needs the parameter `{key}`.")
    return cls(**chosen)


def _with_parts(value: Any, seed: int | None) -> Any:
    """Build the estimators among parameters, such as the steps of a pipeline."""
    if isinstance(value, list | tuple):
        return [_with_parts(item, seed) for item in value]
    if not isinstance(value, Mapping) or "class" not in value:
        return value
    unknown = set(value) - {"class", "params"}
    if unknown:
        raise MethodError(
            "An estimator among parameters has `class` and `params`, not "
            f"`{min(unknown)}`."
        )
    name, params = value["class"], value.get("params", {})
    if not isinstance(name, str) or not isinstance(params, Mapping):
        raise MethodError(
            "An estimator among parameters has a name as its `class` and a table as "
            f"its `params`; got {name!r} and {params!r}."
        )
    return build(name, params, seed=seed)
