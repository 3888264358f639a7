"""What stands in a finding's folder, read for reports, pages and comparisons; nothing in it is trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Required, TypedDict

import msgspec

from base.documents import from_document
from difftest.errors import DifftestError
from difftest.triage.markdown import sentence
from difftest.triage.renamed import current_key, current_theory
from smtlib.scanner import lexemes
from solvers.registry import PROFILES, family_of_program
from solvers.running.crash_places import ANONYMOUS
from solvers.running.process import signal_name

FORMAT = 2
"""The version of finding.json; raised when a key changes its meaning or goes. Earlier ones are read."""
DOCUMENT = "finding.json"
ORIGINAL = "original.smt2"
REDUCED = "reduced.smt2"
BISECTED = "bisect.json"
REPORT = "report.md"
DUPLICATES = "duplicates.txt"
READER = "read.py"
"""The name of the program in reports that reads the input where a solver has none."""
_MOST_READ = 1 << 20
_WORD = re.compile(r"[^\s();,.]+")
# In the key of a death by a signal.
_FUNCTION = re.compile(r"\|(?:signal )?SIG\w+ in ([^|]+)")
OPTION_WORDS = re.compile(r"[^\s(),=]+")
"""What an option consists of: its name, and words of its value."""
_WRITTEN = ("id", "class", "solver", "solvers", "key")


class _Run(TypedDict, total=False):
    shown: Required[str]


class _Entry(TypedDict, total=False):
    name: Required[str]
    answers: list[Any] | None
    options: list[Any] | None
    command: list[Any]


class _Reduced(TypedDict, total=False):
    runs: dict[str, _Run] | None
    options: dict[str, list[Any]] | None
    theories: list[Any] | None
    tries: int
    size_after: int | None


class _Test(TypedDict, total=False):
    seed: int | None
    issues: list[str] | None


class _Resembled(TypedDict):
    issue: str
    why: str


class _Document(TypedDict, total=False):
    """The entries of ``finding.json`` that are read without a look at what they are."""

    solvers: Required[list[_Entry]]
    check: Annotated[int, msgspec.Meta(ge=0)] | None
    theories: list[Any] | None
    reduced: _Reduced | None
    test: _Test | None
    merged: list[Any] | None
    resembles: list[_Resembled] | None
    lines: tuple[int, int] | None  # calls as drawn and minimised, of API fuzzing


class _Tried(TypedDict):
    release: str
    state: str


class _Bisection(TypedDict, total=False):
    """The same of the report in ``bisect.json``."""

    first_affected: str | None
    last_affected: str | None
    first_fixed: str | None
    tried: list[_Tried]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A run as printed. ``reader`` is the program that the ``command`` starts instead of ``instead``, the
    solver's own, which is not there. ``code`` is as a shell has it; ``stack`` has the innermost frame first.
    """

    file: str
    command: str
    printed: str
    code: int
    reader: str = ""
    instead: str = ""
    stack: tuple[str, ...] = ()

    @property
    def ending(self) -> str:
        """How it ended, for people: ``Exit status 139 (SIGSEGV).``; empty for status 0."""
        name = signal_name(self.code - 128)
        return f"Exit status {self.code}{name and f' ({name})'}." if self.code else ""


