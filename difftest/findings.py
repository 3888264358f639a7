"""From the verdicts on one test to findings: what is wrong, with which solver, and under which key it is
counted.

What a test shows at first is a candidate; it is a finding once ``confirm`` has seen it again in fresh
processes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from difftest.outcomes import Outcome, Verdict
from difftest.solvers import Solver


class FindingClass(StrEnum):
    """The kinds of wrong behaviour that are reported."""

    CRASH = "crash"
    SOUNDNESS = "soundness"
    INVALID_MODEL = "invalid-model"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something wrong on one test.

    ``solvers`` are those it takes to show it, in the order given; ``guilty`` is the one that is wrong where
    that is known, and ``reason`` says why one thinks so. ``check`` counts check-sats from 0 (soundness only).
    """

    finding_class: FindingClass
    solvers: tuple[str, ...]
    key: str
    guilty: str | None = None
    reason: str = ""
    check: int | None = None

    @property
    def label(self) -> str:
        """The solver it is filed under."""
        return self.guilty or "+".join(self.solvers)


# Sorts and operators that give a theory away; crude on purpose: it has to read what no parser reads.
_THEORIES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("Array", re.compile(r"\(\s*Array\s|\(\s*(?:select|store)\s")),
    ("Bag", re.compile(r"\(\s*Bag\s|\(\s*bag[ .]")),
    ("BV", re.compile(r"\bBitVec\b|#[xb][0-9a-fA-F]|\(\s*bv[a-z]+\s|\(_ bv\d")),
    ("Datatype", re.compile(r"\(\s*declare-(?:co)?datatypes?\s")),
    ("FF", re.compile(r"\bFiniteField\b|\(\s*ff\.")),
    ("FP", re.compile(r"\bFloatingPoint\b|\bFloat(?:16|32|64|128)\b|\(\s*fp[ .]|\bto_fp")),
    ("Int", re.compile(r"\bInt\b|\(\s*(?:div|mod|str\.len|to_int)\s")),
    ("Real", re.compile(r"\bReal\b|\(\s*/\s|\bto_real\b|\b\d+\.\d+\b")),
    ("Seq", re.compile(r"\(\s*Seq\s|\(\s*seq\.")),
    ("Set", re.compile(r"\(\s*Set\s|\(\s*set\.")),
    ("String", re.compile(r"\bString\b|\(\s*(?:str|re)\.|\bRegLan\b|\bRegEx\b")),
    ("UF", re.compile(r"\(\s*declare-fun\s+\S+\s*\(\s*[^\s)]|\(\s*declare-sort\s")),
    ("Quantifier", re.compile(r"\(\s*(?:forall|exists)\s")),
    ("Nonlinear", re.compile(r"\(\s*\*\s+[A-Za-z_(|][^\s()]*\s+[A-Za-z_(|]|\(\s*(?:\^|exp|sin|cos|tan)\s")),
)
_COMMENT = re.compile(r";[^\n]*")


def theories(text: str) -> tuple[str, ...]:
    """The theories that a formula's text shows, by name; ``("Core",)`` if none."""
    bare = _COMMENT.sub("", text)
    return tuple(sorted(name for name, pattern in _THEORIES if pattern.search(bare))) or ("Core",)


def find_candidates(
    text: str,
    solvers: Sequence[Solver],
    verdicts: Mapping[str, Verdict],
    known: Sequence[str | None] = (),
) -> list[Candidate]:
    """All that is wrong with one test's ``verdicts`` (by solver name), given the answers ``known``
    beforehand.
    """
    where = "+".join(theories(text)) if _is_suspicious(verdicts, known) else ""
    found = []
    for solver in solvers:
        verdict = verdicts.get(solver.name)
        if verdict is None:
            continue
        if verdict.outcome is Outcome.CRASH:
            found.append(_crash(solver.name, verdict, where))
        elif verdict.outcome is Outcome.INVALID_MODEL:
            key = f"invalid-model|{solver.name}|{where}"
            reason = verdict.detail or "its own check refuted its model"
            found.append(Candidate(FindingClass.INVALID_MODEL, (solver.name,), key, solver.name, reason))
    names = [solver.name for solver in solvers if solver.name in verdicts]
    wrong = _soundness(names, verdicts, known, where)
    # A wrong sat whose model the solver itself refutes is one fault: the graver name stays.
    blamed = {candidate.guilty for candidate in wrong}
    kept = [c for c in found if c.finding_class is not FindingClass.INVALID_MODEL or c.guilty not in blamed]
    return [*kept, *wrong]


