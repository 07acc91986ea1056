"""From results to pages: one dict, several renderers."""
