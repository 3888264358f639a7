"""Basics for every package: exceptions, files, locks, the cache, text, suggestions, progress,
the version.

Imports no other package of exhume.
"""
