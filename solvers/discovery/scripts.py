"""How a solver is asked what it has: by scripts that end with their first error.

A solver with a better way has a ``listing.py`` in its folder, with a subclass of :class:`Listing` and a
function ``open_listing(solver, runner)``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence

from smtlib import default_theories
from smtlib.checker import KNOWN_COMMANDS
from solvers.discovery.words import words_of
from solvers.registry import PROFILES
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

_LIMITS = Limits(seconds=30.0, output=64 << 20)
_NO_COMMAND = re.compile(r"not a command|expected command|unknown command", re.I)
_LINE = re.compile(r"(?:\bline |:)(\d+)")
# The first words of commands.
_VERBS = frozenset(name.partition("-")[0] for name in KNOWN_COMMANDS)
# More words in a script take longer to read again after each error.
_PART = 200
_CONSTANT = re.compile(r"^\(declare-const (\|[^|]*\|) (.*)\)$")


class Listing:
    """What one solver has, asked by scripts. Each script ends with its first error."""

    def __init__(self, solver: Solver, runner: Runner) -> None:
        self.solver = solver
        self.runner = runner

    def words(self) -> set[str]:
        """Candidates for names of operators and sorts."""
        return words_of(self.solver)

    def commands(self, words: Iterable[str]) -> set[str]:
        """The commands among ``words``, or all that the solver lists."""
        likely = [word for word in sorted(words) if word.partition("-")[0] in _VERBS]
        return {word for word in likely if not _NO_COMMAND.search(self._print(f"({word})\n"))}

    def functions(self, words: Iterable[str]) -> set[str]:
        """The functions among ``words``: names that cannot be declared."""
        ordered, found, start = [word for word in sorted(words) if not _is_other(word)], set(), 0
        while start < len(ordered):
            part = ordered[start : start + _PART]
            lines = "".join(f"(declare-fun {word} () Bool)\n" for word in part)
            error = _LINE.search(self._print(f"(set-logic ALL)\n{lines}"))
            place = int(error[1]) - 2 if error else len(part)
            found.update(part[place : place + 1])
            start += place + 1
        return found

    def sorts_of(self, declarations: Sequence[str], terms: Sequence[str]) -> list[str]:
        """The sort of each term; empty for those that the solver refuses, ``?`` for one that it does not say.
        Declarations that it refuses are left out.
        """
        able = [text for text in declarations if not self._error(text)]
        return [self._sort_of(able, term) for term in terms]

    def _sort_of(self, declarations: Sequence[str], term: str) -> str:
        start = "".join(declarations)
        if self._error(f"{start}(assert (= {term} {term}))"):
            return ""
        constants = [constant for text in declarations if (constant := _CONSTANT.search(text))]
        equal = (c for c in constants if not self._error(f"{start}(assert (= {term} {c[1]}))"))
        return next((constant[2] for constant in equal), "?")

    def simplifiers(self) -> set[str]:
        """The simplifiers that it lists."""
        return set()

    def tactics(self) -> set[str]:
        """The tactics that it lists."""
        return set(PROFILES[self.solver.family].ask_tactics(self.solver.argv))

    def close(self) -> None:
        """End its processes."""

    def _error(self, text: str) -> bool:
        return "error" in self._print(f"(set-logic ALL)\n{text}")

    def _print(self, text: str) -> str:
        run = self.runner.run(self.solver, Script(text.encode()), _LIMITS)
        return run.stdout + run.stderr


def _is_other(word: str) -> bool:
    """Whether a word that cannot be declared is no function: a command, a sort, a logic."""
    return word in KNOWN_COMMANDS or word in default_theories().sorts or word.isupper()


def open_listing(solver: Solver, runner: Runner) -> Listing:
    """How this solver is asked."""
    file = PROFILES[solver.family].file("listing.py")
    if file is None:
        return Listing(solver, runner)
    module = importlib.import_module(f"solvers.{file.parent.name}.listing")
    listing: Listing = module.open_listing(solver, runner)
    return listing
