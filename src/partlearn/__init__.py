"""partlearn: learning from labels that are sets."""

from partlearn._version import __version__

__all__ = ["__version__"]
