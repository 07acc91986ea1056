"""Rows in blocks: data larger than memory, or spread over machines.

A fit touches its features only through sums over rows and maps of rows. Over an array
in memory they are taken in one step; over :class:`Rows` block by block, in this process
or by Dask, whose scheduler decides where. What has one row per sample but few columns
(labels, confidences, scores) stays with the caller.
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
