"""Reports on partial multi-label runs: curves, areas, and controls beside them."""
