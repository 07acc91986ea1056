"""Scores for partial-label problems, with and without the truth."""
