"""Thin linear algebra: implicit standardisation and low-rank eigenproblems."""