def read_document(folder: Path) -> dict[str, Any]:
    """The ``finding.json`` of a finding, as the newest version has it; DifftestError if the folder holds none
    that can be read.
    """
    file = folder / DOCUMENT
    if folder.is_dir() and not file.exists():
        raise DifftestError(
            f"{folder}: no finding can be read there: it has no {DOCUMENT}; name the folder of a finding,"
            " such as DIR/findings/crash-0af4576310b1"
        )
    try:
        data = json.loads(file.read_text("utf-8"))
        if data.get("format", 1) > FORMAT:
            raise ValueError(f"it is of format {data['format']}, this exhume reads up to {FORMAT}")
        if "format" not in data:
            # Before there was a kind, findings of API fuzzing were those with a fault.
            data = {"format": FORMAT, "kind": "calls" if "fault" in data else "formula", **data}
            data.pop("schema", None)
        data = FOLDERS[data["kind"]].upgrade(data)
        _ = [data[name] for name in _WRITTEN], from_document(data, _Document)
        _rename_theories(data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise DifftestError(f"{folder}: no finding can be read there: {problem}") from problem
    return dict(data)


def _rename_theories(data: dict[str, Any]) -> None:
    """Name theories as the newest version does: here, and for the reduced formula and what was merged."""
    parts = [data, data.get("reduced"), *(data.get("merged") or ())]
    for part in (part for part in parts if isinstance(part, dict)):
        if "key" in part:
            part["key"] = current_key(str(part["key"]))
        if isinstance(part.get("theories"), list):
            part["theories"] = sorted(current_theory(str(name)) for name in part["theories"])


@dataclass(frozen=True)
class FindingFolder:
    """The folder of a finding about a formula; subclasses are for those about something else."""

    path: Path
    data: Mapping[str, Any]

    kind: ClassVar[str] = "formula"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        FOLDERS[cls.kind] = cls

    @classmethod
    def read(cls, path: Path) -> FindingFolder:
        """The folder at ``path``, by its kind; DifftestError if it holds no finding."""
        data = read_document(path)
        return FOLDERS[data["kind"]](path, data)

    @classmethod
    def upgrade(cls, data: dict[str, Any]) -> dict[str, Any]:
        """A document of this kind as the newest version has it; KeyError if something is missing."""
        return data

    @cached_property
    def is_reduced(self) -> bool:
        """Whether there is a reduced formula that fresh processes confirmed."""
        reduced = self.data.get("reduced") or {}
        return bool(reduced.get("confirmed")) and (self.path / REDUCED).is_file()

    @property
    def is_small(self) -> bool:
        """Whether its reduction ended by itself, not for lack of time."""
        return self.is_reduced and bool(self.data["reduced"].get("complete", True))

    @property
    def evidence(self) -> list[str]:
        """What was found out about who is wrong on the formula to show, a line each."""
        entries = self.weighed("evidence")
        rows = entries if isinstance(entries, list) else []
        lines = [str(row.get("text", "")) if isinstance(row, dict) else str(row) for row in rows]
        return [line for line in lines if line.strip()]

    @property
    def tried(self) -> list[tuple[str, str]]:
        """The releases that a bisection tried and that ran, with their states, in the releases' order."""
        entries = self.bisection.get("tried", ())
        return [(entry["release"], entry["state"]) for entry in entries if entry["state"] != "skipped"]

    @property
    def file(self) -> str:
        """The name of the formula to show."""
        return REDUCED if self.is_reduced else ORIGINAL

    @cached_property
    def shown_file(self) -> str:
        """The name of the formula to show: as the solver that is known to be wrong was given it, in a file of
        its own if it is asked by a tactic.
        """
        entry = self.culprit or {}
        if self.is_reduced:
            entry = self._run_of_shown(entry.get("name")) or {}
        name = str(entry.get("file") or self.file)
        return name if Path(name).name == name else self.file

    @cached_property
    def formula(self) -> str:
        """The text of the formula to show."""
        return read_some(self.path / self.shown_file)

    @property
    def key(self) -> str:
        """The key by the formula to show. The hunt counts by that in ``data``, which reduction leaves."""
        return str(self._of_shown.get("key") or self.data["key"])

    @property
    def key_by_operators(self) -> str:
        """What the key would be without the function of a stack; empty if it has none."""
        return str(self.data.get("key_by_operators") or "")

    @property
    def function(self) -> str:
        """The function in which its solver dies: that in its key, unless the formula to show has a stack
        without it (a reduction may end in another one): then the innermost there. Empty if neither is known.
        """
        found = _FUNCTION.search(self.key)
        own = found[1] if found else ""
        stack = self.transcript.stack if self.transcript is not None else ()
        names = [frame.partition(" at ")[0].replace("(anonymous namespace)", ANONYMOUS) for frame in stack]
        return own if own in names or not names else names[0]

    @property
    def keys(self) -> Mapping[str, bool]:
        """All keys that it may be known by, and whether the key is one without the function where that is
        known: then it is no key of a finding with another function.
        """
        every = (str(self.data["key"]), self.key, self.key_by_operators)
        is_seen = _FUNCTION.search(self.key) is not None
        return {key: is_seen and not _FUNCTION.search(key) for key in every if key}

    @property
    def safe_mode(self) -> bool | None:
        """Whether the formula to show shows it with cvc5 in its safe mode; None where that is not known."""
        shows = (self._of_shown if self.is_reduced else self.data).get("safe_mode")
        return shows if isinstance(shows, bool) else None

    @property
    def _of_shown(self) -> Mapping[str, Any]:
        """What was noted of the reduced formula, if it is the one to show."""
        return self.data["reduced"] if self.is_reduced else {}

    def _run_of_shown(self, name: object) -> Mapping[str, Any] | None:
        """What was noted of a solver's run on the reduced formula, if that is the one to show."""
        found: Mapping[str, Any] | None = (self._of_shown.get("runs") or {}).get(name)
        return found

    def _entry(self, name: str) -> Mapping[str, Any]:
        """The entry of a solver; empty if it takes no part."""
        return next((entry for entry in self.solvers if entry.get("name") == name), {})

    @property
    def reproduction(self) -> tuple[str, str]:
        """The file to show on a page, and its text."""
        return self.file, self.formula

    @cached_property
    def bisection(self) -> Mapping[str, Any]:
        """The finished bisection's report; empty where there is none."""
        try:
            data = json.loads((self.path / BISECTED).read_text("utf-8"))
            report = data["report"] if data["complete"] else {}
            from_document(report, _Bisection)
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        return dict(report)

    @property
    def solvers(self) -> Sequence[Mapping[str, Any]]:
        """The entries of the solvers that it takes to show the finding."""
        return list(self.data["solvers"])

    @property
    def test(self) -> Mapping[str, Any]:
        """What is noted of the test that it was found with."""
        return self.data.get("test") or {}

    @property
    def origin(self) -> str:
        """The file of the user's that it was found with; empty for a generated test."""
        return str(self.test.get("origin") or "")

    @property
    def culprit(self) -> Mapping[str, Any] | None:
        """The entry of the solver that is known to be wrong. ``finding.json`` names it under ``guilty``, a
        word of earlier versions.
        """
        return next((e for e in self.solvers if e.get("name") == self.data.get("guilty")), None)

    @property
    def suspects(self) -> Sequence[Mapping[str, Any]]:
        """The entry of the culprit; if none is known, those of all solvers."""
        return [self.culprit] if self.culprit else self.solvers

    @property
    def accused(self) -> Mapping[str, Any]:
        """The entry of the culprit; if none is known, of the first solver."""
        return self.culprit or (self.solvers[0] if self.solvers else {})

    @property
    def family(self) -> str:
        """The family of the accused, also of a solver's own program that was given by a command line; of a
        finding that does not say it, by the solver's name.
        """
        named = str(self.accused.get("spec") or self.data["solver"])
        family = str(self.accused.get("family") or re.split(r"[=\[-]", named)[0])
        return family if family in PROFILES else family_of_program(self._argv) or family

    @property
    def _argv(self) -> list[str]:
        """The command line of the accused, with the path of its program."""
        return [str(part) for part in self.accused.get("command") or ()]

    @property
    def unbisectable(self) -> str:
        """Why no releases can be searched; empty if they can: those of the culprit, else of the only solver,
        else of the only one that was named with its release.
        """
        entries = self.suspects
        if len(entries) > 1:
            entries = [e for e in entries if "==" in str(e.get("spec")) and e.get("family") in PROFILES]
            if len(entries) != 1:
                return "which solver is wrong is not known"
        is_command = bool(entries) and entries[0].get("family") == "other"
        return "a command line has no releases" if is_command else ""

    @property
    def better(self) -> Mapping[str, Any]:
        """Of a finding that compares two releases, the one that does better."""
        culprit = self.data.get("guilty")
        return next((entry for entry in self.solvers if entry.get("name") != culprit), {})

    @property
    def reason(self) -> str:
        """Why the culprit is wrong, as a sentence."""
        return sentence(str(self.weighed("reason") or ""))

    def weighed(self, name: str) -> Any:
        """``reason`` or ``evidence``: of the formula to show, if that was weighed."""
        return self._of_shown.get(name) or self.data.get(name)

    @property
    def answers(self) -> Mapping[str, str]:
        """What each solver said to the question that the finding is about."""
        check = self.data.get("check") or 0
        said = {}
        for entry in self.solvers:
            answers = entry.get("answers") or ()
            if check < len(answers) and answers[check]:
                said[str(entry["name"])] = str(answers[check])
        return said

    @property
    def crash_place(self) -> str:
        """Where the culprit crashes: what it says itself, or the function; empty if neither is known."""
        return str(self.accused.get("location") or self.function)

    @property
    def wrong_answer(self) -> str | None:
        """What the culprit said to that."""
        return self.answers.get(str(self.data.get("guilty")))

    @property
    def where(self) -> str:
        """Which question that is, in parentheses, where there are several."""
        first = self.solvers[0] if self.solvers else {}
        if self.data.get("check") is None or len(first.get("answers") or ()) < 2:
            return ""
        return f" (check-sat number {self.data['check'] + 1})"

    @property
    def size(self) -> tuple[int | None, int | None]:
        """How large it is as found, and made small (None: it is not yet), in ``unit``."""
        after = self.data["reduced"].get("size_after") if self.is_reduced else None
        file = self.path / ORIGINAL
        return file.stat().st_size if file.is_file() else None, after

    unit: ClassVar[str] = "bytes"

    @property
    def strategy(self) -> str:
        """What made the test; ValueError or another error of that kind where the folder does not say."""
        return str(self.test["strategy"])

    @property
    def index(self) -> int:
        """The number of the test among those of its strategy."""
        return int(self.test["index"])

    @property
    def tested(self) -> str:
        """The text that it was found with, whole and with its bytes; empty if it is not there."""
        try:
            return (self.path / ORIGINAL).read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            return ""

    @property
    def words(self) -> frozenset[str]:
        """The words of the formula, as far as a reduction came with it, of the reason and of the options."""
        solver = str(self.accused.get("name", ""))
        return words_in(read_some(self.path / REDUCED) or self.tested[:_MOST_READ], self.reason, solver)

    @property
    def command_lines(self) -> str:
        """The commands that show it."""
        return read_some(self.path / "command.txt")

    @property
    def merged(self) -> Mapping[str, str]:
        """The findings that became part of this one: their keys by id."""
        entries = (entry for entry in self.data.get("merged") or () if isinstance(entry, dict))
        return {str(entry.get("id")): str(entry.get("key")) for entry in entries}

    @property
    def duplicates(self) -> int:
        """How many later tests are listed as showing it again."""
        try:
            with (self.path / DUPLICATES).open("rb") as handle:
                return sum(1 for _ in handle)
        except OSError:
            return 0

    @cached_property
    def theories(self) -> Sequence[str]:
        """Those of the formula to show."""
        found = self._of_shown.get("theories") or self.data.get("theories") or ()
        return [str(name) for name in found]

    @cached_property
    def transcript(self) -> Transcript | None:
        """The run as a person types it, if it is one of the input that the report shows."""
        try:
            kept = from_document(self.data["transcript"], Transcript)
        except (KeyError, ValueError):
            return None
        return kept if kept.file == self.input_file else None

    @property
    def input_file(self) -> str:
        """The name of the input that the report shows."""
        return self.shown_file

    @property
    def shown_text(self) -> str:
        """The text of that."""
        return self.formula

    @property
    def language(self) -> str:
        """The language of that: ``smt2``, ``python`` or ``text``."""
        return "smt2"

    @property
    def options(self) -> Sequence[str]:
        """The options of the accused that it takes, as its command line has them."""
        name = self.accused.get("name")
        needed = (self._of_shown.get("options") or {}).get(name)
        given = self.accused.get("options") if needed is None else needed
        if self.program and needed is None and family_of_program(self._argv):
            given = [part for part in self._argv[1:] if part not in ("-", "{}", ORIGINAL)]
        return [str(option) for option in given or ()]

    @property
    def program(self) -> str:
        """The program of an accused that was given by a command line; empty for others."""
        return self._argv[0] if self._argv and self.accused.get("family") not in PROFILES else ""

    def printed(self, name: str) -> tuple[str, str]:
        """What solver ``name`` printed on the formula to show, and how it ended."""
        entry, stem = self._entry(name), name
        if (run := self._run_of_shown(name)) is not None:
            entry, stem = run, f"{name}.reduced"
        texts = [read_some(self.path / f"{stem}.{stream}").strip("\n") for stream in ("stdout", "stderr")]
        return "\n".join(text for text in texts if text), str(entry.get("ending", ""))

    def seconds(self, name: str) -> float | None:
        """How long solver ``name`` took for the formula to show, if that is known."""
        entry = (self._run_of_shown(name) or {}) if self.is_reduced else self._entry(name)
        seconds = entry.get("seconds")
        return float(seconds) if isinstance(seconds, int | float) else None

    def command(self, name: str) -> str:
        """The command line that shows it with solver ``name``, as one would type it."""
        if (run := self._run_of_shown(name)) is not None:
            return str(run["shown"])
        entry = self._entry(name)
        shown = str(entry.get("shown") or " ".join(map(str, entry.get("command", ()))))
        return shown.replace(ORIGINAL, self.file)


def words_in(text: str, reason: str, solver: str = "") -> frozenset[str]:
    """The words of a script without comments, options without their colon, those of the reason why a solver
    is wrong, which may name a tactic, and those of the options in the solver's name.
    """
    options = OPTION_WORDS.findall(solver.partition("[")[2].removesuffix("]"))
    words = (*lexemes(text), *_WORD.findall(reason), *options)
    return frozenset(word.removeprefix(":") for word in words)


def read_some(file: Path) -> str:
    """The text of a file, whatever its bytes, a megabyte at most; empty if it is not there."""
    try:
        with file.open("rb") as handle:
            return handle.read(_MOST_READ).decode("utf-8", "replace")
    except OSError:
        return ""


FOLDERS: dict[str, type[FindingFolder]] = {FindingFolder.kind: FindingFolder}
"""How the folders of findings are read, by their kind."""
