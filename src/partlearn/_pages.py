"""Show text from data on pages without interpreting it."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from typing import Any

__all__ = ["CONTROLS", "POLICY", "visible"]

# Pages hold their styles and pictures themselves and fetch nothing. A page without
# scripts of its own runs none at all, whatever gets into its text.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)

# Controls, halves of characters, and marks of writing direction, which can make a name
# read as another: U+202E turns round what follows.
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    "\ud800-\udfff]"
)


def visible(text: Any, *, lines: bool = False) -> str:
    """Spell out control characters and marks of direction.

    Parameters
    ----------
    text : object
        Its string may come from data.
    lines : bool, default=False
        Keep line breaks and tabs; otherwise they become spaces.

    Returns
    -------
    str
        Every such character written as ``[U+202E]``.

    Examples
    --------
    >>> from partlearn._pages import visible
    >>> visible("invoice" + chr(0x202E) + "fdp.exe")
    'invoice[U+202E]fdp.exe'
    """
    shown = CONTROLS.sub(lambda match: f"[U+{ord(match[0]):04X}]", str(text))
    return shown if lines else shown.replace("\n", " ").replace("\t", " ")
