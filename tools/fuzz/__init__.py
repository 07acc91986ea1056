"""Hostile input with a budget: ``python -m tools.fuzz`` or ``make fuzz``."""
