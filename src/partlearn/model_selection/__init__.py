"""Splitters and honest cross-validation for candidate labels."""
