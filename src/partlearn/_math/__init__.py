"""Shared mathematics, private to the library and open to all of its packages."""
