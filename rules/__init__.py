"""exhume package."""
