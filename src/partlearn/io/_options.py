"""What a caller may say about a file when it does not speak for itself."""

# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from partlearn.io._matrix import Sparse

__all__ = ["TASKS", "ReadOptions", "Task"]

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


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value is not None and value not in allowed:
        words = ", ".join(repr(v) for v in allowed)
        raise ValueError(f"`{name}` must be one of {words}; got {value!r}.")
