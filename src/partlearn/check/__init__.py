"""Checks of partial-label data and their report."""

from partlearn.check._check import check
from partlearn.check._report import DataReport, Finding

__all__ = ["check"]
