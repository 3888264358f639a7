"""The bug benchmark: bugs of past releases, each with a trigger, the last release that shows it and the first
that does not.
"""
