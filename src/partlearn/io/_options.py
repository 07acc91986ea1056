"""What a caller may say about a file when it does not speak for itself."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from partlearn.io._matrix import Sparse

Task = Literal["pll", "pml", "multiclass", "multilabel"]
TASKS = ("pll", "pml", "multiclass", "multilabel")
Direction = Literal["rows", "columns"]


@dataclass(frozen=True)
class ReadOptions:
    """The arguments of ``read`` that settle what a file leaves open."""

    task: Task | None = None
    labels: str | int | Sequence[str] | None = None
    truth: str | Sequence[str] | None = None
    sep: str | None = None
    ignore: Sequence[str] = ()
    data_key: str | None = None
    candidates_key: str | None = None
    truth_key: str | None = None
    orientation: Direction | None = None
    label_orientation: Direction | None = None
    fold: int | None = None
    sparse: Sparse = "auto"

    def __post_init__(self) -> None:
        _one_of("task", self.task, TASKS)
        _one_of("orientation", self.orientation, ("rows", "columns"))
        _one_of("label_orientation", self.label_orientation, ("rows", "columns"))
        _one_of("sparse", self.sparse, ("auto", True, False))
        if self.sep == "":
            raise ValueError("`sep` must not be empty.")

    def completed(self, meta: Mapping[str, Any]) -> "ReadOptions":
        """Add what our own writer noted down in a file; what the caller said counts."""
        if meta.get("task") not in TASKS:
            return self
        sparse = self.sparse
        if sparse == "auto" and "sparse" in meta:
            sparse = bool(np.any(meta["sparse"]))
        return replace(self, task=self.task or meta["task"], sparse=sparse)


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value is not None and value not in allowed:
        words = ", ".join(repr(v) for v in allowed)
        raise ValueError(f"`{name}` must be one of {words}; got {value!r}.")
