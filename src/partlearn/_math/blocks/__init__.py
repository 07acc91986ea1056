"""Rows in blocks: data larger than memory, or spread over machines.

A fit uses its features only through sums over rows and maps of rows. For an array in
memory these are single steps; for :class:`Rows` they run block by block, in this
process or by Dask. Arrays with one row per sample and few columns (labels, confidences,
scores) stay with the caller.
"""

from partlearn._math.blocks._dask import connect, in_memory
from partlearn._math.blocks._lazy import lazy_rows, takes_blocks
from partlearn._math.blocks._rows import (
    Rows,
    as_rows,
    framed,
    gather,
    in_blocks,
    refuse_blocks,
    take,
    total,
)
