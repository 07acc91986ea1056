"""Statistics of comparisons: no plots, no files, arrays in and numbers out."""
