"""What a report says of calls: the pieces that are not those of a formula."""

from __future__ import annotations

from typing import Any

from apifuzz.programs.programs import undressed
from apifuzz.running.folder import LOG, MINIMISED, ONLY_A_SIGNAL, REDUCED, SCRIPT, CallsFolder
from apifuzz.running.setup import Setup
from apifuzz.trace import TraceError, read_trace
from difftest.triage.classes.crash import death_words
from difftest.triage.folder import read_some
from difftest.triage.markdown import clipped, fenced, inline, plain, printable
from difftest.triage.report import Writer
from solvers.report_form import PLAIN

_MOST_SHOWN = 8_000


class CallsWriter(Writer):
    """Writes the pieces of a report that are about calls."""

    found: CallsFolder

    def _words(self) -> dict[str, str]:
        words = super()._words() | {"call": self.found.call, "place": self.found.place}
        words["owner"] = f"{words['solver']}: " if self.form is PLAIN else ""
        words["signal"] = death_words(self.found.detail, "") + f" in {self.found.call}"
        return words

    def _formula(self) -> str:
        """The program, or the trace where there is none, and the same in SMT-LIB."""
        blocks = []
        if text := read_some(self.found.path / SCRIPT):
            calls = undressed(text)
            blocks.append(_shown(calls, "python", SCRIPT))
            if calls != text:
                blocks.append(f"(`Solver`, which says commands to the solver, begins `{SCRIPT}`.)")
        if (self.found.path / LOG).is_file():
            blocks.append(f"The solver's own log of these calls is in `{LOG}`.")
        if text := read_some(self.found.path / self.found.file):
            shows = self.found.data.get("text_shows") or self.found.file == REDUCED
            if shows or not blocks:
                intro = "The same in SMT-LIB" if blocks else "In SMT-LIB"
                intro += ", which shows it, too" if shows else ", which does not show it as a file of its own"
                blocks.append(f"{intro} (`{self.found.file}`):\n\n{_shown(text, 'smt2', self.found.file)}")
        if not (self.found.path / SCRIPT).is_file():
            blocks.append(_shown(self.found.calls, "text", MINIMISED))
        return "\n\n".join(blocks)

    def _printed(self) -> str:
        printed, ending = self.found.printed("")
        if only := ONLY_A_SIGNAL.match(ending):
            ending = only[1].replace("SIG", "signal SIG")
        lines = [f"$ {self.found.command('')}", *clipped(printed), f"[{ending}]" if ending else ""]
        return fenced(printable("\n".join(line for line in lines if line)), "console")

    def _command(self) -> str:
        name = (self.found.culprit or {}).get("family")
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
        before, after = self.found.size
        text = f"Found by exhume (API fuzzing, seed {origin.get('seed')}, run {origin.get('run')})"
        text += f", reproduced in a fresh process; minimised from {before} calls to {after}."
        if self.found.setup.cross_check:
            parties = f"{self.found.setup.label} and {Setup(self.found.setup.cross_check).label}"
            text += f" Both solvers made the same calls: {parties}."
        if self.found.setup.witnesses:
            text += " Witnesses were re-checked in a second instance."
        return plain(text)


def _shown(text: str, language: str, file: str) -> str:
    """The beginning of a text as a block."""
    shown = text[:_MOST_SHOWN].rstrip("\n")
    cut = f"\n\n(Cut short here; `{file}` has all of it.)" if len(text) > _MOST_SHOWN else ""
    return fenced(printable(shown), language) + cut
