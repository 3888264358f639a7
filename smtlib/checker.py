"""The sort checker: from a script's s-expressions to terms, every one with its sort.

It accepts what z3 or cvc5 accepts and makes their implicit conversions explicit. Where a Real is expected, a
numeral becomes a Real literal and any other Int term gets ``to_real``, as in both solvers. Conversions that
only z3 has (Int and Real arguments of functions and arrays, Bool as a number) follow z3. The printed terms
are therefore plain SMT-LIB 2.7.

An error in one command is recorded, and the rest of the script is still checked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from smtlib.datatypes import read_datatypes
from smtlib.elaborator import Elaborator
from smtlib.environment import Datatype, Environment, SortDefinition, parameter
from smtlib.errors import ReadError, SortError
from smtlib.reader import SExp, SExpList, is_symbol, sexp_text
from smtlib.script import Command, Script, read_script
from smtlib.shapes import COMMANDS
from smtlib.sorts import BOOL, INT, Sort
from smtlib.terms import Declaration, Term, TermTable, substitute
from smtlib.theory import Theories, default_theories


@dataclass(frozen=True, slots=True)
class Definition:
    """The parameters (VARIABLE terms) and body of a defined function."""

    declaration: Declaration
    params: tuple[Term, ...]
    body: Term

    def applied(self, table: TermTable, args: tuple[Term, ...]) -> Term:
        """The body with ``args`` for the parameters."""
        values = dict(zip(self.params, args, strict=True))
        return substitute(table, self.body, values)


@dataclass(frozen=True, slots=True)
class CheckedCommand:
    """A command that was accepted.

    ``terms`` are the terms it asserts, assumes or asks for; ``declarations``, ``definitions``, ``datatypes``
    and ``sort`` what it introduces. ``index`` is its position in the script.
    """

    name: str
    index: int
    sexp: SExpList
    terms: tuple[Term, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    definitions: tuple[Definition, ...] = ()
    datatypes: tuple[Datatype, ...] = ()
    sort: SortDefinition | None = None


@dataclass(slots=True)
class CheckedScript:
    """A checked script. ``errors`` is empty if every command is well sorted."""

    script: Script
    table: TermTable
    logic: str | None = None
    commands: list[CheckedCommand] = field(default_factory=list)
    errors: list[SortError] = field(default_factory=list)
    definitions: dict[Declaration, Definition] = field(default_factory=dict)
    datatypes: dict[str, Datatype] = field(default_factory=dict)

    @property
    def assertions(self) -> list[Term]:
        """The asserted terms of all levels, in order."""
        return [c.terms[0] for c in self.commands if c.name == "assert"]

    @property
    def is_well_sorted(self) -> bool:
        """Whether every command was accepted."""
        return not self.errors


def check_script(script: Script, theories: Theories | None = None) -> CheckedScript:
    """Check every command of ``script``; errors of the script are recorded, never raised."""
    return _Checker(script, theories or default_theories()).run()


def read_well_sorted(text: str) -> CheckedScript | None:
    """The checked script of a text; None if it cannot be read or a command is not well sorted."""
    try:
        checked = check_script(read_script(text))
    except ReadError:
        return None
    return checked if checked.is_well_sorted else None


class _Checker:
    def __init__(self, script: Script, theories: Theories) -> None:
        self.environment = Environment(theories)
        self.table = TermTable()
        self.elaborator = Elaborator(self.environment, self.table)
        self.checked = CheckedScript(script, self.table)
        self.index = 0
        self._lines: list[int] = []

    def run(self) -> CheckedScript:
        script = self.checked.script
        for self.index, command in enumerate(script.commands):
            try:
                self.checked.commands.append(self._command(command))
            except (SortError, ReadError) as error:
                self.environment.undo_command()
                if not error.line:
                    error.line, error.column = self._place(self.elaborator.position(command.sexp))
                self.checked.errors.append(SortError(error.message, error.line, error.column))
        return self.checked

    def _place(self, position: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset."""
        if not self._lines:
            self._lines = [0, *(end.end() for end in re.finditer("\n", self.checked.script.text))]
        line = bisect_right(self._lines, position)
        return line, position - self._lines[line - 1] + 1

    def _command(self, command: Command) -> CheckedCommand:
        self.elaborator.start(command.sexp)
        self.environment.start_command()
        handler = _HANDLERS.get(command.name)
        if handler is None:
            raise SortError(f"unknown command {command.name}")
        return handler(self, command.sexp) or self._done(command.sexp)

    def _done(self, sexp: SExpList, **what: object) -> CheckedCommand:
        return CheckedCommand(sexp[0], self.index, sexp, **what)  # type: ignore[arg-type]

    # Commands without terms

    def set_logic(self, sexp: SExpList) -> None:
        self.checked.logic = _symbol(sexp, 1)
        self.elaborator.use_logic(self.checked.logic)
        self.environment.is_higher_order = self.checked.logic.startswith("HO_")

    def set_option(self, sexp: SExpList) -> None:
        if sexp[1:] == [":global-declarations", "true"]:
            self.environment.global_declarations = True

    def push(self, sexp: SExpList) -> None:
        self.environment.push(_count(sexp))

    def pop(self, sexp: SExpList) -> None:
        self.environment.pop(_count(sexp))

    def reset(self, sexp: SExpList) -> None:
        self.environment.reset()
        self.elaborator.numeral_sort = INT

    def reset_assertions(self, sexp: SExpList) -> None:
        self.environment.reset_assertions()

    # Sorts and symbols

    def declare_sort(self, sexp: SExpList) -> CheckedCommand:
        if len(sexp) not in (2, 3):
            raise SortError("expected (declare-sort NAME [ARITY])")
        arity = _numeral(sexp[2]) if len(sexp) == 3 else 0
        definition = SortDefinition(_symbol(sexp, 1), arity)
        self.environment.add_sort(definition)
        return self._done(sexp, sort=definition)

    def define_sort(self, sexp: SExpList) -> CheckedCommand:
        _shape(sexp, 4, "(define-sort NAME (PARAMETER ...) SORT)")
        if isinstance(sexp[2], str) or not all(map(is_symbol, sexp[2])):
            raise SortError(f"expected a list of sort parameters, found {sexp_text(sexp[2], 60)}")
        params = tuple(sexp[2])
        body = self.environment.definition(sexp[3], params)
        definition = SortDefinition(_symbol(sexp, 1), len(params), params, body)
        self.environment.add_sort(definition)
        return self._done(sexp, sort=definition)

    def declare_datatypes(self, sexp: SExpList) -> CheckedCommand:
        datatypes = read_datatypes(self.environment, sexp)
        self.checked.datatypes.update({d.name: d for d in datatypes})
        return self._done(sexp, datatypes=datatypes)

    def declare_fun(self, sexp: SExpList, whole: SExpList | None = None) -> CheckedCommand:
        """A declaration; ``whole`` is the command if it has more to it."""
        _shape(sexp, 4, "(declare-fun NAME (SORT ...) SORT)")
        if isinstance(sexp[2], str):
            raise SortError(f"expected a list of sorts, found {sexp[2]}")
        params = tuple(self.environment.sort(s) for s in sexp[2])
        return self._declare(whole or sexp, params, sexp[3])

    def declare_const(self, sexp: SExpList) -> CheckedCommand:
        _shape(sexp, 3, "(declare-const NAME SORT)")
        return self._declare(sexp, (), sexp[2])

    def _declare(self, sexp: SExpList, params: tuple[Sort, ...], result: SExp) -> CheckedCommand:
        declaration = Declaration(_symbol(sexp, 1), params, self.environment.sort(result))
        self.environment.declare(declaration)
        return self._done(sexp, declarations=(declaration,))

    def declare_rel(self, sexp: SExpList) -> CheckedCommand:
        """z3's ``(declare-rel NAME (SORT ...) REPRESENTATION ...)``."""
        if len(sexp) < 3:
            raise SortError("expected (declare-rel NAME (SORT ...))")
        return self.declare_fun(SExpList([*sexp[:3], "Bool"]), sexp)

    def declare_map(self, sexp: SExpList) -> None:
        """z3's ``(declare-map NAME (SORT ...) FUNCTION)``: the function on arrays, by element."""
        _shape(sexp, 4, "(declare-map NAME (SORT ...) FUNCTION)")
        self.environment.add_map(_symbol(sexp, 1), sexp[3])

    def declare_type_var(self, sexp: SExpList) -> None:
        _shape(sexp, 2, "(declare-type-var NAME)")
        name = _symbol(sexp, 1)
        self.environment.add_sort(SortDefinition(name, 0, (), parameter(name)))

    def declare_oracle_fun(self, sexp: SExpList) -> CheckedCommand:
        """cvc5's ``(declare-oracle-fun NAME (SORT ...) SORT [PROGRAM])``."""
        return self.declare_fun(SExpList(sexp[:4]), sexp)

    def synth_fun(self, sexp: SExpList) -> CheckedCommand:
        """SyGuS's ``(synth-fun NAME ((VARIABLE SORT) ...) SORT [GRAMMAR])``, ``synth-inv`` without a sort."""
        if len(sexp) < 4 - (sexp[0] == "synth-inv"):
            raise SortError(f"expected ({sexp[0]} NAME ((VARIABLE SORT) ...) ...)")
        variables, _ = self.elaborator.parameters(sexp[2])
        result = "Bool" if sexp[0] == "synth-inv" else sexp[3]
        return self._declare(sexp, tuple(v.sort for v in variables), result)

    def define_fun(self, sexp: SExpList) -> CheckedCommand:
        _shape(sexp, 5, "(define-fun NAME ((VARIABLE SORT) ...) SORT TERM)")
        return self._define(sexp, sexp[2], sexp[3], sexp[4])

    def define_const(self, sexp: SExpList) -> CheckedCommand:
        _shape(sexp, 4, "(define-const NAME SORT TERM)")
        return self._define(sexp, SExpList(), sexp[2], sexp[3])

    def _define(self, sexp: SExpList, params: SExp, sort: SExp, body: SExp) -> CheckedCommand:
        variables, by_name = self.elaborator.parameters(params)
        result = self.environment.sort(sort)
        term = self.elaborator.term_of_sort(body, result, by_name)
        declaration = Declaration(_symbol(sexp, 1), tuple(v.sort for v in variables), result, "define")
        self.environment.declare(declaration)
        return self._defined(sexp, [Definition(declaration, variables, term)])

    def _defined(self, sexp: SExpList, definitions: list[Definition]) -> CheckedCommand:
        for definition in definitions:
            self.checked.definitions[definition.declaration] = definition
        return self._done(
            sexp, declarations=tuple(d.declaration for d in definitions), definitions=tuple(definitions)
        )

    def define_fun_rec(self, sexp: SExpList) -> CheckedCommand:
        _shape(sexp, 5, "(define-fun-rec NAME ((VARIABLE SORT) ...) SORT TERM)")
        return self._define_rec(sexp, [SExpList(sexp[1:4])], [sexp[4]])

    def define_funs_rec(self, sexp: SExpList) -> CheckedCommand:
        _shape(sexp, 3, "(define-funs-rec ((NAME ((VARIABLE SORT) ...) SORT) ...) (TERM ...))")
        if isinstance(sexp[1], str) or isinstance(sexp[2], str) or len(sexp[1]) != len(sexp[2]):
            raise SortError("define-funs-rec needs as many bodies as declarations")
        return self._define_rec(sexp, sexp[1], sexp[2])

    def _define_rec(self, sexp: SExpList, heads: list[SExp], bodies: list[SExp]) -> CheckedCommand:
        prepared = []
        for head in heads:
            if isinstance(head, str) or len(head) != 3:
                raise SortError(f"expected (NAME ((VARIABLE SORT) ...) SORT), found {sexp_text(head, 60)}")
            variables, by_name = self.elaborator.parameters(head[1])
            params = tuple(v.sort for v in variables)
            result = self.environment.sort(head[2])
            prepared.append((variables, by_name, Declaration(_symbol(head, 0), params, result, "define-rec")))
        for _, _, declaration in prepared:
            self.environment.declare(declaration)
        definitions = []
        for (variables, by_name, declaration), body in zip(prepared, bodies, strict=True):
            term = self.elaborator.term_of_sort(body, declaration.result, by_name)
            definitions.append(Definition(declaration, variables, term))
        return self._defined(sexp, definitions)

    # Other commands

    def shaped(self, sexp: SExpList) -> CheckedCommand:
        """A command that only has a shape: its terms and sorts are checked."""
        shape = COMMANDS[sexp[0]]
        count = len(shape.arguments)
        if len(sexp) <= count or (shape.is_closed and len(sexp) > count + 1):
            raise SortError(f"expected ({sexp[0]} {' '.join(shape.arguments)}), found {sexp_text(sexp, 60)}")
        terms: list[Term] = []
        for kind, argument in zip(shape.arguments, sexp[1:], strict=False):
            if kind == "formula":
                terms.append(self.elaborator.term_of_sort(argument, BOOL))
            elif kind == "term":
                terms.append(self.elaborator.term(argument))
            elif kind == "terms":
                if isinstance(argument, str):
                    raise SortError(f"expected ({sexp[0]} (TERM ...)), found {sexp_text(sexp, 60)}")
                terms += [self.elaborator.term(term) for term in argument]
            elif kind == "sort":
                self.environment.sort(argument)
        return self._done(sexp, terms=tuple(terms))


