"""A matrix in blocks of rows, and functions summed and mapped over the blocks."""

# SPDX-License-Identifier: BSD-3-Clause

from __future__ import annotations

import logging
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from partlearn._array_api import take as take_array
from partlearn._math.blocks._dask import compute_all, dask_blocks, import_dask, is_dask
from partlearn._progress import iterations
from partlearn._sizes import spans
from partlearn._sklearn_compat import safe_indexing
from partlearn._typing import Indices

log = logging.getLogger("partlearn._math.blocks")


class Rows:
    """Matrix in blocks of rows, which are loaded when they are used.

    Parameters
    ----------
    blocks : sequence of callables or of Dask's delayed objects
        Each returns some rows: an array, a sparse matrix or a data frame. Callables run
        one after the other in this process, delayed objects by Dask's scheduler.
    sizes : sequence of int
        Number of rows of each block.
    n_features : int or None
        Number of columns; None for one value per row.
    dtype : dtype, default=float64
        Type of the numbers.
    names : sequence of str, default=None
        Names of the columns.
    places : sequence of ndarray of int, default=None
        Positions of the rows of each block among all rows; by default one block follows
        the other.

    Attributes
    ----------
    shape : tuple of int
        Numbers of rows and columns.
    dtype : dtype
        Type of the numbers.
    names : list of str or None
        Names of the columns.

    See Also
    --------
    partlearn.io.open_rows : Rows of Parquet and npy files.

    Notes
    -----
    Every pass over the blocks is logged by the logger ``partlearn._math.blocks`` at
    level INFO: the sum, the number of blocks and the seconds. In this process
    :func:`partlearn.on_progress` also reports every block; for a cluster see Dask's
    dashboard.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.blocks import Rows
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> rows = Rows([lambda: X[:4], lambda: X[4:]], sizes=[4, 2], n_features=2)
    >>> rows
    Rows(6 x 2 in 2 blocks)
    >>> rows.take([5, 0])
    array([[10., 11.],
           [ 0.,  1.]])
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        sizes: Sequence[int],
        n_features: int | None,
        *,
        dtype: Any = np.float64,
        names: Sequence[str] | None = None,
        places: Sequence[Any] | None = None,
    ) -> None:
        if len(blocks) != len(sizes):
            raise ValueError(
                f"`sizes` must have a number for each of the {len(blocks)} blocks; got "
                f"{len(sizes)}."
            )
        # A block without rows would only be in the way of functions of rows.
        kept = [i for i, n in enumerate(sizes) if n]
        self._blocks = [blocks[i] for i in kept]
        self._ends = np.cumsum([0, *(int(sizes[i]) for i in kept)])
        self._places: list[Any] = (
            [slice(a, b) for a, b in pairwise(self._ends)]
            if places is None
            else [places[i] for i in kept]
        )
        wide = () if n_features is None else (int(n_features),)
        self.shape: tuple[int, ...] = (int(self._ends[-1]), *wide)
        self.dtype = np.dtype(dtype)
        self.names = None if names is None else list(names)
        self._known: dict[Any, Any] = {}

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.shape))
        return f"Rows({size} in {len(self._blocks)} blocks)"

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, wanted: Any) -> Rows:
        """Return some rows, or all in another order, lazily.

        The blocks keep their order, without the other rows; arrays that are aligned
        with the rows are cut accordingly.
        """
        stacked = self._stacked()[wanted]
        if np.ndim(stacked) != 1:
            raise TypeError(
                "Rows are taken by a list of positions, a mask or a slice; got "
                f"{wanted!r}. `compute` loads all of them."
            )
        order = np.argsort(stacked, kind="stable")
        stacked = stacked[order]
        edges = np.searchsorted(stacked, self._ends).tolist()
        blocks: list[Any] = []
        for i, (start, stop) in enumerate(pairwise(edges)):
            load, inside = self._blocks[i], stacked[start:stop] - self._ends[i]
            whole = np.array_equal(inside, np.arange(self.sizes[i]))
            blocks.append(load if whole else self._later(safe_indexing, load, inside))
        places = [order[start:stop] for start, stop in pairwise(edges)]
        rows = self._like(blocks, np.diff(edges).tolist(), places)
        if np.array_equal(stacked, np.arange(len(self))):
            rows._known = self._known  # sums know no order
        return rows

    def _stacked(self) -> Indices:
        """Return the position of each row in the stacked blocks."""
        rows = np.arange(len(self))
        stacked = np.empty_like(rows)
        for place, (start, stop) in zip(
            self._places, pairwise(self._ends), strict=True
        ):
            stacked[place] = rows[start:stop]
        return stacked

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Load all rows for NumPy, for example to score predictions."""
        X = self.compute()
        return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=dtype)

    def __matmul__(self, P: Any) -> Any:
        """Multiply by a thin matrix or a vector; the product is in memory."""
        return self.map(_product, P=P)

    def _like(self, blocks: Any, sizes: Any, places: Any) -> Rows:
        wide = self.shape[1] if len(self.shape) > 1 else None
        return Rows(
            blocks, sizes, wide, dtype=self.dtype, names=self.names, places=places
        )

    def _later(self, function: Callable[..., Any], block: Any, *args: Any) -> Any:
        """Return a lazy block that is a function of another one."""
        if self._lazy:
            return import_dask().delayed(function, pure=False)(block, *args)
        return partial(_loaded, function, block, *args)

    @property
    def sizes(self) -> Indices:
        """Number of rows of each block."""
        return np.diff(self._ends)

    def with_dask(self) -> Rows:
        """Return the same rows as delayed blocks, run by Dask's scheduler.

        Returns
        -------
        rows : Rows
            With delayed blocks. The scheduler is the current ``distributed.Client``, or
            the one set by ``dask.config.set(scheduler=...)``.
        """
        dask = import_dask()
        if self._lazy:
            return self
        blocks = [dask.delayed(block, pure=False)() for block in self._blocks]
        return self._like(blocks, self.sizes.tolist(), self._places)

    def apply(
        self,
        function: Callable[..., Any],
        *,
        n_features: int | None,
        dtype: Any = None,
        numbered: bool = False,
    ) -> Rows:
        """Map the blocks lazily.

        Parameters
        ----------
        function : callable
            Returns as many rows as its block has. Workers must be able to unpickle it.
        n_features : int or None
            Number of columns of the result; None for one value per row.
        dtype : dtype, default=None
            Type of the result; by default the type of these rows.
        numbered : bool, default=False
            Whether `function` also gets the positions of the block's first and last
            row.

        Returns
        -------
        rows : Rows
            Lazy rows: blocks are computed when they are used.
        """
        all_rows, blocks = np.arange(len(self)), []
        for block, place in zip(self._blocks, self._places, strict=True):
            rows = all_rows[place]
            ends = (int(rows.min()), int(rows.max())) if numbered else ()
            blocks.append(self._later(function, block, *ends))
        return Rows(
            blocks,
            self.sizes.tolist(),
            n_features,
            dtype=self.dtype if dtype is None else dtype,
            places=self._places,
        )

    def astype(self, dtype: Any, copy: bool = True) -> Rows:
        """Return the same rows in another precision; `copy` is ignored."""
        if np.dtype(dtype) == self.dtype:
            return self
        blocks = [self._later(_astype, block, dtype) for block in self._blocks]
        rows = self._like(blocks, self.sizes.tolist(), self._places)
        rows.dtype = np.dtype(dtype)
        return rows

    def block(self, i: int) -> Any:
        """Load the `i`-th block."""
        return compute_all([self._blocks[i]])[0] if self._lazy else self._blocks[i]()

    def kept(self) -> Rows:
        """Return the same rows with loaded blocks, for repeated passes."""
        blocks = [partial(_itself, load()) for load in self._blocks]
        return self._like(blocks, self.sizes.tolist(), self._places)

    def compute(self) -> Any:
        """Load all rows, such as thin results.

        Returns
        -------
        X : ndarray or CSR matrix
            The blocks below each other.
        """
        return self.map(_itself) if len(self) else np.empty(self.shape, self.dtype)

    def take(self, indices: ArrayLike) -> Any:
        """Load some rows.

        Parameters
        ----------
        indices : array-like of int
            Places of the rows.

        Returns
        -------
        X : ndarray or CSR matrix of shape (len(indices), n_features)
            These rows, in the order asked for.
        """
        places = np.asarray(indices)
        return self[places if places.size else slice(0)].compute()

    def map(self, function: Callable[..., Any], *aligned: Any, **shared: Any) -> Any:
        """Apply a function to every block, and stack the results.

        Parameters
        ----------
        function : callable
            Called with a block, the rows of `aligned` that belong to it, and `shared`;
            returns an array with one row per row of the block.
        *aligned : ndarray
            Arrays with one row per row of the data, cut like it.
        **shared : object
            Passed to every call.

        Returns
        -------
        result : ndarray or CSR matrix
            The results below each other.
        """
        began = time.perf_counter()
        results = list(self._calls(function, aligned, shared))
        if self._lazy:
            results = compute_all(results)
        self._log_pass(function, began)
        stacked = _stack(results)
        if isinstance(self._places[0], slice):
            return stacked
        return stacked[self._stacked()]

    def total(
        self,
        function: Callable[..., Any],
        *aligned: Any,
        combine: Callable[[Any, Any], Any] = operator.add,
        **shared: Any,
    ) -> Any:
        """Sum a function of every block.

        Parameters
        ----------
        function, *aligned, **shared
            As in `map`, but results may be of any kind.
        combine : callable, default=operator.add
            Combines two results.

        Returns
        -------
        total : object
            The combined results. They are combined one after the other in this process,
            and in pairs by Dask, so that the caller receives a single result. A total
            without further arguments is cached.
        """
        key = None if aligned or shared else (function, combine)
        if key is not None and key in self._known:
            return self._known[key]
        began = time.perf_counter()
        calls = self._calls(function, aligned, shared)
        if self._lazy:
            add = import_dask().delayed(combine, pure=False)
            parts = list(calls)
            while len(parts) > 1:
                odd = parts[len(parts) - len(parts) % 2 :]
                pairs = zip(parts[::2], parts[1::2], strict=False)
                parts = [add(a, b) for a, b in pairs] + odd
            (result,) = compute_all(parts)
        else:
            result = reduce(combine, calls)
        self._log_pass(function, began)
        if key is not None:
            self._known[key] = result
        return result

    @property
    def _lazy(self) -> bool:
        return bool(self._blocks) and is_dask(self._blocks[0])

    def _calls(
        self, function: Callable[..., Any], aligned: Sequence[Any], shared: Any
    ) -> Iterator[Any]:
        """Yield results block by block, or as Dask's delayed objects."""
        parts = [[A[places] for A in aligned] for places in self._places]
        if self._lazy:
            dask = import_dask()
            call = dask.delayed(function, pure=False)
            # One node of the graph, however many blocks read it.
            once = {name: dask.delayed(value) for name, value in shared.items()}
            for block, part in zip(self._blocks, parts, strict=True):
                yield call(block, *part, **once)
            return
        for i in iterations(_name(function), len(self._blocks)):
            block = self._blocks[i]()
            if block.shape[0] != self.sizes[i]:
                raise ValueError(
                    f"Block {i} has {block.shape[0]} rows, but its size is given as "
                    f"{self.sizes[i]}."
                )
            yield function(block, *parts[i], **shared)

    def _log_pass(self, function: Callable[..., Any], began: float) -> None:
        seconds, n = time.perf_counter() - began, len(self._blocks)
        log.info("%s over %d blocks: %.1f s", _name(function), n, seconds)


