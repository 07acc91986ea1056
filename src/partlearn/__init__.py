"""partlearn: learning from labels that are sets."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from partlearn._version import __version__

if TYPE_CHECKING:
    from partlearn._ask import plan_questions, rank_rows
    from partlearn._disambiguate import disambiguate
    from partlearn._disambiguation import Disambiguation
    from partlearn._progress import on_progress
    from partlearn.tables import PartialClassifier

__all__ = [
    "Disambiguation",
    "PartialClassifier",
    "__version__",
    "disambiguate",
    "on_progress",
    "plan_questions",
    "rank_rows",
]

_HOMES = {
    "Disambiguation": "partlearn._disambiguation",
    "PartialClassifier": "partlearn.tables",
    "disambiguate": "partlearn._disambiguate",
    "on_progress": "partlearn._progress",
    "plan_questions": "partlearn._ask",
    "rank_rows": "partlearn._ask",
}


def __dir__() -> list[str]:
    """List the public names, also those that are not imported yet."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, since some imports are slow."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
