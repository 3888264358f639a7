"""Which finding an error belongs to: its key.

A key is ``KIND|SOLVER|WHERE`` with the place of a crash, or the action and the shape of the message. Where
that says little (a signal, a wrong answer, a solver's own check of its models) the operators follow that are
left in the trace after a quick minimisation. How keys fold is said in ``difftest.triage.key``.
"""

from __future__ import annotations

from pathlib import Path

from apifuzz.running.faults import INTERNAL, REJECTED, Fault
from apifuzz.trace import Trace, print_trace, split_line
from difftest.triage.key import Fingerprint
from difftest.triage.known import KnownErrors
from smtlib import default_theories

_OWN_WORDS = (REJECTED, INTERNAL)
_CHECKERS = ("check_models.cpp:", "theory_engine.cpp:")
"""Places where cvc5 finds a model of its own wrong (``check-models``, ``debug-check-models``)."""


def stem_of(fault: Fault, solver: str) -> str:
    """The part of a key that the fault alone gives."""
    return "|".join(part.replace("|", "/") for part in (fault.kind, solver, fault.stem))


def needs_operators(fault: Fault) -> bool:
    """Whether the fault's own words do not say enough: its key then depends on what else is in the trace."""
    if fault.place:
        return fault.place.startswith(_CHECKERS)
    return fault.kind not in _OWN_WORDS


def key_of(fault: Fault, solver: str, trace: Trace, complete: bool) -> Fingerprint:
    """The key of a fault of ``solver``, by a trace that a quick minimisation left (``complete``: wholly)."""
    stem, text = stem_of(fault, solver), print_trace(trace)
    if not needs_operators(fault):
        return Fingerprint(stem, text, True)
    operators = ",".join(operators_of(trace))
    return Fingerprint(f"{stem}|{operators}" if operators else stem, text, complete)


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
