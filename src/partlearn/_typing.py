"""Names of array types, for annotations."""

# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Indices", "Mask"]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
