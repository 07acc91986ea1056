"""Fuzz with a budget of time or tries, in processes of their own.

    python -m tools.fuzz                          # every target, one minute each
    python -m tools.fuzz models --tries 20000
    python -m tools.fuzz readers --seconds 600 --start 100000

A try is a number: the same number makes the same input on every machine. A try that
raises what it may not, ends the process, runs longer than a minute or takes more memory
than the ceiling is a failure and is named.
"""

import argparse
import json
import sys
from pathlib import Path

from tools.fuzz.runner import fuzz

TARGETS = ("readers", "models", "fields", "arrow", "kills", "disks", "clusters")


def main(arguments=None):
    """Fuzz the targets that are asked for; 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz")
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []])
    parser.add_argument("--tries", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--start", type=int, default=0, help="number of the first try")
    parser.add_argument("--json", type=Path, help="write the counts to a file")
    options = parser.parse_args(arguments)
    if options.tries is None and options.seconds is None:
        options.seconds = 60.0
    found = []
    for name in options.targets or TARGETS:
        total = fuzz(
            name,
            start=options.start,
            tries=options.tries,
            seconds=options.seconds,
            log=lambda text: print(text, file=sys.stderr),
        )
        found.append(total)
        print(
            f"{name}: {total['tries']:,} tries, {total['accepted']:,} accepted, "
            f"{len(total['failures'])} failures, {total['peak'] / 2**20:.0f} MiB, "
            f"{total['seconds']} s"
        )
        for i, text in total["failures"]:
            print(f"--- {name} {i}\n{text}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return int(any(total["failures"] for total in found))


if __name__ == "__main__":
    sys.exit(main())