def as_rows(X: Any) -> Rows | None:
    """Convert Dask collections to rows in blocks.

    Parameters
    ----------
    X : Rows, Dask array or Dask data frame, or anything else
        Rows passed to an estimator. Blocks of unknown length are counted, which is a
        pass over the data.

    Returns
    -------
    rows : Rows or None
        None if `X` is in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from partlearn._math.blocks import as_rows
    >>> as_rows(da.ones((10, 2), chunks=(4, 1)))
    Rows(10 x 2 in 3 blocks)
    >>> as_rows([[1.0]]) is None
    True
    """
    if isinstance(X, Rows):
        return X
    if not is_dask(X):
        return None
    collection = dask_blocks(X)
    sizes = collection.sizes
    if np.isnan(sizes).any():
        count = import_dask().delayed(_n_rows, pure=False)
        sizes = compute_all([count(block) for block in collection.blocks])
    return Rows(
        collection.blocks,
        sizes,
        collection.shape[1],
        dtype=collection.dtype,
        names=collection.names,
    )


def in_blocks(X: Any, size: int) -> Rows:
    """Cut an array in memory into blocks.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        The rows.
    size : int
        Maximum number of rows of a block.

    Returns
    -------
    rows : Rows
        Each block is a slice of the array.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.blocks import in_blocks
    >>> in_blocks(np.ones((10, 2)), 4)
    Rows(10 x 2 in 3 blocks)
    """
    places = list(spans(X.shape[0], size))
    blocks = [partial(operator.getitem, X, place) for place in places]
    sizes = [place.stop - place.start for place in places]
    return Rows(blocks, sizes, X.shape[1], dtype=X.dtype)


