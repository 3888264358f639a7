"""How much of something a test does: little in every run, all of it with ``pytest --thorough``."""

from __future__ import annotations

import os


def size(quick: int, thorough: int) -> int:
    """``quick`` in an ordinary run, ``thorough`` in a thorough one (``tests/conftest.py``)."""
    return thorough if os.environ.get("EXHUME_THOROUGH") else quick
