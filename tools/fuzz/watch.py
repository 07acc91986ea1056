"""Whether code reached outside of the file it was given, by Python's audit events."""

import sys
import threading
from contextlib import contextmanager

# What Python announces before it happens, and reading data must never do.
HARM = (
    "os.", "subprocess.", "pickle.", "socket.", "ctypes.", "shutil.", "marshal.",
    "exec", "compile", "import", "code.", "urllib.", "tempfile.", "builtins.input",
)  # fmt: skip
_state = {"on": False, "events": [], "hooked": False, "others": frozenset()}


def _hook(event, args):
    if (
        _state["on"]
        and (event.startswith(HARM) or event == "open")
        and threading.get_ident() not in _state["others"]
    ):
        _state["events"].append((event, str(args[0])[:200] if args else ""))


@contextmanager
def nothing_but(path):
    """Fail if what is done inside opens another file, imports, or runs anything."""
    if not _state["hooked"]:  # a hook cannot be taken away again
        sys.addaudithook(_hook)
        _state["hooked"] = True
    # What threads do that were there before is not what is watched.
    others = {thread.ident for thread in threading.enumerate()}
    others.discard(threading.get_ident())
    _state.update(on=True, events=[], others=frozenset(others))
    try:
        yield
    finally:
        _state["on"] = False
        outside = [e for e in _state["events"] if e != ("open", str(path))]
        assert not outside, f"reached outside of {path}: {outside}"