def total(
    X: Any,
    function: Callable[..., Any],
    *aligned: Any,
    combine: Callable[[Any, Any], Any] = operator.add,
    **shared: Any,
) -> Any:
    """Sum a function of blocks of rows; an array in memory is one block.

    Parameters
    ----------
    X : Rows, ndarray or sparse matrix
        The rows.
    function, *aligned, combine, **shared
        As in :meth:`Rows.total`.

    Returns
    -------
    total : object
        The sum.

    Examples
    --------
    >>> import numpy as np
    >>> from partlearn._math.blocks import total
    >>> X = np.arange(4.0).reshape(2, 2)
    >>> total(X, lambda block, y: block.T @ y, np.ones(2))
    array([2., 4.])
    """
    if isinstance(X, Rows):
        return X.total(function, *aligned, combine=combine, **shared)
    return function(X, *aligned, **shared)


def gather(X: Any, function: Callable[..., Any], *aligned: Any, **shared: Any) -> Any:
    """Map rows block by block; an array in memory is one block.

    Parameters
    ----------
    X : Rows, ndarray or sparse matrix
        The rows.
    function, *aligned, **shared
        As in :meth:`Rows.map`.

    Returns
    -------
    result : ndarray or CSR matrix
        One row per row of `X`.
    """
    if isinstance(X, Rows):
        return X.map(function, *aligned, **shared)
    return function(X, *aligned, **shared)


