"""What a relation is: a test and scripts made from it, of whose answers by one solver not all are possible.

A relation makes *claims* from a case, which is one question of a test that a solver answered. A claim has one
or two scripts and says which answers to them the answer to the test leaves possible. Only ``sat`` and
``unsat`` count: whatever else comes (unknown, a timeout, a refusal, output that cannot be read) is no
violation.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from difftest.models.model_reader import NotCheckable, check_string
from difftest.models.state import SILENCED, State
from difftest.models.totalise import left_open, not_total, operators_in
from smtlib.commands import print_command
from smtlib.errors import ReadError
from smtlib.printer import PLAIN, print_term
from smtlib.reader import SExp, SExpList, read_sexps
from smtlib.scanner import lexemes
from smtlib.shapes import COMMANDS
from smtlib.terms import Term, free_in, postorder
from solvers.option_file import OptionTable
from solvers.options import option_table
from solvers.report_form import Kind as ReportKind
from solvers.running.script import ANSWERS, Script
from solvers.solver import Solver

CONTRADICTION = "contradiction"
QUESTION = "(check-sat)"
T = TypeVar("T")
_LONGEST = 200_000
# What may stand in a script that is taken apart: it declares, defines, asserts or sets.
_PLAIN = ("assert", "set-logic", "set-option", "set-info")


class Rule(StrEnum):
    """Which answers to a claim's scripts are possible."""

    SAME = "same"
    """Test sat: not all of the scripts are unsat. Test unsat: none is sat."""
    SAT = "sat"
    """None is unsat."""
    UNSAT = "unsat"
    """None is sat."""

    def is_broken(self, first: str | None, answers: Sequence[str | None]) -> bool:
        """Whether no formula has these answers; ``first`` is that to the test."""
        if self is Rule.SAME and first == "sat":
            return bool(answers) and all(answer == "unsat" for answer in answers)
        if self is Rule.SAME and first != "unsat":
            return False
        return ("unsat" if self is Rule.SAT else "sat") in answers


@dataclass(frozen=True, slots=True)
class Claim:
    """``texts`` are scripts, whose last question counts; ``why`` is a sentence that says why the answers are
    bound. ``place`` stands in the keys of findings for the theories of the test, where it says more.
    """

    texts: tuple[str, ...]
    rule: Rule
    why: str
    place: str = ""


