"""``partlearn report``: pages from a finished run."""

# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path
from typing import Annotated

import typer

from partlearn.cli._data_options import Json

__all__ = ["report"]


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of a run (bench --out).")],
    html: Annotated[Path | None, typer.Option(help="Write one HTML page.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write Markdown.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write LaTeX tables.")] = None,
    as_json: Json = False,
) -> None:
    """Write the report of a run; without options, print its tables."""
    from partlearn.cli._console import print_summary
    from partlearn.io import atomic_write
    from partlearn.report import summarize, to_html, to_json, to_latex, to_markdown

    summary = summarize(_run_folder(folder))
    writers = ((html, to_html), (markdown, to_markdown), (latex, to_latex))
    for path, render in writers:
        if path is not None:
            page = render(summary).encode()
            with atomic_write(path) as file:
                file.write(page)
            if not as_json:
                print(f"Report: {path}")
    if as_json:
        print(to_json(summary))
    elif not any((html, markdown, latex)):
        print_summary(summary)


def _run_folder(folder: Path) -> Path:
    """The folder itself, or the only run inside it."""
    if (folder / "run.json").is_file() or not folder.is_dir():
        return folder
    runs = sorted(path.parent for path in folder.glob("*/run.json"))
    if len(runs) > 1:
        names = ", ".join(path.name for path in runs)
        raise ValueError(f"{folder} holds several runs ({names}); name one of them.")
    return runs[0] if runs else folder
