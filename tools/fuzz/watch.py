"""Whether code reached outside of the file it was given, by Python's audit events."""

import sys
from contextlib import contextmanager

# What Python announces before it happens, and reading data must never do.
HARM = (
    "os.", "subprocess.", "pickle.", "socket.", "ctypes.", "shutil.", "marshal.",
    "exec", "compile", "import", "code.", "urllib.", "tempfile.", "builtins.input",
)  # fmt: skip
_state = {"on": False, "events": [], "hooked": False}


def _hook(event, args):
    if _state["on"] and (event.startswith(HARM) or event == "open"):
        _state["events"].append((event, str(args[0])[:200] if args else ""))


@contextmanager
def nothing_but(path):
    """Fail if what is done inside opens another file, imports, or runs anything."""
    if not _state["hooked"]:  # a hook cannot be taken away again
        sys.addaudithook(_hook)
        _state["hooked"] = True
    _state.update(on=True, events=[])
    try:
        yield
    finally:
        _state["on"] = False
        outside = [e for e in _state["events"] if e != ("open", str(path))]
        assert not outside, f"reached outside of {path}: {outside}"
