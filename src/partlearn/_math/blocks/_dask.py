"""Collections of Dask: their blocks and their values."""

# SPDX-License-Identifier: BSD-3-Clause

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from partlearn._extras import import_optional

# A graph carries what is broadcast to the blocks and the thin parts that belong to
# them, which Dask would otherwise warn of.
_GRAPH_WARNING = "distributed.admin.large-graph-warning-threshold"


def is_dask(X: Any) -> bool:
    """Whether `X` is a Dask collection; does not import Dask."""
    return hasattr(type(X), "__dask_graph__")


def import_dask() -> Any:
    """Import Dask; raise with the extra to install."""
    return import_optional("dask", "Blocks by Dask", "dask")


def connect(address: str, timeout: float, **options: Any) -> Any:
    """Connect to a Dask scheduler; raise with the command that starts one.

    Parameters
    ----------
    address : str
        Address of the scheduler, ``tcp://HOST:PORT``.
    timeout : float
        Seconds to wait for an answer.
    **options : dict
        Further arguments of ``distributed.Client``.

    Returns
    -------
    distributed.Client
        The connection.
    """
    distributed = import_optional("distributed", "Dask schedulers", "dask")
    try:
        return distributed.Client(address, timeout=timeout, **options)
    except (OSError, TimeoutError, ValueError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address}: {error}. Start one with `dask "
            "scheduler` and workers with `dask worker`."
        ) from None


def compute_all(promised: Sequence[Any]) -> list[Any]:
    """Compute delayed values together."""
    dask = import_dask()
    if "distributed" not in sys.modules:
        return list(dask.compute(*promised))
    with dask.config.set({_GRAPH_WARNING: "1 GiB"}):
        return list(dask.compute(*promised))


class DaskBlocks(NamedTuple):
    """Blocks of a Dask collection; sizes may be unknown, which is nan."""

    blocks: list[Any]
    sizes: list[Any]
    shape: tuple[float, int]
    dtype: np.dtype[Any]
    names: list[str] | None


def dask_blocks(X: Any) -> DaskBlocks:
    """Return the blocks of a Dask array or data frame, without computing them."""
    ndim = getattr(X, "ndim", None)  # of what is delayed, a promise
    if not isinstance(ndim, int) or ndim != 2:
        raise ValueError(
            "Rows in blocks are a Dask array of two dimensions or a Dask data frame; "
            f"got {type(X).__name__}."
        )
    names: list[str] | None = None
    if hasattr(X, "to_dask_array"):  # a data frame
        # As in memory, names count where all are text.
        if all(isinstance(name, str) for name in X.columns):
            names = list(X.columns)
        blocks, kinds = list(X.to_delayed()), list(X.dtypes)
        sizes = [math.nan] * len(blocks)
    else:
        X = X.rechunk({1: -1})
        blocks, kinds = list(X.to_delayed().ravel()), [X.dtype]
        sizes = list(X.chunks[0])
    single = all(kind == np.float32 for kind in kinds)
    dtype = np.dtype(np.float32 if single else np.float64)
    return DaskBlocks(blocks, sizes, (sum(sizes), X.shape[1]), dtype, names)


def in_memory(y: Any) -> Any:
    """Compute a Dask collection.

    Parameters
    ----------
    y : Dask collection, or anything else
        Labels passed to an estimator.

    Returns
    -------
    y : object
        NumPy or pandas object; other input is returned unchanged.
    """
    return y.compute() if is_dask(y) else y
