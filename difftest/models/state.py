"""What is declared, defined and asserted where a script asks a question."""

from __future__ import annotations

from dataclasses import dataclass

from difftest.models.model_reader import NotCheckable
from smtlib.checker import CheckedCommand, check_script
from smtlib.errors import ReadError
from smtlib.scanner import QUERY, QUESTIONS
from smtlib.script import read_script
from smtlib.shapes import OBJECTIVES
from smtlib.sorts import Sort, subsorts
from smtlib.terms import Term, TermTable
from solvers.running.script import Script

# What prints something, or ends the run, before the check-sat whose model is requested.
SILENCED = frozenset(
    "get-model get-value get-info get-option get-assertions get-assignment get-proof get-unsat-core "
    "get-unsat-assumptions get-objectives get-abduct get-interpolant get-difficulty get-learned-literals "
    "get-timeout-core get-user-tactics eval simplify display labels help help-tactic echo "
    "dbg-params get-abduct-next get-consequences get-interpolant-next get-interpolants "
    "get-model-domain-elements get-proof-graph get-qe-disjunct get-timeout-core-assuming "
    "get-unsat-core-lemmas".split()
)
_DECLARING = ("declare-fun", "declare-const")


@dataclass(slots=True)
class State:
    """What is declared, defined and asserted at one point of a script; ``objectives`` are the commands that
    say what is to be optimised.
    """

    commands: list[CheckedCommand]
    assumed: tuple[Term, ...]
    table: TermTable
    objectives: tuple[CheckedCommand, ...] = ()

    @classmethod
    def at(cls, script: Script, check: int) -> State:
        """The state in which question number ``check`` is asked. NotCheckable if that is about rules."""
        state, question = cls._where(script, check)
        if question.name == QUERY:
            raise NotCheckable("rules")
        return state

    @classmethod
    def of_query(cls, script: Script, check: int) -> tuple[State, CheckedCommand]:
        """The state in which question number ``check`` is asked, and the question, one about rules."""
        state, question = cls._where(script, check)
        if question.name != QUERY:
            raise NotCheckable("no rules")
        return state, question

    @classmethod
    def _where(cls, script: Script, check: int) -> tuple[State, CheckedCommand]:
        try:
            checked = check_script(read_script(script.data.decode("utf-8", "replace")))
        except ReadError as problem:
            raise NotCheckable("the formula cannot be read", str(problem)) from problem
        if checked.errors:
            raise NotCheckable("the formula is not well sorted for us", str(checked.errors[0]))
        levels: list[list[CheckedCommand]] = [[]]
        seen = -1
        for command in checked.commands:
            if command.name in QUESTIONS:
                seen += 1
                if seen == check:
                    there = [c for level in levels for c in level]
                    plain = [c for c in there if c.name not in OBJECTIVES]
                    objectives = tuple(c for c in there if c.name in OBJECTIVES)
                    return cls(plain, command.terms, checked.table, objectives), command
            elif command.name == "push":
                levels += [[] for _ in range(_count(command))]
            elif command.name == "pop":
                del levels[len(levels) - _count(command) :]
            elif command.name == "reset":
                levels = [[]]
            elif command.name == "reset-assertions":
                levels = [[c for c in levels[0] if c.name not in ("assert", *OBJECTIVES)]]
            elif command.name == "set-info" and command.sexp[1:2] == [":status"]:
                # A solver may print an error for an answer that is another one.
                continue
            elif command.name == "set-option" and command.sexp[1:2] == [":global-declarations"]:
                raise NotCheckable("global declarations")
            else:
                levels[-1].append(command)
        raise NotCheckable("there is no such question")

    @property
    def assertions(self) -> list[Term]:
        """What is asserted."""
        return [command.terms[0] for command in self.commands if command.name == "assert"]

    @property
    def terms(self) -> list[Term]:
        """What holds where the question is asked: what is asserted, and its assumptions last."""
        return [*self.assertions, *self.assumed]

    @property
    def logic(self) -> str:
        """The logic that is set, ``ALL`` if none is."""
        logics = [str(command.sexp[1]) for command in self.commands if command.name == "set-logic"]
        return logics[-1] if logics else "ALL"

    @property
    def symbols(self) -> dict[str, CheckedCommand]:
        """The declared symbols by name, which need a value."""
        return {
            declaration.name: command
            for command in self.commands
            if command.name in _DECLARING
            for declaration in command.declarations
        }

    @property
    def is_overloaded(self) -> bool:
        """Whether two declared symbols have one name."""
        names = [d.name for c in self.commands if c.name in _DECLARING for d in c.declarations]
        return len(set(names)) < len(names)

    @property
    def ranks(self) -> dict[str, tuple[tuple[Sort, ...], Sort]]:
        """The sorts of the declared symbols' arguments and values, by name."""
        return {
            declaration.name: (declaration.params, declaration.result)
            for command in self.symbols.values()
            for declaration in command.declarations
        }

    @property
    def uninterpreted(self) -> list[str]:
        """The declared sorts that take no parameters."""
        return [
            command.sort.name
            for command in self.commands
            if command.name == "declare-sort" and command.sort is not None and command.sort.arity == 0
        ]

    @property
    def unreadable(self) -> set[str]:
        """The sorts whose values only their own solver can read: the declared ones, and datatypes with a part
        of such a sort.
        """
        found = {c.sort.name for c in self.commands if c.name == "declare-sort" and c.sort is not None}
        datatypes = [datatype for command in self.commands for datatype in command.datatypes]
        before = -1
        while len(found) > before:
            before = len(found)
            for datatype in datatypes:
                parts = [part for symbol in datatype.symbols for part in symbol.params]
                if any(sort.name in found for part in parts for sort in subsorts(part)):
                    found.add(datatype.name)
        return found


def _count(command: CheckedCommand) -> int:
    return int(command.sexp[1]) if len(command.sexp) > 1 else 1
