"""Data: readers, generators and checks."""
