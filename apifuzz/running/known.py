"""The errors that the solvers' pinned releases are known for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from difftest.triage.ledger import Entry, Ledger

SHIPPED = Path(__file__).resolve().parent.parent / "known"
"""A ledger per solver, with the causes that its pinned release is known for. Their reports: docs/findings."""


def shipped(solver: str, second: str | None = None) -> list[Entry]:
    """The causes known of ``solver``, and of the ``second`` that it is compared with, whose errors come under
    the first one's name.
    """
    file = SHIPPED / f"{solver}.toml"
    entries = Ledger.read(file).entries if file.is_file() else []
    if second is not None:
        for entry in shipped(second):
            assert entry.cause is not None, "they are causes"
            cause = replace(entry.cause, solver=solver)
            entries.append(replace(entry, key=str(cause), cause=cause))
    return entries
