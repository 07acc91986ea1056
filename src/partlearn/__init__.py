"""partlearn: learning from labels that are sets."""

from typing import TYPE_CHECKING, Any

from partlearn._version import __version__

if TYPE_CHECKING:
    from partlearn._disambiguate import Disambiguation, disambiguate

__all__ = ["Disambiguation", "__version__", "disambiguate"]


def __getattr__(name: str) -> Any:
    """Import the heavy names when they are first asked for."""
    if name in ("Disambiguation", "disambiguate"):
        from partlearn import _disambiguate

        return getattr(_disambiguate, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
