"""Interprets one run: its outcome, and the answer to each check-sat.

The output is read line by line, together with the exit status. An answer belongs to the first check-sat
without one, unless the position in an error message shows that a check-sat was skipped. After an error
outside ``get-`` and ``set-`` commands and check-sats, the solver works on a different formula: later answers
are dropped (``None``), earlier ones are kept.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate

from msgspec import Struct

from smtlib.scanner import QUESTIONS
from solvers.profile import Says, any_of
from solvers.registry import PROFILES
from solvers.running.crash_places import NOT_FATAL, find_crash_place
from solvers.running.process import Run
from solvers.running.script import ANSWERS, Script


def opposite(answer: str) -> str:
    """``unsat`` for ``sat`` and vice versa; empty for anything else."""
    return {"sat": "unsat", "unsat": "sat"}.get(answer, "")


class Outcome(StrEnum):
    """How a run ended."""

    OK = "ok"
    TIMEOUT = "timeout"
    MEMOUT = "memout"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    CRASH = "crash"
    INVALID_MODEL = "invalid-model"


class Verdict(Struct, frozen=True):
    """The interpretation of one run.

    ``answers`` has an entry per check-sat (None: no answer, or one that cannot be trusted). ``location`` is
    the ``file:line`` or function of a crash, if one is known that identifies its cause; ``shape`` is its
    message without numbers, addresses and paths. Both stay the same if the formula is renamed or reduced.
    ``detail`` is the line that decided, for people.
    """

    outcome: Outcome
    answers: tuple[str | None, ...]
    seconds: float
    detail: str = ""
    location: str | None = None
    shape: str | None = None

    @property
    def is_decided(self) -> bool:
        """Whether there is a check-sat and each was answered sat or unsat."""
        return bool(self.answers) and all(answer in ("sat", "unsat") for answer in self.answers)


CRASH_SIGNALS = frozenset(
    getattr(signal, f"SIG{name}") for name in ("SEGV", "ABRT", "BUS", "FPE", "ILL", "TRAP", "SYS")
)
"""Signals that a process dies of when something inside it broke."""
# The number of characters of a message that its shape is computed from.
_MOST_MESSAGE = 2000

_SAYS = [profile.says for profile in PROFILES.values()]
_INVALID_MODEL = any_of(pattern for says in _SAYS for pattern in says.invalid_model)
# The words before a ".*" do not occur in it again, so that matching takes linear time.
_COMMON_CRASH = re.compile(
    r"unreachable code was reached|[Ss]egmentation fault|"
    r"(?:ERROR|WARNING): \w*Sanitizer|: runtime error: |Assertion [`'](?:(?!Assertion [`']).)*failed|"
    r"^Assertion failed|terminate called|std::(?:logic|runtime)_error|double free|corrupted size|panicked at|"
    # Java; OCaml
    r"^Exception in thread \"|^Fatal error: exception "
)
_CRASH = any_of((_COMMON_CRASH, *(pattern for says in _SAYS for pattern in says.crash)))
_NOT_BUILT = any_of(pattern for says in _SAYS for pattern in says.not_built)
_MEMORY = re.compile(
    r"out[ _]of[ _]memory|OutOfMemoryError|bad_alloc|memory limit|max\. memory exceeded|memout",
    re.I,
)
_TIME = re.compile(r"^timeout$|interrupted by timeout|\b(?:canceled|cancelled)\b")
# cvc5 adds its reason: unknown (INCOMPLETE).
_REASON = re.compile(r"^unknown \([A-Z_]+\)$")
_POSITION = re.compile(r"line (\d{1,9}),? column (\d{1,9})\b")
_UNSUPPORTED = {pattern.pattern: pattern for says in _SAYS for pattern in says.unsupported}
_UNEXPECTED = any_of(pattern for says in _SAYS for pattern in says.unexpected)
_NOT_ABOUT_FORMULA = any_of(pattern for says in _SAYS for pattern in says.not_about_formula)


@dataclass(slots=True)
class _Reading:
    """State while reading the lines of one run."""

    script: Script
    answers: list[str | None]
    # For each command of script.speakers the number of checks up to it.
    checks: list[int]
    # Index into script.speakers of the next command that may print an answer (or echo).
    position: int = 0
    trusted: bool = True
    # Whether ``unsupported`` lines are about options and queries only.
    harmless: bool = False
    notes: dict[str, str] = field(default_factory=dict)
    # The words of the script that a pattern finds.
    misleading: dict[re.Pattern[str], list[str]] = field(default_factory=dict)

    def says(self, pattern: re.Pattern[str], line: str) -> bool:
        """Whether the solver says this itself, and does not repeat a name or a text of the script."""
        if pattern.search(line) is None:
            return False
        if pattern not in self.misleading:
            self.misleading[pattern] = [word for word in self.script.words if pattern.search(word)]
        for word in self.misleading[pattern]:
            line = line.replace(word, "")
        return pattern.search(line) is not None

    def note(self, kind: str, line: str) -> None:
        self.notes.setdefault(kind, line.strip()[:300])


def judge(script: Script, run: Run, family: str = "other") -> Verdict:
    """Interpret ``run`` on ``script``; ``family`` decides what exit codes mean."""
    says = PROFILES[family].says if family in PROFILES else Says()
    checks = list(accumulate(int(echo is None) for _, echo in script.speakers))
    reading = _Reading(script, [None] * len(script.checks), checks)
    reading.harmless = _is_harmless(run, says)
    for line in _messages(_on_one_line(script, run.stdout)):
        _read_line(reading, line)
    for line in run.stderr.split("\n"):
        if reading.says(_NOT_BUILT, line):
            reading.note("not built", line)
        _read_stray(reading, line)
    outcome, detail = _decide(reading, run, says)
    location = None
    if outcome is Outcome.CRASH:
        found = find_crash_place(run.stderr, run.stdout)
        location = found.place
        if location is None and found.named and found.named not in detail:
            # Too general for the place, but better than nothing.
            detail += f" at {found.named}"
    shape = message_shape(detail) if outcome in (Outcome.CRASH, Outcome.INVALID_MODEL) else None
    return Verdict(outcome, tuple(reading.answers), run.seconds, detail, location, shape)


def _is_harmless(run: Run, says: Says) -> bool:
    """Whether what the solver calls unsupported does not affect the formula.

    Some solvers name each such command, on standard error or in a separate line.
    """
    text = run.stderr + "\n" + run.stdout
    named = [name for pattern in _UNSUPPORTED.values() for name in pattern.findall(text)]
    if named:
        return all(name.startswith(("get-", "set-", ":", "echo")) for name in named)
    return says.unsupported_is_harmless


def _on_one_line(script: Script, printed: str) -> str:
    """The output with what it repeats of the script, a name or a string, on one line each: a line of it is no
    answer.
    """
    texts = script.long_texts
    if not texts:
        return printed
    # An echo is all of its lines; z3 prints ``"`` for ``""``.
    echoes = (one for text in texts for one in (text[1:-1], text[1:-1].replace('""', '"')))
    printed = _joined(f"\n{printed}\n", "\n", echoes)[1:-1]
    for quote in ("|", '"'):
        printed = _joined(printed, quote, [text[1:-1] for text in texts if text[0] == quote])
    return printed


def _joined(printed: str, border: str, texts: Iterable[str]) -> str:
    """The output with each of the texts that it has between two borders on one line; parts of them may be so
    already.
    """
    known = {tuple(part.replace("\n", " ") for part in text.split(border)) for text in texts}
    sizes: dict[str, set[int]] = {}
    for text in known:
        sizes.setdefault(text[0], set()).add(len(text))
    first, *parts = printed.split(border)
    flat = [part.replace("\n", " ") for part in parts]
    found = [first]
    at = 0
    while at < len(parts):
        fitting = sorted(sizes.get(flat[at], ()), reverse=True)
        size = next((s for s in fitting if at + s < len(parts) and tuple(flat[at : at + s]) in known), 0)
        whole = border.join(flat[at : at + size]).replace("\n", " ")
        found.append(whole if size else parts[at])
        at += max(size, 1)
    return border.join(found)


def _messages(text: str) -> list[str]:
    """The lines of standard output; the lines of one ``(error "...")`` are joined."""
    found: list[list[str]] = []
    open_error = False
    # Not at other ends of lines, which names may hold.
    for line in text.split("\n"):
        if open_error and line.strip() not in ANSWERS and not line.startswith("(error"):
            found[-1].append(line)
        else:
            found.append([line])
            open_error = line.startswith("(error")
        if open_error and line.rstrip().endswith('")'):
            open_error = False
    return ["\n".join(lines) for lines in found]


def _read_line(reading: _Reading, line: str) -> None:
    word = _REASON.sub("unknown", line.rstrip())
    if word in ANSWERS:
        _take_answer(reading, word)
    elif word[:1] == word[-1:] == '"' and word[1:-1].rstrip() in ANSWERS:
        _take_echo(reading, word[1:-1].rstrip())
    elif word.lstrip().startswith("(error"):
        _take_error(reading, word)
    elif word == "unsupported" and not reading.harmless:
        reading.note("refused", "unsupported command")
        reading.trusted = False
    else:
        _read_stray(reading, line)


def _read_stray(reading: _Reading, line: str) -> None:
    """Read a line that is neither answer nor error: a warning, part of a model, or a last message."""
    if reading.says(_INVALID_MODEL, line):
        reading.note("invalid", line)
    elif not line.startswith((" ", "(")) and reading.says(_MEMORY, line):
        reading.note("memory", line)
    elif reading.says(_CRASH, line):
        reading.note("report" if NOT_FATAL.search(line) else "crash", line)
    elif reading.says(_TIME, line):
        reading.note("time", line)


def _take_answer(reading: _Reading, word: str) -> None:
    speakers = reading.script.speakers
    while reading.position < len(speakers):
        echoed = speakers[reading.position][1]
        reading.position += 1
        if echoed is None:
            break
        if echoed == word:
            return
    else:
        return
    if reading.trusted:
        reading.answers[reading.checks[reading.position - 1] - 1] = word


def _take_echo(reading: _Reading, word: str) -> None:
    """Read an echoed answer of a solver that prints the quotes, too."""
    echoes = [echoed for _, echoed in reading.script.speakers[reading.position :]]
    if word in echoes:
        reading.position += echoes.index(word) + 1


def _take_error(reading: _Reading, message: str) -> None:
    if (answer := _UNEXPECTED.search(message)) and answer.lastindex and reading.says(_UNEXPECTED, message):
        _take_answer(reading, answer[answer.lastindex])
        return
    if reading.says(_INVALID_MODEL, message):
        reading.note("invalid", message)
        return
    kinds = {"crash": _CRASH, "memory": _MEMORY, "time": _TIME}
    if kind := next((kind for kind, pattern in kinds.items() if reading.says(pattern, message)), None):
        reading.note(kind, message)
    where = _POSITION.search(message)
    command = reading.script.command_at(int(where.group(1)), int(where.group(2))) if where else None
    name = reading.script.commands[command].name if command is not None else ""
    if command is not None and name in QUESTIONS:
        # This error takes the place of the answer; the next answer belongs to the next check-sat.
        while reading.position < len(reading.script.speakers):
            if reading.script.speakers[reading.position][0] > command:
                break
            reading.position += 1
        reading.note("failed", message)
    elif not (name.startswith(("get-", "set-", "echo")) or _NOT_ABOUT_FORMULA.search(message)):
        reading.note("refused", message)
        reading.trusted = False


def _decide(reading: _Reading, run: Run, says: Says) -> tuple[Outcome, str]:
    notes = reading.notes
    if "not built" in notes:
        return Outcome.REFUSED, notes["not built"]
    crash = notes.get("crash", notes.get("report"))
    if "memory" in notes and (run.signal or run.code):
        return Outcome.MEMOUT, notes["memory"]
    if "invalid" in notes:
        return Outcome.INVALID_MODEL, notes["invalid"]
    if run.ended == "exit" and (how := _died(run, says)):
        return Outcome.CRASH, crash or how
    if crash is not None:
        return Outcome.CRASH, crash
    if run.ended in ("timeout", "cancelled"):
        return Outcome.TIMEOUT, f"{run.ended} after {run.seconds:.2f} s"
    if run.ended in ("memory", "output"):
        return Outcome.MEMOUT, f"killed: over its {run.ended} limit"
    if run.signal == signal.SIGKILL or run.code in says.memout_codes:
        return Outcome.MEMOUT, notes.get("memory", "killed from outside, for example because memory ran out")
    return _decide_by_answers(reading, run)


def _decide_by_answers(reading: _Reading, run: Run) -> tuple[Outcome, str]:
    notes = reading.notes
    if "refused" in notes:
        return Outcome.REFUSED, notes["refused"]
    if None not in reading.answers:
        return (Outcome.UNKNOWN if "unknown" in reading.answers else Outcome.OK), notes.get("failed", "")
    for kind, outcome in (("memory", Outcome.MEMOUT), ("time", Outcome.TIMEOUT), ("failed", Outcome.REFUSED)):
        if kind in notes:
            return outcome, notes[kind]
    last = run.stderr.strip().rpartition("\n")[2][:300]
    return Outcome.REFUSED, last or f"no answer, exit status {run.code}"


def _died(run: Run, says: Says) -> str | None:
    """How the process died, if only a crash ends a process this way."""
    number = run.signal
    if number is None and run.code is not None and run.code > 128:
        # A shell or wrapper reports its child's signal this way.
        number = run.code - 128
    if number is not None and number in CRASH_SIGNALS:
        return f"signal {signal.Signals(number).name}"
    if run.code in says.crash_codes:
        return f"exit status {run.code}"
    return None


def tells_of_a_crash(text: str) -> bool:
    """Whether a solver prints such a message only after an internal error."""
    return _CRASH.search(text) is not None


def tells_of_an_invalid_model(text: str) -> bool:
    """Whether a message says that a solver's own check refutes its model."""
    return _INVALID_MODEL.search(text) is not None


def tells_of_no_memory(text: str) -> bool:
    """Whether a message says that memory ran out."""
    return _MEMORY.search(text) is not None


def message_shape(text: str) -> str:
    """A message without the parts that differ between runs and formulas."""
    shape = re.sub(r"0x[0-9a-fA-F]+", "0x", text[:_MOST_MESSAGE])
    shape = re.sub(r"==\d+==", "", shape)
    shape = re.sub(r"(?:[\w.+-]*/)+([\w.+-]+)", r"\1", shape)
    shape = re.sub(r"\d+", "N", shape)
    return re.sub(r"\s+", " ", shape).strip()[:160]
