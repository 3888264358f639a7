"""What is shown on a terminal: results, progress, live screens."""
