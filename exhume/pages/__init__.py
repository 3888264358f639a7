"""HTML pages and their plots."""
