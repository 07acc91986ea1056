"""Peak memory of a piece of work, by sampling the resident size of the process."""

# SPDX-License-Identifier: BSD-3-Clause

import threading
from types import TracebackType

from partlearn.benchmark._isolated import process_bytes

__all__ = ["PeakMemory"]


class PeakMemory:
    """Context manager that samples the resident size in a thread.

    Parameters
    ----------
    interval : float, default=0.02
        Seconds between samples: peaks shorter than this may be missed.

    Attributes
    ----------
    megabytes : float or None
        Highest size above the size at entry; None where it cannot be measured.
    """

    def __init__(self, interval: float = 0.02) -> None:
        self.interval = interval
        self.megabytes: float | None = None
        self._stop = threading.Event()

    def __enter__(self) -> "PeakMemory":
        start = process_bytes(1)
        if start is not None:
            self._start = self._peak = start
            self._thread = threading.Thread(target=self._sample, daemon=True)
            self._thread.start()
        self._measures = start is not None
        return self

    def _sample(self) -> None:
        while not self._stop.wait(self.interval):
            self._peak = max(self._peak, process_bytes(1) or 0)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._measures:
            return
        self._stop.set()
        self._thread.join()
        self._peak = max(self._peak, process_bytes(1) or 0)
        self.megabytes = round((self._peak - self._start) / 2**20, 1)
