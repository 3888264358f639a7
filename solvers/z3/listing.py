"""How z3 is asked what it has. A script continues after an error, so one run answers many questions."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from base.files import put_text
from solvers.discovery.scripts import Listing
from solvers.running.process import Limits, run
from solvers.running.runner import Runner
from solvers.specs import Solver

_LIMITS = Limits(seconds=120.0, output=256 << 20)
_ERROR = re.compile(r'^\(error "line (\d+) column \d+: (.*)', re.M)
_UNKNOWN = re.compile(r"unknown constant|invalid expression")
_SORT = re.compile(r'Sorts (.+) and \|no sort\| are incompatible"\)')
_COMMAND = re.compile(r'^[ "]?\(([a-z][\w/-]*)', re.M)
_LISTED = re.compile(r"^- ([\w-]+)", re.M)


class _Listing(Listing):
    def commands(self, words: Iterable[str]) -> set[str]:
        return set(_COMMAND.findall(self._said("(help)\n")))

    def functions(self, words: Iterable[str]) -> set[str]:
        left, found = sorted(words), set()
        for form in ("(assert ({} true))\n", "(assert ((_ {} 1) true))\n"):
            errors = self._errors("".join(map(form.format, left)))
            known = {word for at, word in enumerate(left, 1) if not _UNKNOWN.match(errors.get(at, ""))}
            found |= known
            left = [word for word in left if word not in known]
        return found

    def sorts_of(self, declarations: Sequence[str], terms: Sequence[str]) -> list[str]:
        start = ["(declare-sort |no sort| 0)", "(declare-const |of no sort| |no sort|)", *declarations]
        lines = [*start, *(f"(assert (= {term} |of no sort|))" for term in terms)]
        errors = self._errors("\n".join(lines) + "\n")
        said = (_SORT.match(errors.get(at, "")) for at in range(len(start) + 1, len(lines) + 1))
        return [found[1] if found else "" for found in said]

    def tactics(self) -> set[str]:
        return set(_LISTED.findall(self._said("(help-tactic)\n").partition("builtin probes")[0]))

    def simplifiers(self) -> set[str]:
        return set(_LISTED.findall(self._said("(help-simplifier)\n")))

    def _said(self, text: str) -> str:
        with tempfile.TemporaryDirectory(prefix="exhume-") as folder:
            file = Path(folder) / "asked.smt2"
            put_text(file, text)
            return run([*self.solver.argv, str(file)], _LIMITS).stdout

    def _errors(self, text: str) -> dict[int, str]:
        """The first error of each line that has one."""
        errors: dict[int, str] = {}
        for line, message in _ERROR.findall(self._said(text)):
            errors.setdefault(int(line), message)
        return errors


def open_listing(solver: Solver, runner: Runner) -> Listing:
    """How z3 is asked."""
    return _Listing(solver, runner)