def refuse_blocks(X: Any, why: str, advice: str) -> None:
    """Raise for rows in blocks, with the parameter to set.

    Parameters
    ----------
    X : Rows, or anything else
        Validated rows.
    why : str
        Reason why all rows are needed, as a clause.
    advice : str
        Parameter to set.
    """
    if isinstance(X, Rows):
        raise ValueError(
            f"This fit needs all rows at once, not blocks of them: {why}. Set "
            f"{advice}, or load the rows into memory."
        )


def framed(X: Any, names: Sequence[str] | None) -> Any:
    """Add column names to an array, as a pandas data frame.

    Parameters
    ----------
    X : ndarray, or rows that have names
        Rows.
    names : sequence of str or None
        Names of the columns.

    Returns
    -------
    X : data frame
        The array itself without names or without pandas.
    """
    if names is None or not isinstance(X, np.ndarray):
        return X
    try:
        from pandas import DataFrame
    except ImportError:
        return X
    return DataFrame(X, columns=list(names))


def _name(function: Callable[..., Any]) -> str:
    """Name of a pass for the log."""
    name = getattr(function, "__name__", type(function).__name__)
    return str(name).strip("_").replace("_", " ")


def _stack(parts: Sequence[Any]) -> Any:
    if any(map(sp.issparse, parts)):
        return sp.csr_array(sp.vstack(parts))
    return np.concatenate(parts)


def _loaded(function: Callable[..., Any], load: Callable[[], Any], *args: Any) -> Any:
    return function(load(), *args)


def take(X: Any, indices: ArrayLike) -> Any:
    """Load some rows, of blocks or of an array in memory.

    Parameters
    ----------
    X : Rows, ndarray or sparse matrix
        The rows.
    indices : array-like of int
        Places of the rows.

    Returns
    -------
    rows : ndarray or sparse matrix
        These rows, in the order asked for.
    """
    places = np.asarray(indices)
    return X.take(places) if isinstance(X, Rows) else take_array(X, places)


def _product(block: Any, P: Any) -> Any:
    return np.asarray(block @ P)


def _itself(block: Any) -> Any:
    return block


def _astype(block: Any, dtype: Any) -> Any:
    return block.astype(dtype)


def _n_rows(block: Any) -> int:
    return int(block.shape[0])
