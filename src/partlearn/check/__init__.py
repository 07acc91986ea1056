"""What is wrong with my data: the checker and its report."""

from partlearn.check._check import check
from partlearn.check._report import DataReport, Finding

__all__ = ["check"]
