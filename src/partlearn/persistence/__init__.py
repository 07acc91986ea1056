"""Model files that hold data and never run code."""

# SPDX-License-Identifier: BSD-3-Clause

from partlearn.persistence._model import Model, check_model, load_model, save_model
from partlearn.persistence._width import row_width

__all__ = ["Model", "load_model", "save_model"]
