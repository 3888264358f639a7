"""oxiz: what is known of it is in ``profile.toml``; ``driver.py`` prints its release."""
