"""Projections and least squares on the probability simplex."""
