"""Modules of pyarrow, imported when they are first used."""

# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from partlearn._extras import import_optional


class _Lazy:
    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # no import for inspection
            raise AttributeError(name)
        return getattr(import_optional(self._module, "Tables"), name)


pa: Any = _Lazy("pyarrow")
pc: Any = _Lazy("pyarrow.compute")
csv: Any = _Lazy("pyarrow.csv")
ipc: Any = _Lazy("pyarrow.ipc")
parquet: Any = _Lazy("pyarrow.parquet")
