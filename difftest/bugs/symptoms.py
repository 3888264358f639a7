"""What a release shows of a bug: whether it is affected, free of it, or says nothing of it.

A run that is refused, or out of time or memory, says nothing (``SKIPPED``), so that neither end of a pair
rests on one; for a slowdown, time is what it is about.
"""

from __future__ import annotations

from dataclasses import dataclass

from difftest.bugs.records import Bug, Seen
from difftest.oracles.base import decided
from difftest.oracles.incompleteness import LIMITED
from difftest.oracles.slowdown import FACTOR, SECONDS, is_slow
from difftest.triage.key import Key
from difftest.triage.kinds import State
from solvers.running.crash_places import file_of
from solvers.running.outcomes import Outcome

_ENDED = (Outcome.OK, Outcome.UNKNOWN, Outcome.INVALID_MODEL)
_ANSWERS = ("sat", "unsat")


@dataclass(frozen=True, slots=True)
class Symptom:
    """How a bug shows. ``place`` is the crash's (``file:line`` or function), ``shape`` its message; ``check``
    the number of the check-sat with the answer ``wrong`` instead of ``right``; ``fast`` a run in good time.
    """

    finding_class: str
    place: str | None = None
    shape: str | None = None
    check: int = 0
    wrong: str | None = None
    right: str | None = None
    fast: Seen | None = None

    @classmethod
    def of(cls, bug: Bug) -> Symptom:
        """The symptom of a known bug."""
        bad = bug.seen(bug.last_bad)
        fast = bug.seen(bug.first_good) if bug.finding_class == "slowdown" else None
        return cls(bug.finding_class, bad.location, bad.shape, bug.check, bug.wrong, bug.right, fast)

    @property
    def direction(self) -> str:
        """The wrong and the right answer in words; empty where the bug is not about an answer."""
        return f"{self.wrong} for {self.right}" if self.wrong and self.right else ""

    def state(self, seen: Seen | None) -> State:
        """What a run says of the bug."""
        if seen is None:
            return State.SKIPPED
        if self.finding_class == "slowdown":
            return self._state_by_time(seen)
        if self._shows(seen):
            return State.AFFECTED
        return State.SKIPPED if seen.outcome not in _ENDED or self._is_open(seen) else State.FREE

    def _shows(self, seen: Seen) -> bool:
        if self.finding_class == "crash":
            is_crash = seen.outcome == Outcome.CRASH
            if self.place is None:
                return is_crash and seen.location is None and seen.shape == self.shape
            return is_crash and file_of(seen.location or "") == file_of(self.place)
        if self.finding_class == "soundness":
            return decided(seen.answers, self.check) == self.wrong
        if self.finding_class == "incompleteness":
            return seen.outcome == Outcome.UNKNOWN and _answer(seen, self.check) == "unknown"
        return seen.outcome == Outcome.INVALID_MODEL

    def _is_open(self, seen: Seen) -> bool:
        """Whether a run that ended leaves open what the bug is about: also an answer with a refuted model."""
        if self.finding_class in ("soundness", "incompleteness") and seen.outcome == Outcome.INVALID_MODEL:
            return True
        if self.finding_class == "incompleteness":
            return decided(seen.answers, self.check) != self.right
        return self.finding_class == "soundness" and _answer(seen, self.check) is None

    def _state_by_time(self, seen: Seen) -> State:
        assert self.fast is not None, "a slowdown is measured against a run in good time"
        if is_slow(seen.verdict, self.fast.verdict):
            return State.AFFECTED
        is_fast = seen.verdict.is_decided and seen.seconds * FACTOR <= SECONDS
        return State.FREE if is_fast else State.SKIPPED


def _answer(seen: Seen, check: int) -> str | None:
    return seen.answers[check] if check < len(seen.answers) else None


def plain_symptoms(text: str, seen: list[Seen]) -> list[Symptom]:
    """The symptoms that need no right answer, of runs in the order of releases: crashes, refuted models;
    ``unknown`` and runs out of time where a later release decides. Each is listed once.
    """
    found: dict[object, Symptom] = {}
    for place, one in enumerate(seen):
        later = seen[place + 1 :]
        if one.outcome == Outcome.CRASH:
            symptom = Symptom("crash", one.location, None if one.location else one.shape)
            found.setdefault(("crash", file_of(one.location or ""), symptom.shape), symptom)
        elif one.outcome == Outcome.INVALID_MODEL:
            found.setdefault("invalid-model", Symptom("invalid-model"))
        elif one.outcome == Outcome.UNKNOWN and not LIMITED.search(text):
            for check, answer in enumerate(one.answers):
                sure = [other for other in later if other.outcome != Outcome.INVALID_MODEL]
                rights = {decided(other.answers, check) for other in sure} - {None}
                if answer == "unknown" and len(rights) == 1:
                    symptom = Symptom("incompleteness", check=check, wrong="unknown", right=rights.pop())
                    found.setdefault(("incompleteness", check), symptom)
                    break
        elif one.outcome == Outcome.TIMEOUT:
            fast = next((other for other in later if is_slow(one.verdict, other.verdict)), None)
            if fast is not None:
                found.setdefault("slowdown", Symptom("slowdown", fast=fast))
    return list(found.values())


def disputed_check(seen: list[Seen], expected: tuple[str | None, ...]) -> int | None:
    """The first check-sat that releases answer differently, or one of them not as expected."""
    for check in range(max((len(one.answers) for one in seen), default=0)):
        said = {decided(one.answers, check) for one in seen} - {None}
        hint = expected[check] if check < len(expected) else None
        if said == set(_ANSWERS) or (said and hint in _ANSWERS and said != {hint}):
            return check
    return None


def have_one_cause(one: Key, other: Key) -> bool:
    """Whether two keys may be one bug's: the same class and solver; the same file of a crash, else the
    theories of one among those of the other.
    """
    if (one.finding_class, one.solver) != (other.finding_class, other.solver):
        return False
    if one.where or other.where:
        return [file_of(where) for where in one.where[:1]] == [file_of(where) for where in other.where[:1]]
    mine, theirs = one.theories - {"Core"}, other.theories - {"Core"}
    return mine <= theirs or theirs <= mine
