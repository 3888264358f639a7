"""Lists of known errors, by key: they are counted, but not reported as findings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from base.files import put_json, read_at_most
from difftest.errors import DifftestError
from difftest.triage.ledger import Ledger
from difftest.triage.renamed import current_key

_FORMAT = "exhume-known-errors"
_VERSION = 1
_MOST_BYTES = 16 << 20


class KnownErrors:
    """Errors that are known from before, by key, and those that a ledger lists: counted, but no findings."""

    def __init__(self, entries: Iterable[Mapping[str, Any]] = (), ledger: Ledger | None = None) -> None:
        self.ledger = ledger
        self.notes = {current_key(str(entry["key"])): str(entry.get("note", "")) for entry in entries}

    @classmethod
    def read(cls, files: Iterable[Path]) -> KnownErrors:
        """The entries of lists that ``export`` wrote, or a person. DifftestError where one cannot be read."""
        known = cls()
        for file in files:
            try:
                text = read_at_most(file, _MOST_BYTES)
                if text is None:
                    raise ValueError("too large")
                data = json.loads(text)
                if data["format"] != _FORMAT or data["version"] != _VERSION:
                    raise ValueError("not of this format")
                known.notes.update(cls(data["errors"]).notes)
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
                raise DifftestError(f"{file}: not a list of known errors: {problem}") from problem
        return known

    @classmethod
    def of(cls, lists: Iterable[KnownErrors], ledger: Ledger | None = None) -> KnownErrors:
        """Several lists as one."""
        known = cls(ledger=ledger)
        for one in lists:
            known.notes.update(one.notes)
        return known

    def match(self, key: str, release: str | None = None, text: str = "") -> str | None:
        """The known key that ``key`` is, or one that says less: the same without operators, or with some of
        them and ``*`` for any others. For the ledger, ``release`` is that of the solver, if it is known, and
        ``text`` the reduced formula, empty if there is none.
        """
        if self.ledger is not None and (entry := self.ledger.silencing(key, release, text)) is not None:
            return entry.key
        if key in self.notes:
            return key
        stem, _, operators = key.rpartition("|")
        if stem in self.notes:
            return stem
        found = set(operators.split(","))
        for known in self.notes:
            start, _, some = known.rpartition("|")
            if start == stem and some.endswith(",*") and found.issuperset(set(some.split(",")) - {"*"}):
                return known
        return None


def add_known(file: Path, key: str, note: str) -> None:
    """Add an error to a list of known errors, or begin one."""
    known = KnownErrors.read([file]) if file.is_file() else KnownErrors()
    export(file, {**known.notes, key: note}.items())


def export(file: Path, errors: Iterable[tuple[str, str]]) -> None:
    """Write (key, note) pairs as a list of known errors, whole or not at all."""
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "errors": [{"key": key, "note": note} for key, note in sorted(errors)],
    }
    put_json(file, document)
