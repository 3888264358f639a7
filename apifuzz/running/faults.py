"""What is wrong with a run, in terms that stay when its trace is cut: kind, place, shape of the message."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from solvers.running.crash_places import crash_place
from solvers.running.outcomes import message_shape, tells_of_a_crash

# Kinds of faults besides those of ``Misbehaviour``.
CRASH = "crash"
REJECTED = "rejected"
LEAK = "leak"
INTERNAL = "internal"

# Kinds whose message says all that keys need.
_OWN_WORDS = (REJECTED, INTERNAL)
_CHECKERS = ("check_models.cpp:", "theory_engine.cpp:")
"""Places where cvc5 finds a model of its own wrong (``check-models``, ``debug-check-models``)."""

# What a message says of the run and not of the fault: what it quotes, and ids.
_QUOTED = re.compile(
    r"\"(?:[^\"]|\"\")*\"|'[^'\n]*'|`[^`\n]*`|\|[^|\n]*\||\b[st]\d+\b|\((?:[^()]|\([^()]*\))*\)"
)
_MOST_DETAIL = 2000
_VIOLATION = "ASSERTION VIOLATION"
FATAL = "Fatal Python error: "
"""What Python's own handler says of a signal begins with this."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One error of a run.

    ``kind`` is ``crash``, ``rejected`` (the solver says that a call was wrong), ``leak``, ``internal`` (an
    error of exhume's own), or the kind of a ``Misbehaviour``. ``action`` is the one it happened in. ``place``
    is the ``file:line`` that a crash names; ``shape`` the message without what belongs to this run alone.
    ``detail`` is the message for people.
    """

    kind: str
    action: str
    detail: str
    place: str | None = None
    shape: str = ""

    def is_same(self, other: Fault | None) -> bool:
        """Whether the other one is the same error: by its place where there is one, else kind and shape."""
        return other is not None and self._identity == other._identity

    def is_alike(self, other: Fault | None) -> bool:
        """Whether the other one is the same but for the action. A leak shows in no single run, and a process
        with corrupted memory ends in one way or another.
        """
        if self.kind in (LEAK, CRASH):
            return self.kind == LEAK or (other is not None and other.kind == CRASH)
        return other is not None and self.is_same(replace(other, action=self.action))

    @property
    def _identity(self) -> tuple[str, ...]:
        return (self.kind, self.place) if self.place else (self.kind, self.action, self.shape)

    @property
    def signal(self) -> str:
        """The signal that it died of, where it names no place; else empty."""
        name = self.shape.partition(" ")[0]
        return name if self.kind == CRASH and not self.place and name.startswith("SIG") else ""

    def stem(self, solver: str) -> str:
        """What a key begins with: kind and solver, then the place, or where it happened and what was said."""
        where = self.place or f"{self.action}: {self.shape}".rstrip(": ")
        return "|".join(part.replace("|", "/") for part in (self.kind, solver, where))

    @property
    def needs_operators(self) -> bool:
        """Whether that does not say enough: the key then depends on what else is in the trace."""
        return self.place.startswith(_CHECKERS) if self.place else self.kind not in _OWN_WORDS


def crash(action: str, signal_name: str, printed: str) -> Fault:
    """A process that died of a signal; ``printed`` is what it said before."""
    lines = [line.strip() for line in printed.splitlines() if not line.startswith(FATAL)]
    line = next((line for line in lines if tells_of_a_crash(line)), "")
    shape = f"{signal_name} {shape_of(line)}".strip()
    detail = f"{signal_name}: {line}" if line else f"{signal_name} in {action}"
    return Fault(CRASH, action, _short(detail), crash_place(printed), shape)


def reported(kind: str, action: str, message: str, printed: str = "") -> Fault:
    """An error that came as a message: of the solver, or of what looks at it. ``printed`` is what the solver
    printed besides: z3 says there in which line of it an assertion failed.
    """
    if kind == CRASH or (kind == REJECTED and tells_of_a_crash(message)):
        # An assertion of the solver's that its interface turned into an exception.
        place = crash_place(message) or crash_place(printed[max(printed.rfind(_VIOLATION), 0) :])
        return Fault(CRASH, action, _short(message), place, shape_of(message))
    return Fault(kind, action, _short(message), None, shape_of(message))


def shape_of(message: str) -> str:
    """The first line of a message without what it quotes, without terms and ids, numbers and addresses."""
    first = message.strip().partition("\n")[0]
    for _ in range(4):
        shorter = _QUOTED.sub("", first)
        if shorter == first:
            break
        first = shorter
    return message_shape(first).strip(" .:")


def _short(text: str) -> str:
    return text if len(text) <= _MOST_DETAIL else text[:_MOST_DETAIL] + "..."
