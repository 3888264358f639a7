"""Lists of known errors, by key, that API fuzzing of earlier versions wrote; a ledger says more today."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from glob import escape
from pathlib import Path
from typing import Any

from base.errors import problem_of
from base.files import read_at_most
from difftest.errors import DifftestError
from difftest.oracles.base import names_in
from difftest.triage.key import Key
from difftest.triage.ledger import Became, Entry, KnownCause, general_key

_FORMAT = "exhume-known-errors"
_VERSION = 1
_MOST_BYTES = 16 << 20


def read_known(files: Iterable[Path]) -> list[Entry]:
    """The entries of such lists. DifftestError where one cannot be read."""
    entries = []
    for file in files:
        try:
            text = read_at_most(file, _MOST_BYTES)
            if text is None:
                raise ValueError("too large")
            data = json.loads(text)
            if data["format"] != _FORMAT or data["version"] != _VERSION:
                raise ValueError("not of this format")
            entries += [_entry(error) for error in data["errors"]]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
            raise DifftestError(f"{file}: not a list of known errors: {problem_of(problem)}") from problem
    return entries


def _entry(error: Mapping[str, Any]) -> Entry:
    """In a key, operators with ``,*`` at the end stand for these and any others; a place alone stands for all
    operators there.
    """
    key, note = general_key(str(error["key"])), str(error.get("note", ""))
    stem, _, operators = key.rpartition("|")
    is_open = operators.endswith(",*")
    read = Key.read(stem if is_open else key)
    if not is_open and (read.operators or read.theories):
        return Entry(key, Became.SEEN, note=note)
    names = {*read.theories, *operators.split(",")} - {"*"} if is_open else set()
    place = escape("|".join(read.where))
    cause = KnownCause(names_in(read.solver_alone)[0], read.finding_class, frozenset(names), place)
    return Entry(key, Became.SEEN, note=note, cause=cause)
