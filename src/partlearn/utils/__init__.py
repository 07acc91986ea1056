"""Public checks that any partial-label estimator can run."""
