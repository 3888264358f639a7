"""``report.md`` of a finding of API fuzzing, in the form of its solver's tracker, made from what its folder
holds and from nothing else.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from apifuzz.running.folder import MINIMISED, REDUCED, SCRIPT, CallsFolder
from apifuzz.running.programs import undressed
from apifuzz.running.setup import Setup
from apifuzz.trace import TraceError, read_trace
from difftest.oracles.base import FindingClass
from difftest.triage.markdown import clipped, fenced, inline, plain, printable
from difftest.triage.reading import read_some
from difftest.triage.reports import Writer, death_words, form_of_finding, logic_name, write_report
from solvers.report_form import PLAIN

_MOST_SHOWN = 8_000
_ANSWERS = re.compile(r"\A(\S+) answers (sat|unsat), (\S+) (sat|unsat)\Z")
_CALL = re.compile(r"(?:\Av\d+ = )?(?:\w+\.)*(\w+)\(")
# The command, where that is what is said to a solver.
_SAID_CALL = re.compile(r"(?:\Av\d+ = )?v\d+\.ask(?:_perhaps)?\(['\"]\(([\w-]+)")
_ONLY_A_SIGNAL = re.compile(r"\A(SIG\w+|exit status \d+) in \S+\Z")
_SETTLED = ("print(", "assert ")

_EXPECTED = {
    "crash": "An answer, or a message that it cannot be given.",
    "rejected": "The call is one that the solver's documentation allows: it should be accepted.",
    "answer": "The same answer whoever is asked, and however.",
    "model": "Values that satisfy the assertions.",
    "core": "An unsat core that is unsatisfiable, of what was asserted.",
    "assumptions": "Failed assumptions that cannot all be true, of those that were made.",
    "sort": "A term of the sort that its operator has.",
    "term": "A term that tells what it was made of.",
    "print": "A printed term that reads back as the same term.",
    "value": "A value of the term's sort, the same each time it is asked for.",
    "leak": "Memory that is given back when the solver instance is deleted.",
    "internal": "This is a fault of exhume's own, not of the solver.",
}
_SAID = {
    "rejected": "rejects a call that should be allowed",
    "answer": "contradicts itself",
    "model": "gives values that do not satisfy the assertions",
    "core": "gives an unsat core that is wrong",
    "assumptions": "gives failed assumptions that are wrong",
    "sort": "gives a term the wrong sort",
    "term": "says of a term what it was not made of",
    "print": "prints a term that does not read back",
    "value": "gives a wrong value",
    "leak": "does not give memory back",
}
_TITLES = {
    "rejected": "Call rejected that should be allowed",
    "core": "Wrong unsat core",
    "assumptions": "Wrong failed assumptions",
    "sort": "Term of the wrong sort",
    "term": "Wrong children or operator of a term",
    "print": "Printed term does not read back",
    "value": "Wrong value",
    "leak": "Memory leak",
    "levels": "Wrong number of levels",
}
_CATEGORIES = {
    "crash": FindingClass.CRASH,
    "answer": FindingClass.SOUNDNESS,
    **dict.fromkeys(("model", "core", "assumptions", "value"), FindingClass.INVALID_MODEL),
}


def report_text(folder: Path) -> str:
    """The report on a finding's folder, whose ``finding.json`` must be readable."""
    return _writer(CallsFolder.read(folder)).text()


def report_title(found: CallsFolder) -> str:
    """The title of its report."""
    return _writer(found).title()


def rewrite_report(folder: Path) -> str:
    """Make ``report.md`` anew from what the folder holds; its text."""
    return write_report(folder, report_text(folder))


def _writer(found: CallsFolder) -> _CallsWriter:
    return _CallsWriter(found, form_of_finding(found))


