"""Any solver that talks SMT-LIB: ``name=command line``, started per instance, asked command by command.

Sorts and terms are those of :mod:`apifuzz.engines.text`; what is printed there is said here, and each answer
is read. What the solver knows is found by asking it (:mod:`apifuzz.engines.abilities`).
"""

from __future__ import annotations

import contextlib
import re
import signal
from collections.abc import Sequence
from typing import Any

from apifuzz.engine import Engine
from apifuzz.engines import EngineMissing, NotHere
from apifuzz.engines.abilities import ASKED, FIRST, RESET, Abilities, abilities_of, accepts
from apifuzz.engines.text import TextEngine
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    Feature,
    Head,
    HeadKind,
    LimitReached,
    Misbehaviour,
    Rejected,
    Unsupported,
    must_be_given,
)
from smtlib import ReadError, Signature, SmtLibError, Sort, Term, read_sexps
from smtlib.reader import SExp, sexp_text
from solvers.errors import UnknownSolver
from solvers.running.conversation import Conversation, Ended, NoAnswer
from solvers.running.outcomes import tells_of_a_crash, tells_of_an_invalid_model, tells_of_no_memory
from solvers.specs import parse_spec

_ASKING = re.compile(r"\((check-sat|get-)")

# The kernel's, where there is no memory left, and where a file is larger than the conversation allows.
_NO_ROOM = (signal.SIGKILL, signal.SIGXFSZ)


