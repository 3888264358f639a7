"""Boolector: what is known of it is in ``profile.toml``; ``driver.py`` is its program."""
