"""Basics for every package: exceptions, files, locks, the cache, the version.

Imports no other package of exhume.
"""