@dataclass(frozen=True)
class Case:
    """Question number ``check`` of ``script``, to which ``solver`` said ``answer``; ``state`` is what was
    declared and asserted then. ``ask`` gives what the solver prints on a script; ``salt`` makes choices
    differ from test to test.
    """

    solver: Solver
    script: Script
    check: int
    answer: str
    state: State
    ask: Callable[[str], str]
    salt: int = 0

    @cached_property
    def is_plain(self) -> bool:
        """Whether the script has nothing but declarations, definitions, settings and assertions."""
        return all(
            command.name in (*_PLAIN, *SILENCED) or command.name.startswith(("declare-", "define-"))
            for command in self.state.commands
        )

    @property
    def table(self) -> OptionTable:
        """The tactics and simplifiers of the solver, also of a user's build of it."""
        return option_table(self.solver.kin)

    @cached_property
    def head(self) -> list[str]:
        """Settings, declarations and definitions, as text."""
        return [
            print_command(command)
            for command in self.state.commands
            if command.name != "assert" and command.name not in SILENCED
        ]

    @cached_property
    def asserted(self) -> list[str]:
        """What holds where the question is asked, as text."""
        return list(map(print_term, self.state.terms))

    def question(self, more: str = "") -> str:
        """What the test asks, and ``more`` after the answer."""
        return "".join([*map(print_command, self.state.objectives), QUESTION, more])

    def text(
        self,
        asserted: Iterable[str] | None = None,
        question: str = QUESTION,
        before: Sequence[str] = (),
        head: Sequence[str] | None = None,
    ) -> str:
        """The script with these assertions (none: its own); ``before`` come first, as options have to."""
        chosen = self.asserted if asserted is None else asserted
        lines = [
            *before,
            *(self.head if head is None else head),
            *(f"(assert {term})" for term in chosen),
            question,
        ]
        return "\n".join(lines) + "\n"

    @cached_property
    def subterms(self) -> list[Term]:
        """The terms below the assertions that have no free variable, in an order that depends on each alone,
        so that what is left of a test that is reduced has the same first ones.
        """
        free: dict[Term, frozenset[Term]] = {}
        closed = []
        for term in postorder(self.state.assertions):
            free[term] = free_in(term, free)
            if not free[term]:
                closed.append(term)
        return self.in_order(closed, lambda term: str(self.digests[term]))

    @cached_property
    def digests(self) -> dict[Term, int]:
        """A number for each term below the assertions that depends on it alone: a sum of its text without the
        text, whose length may be the square of the number of terms.
        """
        found: dict[Term, int] = {}
        for term in postorder(self.state.assertions):
            bound = [f"{v.name} {v.sort}" for v in term.bound]
            made = [name for name, _ in term.patterns]
            attributes = [f"{key} {value}" for key, value in term.op.attributes]
            parts = [PLAIN.head(term), *bound, *made, *attributes, *(str(found[arg]) for arg in term.args)]
            found[term] = _digest(" ".join(parts))
        return found

    def in_order(self, items: Iterable[T], text: Callable[[T], str] = str) -> list[T]:
        """The items in an order that looks drawn and depends on each item's text and the salt alone."""
        return sorted(items, key=lambda item: _digest(f"{self.salt} {text(item)}"))

    def require_exact(self) -> None:
        """NotCheckable if something is asserted that solvers read differently, or approximate."""
        objectives = [term for command in self.state.objectives for term in command.terms]
        found = operators_in((*self.state.terms, *objectives)) & not_total()
        if found:
            raise NotCheckable(f"not defined everywhere: {min(found)}")

    def require_total(self) -> None:
        """NotCheckable if something that is asserted has no value by the standard, as a division by zero: the
        solver may choose another one in each script.
        """
        if left_open(self.script.text):
            raise NotCheckable("values that are left open")

    @property
    def chance(self) -> random.Random:
        """Chance that depends on the salt alone."""
        return random.Random(self.salt)

    def is_free(self, name: str) -> bool:
        """Whether the script does not use a symbol."""
        return name not in self.script.text

    def require_free(self, *names: str) -> None:
        """NotCheckable if the script uses one of these symbols."""
        if not all(map(self.is_free, names)):
            raise NotCheckable("names that are taken")

    def printed(self, text: str, answer: str = "") -> list[SExp]:
        """What the solver prints on a script, after its ``answer`` if there has to be one. NotCheckable if
        that is another one, or if the rest is an error, cannot be read or means something else in a script.
        """
        printed = self.printed_after(answer, text) if answer else self.ask(text).lstrip()
        if len(printed) > _LONGEST:
            raise NotCheckable("it prints too much")
        try:
            found: list[SExp] = list(read_sexps(printed))
        except (ReadError, RecursionError) as problem:
            raise NotCheckable("what it prints cannot be read", str(problem)) from problem
        is_error = any(isinstance(sexp, list) and sexp[:1] == ["error"] for sexp in found)
        if not found or found[0] in ANSWERS or is_error:
            raise NotCheckable("it prints an error, an answer or nothing")
        if "\\" in printed:  # most outputs have no escape and need not be scanned again
            for token in lexemes(printed):
                check_string(token)
        return found

    def printed_after(self, answer: str, text: str) -> str:
        """What the solver prints on a script after this answer. NotCheckable if it gives another one."""
        said, _, printed = self.ask(text).lstrip().partition("\n")
        if said.strip() != answer:
            raise NotCheckable(f"not {answer} when more is asked")
        return printed


def _digest(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))


def listed(sexp: SExp, head: str = "", length: int = 0) -> SExpList:
    """``sexp`` as a list that begins with ``head`` and has ``length`` items; NotCheckable if it is none."""
    if not isinstance(sexp, SExpList) or (head and sexp[:1] != [head]) or (length and len(sexp) != length):
        raise NotCheckable("what it prints has another form")
    return sexp


def has_command(solver: Solver, command: str) -> bool:
    """Whether a solver has a command."""
    only = COMMANDS[command].only
    return not only or solver.kin in only


Maker = Callable[[Case], Iterator[Claim]]


@dataclass(frozen=True, slots=True)
class Relation:
    """``make`` gives the claims of a case, lazily, the first one first; it may raise NotCheckable.

    ``answers`` are those of the test that it needs. ``command`` is one that the solver must have. ``place``
    goes into the keys of findings where it is not the answers to formulas that are at fault, but what the
    solver gives besides. ``fits`` says whether it can be used with a solver. ``finding_class`` is that of its
    violations, ``kind`` what reports call them; None: a wrong result if it has a place, else a wrong answer.
    """

    name: str
    about: str
    make: Maker
    answers: tuple[str, ...] = ("sat", "unsat")
    place: str = ""
    command: str = ""
    fits: Callable[[Solver], bool] = lambda solver: True
    finding_class: str = CONTRADICTION
    kind: ReportKind | None = None

    @property
    def reported_as(self) -> ReportKind:
        """What reports call its violations."""
        return self.kind or (ReportKind.RESULT if self.place else ReportKind.ANSWER)

    def is_for(self, solver: Solver) -> bool:
        """Whether it says something of this solver."""
        return (not self.command or has_command(solver, self.command)) and self.fits(solver)