def _is_suspicious(verdicts: Mapping[str, Verdict], known: Sequence[str | None]) -> bool:
    """Whether the theories are worth the look: something crashed or lied, or answers differ."""
    if any(v.outcome in (Outcome.CRASH, Outcome.INVALID_MODEL) for v in verdicts.values()):
        return True
    return len({_decided(v.answers) for v in verdicts.values()} | {_decided(known)}) > 1


def _decided(answers: Sequence[str | None]) -> tuple[str | None, ...]:
    return tuple(answer if answer in ("sat", "unsat") else None for answer in answers)


def _crash(name: str, verdict: Verdict, where: str) -> Candidate:
    # Without a location all deaths by one signal look the same; the theories tell some of them apart.
    place = verdict.location or f"{verdict.shape}|{where}"
    return Candidate(FindingClass.CRASH, (name,), f"crash|{name}|{place}", name, verdict.detail)


def _soundness(
    names: Sequence[str], verdicts: Mapping[str, Verdict], known: Sequence[str | None], where: str
) -> list[Candidate]:
    """The first check-sat with contradicting answers; what comes after it has mostly the same cause."""
    longest = max((len(verdicts[name].answers) for name in names), default=0)
    for check in range(longest):
        said = {name: _answer(verdicts[name].answers, check) for name in names}
        truth = _answer(known, check)
        if truth is not None:
            liars = [name for name in names if said[name] not in (None, truth)]
            if liars:
                return [_contradicted(name, said[name], truth, check, where) for name in liars]
        elif len(set(said.values()) - {None}) > 1:
            return [_disagreement({n: a for n, a in said.items() if a}, verdicts, check, where)]
    return []


def _answer(answers: Sequence[str | None], check: int) -> str | None:
    answer = answers[check] if check < len(answers) else None
    return answer if answer in ("sat", "unsat") else None


def _contradicted(name: str, said: str | None, truth: str, check: int, where: str) -> Candidate:
    reason = f"it says {said}, and {truth} is known by construction"
    key = f"soundness|{name}|{where}"
    return Candidate(FindingClass.SOUNDNESS, (name,), key, name, reason, check)


def _disagreement(
    said: Mapping[str, str], verdicts: Mapping[str, Verdict], check: int, where: str
) -> Candidate:
    guilty, reason = _suspect(said, verdicts)
    solvers = tuple(said)
    key = f"soundness|{guilty or '+'.join(solvers)}|{where}"
    return Candidate(FindingClass.SOUNDNESS, solvers, key, guilty, reason, check)


def _suspect(said: Mapping[str, str], verdicts: Mapping[str, Verdict]) -> tuple[str | None, str]:
    """Who is wrong, as far as the runs tell: a refuted model, else the one that stands alone against two."""
    for name, answer in said.items():
        if answer == "sat" and verdicts[name].outcome is Outcome.INVALID_MODEL:
            return name, "its own check refutes the model behind its sat"
    by_answer: dict[str, list[str]] = {}
    for name, answer in said.items():
        by_answer.setdefault(answer, []).append(name)
    few, many = sorted(by_answer.values(), key=len)
    if len(few) == 1 and len(many) > 1:
        return few[0], f"{' and '.join(many)} say otherwise"
    return None, "two solvers disagree; which one is wrong is not known"


def finding_id(key: str, text: str) -> str:
    """An identity that depends on nothing but the finding itself: 12 hexadecimal digits."""
    return hashlib.sha256(f"{key}\0{text}".encode()).hexdigest()[:12]


def is_same(candidate: Candidate, again: Sequence[Candidate]) -> bool:
    """Whether a re-run shows the candidate again: same class and solvers, and for a crash the same place."""
    return any(
        other.finding_class is candidate.finding_class
        and set(other.solvers) == set(candidate.solvers)
        and other.key == candidate.key
        for other in again
    )
