"""How much of something a test does: little in every run, all of it with ``pytest --thorough``."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from typing import Any, TypeVar

import pytest

_T = TypeVar("_T")

IS_THOROUGH = bool(os.environ.get("EXHUME_THOROUGH"))
"""Whether this run has the full sizes; ``tests/conftest.py`` sets it from ``--thorough``."""


def size(quick: int, thorough: int) -> int:
    """``quick`` in an ordinary run, ``thorough`` in a thorough one."""
    return thorough if IS_THOROUGH else quick


def cases(every: Iterable[_T], quick: Container[_T]) -> list[Any]:
    """The parameters ``every`` of a test; those that are not in ``quick`` are for thorough runs only."""
    return [pytest.param(case, marks=() if case in quick else pytest.mark.thorough) for case in every]
