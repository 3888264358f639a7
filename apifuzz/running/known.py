"""The errors that the solvers' pinned releases are known for."""

from __future__ import annotations

from pathlib import Path

from difftest.triage.known import KnownErrors

SHIPPED = Path(__file__).resolve().parent.parent / "known"
"""A list per solver of the errors that its pinned release is known for; ``docs/findings`` has the reports."""


def shipped(solver: str, second: str | None = None) -> KnownErrors:
    """The errors known of ``solver``, and of the ``second`` that it is compared with, whose errors come under
    the first one's name.
    """
    known = KnownErrors.read(file for file in [SHIPPED / f"{solver}.json"] if file.is_file())
    if second is not None:
        for key, note in shipped(second).notes.items():
            known.notes.setdefault(key.replace(f"|{second}|", f"|{solver}|", 1), note)
    return known
