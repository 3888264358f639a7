"""Which finding an error belongs to: a key per cause, and lists of keys that are known already.

A key is ``KIND|SOLVER|WHERE`` with the place of a crash, or the action and the shape of the message. Where
that says little (a signal, a wrong answer, a solver's own check of its models) the operators follow that are
left in the trace after a quick minimisation. One that was cut short leaves too many: then the error folds
into the known one that shares the most operators and has no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apifuzz.running.faults import INTERNAL, REJECTED, Fault
from apifuzz.trace import Trace, split_line
from difftest.errors import DifftestError
from difftest.files import put_json
from smtlib import default_theories

_FORMAT = "exhume-known-errors"
_VERSION = 1
_MOST_BYTES = 16 << 20
_OWN_WORDS = (REJECTED, INTERNAL)
_CHECKERS = ("check_models.cpp:", "theory_engine.cpp:")
"""Places where cvc5 finds a model of its own wrong (``check-models``, ``debug-check-models``)."""


@dataclass(frozen=True, slots=True)
class Key:
    """The key of an error; ``complete`` if its operators are those that it needs."""

    stem: str
    operators: tuple[str, ...] = ()
    complete: bool = True

    def __str__(self) -> str:
        return f"{self.stem}|{','.join(self.operators)}" if self.operators else self.stem


def stem_of(fault: Fault, solver: str) -> str:
    """The part of a key that the fault alone gives."""
    return "|".join(part.replace("|", "/") for part in (fault.kind, solver, fault.stem))


def needs_operators(fault: Fault) -> bool:
    """Whether the fault's own words do not say enough: its key then depends on what else is in the trace."""
    if fault.place:
        return fault.place.startswith(_CHECKERS)
    return fault.kind not in _OWN_WORDS


def key_of(fault: Fault, solver: str, trace: Trace, complete: bool) -> Key:
    """The key of a fault of ``solver``, by a trace that a quick minimisation left."""
    stem = stem_of(fault, solver)
    return Key(stem, operators_of(trace), complete) if needs_operators(fault) else Key(stem)


def operators_of(trace: Trace) -> tuple[str, ...]:
    """The operators and binders that a trace makes terms with, but for those that are in any formula."""
    names = set()
    for line in trace.lines:
        if line.action == "make-term" and len(line.args) > 1:
            names.add(_name(line.args[1]))
        elif line.action == "make-binder" and line.args:
            names.update(arg for arg in line.args if arg in ("forall", "exists", "lambda"))
        elif ":" in line.action:
            names.add(line.action)
    return tuple(sorted(names - default_theories().marked(":neutral") - {""}))


def _name(head: str) -> str:
    """The name of a head: ``extract`` of ``(_ extract 7 0)``, ``seq.empty`` of ``(as seq.empty S)``."""
    if not head.startswith("("):
        return head
    parts = split_line(head[1:-1])
    if len(parts) > 1 and parts[0] in ("_", "as"):
        return parts[1]
    return parts[0] if parts else ""


def fold(found: Key, known: Iterable[str]) -> str:
    """The key to count an error under, given the keys that are ``known``."""
    known = list(known)
    text = str(found)
    if found.complete or text in known:
        return text
    near: list[tuple[int, str]] = []
    for key in known:
        stem, _, names = key.rpartition("|")
        if stem == found.stem and set(names.split(",")) <= set(found.operators):
            near.append((len(names), key))
    return max(near, default=(0, text))[1]


class KnownErrors:
    """Errors that are known from before, by key: counted, but no findings."""

    def __init__(self, entries: Iterable[Mapping[str, Any]] = ()) -> None:
        self.notes: dict[str, str] = {}
        for entry in entries:
            self.notes[str(entry["key"])] = str(entry.get("note", ""))

    @classmethod
    def read(cls, files: Iterable[Path]) -> KnownErrors:
        """The entries of lists that ``export`` wrote, or a person. DifftestError where one cannot be read."""
        known = cls()
        for file in files:
            try:
                with file.open("rb") as handle:
                    text = handle.read(_MOST_BYTES + 1)
                if len(text) > _MOST_BYTES:
                    raise ValueError("too large")
                data = json.loads(text)
                if data["format"] != _FORMAT or data["version"] != _VERSION:
                    raise ValueError("not of this format")
                known.notes.update(cls(data["errors"]).notes)
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
                raise DifftestError(f"{file}: no list of known errors: {problem}") from problem
        return known

    def match(self, key: str) -> str | None:
        """The known key that ``key`` is, or one that says less: the same without operators, or with some of
        them and ``*`` for any others.
        """
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


def export(file: Path, errors: Iterable[tuple[str, str]]) -> None:
    """Write (key, note) pairs as a list of known errors, whole or not at all."""
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "errors": [{"key": key, "note": note} for key, note in sorted(errors)],
    }
    put_json(file, document)
