"""Labels of rows that share one list: sweeps of messages, and an exact pass."""

from partlearn._math.bags._exact import EXACT_LABELS, exact_pass
from partlearn._math.bags._layout import BagLayout, Share
from partlearn._math.bags._sweeps import N_SWEEPS, sweeps
