"""A folder of a finding of API fuzzing, as reports, pages and comparisons read any finding's."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from apifuzz.running.faults import FATAL
from apifuzz.running.setup import Setup
from apifuzz.trace import TraceError, read_trace
from base.errors import ExhumeError
from difftest.triage.folder import FindingFolder, read_some, words_in
from difftest.triage.markdown import plain
from smtlib.mentions import theories_in
from solvers.lookup import find_solver
from solvers.registry import DISTRIBUTIONS, PROFILES

STRATEGY = "api"
"""The name of the strategy that draws calls."""
TRACE = "trace.txt"
MINIMISED = "minimised.trace"
SCRIPT = "script.py"
LOG = "calls.log"
FORMULA = "formula.smt2"
REDUCED = "reduced.smt2"
PRINTED = "printed.txt"
ONLY_A_SIGNAL = re.compile(r"\A(SIG\w+|exit status \d+) in \S+\Z")
_ANSWERS = re.compile(r"\A(\S+) answers (sat|unsat), (\S+) (sat|unsat)\Z")
_CALL = re.compile(r"(?:\A\w+ = )?(?:\w+\.)*(\w+)\(")
# The command, where that is what is said to a solver.
_SAID_CALL = re.compile(r"(?:\A\w+ = )?\w+\.ask(?:_perhaps)?\(['\"]\(([\w-]+)")
_SETTLED = ("print(", "assert ")
_LANGUAGES = {"smt2": "smt2", "py": "python"}


@dataclass(frozen=True)
class CallsFolder(FindingFolder):
    """What stands in the folder of a finding of API fuzzing; nothing in it is trusted."""

    kind: ClassVar[str] = "calls"
    unit: ClassVar[str] = "calls"

    @classmethod
    def upgrade(cls, data: dict[str, Any]) -> dict[str, Any]:
        """A document as the newest version has it; KeyError or TypeError if something is missing."""
        setup, _ = Setup(**data["setup"]), (data["fault"]["kind"], data["fault"]["action"])
        if not isinstance(data.get("solvers"), list):
            # A finding written before each solver's version was recorded.
            version = {"version": str(data.get("version", "unknown"))}
            data["solvers"] = [_entry(spec, data["fault"]) | version for spec in setup.specs]
        if "guilty" not in data and setup.cross_check is None:
            data["guilty"] = setup.label
        return data

    @property
    def strategy(self) -> str:
        """What made the calls."""
        return STRATEGY

    @property
    def index(self) -> int:
        """The number of the run."""
        return int((self.data.get("origin") or {}).get("run", 0))

    @property
    def tested(self) -> str:
        """The calls, in SMT-LIB where they can be said there."""
        return read_some(self.path / FORMULA) or self.calls

    @property
    def words(self) -> frozenset[str]:
        """Those of the calls, too: not all can be said in SMT-LIB."""
        return super().words | words_in(self.calls, "")

    @property
    def command_lines(self) -> str:
        """The command that makes the calls again."""
        return self.command("")

    @property
    def detail(self) -> str:
        """The message of the fault."""
        return str(self.data["fault"].get("detail", ""))

    @property
    def message(self) -> str:
        """What the solver itself said, if it said something."""
        first = self.detail.partition("\n")[0]
        return "" if ONLY_A_SIGNAL.match(first) else first

    @property
    def place(self) -> str:
        """Where it crashed, if it names a place."""
        return str(self.data["fault"].get("place") or "")

    @property
    def call(self) -> str:
        """The call that fails: of the program where there is one, else of the trace."""
        action = str(self.data["fault"]["action"]).rpartition(":")[2]
        if str(self.data["class"]) not in ("crash", "rejected"):
            return plain(action)
        lines = [line for line in read_some(self.path / SCRIPT).splitlines() if not line.startswith(_SETTLED)]
        last = lines[-1] if lines else ""
        called = _SAID_CALL.findall(last) or _CALL.findall(last.partition("  #")[0])
        return plain(called[0] if called else action)

    @property
    def answers(self) -> Mapping[str, str]:
        """What two solvers said that contradict each other."""
        found = _ANSWERS.match(self.detail)
        return {found[1]: found[2], found[3]: found[4]} if found else {}

    @property
    def setup(self) -> Setup:
        """The solvers that made the calls."""
        return Setup(**self.data["setup"])

    @property
    def size(self) -> tuple[int, int]:
        """The calls of its trace, as drawn and minimised."""
        before, after = (int(count) for count in (self.data.get("lines") or (0, 0))[:2])
        return before, after

    @cached_property
    def is_reduced(self) -> bool:
        """Never: what is made small is the trace."""
        return False

    @property
    def is_small(self) -> bool:
        """Whether its minimisation came to its end."""
        return bool(self.data.get("complete", True))

    @property
    def file(self) -> str:
        """The name of the SMT-LIB script."""
        return REDUCED if (self.path / REDUCED).is_file() else FORMULA

    @cached_property
    def shown_file(self) -> str:
        """The same: every solver is given the same calls."""
        return self.file

    @cached_property
    def formula(self) -> str:
        """The calls in SMT-LIB: the script in the folder, else what of them can be said there."""
        if text := read_some(self.path / self.file):
            return text
        from apifuzz.engines.text import translate

        try:
            return translate(read_trace(self.calls)).script
        except TraceError:
            return ""

    @cached_property
    def calls(self) -> str:
        """The minimised trace, or the one that was drawn."""
        return read_some(self.path / MINIMISED) or read_some(self.path / TRACE)

    @property
    def reproduction(self) -> tuple[str, str]:
        """What shows it best, as file name and text: a program, a script, or the trace."""
        scripts = (REDUCED, FORMULA) if self.text_shows else ()
        for name in (SCRIPT, *scripts, MINIMISED):
            if text := read_some(self.path / name):
                return name, text
        return TRACE, self.calls

    @property
    def text_shows(self) -> bool:
        """Whether the calls as a script show it, too; a report then has no program."""
        return bool(self.data.get("text_shows")) or (self.path / REDUCED).is_file()

    @property
    def input_file(self) -> str:
        """The script where that shows it, else the program, else the trace."""
        return self.file if self.text_shows else self.reproduction[0]

    @property
    def shown_text(self) -> str:
        """The text of that."""
        return self.formula if self.text_shows else self.reproduction[1]

    @property
    def language(self) -> str:
        """The language of that: ``smt2``, ``python``, or ``text`` for a trace."""
        return _LANGUAGES.get(self.input_file.rpartition(".")[2], "text")

    @property
    def options(self) -> Sequence[str]:
        """The options that the calls set; a script sets them itself."""
        try:
            lines = () if self.text_shows else read_trace(self.calls).lines
        except TraceError:
            return ()
        return ["=".join(line.args) for line in lines if line.action == "set-option"]

    @cached_property
    def theories(self) -> Sequence[str]:
        """Those of the calls, as far as SMT-LIB can say them."""
        return theories_in(self.formula) if self.formula.strip() else ()

    def printed(self, name: str) -> tuple[str, str]:
        """What was printed as the calls were made, without what Python said of its own stack."""
        printed, _, _ = read_some(self.path / PRINTED).partition(FATAL)
        return printed.strip(), self.detail.partition("\n")[0]

    def command(self, name: str) -> str:
        """The command line that makes the calls again."""
        if (self.path / SCRIPT).is_file():
            return f"python {SCRIPT}"
        return f"exhume apifuzz replay {shlex.quote(MINIMISED)}"


def _entry(spec: str, fault: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a solver without asking it."""
    name = spec.partition("=")[0]
    crashed = fault["kind"] == "crash"
    return {
        "name": name,
        "spec": spec,
        "family": name if name in PROFILES and spec == name else "other",
        "package": DISTRIBUTIONS.get(name) if spec == name else None,
        "options": [],
        "outcome": "crash" if crashed else str(fault["kind"]),
        "answers": [],
        "location": fault.get("place"),
        "detail": str(fault.get("detail", "")).partition("\n")[0] if crashed else "",
    }


def solver_entries(setup: Setup, fault: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The solvers of a finding as ``finding.json`` holds them, with versions and commits."""
    entries = []
    for spec in setup.specs:
        entry = _entry(spec, fault)
        try:
            solver = find_solver(spec)
            entry |= {"version": solver.version(), "commit": solver.commit()}
        except ExhumeError:
            entry["version"] = "unknown"
        if entry["package"]:
            entry["release"] = importlib.metadata.version(entry["package"])
        entries.append(entry)
    return entries
