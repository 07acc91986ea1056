"""Lazy predictions and projections of rows in blocks."""

# SPDX-License-Identifier: BSD-3-Clause

import inspect
from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from partlearn._math.blocks._dask import DaskBlocks, dask_blocks, is_dask
from partlearn._math.blocks._rows import Rows, framed

C = TypeVar("C", bound=type)
METHODS = ("transform", "predict", "predict_proba", "decision_function")


def lazy_rows(cls: C) -> C:
    """Class decorator: let methods of an estimator take rows in blocks.

    ``transform``, ``predict``, ``predict_proba`` and ``decision_function`` return a
    Dask array for a Dask array or data frame, and :class:`Rows` for :class:`Rows`: one
    lazy block per block. It is a class decorator because scikit-learn wraps
    ``transform`` for `set_output` when the class is created; results for blocks do not
    depend on `set_output`.

    Parameters
    ----------
    cls : type
        Class of an estimator.

    Returns
    -------
    cls : type
        The same class.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from partlearn.classification import PLKNN
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = PLKNN().fit(X, y).predict(da.from_array(X, chunks=(50, 4)))
    >>> labels.chunks
    ((50, 50, 50),)
    >>> labels[:3].compute()
    array([0, 0, 0])
    """
    for name in METHODS:
        method = inspect.getattr_static(cls, name, None)
        # Methods that only some instances have are descriptors: they are decorated by
        # `takes_blocks` where they are defined.
        if isinstance(method, FunctionType) and not hasattr(method, "takes_blocks"):
            setattr(cls, name, takes_blocks(method))
    return cls


def takes_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method of a fitted estimator to take rows in blocks.

    Parameters
    ----------
    method : function
        Returns one value or row for every row of its first argument.

    Returns
    -------
    method : function
        The same method, lazy for rows in blocks.
    """

    @wraps(method)
    def call(self: Any, X: Any) -> Any:
        if isinstance(X, Rows):
            sample = _sample_result(self, method.__name__, X)
            return X.apply(
                partial(_call, estimator=self, name=method.__name__, columns=X.names),
                n_features=sample.shape[1] if sample.ndim == 2 else None,
                dtype=sample.dtype,
            )
        if is_dask(X):
            return _dask_array(self, method.__name__, dask_blocks(X))
        return method(self, X)

    call.takes_blocks = True  # type: ignore[attr-defined]
    return call


def _dask_array(estimator: Any, name: str, blocks: DaskBlocks) -> Any:
    """Return the result of a method as a Dask array with the blocks of the rows."""
    dask, da = import_module("dask"), import_module("dask.array")
    sample = _sample_result(estimator, name, blocks)
    method = dask.delayed(_call, pure=False)
    once = dask.delayed(estimator)
    empty = sample[:0]
    return da.concatenate(
        [
            da.from_delayed(
                method(block, estimator=once, name=name, empty=empty),
                shape=(size, *sample.shape[1:]),
                meta=empty,
            )
            for block, size in zip(blocks.blocks, blocks.sizes, strict=True)
        ]
    )


def _call(
    block: Any,
    estimator: Any,
    name: str,
    empty: Any = None,
    columns: list[str] | None = None,
) -> Any:
    if block.shape[0] == 0:  # a part of a data frame that a filter emptied
        return empty
    return _plain(getattr(estimator, name)(framed(block, columns)))


def _plain(result: Any) -> Any:
    """Call a method with array output, whatever `set_output` is."""
    return result if sp.issparse(result) else np.asarray(result)


def _sample_result(estimator: Any, name: str, rows: Rows | DaskBlocks) -> Any:
    """Return the result for one row, which has the shape and type of all results."""
    row = np.zeros((1, rows.shape[1]), dtype=rows.dtype)
    return _plain(getattr(estimator, name)(framed(row, rows.names)))
