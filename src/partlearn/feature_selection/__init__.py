"""Selectors: subsets of features learnt from candidate labels."""
