"""The root of all exceptions that exhume raises on purpose."""

from __future__ import annotations


class ExhumeError(Exception):
    """An error for the user: its text is one line that says where, what and what to do.

    ``exit_code`` is what the command line ends with: 2 for bad usage or bad input, 3 for something that this
    machine lacks.
    """

    exit_code = 2
