"""Plans, runs and statistics of comparisons."""