_Handler = Callable[[_Checker, SExpList], CheckedCommand | None]
_OWN_METHOD = """
    set-logic set-option push pop reset reset-assertions declare-sort define-sort declare-datatypes
    declare-fun declare-const define-fun define-const define-fun-rec define-funs-rec declare-rel
    declare-map declare-type-var declare-oracle-fun synth-fun
    """.split()
_HANDLERS: dict[str, _Handler] = {
    **dict.fromkeys(COMMANDS, _Checker.shaped),
    **{name: getattr(_Checker, name.replace("-", "_")) for name in _OWN_METHOD},
    "declare-datatype": _Checker.declare_datatypes,
    "declare-codatatype": _Checker.declare_datatypes,
    "declare-codatatypes": _Checker.declare_datatypes,
    "declare-var": _Checker.declare_const,
    "synth-inv": _Checker.synth_fun,
}

KNOWN_COMMANDS: frozenset[str] = frozenset(_HANDLERS)
"""The commands that are read."""


def _shape(sexp: SExpList, length: int, expected: str) -> None:
    if len(sexp) != length:
        raise SortError(f"expected {expected}, found {sexp_text(sexp, 60)}")


def _symbol(sexp: SExpList, index: int) -> str:
    name = sexp[index] if len(sexp) > index else SExpList()
    # Both solvers accept lambda as a name in logics without higher order.
    if name in ("true", "false") or not (is_symbol(name) or name == "lambda"):
        raise SortError(f"expected a symbol, found {sexp_text(name, 60)}")
    return name


def _numeral(sexp: SExp) -> int:
    if not isinstance(sexp, str) or not sexp.isdecimal() or not sexp.isascii() or len(sexp) > 6:
        raise SortError(f"expected a numeral below a million, found {sexp_text(sexp, 60)}")
    return int(sexp)


def _count(sexp: SExpList) -> int:
    if len(sexp) > 2:
        raise SortError(f"expected ({sexp[0]} [NUMERAL])")
    return _numeral(sexp[1]) if len(sexp) == 2 else 1
