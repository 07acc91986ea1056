"""Shared mathematics: private to the library, open to all of its packages."""
