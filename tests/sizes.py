"""How much of something a test does: little in every run, all of it with ``pytest --thorough``."""

from __future__ import annotations

import os

IS_THOROUGH = bool(os.environ.get("EXHUME_THOROUGH"))
"""Whether this run has the full sizes; ``tests/conftest.py`` sets it from ``--thorough``."""


def size(quick: int, thorough: int) -> int:
    """``quick`` in an ordinary run, ``thorough`` in a thorough one."""
    return thorough if IS_THOROUGH else quick
