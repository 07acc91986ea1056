"""Run the command line with ``python -m partlearn``."""

from partlearn.cli.__main__ import main

if __name__ == "__main__":
    main()
