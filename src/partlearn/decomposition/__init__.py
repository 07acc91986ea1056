"""Reducers: linear projections learnt from candidate labels."""
