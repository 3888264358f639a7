"""What a report says of calls: the parts that are not those of a formula."""

from __future__ import annotations

import shlex

from apifuzz.running.folder import ONLY_A_SIGNAL, SCRIPT, CallsFolder
from difftest.triage.classes import class_of_finding
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import Typed
from difftest.triage.report import Writer
from solvers.lookup import find_solver
from solvers.registry import PROFILES
from solvers.running.script import Script


class CallsWriter(Writer):
    """Writes a report about calls."""

    found: CallsFolder

    def _about(self) -> str:
        if self.found.text_shows:
            return super()._about()
        is_named = (
            self.found.place
            or self.found.function
            or " in " in class_of_finding(self.found).headline(self.found)
        )
        return "" if is_named else f" in {self.found.call}"

    def _strategy(self) -> str:
        return "API fuzzing"

    def _input(self) -> str:
        """The script if that shows it, else the program; the trace where there is neither."""
        return self._block(self.found.shown_text, self.found.language, self.found.input_file)

    def _runs(self) -> list[tuple[str, str, str]]:
        printed, ending = self.found.printed("")
        if only := ONLY_A_SIGNAL.match(ending):
            ending = only[1].replace("SIG", "signal SIG")
        return [(self.found.command(""), printed, ending)]


def typed_of_calls(found: FindingFolder) -> Typed | None:
    """What a person types to see it: the solver on the script, or the program."""
    assert isinstance(found, CallsFolder), "a kind has folders of its own"
    if found.text_shows:
        spec, script = str(found.accused.get("spec", "")), Script((found.path / found.file).read_bytes())
        words = shlex.split(find_solver(spec).shown(script, found.file))
        return Typed(spec.partition("[")[0] if found.family in PROFILES else "", tuple(words), found.file)
    return Typed("", ("python", SCRIPT), SCRIPT) if (found.path / SCRIPT).is_file() else None
