"""What every package stands on: errors, files, the cache, the version."""