class _CallsWriter(Writer):
    """Writes the pieces of a report that are about calls, not about a formula."""

    found: CallsFolder

    @property
    def _kind(self) -> str:
        return str(self.found.data["class"])

    @property
    def _detail(self) -> str:
        return str(self.found.data["fault"].get("detail", ""))

    @property
    def _message(self) -> str:
        """What the solver itself said, if it said something."""
        first = self._detail.partition("\n")[0]
        return "" if _ONLY_A_SIGNAL.match(first) else first

    @property
    def _call(self) -> str:
        """The call that fails: of the program where there is one, else of the trace."""
        action = str(self.found.data["fault"]["action"]).rpartition(":")[2]
        if self._kind not in ("crash", "rejected"):
            return plain(action)
        lines = [
            line for line in read_some(self.found.path / SCRIPT).splitlines() if not line.startswith(_SETTLED)
        ]
        last = lines[-1] if lines else ""
        called = _SAID_CALL.findall(last) or _CALL.findall(last.partition("  #")[0])
        return plain(called[0] if called else action)

    def title(self) -> str:
        """By the customs of the tracker, with the call where these name a logic only."""
        titles, kind = self.form.titles, self._kind
        place = self.found.data["fault"].get("place")
        logic = logic_name(self.found.theories)
        if kind == "crash" and place:
            text = titles.crash
        elif kind == "crash":
            text = titles.death.replace(" on {logic}", " in {call} on {logic}")
        elif kind == "answer":
            name = {"sat": "wrong_sat", "unsat": "wrong_unsat"}.get(self._wrong_answer() or "", "soundness")
            text = getattr(titles, name)
        elif kind == "model":
            text = titles.invalid_model
        else:
            text = ("{solver}: " if self.form is PLAIN else "") + _TITLES.get(kind, kind) + " ({call})"
        signal = death_words(self._detail, "")
        return plain(
            text.format(solver=self._accused(), logic=logic, place=place, signal=signal, call=self._call)
        )

    def _category(self) -> str:
        kind = _CATEGORIES.get(self._kind)
        return self.form.categories.get(str(kind), "Other") if self.form.categories else ""

    def _description(self) -> str:
        name, said = self._accused(), inline(self._detail.partition("\n")[0])
        if self._kind == "crash":
            place = self.found.data["fault"].get("place")
            where = f" at {inline(str(place))}" if place else ""
            how = f"dies of a {death_words(self._detail, '').lower()}" if "SIG" in said else "crashes"
            told = f": {said}" if self._message else "."
            return f"{name} {how}{where} in `{self._call}`, after the calls below{told}"
        if self._kind == "answer" and self.found.guilty is None and self._answers():
            return f"Solvers disagree after the calls below: {said}. Who is wrong is not known yet."
        if wrong := self._wrong_answer():
            right = "unsatisfiable" if wrong == "sat" else "satisfiable"
            return f"{name} answers `{wrong}` after the calls below, and what is asserted is {right}."
        return f"{name} {_SAID.get(self._kind, plain(self._kind))} after the calls below: {said}"

    def _formula(self) -> str:
        """The program, or the trace where there is none, and the same in SMT-LIB."""
        blocks = []
        if text := read_some(self.found.path / SCRIPT):
            calls = undressed(text)
            blocks.append(_shown(calls, "python", SCRIPT))
            if calls != text:
                blocks.append(f"(`Solver`, which says commands to the solver, begins `{SCRIPT}`.)")
        if text := read_some(self.found.path / self.found.file):
            shows = self.found.data.get("text_shows") or self.found.file == REDUCED
            if shows or not blocks:
                told = "The same in SMT-LIB" if blocks else "In SMT-LIB"
                told += ", which shows it, too" if shows else ", which does not show it as a file of its own"
                blocks.append(f"{told} (`{self.found.file}`):\n\n{_shown(text, 'smt2', self.found.file)}")
        if not (self.found.path / SCRIPT).is_file():
            blocks.append(_shown(self.found.calls, "text", MINIMISED))
        return "\n\n".join(blocks)

    def _printed(self) -> str:
        printed, ending = self.found.printed("")
        if only := _ONLY_A_SIGNAL.match(ending):
            ending = only[1].replace("SIG", "signal SIG")
        lines = [f"$ {self.found.command('')}", *clipped(printed), f"[{ending}]" if ending else ""]
        return fenced(printable("\n".join(line for line in lines if line)), "console")

    def _expected(self) -> str:
        if wrong := self._wrong_answer():
            first = f"`{'unsat' if wrong == 'sat' else 'sat'}`."
        else:
            first = _EXPECTED.get(self._kind, "That it does not.")
        if reason := str(self.found.data.get("reason") or ""):
            first += f" {plain(self._accused())}: {plain(reason)}."
        return "\n".join([first, *self._evidence()])

    def _command(self) -> str:
        name = (self.found.guilty or {}).get("family")
        what = f"the Python interface ({name})" if name and name != "other" else "its interface"
        return f"{what}: {inline(self.found.command(''))}"

    def _options(self) -> str:
        """The options that the calls set."""
        try:
            lines = read_trace(self.found.calls).lines
        except TraceError:
            return ""
        said = [f"`{plain('='.join(line.args))}`" for line in lines if line.action == "set-option"]
        return f"{', '.join(said)}: set by the calls above." if said else ""

    def _origin(self) -> str:
        data = self.found.data
        origin: dict[str, Any] = data.get("origin") or {}
        before, after = self.found.lines
        text = f"Found by exhume (API fuzzing, seed {origin.get('seed')}, run {origin.get('run')})"
        text += f", seen again in a fresh process; minimised from {before} calls to {after}."
        if self.found.setup.cross_check:
            parties = f"{self.found.setup.label} and {Setup(self.found.setup.cross_check).label}"
            text += f" Both solvers made the same calls: {parties}."
        if self.found.setup.witnesses:
            text += " Witnesses were re-checked in a second instance."
        return plain(text)

    # Facts that several pieces need

    def _answers(self) -> dict[str, str]:
        found = _ANSWERS.match(self._detail)
        return {found[1]: found[2], found[3]: found[4]} if found else {}


def _shown(text: str, language: str, file: str) -> str:
    """The beginning of a text as a block."""
    shown = text[:_MOST_SHOWN].rstrip("\n")
    cut = f"\n\n(Cut short here; `{file}` has all of it.)" if len(text) > _MOST_SHOWN else ""
    return fenced(printable(shown), language) + cut
