"""Objects of solvers that must outlive everything else of a run."""

from __future__ import annotations

from typing import Any

KEPT: list[Any] = []
"""Kept for the rest of the process, for runs have processes of their own. Who makes several runs in one
process empties it after each, when the garbage collector has found what there is of the run."""
