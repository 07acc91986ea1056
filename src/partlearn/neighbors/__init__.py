"""Exact nearest neighbours with deterministic ties."""
