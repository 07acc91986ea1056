"""Shared mathematics, private to the library and used by all of its packages."""
