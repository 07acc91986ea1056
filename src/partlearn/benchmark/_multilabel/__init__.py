"""Comparisons on partial multi-label data: rank features once, score along a curve."""