class PipeEngine(TextEngine):
    """Talks to the solver that ``command`` starts (no shell: split as that of a solver's spec).

    An error that the solver reports is :class:`Rejected`, its death by a signal or a message of an internal
    error :class:`Misbehaviour` of kind ``crash``. Where memory ran out, the run ends. A solver that does not
    answer in time is killed; what the run still asks of it is :class:`Unsupported`.
    """

    answers = True
    # Why the last command was refused, where that is a limit: some solvers end after an error.
    _limit = ""

    def __init__(self, name: str, command: str) -> None:
        """Raises :class:`EngineMissing` where the program cannot be started."""
        self._line = command
        try:
            spec = parse_spec(f"{name}={command}")
        except UnknownSolver as error:
            raise EngineMissing(str(error)) from error
        if not spec.command:  # of name==version
            raise EngineMissing(
                f"{name}={command}: API fuzzing supports no releases; name an installed solver, or a program,"
                f" as in {name}-old=COMMAND"
            )
        self._argv = spec.command
        super().__init__((spec.kin,))
        self.name = name.strip()
        try:
            self._abilities: Abilities = abilities_of(self._argv, self._families)
        except OSError as error:
            raise _missing(name, command, error.strerror or str(error)) from error
        if not self._abilities.capabilities.theories:
            raise _missing(name, command, "it does not answer SMT-LIB commands on its standard input")
        self._talk: Conversation | None = None
        self._gone = ""
        self._started = False
        self._reply = ""
        self._named: dict[str, ApiTerm] = {}
        self._literals: list[tuple[str, ApiTerm]] = []

    # What it is

    @property
    def version(self) -> str:
        """What it answers to ``(get-info :version)``, or ``unknown``."""
        with contextlib.suppress(OSError, Ended, NoAnswer, ReadError):
            with contextlib.closing(Conversation(self._argv)) as talk:
                parts = read_sexps(talk.ask("(get-info :version)"))[0]
            if len(parts) == 2 and isinstance(parts[1], str):
                return parts[1].strip('"')
        return "unknown"

    def capabilities(self) -> Capabilities:
        return self._abilities.capabilities

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        """Solvers differ in what they take with one argument less than two, and in a named logic."""
        if signature.only and self._logic not in ("", "ALL"):
            return False
        if any(
            s.name == "FloatingPoint" and s.indices not in self._abilities.formats for s in (*sorts, result)
        ):
            return False
        return not (signature.associativity and len(sorts) < 2)

    # Life

    def new(self) -> None:
        self._end()
        try:
            self._talk = Conversation(self._argv)
        except OSError as error:
            raise Rejected(f"{self._argv[0]} cannot be started: {error.strerror}") from error
        self._gone = self._limit = ""
        self._started = False
        self.commands = []
        self._forget()
        self._named = {}
        self._literals = []
        self._set_up(FIRST)
        if self._abilities.global_declarations:
            self._set_up("(set-option :global-declarations true)")

    def delete(self) -> None:
        """End the solver, and whatever it started."""
        self._end()
        self._gone = ""
        self.commands = []
        self._forget()

    def _end(self) -> None:
        if self._talk is not None:
            self._talk.close()
            self._talk = None

    def sibling(self) -> Engine:
        """A second process that was given the options and declarations so far."""
        other = PipeEngine(self.name, self._line)
        other.new()
        other._logic = self._logic
        for command in (*self._setup[len(other._setup) :], *self._declared):
            other.emit(command)
        other._setup, other._declared = list(self._setup), list(self._declared)
        other.table, other._elaborator = self.table, self._elaborator
        other.members, other.unprinted = self.members, dict(self.unprinted)
        other._assumed = self._assumed  # their names are declared there, too
        return other

    def __del__(self) -> None:
        if getattr(self, "_talk", None) is not None:
            self._end()

    # Talking

    def emit(self, command: str) -> None:
        """Say a command and read the answer; what must succeed, and does not, is raised."""
        if not self._started and not command.startswith(("(set-option", "(set-logic", "(reset)")):
            # The logic stands before the first command that wants one.
            self._started = True
            if not self._logic:
                self._logic = "ALL"
                self._set_up("(set-logic ALL)")
        super().emit(command)
        self._reply = self._ask(command)
        if self._reply.startswith("(error"):
            error = _error(self._reply)
            self._limit = str(error) if isinstance(error, Unsupported) else ""
            raise error
        self._limit = ""
        if self._reply == "unsupported":
            raise Unsupported(f"{command[:60]}: the solver says unsupported")
        if self._reply != "success" and not _ASKING.match(command):
            raise Misbehaviour("answer", f"{command[:200]} is answered by {self._reply[:200]}")

    def _ask(self, command: str) -> str:
        if self._talk is None:
            raise Unsupported(self._gone or "there is no instance")
        try:
            return self._talk.ask_perhaps(command) if command == RESET else self._talk.ask(command)
        except NoAnswer as error:
            self._talk, self._gone = None, str(error)
            raise Unsupported(str(error)) from error
        except Ended as error:
            self._talk, self._gone = None, str(error)
            if error.signal in _NO_ROOM or tells_of_no_memory(error.said):
                raise LimitReached(f"memory or room for files: {error}") from error
            if error.signal is not None or tells_of_a_crash(error.said):
                raise Misbehaviour("crash", str(error)) from error
            raise (Unsupported(self._limit) if self._limit else _error(str(error))) from error

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Sort:
        """The sort, where the solver knows its head (and its format, of a floating-point sort)."""
        if sort.name in self._abilities.unknown_sorts:
            raise Unsupported(f"sorts {sort.name}")
        if sort.name == "FloatingPoint" and sort.indices not in self._abilities.formats:
            raise Unsupported(f"floating-point format {sort}")
        return super().make_sort(sort, args)

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Term:
        """The term; without updaters where the solver has none."""
        if head.kind is HeadKind.UPDATER and not self._abilities.updaters:
            raise Unsupported("updaters")
        return super().make_term(sort, head, args)

    # Solving

    def set_logic(self, logic: str) -> None:
        """Set the logic, where the solver knows it; else it will be ALL."""
        if self._started:
            raise Unsupported("the logic is set before anything else")
        if logic == "HO_ALL" and "z3" in self._families:
            raise Unsupported("HO_ALL, which z3 does not take for ALL")
        known = accepts(self._argv, [*self._setup, f"(set-logic {logic})"])
        if not known:
            raise Unsupported(f"the logic {logic}")
        super().set_logic(logic)

    def assert_formula(self, term: ApiTerm) -> None:
        """Assert it; with a name if the solver gives unsat cores."""
        if Feature.UNSAT_CORES not in self._abilities.capabilities.features:
            super().assert_formula(term)
        else:
            self._named[self._assert_named(term)] = term

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        self._literals = []
        super().check_sat(assumptions)
        try:
            return Answer(self._reply)
        except ValueError:
            raise Misbehaviour("answer", f"a check is answered by {self._reply[:200]}") from None

    def _assume(self, assumptions: Sequence[ApiTerm]) -> list[str]:
        """The literals, kept to find the assumptions again that an answer names."""
        literals = super()._assume(assumptions)
        self._literals = list(zip(literals, assumptions, strict=True))
        return literals

    def _name_assumption(self, name: str, formula: str) -> None:
        """By a constant: z3 answers with what a defined name stands for."""
        self.declare(f"(declare-const {name} Bool)")
        self.emit(f"(assert (= {name} {formula}))")

    def unsat_assumptions(self) -> list[ApiTerm]:
        super().unsat_assumptions()
        failed = self._read_names("assumptions")
        # z3 lists names of assertions, too.
        return [term for text, term in self._literals if text in failed]

    def unsat_core(self) -> list[ApiTerm]:
        """The assertions in the core; some solvers list assumptions, too."""
        super().unsat_core()
        core = self._read_names("core")
        return [term for name, term in self._named.items() if name in core]

    def _read_names(self, kind: str) -> list[str]:
        """A list of what was asserted or assumed."""
        found = self._read_list()
        must_be_given(kind, found, (*self._named, *dict(self._literals)))
        return found

    def _read_list(self) -> list[str]:
        answer = self._read_reply()
        if isinstance(answer, str):
            raise Misbehaviour("print", f"a list expected, the answer is {answer[:200]}")
        return [sexp_text(part) for part in answer]

    def _read_reply(self) -> SExp:
        try:
            read: SExp = read_sexps(self._reply)[0]
        except (ReadError, IndexError) as error:
            raise Misbehaviour("print", f"the answer does not read: {self._reply[:300]}") from error
        return read

    def get_value(self, terms: Sequence[ApiTerm]) -> list[Any]:
        """The values, as terms. Raises Unsupported for what is written in no SMT-LIB."""
        super().get_value(terms)
        answer = self._read_reply()
        if isinstance(answer, str) or len(answer) != len(terms) or any(len(pair) != 2 for pair in answer):
            raise Misbehaviour("print", f"{len(terms)} values expected, the answer is {self._reply[:300]}")
        return [self._value(pair[1], term.sort.sort) for pair, term in zip(answer, terms, strict=True)]

    def _value(self, sexp: SExp, sort: Sort) -> Term:
        self._elaborator.start(read_sexps("()")[0])
        try:
            value = self._elaborator.term(sexp)
            if sort.name == "Real":
                value = self._as_real(value)
        except SmtLibError as error:
            raise Unsupported(f"a value that is not SMT-LIB: {error}") from error
        if value.sort.name == "Set" and sort.name == "FiniteSet":
            raise Unsupported("a value that z3 prints as one of another sort")
        if value.sort is not sort:
            raise Misbehaviour("value", f"a value of sort {value.sort} for a term of sort {sort}")
        return value

    def print_model(self) -> str:
        """The answer to ``get-model``: a list, whatever is in it."""
        super().print_model()
        self._read_list()
        return self._reply

    def reset(self) -> None:
        self._named, self._literals = {}, []
        super().reset()

    def reset_assertions(self) -> None:
        self._named, self._literals = {}, []
        super().reset_assertions()


def _missing(name: str, command: str, why: str) -> NotHere:
    return NotHere(f"the solver {name}={command} cannot be used: {why}")


def _error(reply: str) -> Exception:
    """What ``(error "...")``, or the message of a solver's end, stands for."""
    if reply.startswith("(error"):
        reply = reply.removeprefix("(error").removesuffix(")").strip().strip('"')
    message = " ".join(reply.split())
    if tells_of_a_crash(message):
        return Misbehaviour("crash", message)
    if tells_of_an_invalid_model(message):
        return Misbehaviour("model", message)
    # After an unknown parameter, all known ones are listed: those that set limits, too.
    said = message.partition("Legal parameters are")[0]
    reason = next((why for part, why in ASKED["limits"].items() if part in said), "")
    return Unsupported(f"{reason}: {message}") if reason else Rejected(message)
