"""Entry point of the command ``partlearn``."""

# SPDX-License-Identifier: BSD-3-Clause

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line; what a user can put right ends in one sentence.

    Parameters
    ----------
    argv : sequence of str or None, default=None
        Arguments; None means those of the process.
    """
    try:
        from partlearn.cli._app import app
    except ImportError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.exit("The command line needs the extra: pip install 'partlearn[cli]'")
    try:
        app(args=argv, prog_name="partlearn")
    except (ValueError, OSError, ImportError) as error:
        # What a user can put right: bad plans, absent files, extras not installed.
        from partlearn.cli._data_options import print_error

        sys.exit(print_error(error))


if __name__ == "__main__":
    main()
