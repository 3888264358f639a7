"""A run as an SMT-LIB script: no solver, only its text.

Handles are the terms and sorts of ``smtlib``; commands are printed as they come. Used to translate traces, to
print what a run did, and to check that what is drawn is well sorted. What SMT-LIB cannot say is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apifuzz.datatypes import as_datatypes
from apifuzz.driving import replay
from apifuzz.engine import Engine
from apifuzz.engines.rows import read_calls
from apifuzz.engines.tabled import TableEngine
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    Feature,
    Head,
    HeadKind,
    Option,
    Unsupported,
    operator_text,
)
from apifuzz.scope import FOR_WITNESSES
from apifuzz.trace import MAX_TEXT, Trace, TraceError
from smtlib import (
    BOOL,
    REAL,
    Declaration,
    Kind,
    Sort,
    Term,
    TermTable,
    declarations_in,
    default_theories,
    make_sort,
    print_datatypes,
    print_term,
    quote_symbol,
    read_sexps,
    rewrite,
    sort_text,
)
from smtlib.commands import definitions_text, print_declaration
from smtlib.elaborator import Elaborator
from smtlib.environment import Environment, determines, has_parameters, parameter

_USES = "quantifier array-index array-element function datatype constant equality ite seq-element set-element"
REFUSED_BY_SOME = dict.fromkeys(
    (*_USES.split(), "bag-element", "tuple-element", "nullable-element"), frozenset(("RegLan",))
) | {"array-index": frozenset(("RegLan", "Array"))}
"""Regular expressions are no first-class citizens in most solvers."""


class TextEngine(TableEngine):
    """Prints the script of a run: :attr:`commands`, :meth:`script`. Terms are made with the tables of
    ``smtlib`` and spelled as the solvers' parsers read them.

    ``families``: the solvers that the script is for; it has only what all of them know.
    """

    name = "smtlib"
    answers = False
    calls = read_calls(Path(__file__).with_suffix(".toml"))
    _length = 0

    def __init__(self, families: Sequence[str] = ("z3", "cvc5")) -> None:
        super().__init__()
        self._families = tuple(families)
        self._theories = default_theories()
        self.commands: list[str] = []
        self._forget()

    def _forget(self) -> None:
        self.table = TermTable()
        self._elaborator = Elaborator(Environment(self._theories), self.table)
        self.members: dict[str, Declaration] = {}
        self._logic = ""
        self.unprinted: dict[Declaration, str] = {}
        self._declared: list[str] = []
        self._setup: list[str] = []
        self._assumed = 0
        self._asserted = 0
        self._names_assertions = False

    def script(self) -> str:
        """The commands so far, one a line."""
        return "".join(f"{command}\n" for command in self.commands)

    # What it is

    @property
    def version(self) -> str:
        return "SMT-LIB 2.7"

    @property
    def families(self) -> tuple[str, ...]:
        return self._families

    def capabilities(self) -> Capabilities:
        return Capabilities(
            theories=frozenset(s.theory for s in self._theories.signatures()),
            features=frozenset(Feature),
            sorts_without=REFUSED_BY_SOME,
            required_options=tuple((name, "true") for name in FOR_WITNESSES),
        )

    def options(self) -> tuple[Option, ...]:
        return ()

    # Life

    def new(self) -> None:
        if self.commands:
            self.emit("(reset)")
        self._forget()
        self._set_up("(set-option :global-declarations true)")

    def delete(self) -> None:
        self._forget()

    def sibling(self) -> Engine:
        other = TextEngine(self._families)
        other.new()
        return other

    def emit(self, command: str) -> None:
        """Add a command to the script. TraceError where that becomes too long."""
        self._length += len(command)
        if self._length > MAX_TEXT:
            raise TraceError(f"a script of more than {MAX_TEXT >> 20} Mi characters")
        self.commands.append(command)

    def _set_up(self, command: str) -> None:
        """A command that has to be repeated after a reset."""
        self.emit(command)  # it raises where the solver refuses the command: then it is not repeated
        self._setup.append(command)

    def declare(self, command: str) -> None:
        """A declaration, which a reset takes away though the run keeps it."""
        self.emit(command)
        self._declared.append(command)

    def set_logic(self, logic: str) -> None:
        self._logic = logic
        self._set_up(f"(set-logic {quote_symbol(logic)})")

    def set_option(self, name: str, value: str) -> None:
        is_plain = value in ("true", "false") or value.replace(".", "", 1).isdigit()
        self._set_up(f"(set-option :{quote_symbol(name)} {value if is_plain else quote_symbol(value)})")
        if name == "produce-unsat-cores":
            self._names_assertions = value == "true"

    # Sorts

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Sort:
        return sort

    # Terms

    def define(
        self, declaration: Declaration, variables: Sequence[ApiTerm], body: ApiTerm, recursive: bool
    ) -> None:
        """Print the definition of a function."""
        self.print_functions(body.handle)
        inner = " ".join(f"({v.handle.op.text} {sort_text(v.sort.sort)})" for v in variables)
        head = f"{declaration.name} ({inner}) {sort_text(declaration.result)}"
        self.declare(definitions_text([head], [print_term(body.handle)], recursive))

    def print_functions(self, *terms: Term) -> None:
        """Declare the functions in ``terms`` that were not printed yet."""
        if self.unprinted:
            for declaration in declarations_in(terms):
                command = self.unprinted.get(declaration)
                if command is not None:
                    self.declare(command)
                    # Only now: where the solver refuses it, it is tried again at the next use.
                    del self.unprinted[declaration]

    def make_value(self, sort: ApiSort, text: str) -> Term:
        if sort.sort.name == "FiniteField":
            value = text.split()[1].removeprefix("ff")
            return self.table.literal(f"#f{value}m{sort.sort.indices[0]}", sort.sort)
        self._elaborator.start(read_sexps("()")[0])
        term = self._elaborator.term(read_sexps(text)[0])
        return self._as_real(term) if sort.sort is REAL else term

    def _as_real(self, term: Term) -> Term:
        if term.sort is REAL:
            return term
        return self._elaborator.applications.to_real(term)

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Term:
        terms = tuple([a.handle for a in args])
        if head.kind is HeadKind.OPERATOR:
            return self._operator(head, sort.sort, terms)
        if head.kind is HeadKind.APPLY:
            declaration = terms[0].op.declaration
            if declaration is not None and declaration.params and not terms[0].args:
                return self.table.symbol(declaration, terms[1:])
            return self.table.make(self.table.op(Kind.OPERATOR, "@"), terms, sort.sort)
        return self._member(head, sort.sort, terms)

    def _operator(self, head: Head, sort: Sort, terms: tuple[Term, ...]) -> Term:
        indices: tuple[int | str, ...] = head.indices
        if head.name == "char":
            indices = tuple(f"#x{i:X}" for i in head.indices)
        self._refuse_unsayable(head.name, terms)
        text = operator_text(head.name, head.indices, False)
        found = self._theories.find(head.name, head.indices, tuple([t.sort for t in terms]), sort)
        if found is not None and found[1].needs_as:
            text = f"(as {text} {sort})"
        return self.table.make(self.table.op(Kind.OPERATOR, head.name, text, indices), terms, sort)

    def _refuse_unsayable(self, name: str, terms: tuple[Term, ...]) -> None:
        """Raise for what a solver's interface takes and its parser does not."""
        if name == "const" and "cvc5" in self._families and terms[0].op.name in ("-", "/"):
            raise Unsupported("a constant array of what cvc5's parser takes for no value")
        if name == "^" and "z3" in self._families and self._logic not in ("", "ALL"):
            raise Unsupported("^, which z3's parser knows without a logic only")

    def _member(self, head: Head, sort: Sort, terms: tuple[Term, ...]) -> Term:
        declaration = self.members[head.name]
        if head.kind in (HeadKind.TESTER, HeadKind.UPDATER):
            if terms[0].sort.args and "z3" in self._families:
                raise Unsupported(
                    "a tester or updater of a parametric datatype, which z3's parser does not find"
                )
            word = "is" if head.kind is HeadKind.TESTER else self._update_word()
            text = f"(_ {word} {declaration.name})"
            op = self.table.op(Kind.SYMBOL, word, text, (declaration.name,), declaration)
            return self.table.make(op, terms, sort)
        text_of_head = None
        if has_parameters(declaration.result) and not determines(declaration.params, declaration.result):
            text_of_head = f"(as {declaration.name} {sort})"
        op = self.table.op(Kind.SYMBOL, declaration.name, text_of_head, (), declaration)
        return self.table.make(op, terms, sort)

    def _update_word(self) -> str:
        if "z3" not in self._families:
            return "update"
        if len(self._families) > 1:
            raise Unsupported("updaters, which z3 spells otherwise")
        return "update-field"

    def function(self, declaration: Declaration) -> Term:
        """A function as a term."""
        sort = make_sort("->", (), (*declaration.params, declaration.result))
        op = self.table.op(Kind.SYMBOL, declaration.name, None, (), declaration)
        return self.table.make(op, (), sort)

    # Looking and changing

    def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
        return term.handle.sort is sort.sort

    # Solving

    def _command(self, name: str, terms: Sequence[ApiTerm], as_list: bool = False) -> None:
        handles = [t.handle for t in terms]
        self.print_functions(*handles)
        inner = " ".join(map(print_term, handles))
        self.emit(f"({name} ({inner}))" if as_list else f"({name} {inner})")

    def assert_formula(self, term: ApiTerm) -> None:
        """Print ``assert``, by a name where cores are made of names."""
        if self._names_assertions:
            self._assert_named(term)
        else:
            self._command("assert", [term])

    def _assert_named(self, term: ApiTerm) -> str:
        """Assert it by a name, which it gives: cores are lists of names."""
        self.print_functions(term.handle)
        # A number for each, also after the name's assertion is gone: the name may not be.
        self._asserted += 1
        name = f"|asserted {self._asserted}|"
        self.emit(f"(assert (! {print_term(term.handle)} :named {name}))")
        return name

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        if assumptions is None:
            self.emit("(check-sat)")
        else:
            self.emit(f"(check-sat-assuming ({' '.join(self._assume(assumptions))}))")
        return Answer.UNKNOWN

    def _assume(self, assumptions: Sequence[ApiTerm]) -> list[str]:
        """What ``check-sat-assuming`` takes for them: constants and their negations; others get names."""
        return [self._literal(term.handle) for term in assumptions]

    def _literal(self, formula: Term) -> str:
        is_negation = formula.op.name == "not" and formula.op.kind is Kind.OPERATOR
        inner = formula.args[0] if is_negation else formula
        if inner.op.declaration is not None and not inner.args:
            return print_term(formula)
        self._assumed += 1
        name = f"|assumed {self._assumed}|"
        self.print_functions(formula)
        self._name_assumption(name, print_term(formula))
        return name

    def _name_assumption(self, name: str, formula: str) -> None:
        """Say that ``name`` stands for the formula."""
        self.declare(f"(define-fun {name} () Bool {formula})")

    def unsat_assumptions(self) -> list[ApiTerm]:
        self.emit("(get-unsat-assumptions)")
        return []

    def unsat_core(self) -> list[ApiTerm]:
        self.emit("(get-unsat-core)")
        return []

    def get_value(self, terms: Sequence[ApiTerm]) -> list[Any]:
        """Print ``get-value``; each term is its own value."""
        self._command("get-value", terms, as_list=True)
        return [t.handle for t in terms]

    def print_model(self) -> str:
        self.emit("(get-model)")
        return ""

    def reset(self) -> None:
        """Print ``reset``, and all that a run has set and declared."""
        for command in ("(reset)", *self._setup, *self._declared):
            self.emit(command)

    def reset_assertions(self) -> None:
        self.emit("(reset-assertions)")


TextEngine.words = {
    **{word.__name__: word for word in (Declaration, Kind, Unsupported, as_datatypes, parameter)},
    **{word.__name__: word for word in (print_datatypes, print_declaration, quote_symbol, rewrite)},
    **{"BOOL": BOOL, "sort_text": sort_text, "smtlib_sort": make_sort},
}


@dataclass(frozen=True, slots=True)
class Translation:
    """A trace as an SMT-LIB script, and what could not be said: line of the trace, and why."""

    script: str
    refused: tuple[tuple[int, str], ...]


def translate(trace: Trace) -> Translation:
    """The SMT-LIB script that makes the calls of ``trace``. Raises :class:`apifuzz.trace.TraceError`."""
    engine = TextEngine((trace.solver,))
    ending = replay(engine, trace)
    return Translation(engine.script(), ending.refused)


def script_of(trace: Trace) -> str | None:
    """The calls of a trace as an SMT-LIB script; None if SMT-LIB cannot say all of them."""
    try:
        translation = translate(trace)
    except TraceError:
        return None
    return None if translation.refused else translation.script
