"""Speed and memory of the hot paths, as ratios that travel between machines."""
