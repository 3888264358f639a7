"""What every package needs and none of them is about: errors, files, locks, the cache, the version.

Imports none of the others.
"""
