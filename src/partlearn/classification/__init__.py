"""Classifiers that learn from candidate labels."""
