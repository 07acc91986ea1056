"""``partlearn train`` on Parquet files block by block, here or on a Dask cluster."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["cluster", "fit_files"]

WAIT = 30  # seconds that a scheduler has to answer


def fit_files(
    model: Any, paths: Sequence[Path], labels: str | None, scheduler: str | None
) -> int:
    """Fit a PartialClassifier on blocks of Parquet files; returns the number of rows.

    Parameters
    ----------
    model : PartialClassifier
        Not fitted.
    paths : sequence of Path
        Files that follow each other.
    labels : str or None
        Columns with the labels, separated by commas; found by their names by default.
    scheduler : str or None
        Address of a Dask scheduler; by default everything runs in this process.
    """
    from partlearn.io import load_columns, open_tables
    from partlearn.tables import label_columns

    rows = open_tables(paths)
    assert rows.names is not None
    names = label_columns(labels, rows.names)
    evidence, _ = model.read_labels(load_columns(paths, names), names)
    with cluster(scheduler):
        model.fit_blocks(
            rows if scheduler is None else rows.with_dask(), evidence, names
        )
    return len(rows)


@contextmanager
def cluster(scheduler: str | None) -> Iterator[None]:
    """Let Dask run what is lazy on a cluster; None leaves it as it is."""
    if scheduler is None:
        yield
        return
    from partlearn.blocks import connect

    with connect(scheduler, WAIT):
        yield
