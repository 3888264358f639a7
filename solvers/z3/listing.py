"""How z3 is asked what it has. A script continues after an error, so one run answers many questions."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from base.files import put_text
from solvers.discovery.scripts import Listing
from solvers.running.process import Limits, Run, run
from solvers.running.runner import Runner
from solvers.solver import Solver

# Terms of one script.
_PART = 5000
_LIMITS = Limits(seconds=120.0, output=256 << 20)
_ERROR = re.compile(r'^\(error "line (\d+) column \d+: (.*)', re.M)
_UNKNOWN = re.compile(r"unknown constant|invalid expression")
_SORT = re.compile(r'Sorts (.+) and \|no sort\| are incompatible"\)')
_COMMAND = re.compile(r'^[ "]?\(([a-z][\w/-]*)', re.M)
_LISTED = re.compile(r"^- ([\w-]+)", re.M)


class _Listing(Listing):
    def commands(self, words: Iterable[str]) -> set[str]:
        return set(_COMMAND.findall(self._run("(help)\n").stdout))

    def functions(self, words: Iterable[str]) -> set[str]:
        left, found = sorted(words), set()
        for form in ("(assert ({} true))\n", "(assert ((_ {} 1) true))\n"):
            errors = _errors_of(self._run("".join(map(form.format, left))).stdout)
            known = {word for at, word in enumerate(left, 1) if not _UNKNOWN.match(errors.get(at, ""))}
            found |= known
            left = [word for word in left if word not in known]
        return found

    def sorts_of(self, declarations: Sequence[str], terms: Sequence[str]) -> list[str]:
        start = ["(declare-sort |no sort| 0)", "(declare-const |of no sort| |no sort|)", *declarations]
        parts = (terms[at : at + _PART] for at in range(0, len(terms), _PART))
        return [sort for part in parts for sort in self._sorts_of_part(start, part)]

    def _sorts_of_part(self, start: Sequence[str], terms: Sequence[str]) -> list[str]:
        lines = [*start, *(f"(assert (= {term} |of no sort|))" for term in terms)]
        text = "\n".join(lines) + "\n"
        done = self._run(text)
        if done.ended != "exit" or done.code is None:
            # One of them ended the process: look for it.
            half = len(terms) // 2
            parts = (terms[:half], terms[half:]) if half else ()
            return [sort for part in parts for sort in self._sorts_of_part(start, part)] or [""]
        errors = _errors_of(done.stdout)
        said = (_SORT.match(errors.get(at, "")) for at in range(len(start) + 1, len(lines) + 1))
        return [found[1] if found else "" for found in said]

    def simplifiers(self) -> set[str]:
        return set(_LISTED.findall(self._run("(help-simplifier)\n").stdout))

    def _run(self, text: str) -> Run:
        with tempfile.TemporaryDirectory(prefix="exhume-") as folder:
            file = Path(folder) / "asked.smt2"
            put_text(file, text)
            return run([*self.solver.argv, str(file)], _LIMITS)


def _errors_of(printed: str) -> dict[int, str]:
    """The first error of each line that has one."""
    errors: dict[int, str] = {}
    for line, message in _ERROR.findall(printed):
        errors.setdefault(int(line), message)
    return errors


def open_listing(solver: Solver, runner: Runner) -> Listing:
    """How z3 is asked."""
    return _Listing(solver, runner)
