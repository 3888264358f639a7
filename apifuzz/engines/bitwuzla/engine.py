"""bitwuzla behind its Python interface: a term manager, options and one solver instance at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import bitwuzla
from bitwuzla import Kind

from apifuzz.engine import Engine
from apifuzz.engines.bitwuzla import operators
from apifuzz.engines.bitwuzla.inspection import (
    as_number,
    compare,
    declarations_of,
    has_binder,
    symbols_in,
    text_of,
    unreadable,
)
from apifuzz.engines.bitwuzla.operators import BASIC_SORTS, Operators
from apifuzz.engines.bitwuzla.options import Settings, describe_options
from apifuzz.engines.bitwuzla.session import QUESTIONS, Session, Terminator
from apifuzz.engines.rows import read_calls
from apifuzz.engines.tabled import TableEngine
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    Head,
    HeadKind,
    Misbehaviour,
    Option,
    Unsupported,
    must,
)
from apifuzz.scope import FOR_WITNESSES, PRODUCERS
from smtlib import Signature, Sort, quote_symbol
from smtlib import make_sort as smtlib_sort
from smtlib.floats import exact_number
from smtlib.sorts import subsorts

ANSWERS = {
    bitwuzla.Result.SAT: Answer.SAT,
    bitwuzla.Result.UNSAT: Answer.UNSAT,
    bitwuzla.Result.UNKNOWN: Answer.UNKNOWN,
}

_BY_OPTION = {name: PRODUCERS[name] for name in sorted(FOR_WITNESSES)}
"""Features that need an option."""


class BitwuzlaEngine(TableEngine):
    """bitwuzla. The solver instance is made at the first call that needs it, for it takes its options then.

    bitwuzla has neither ``reset`` nor ``reset-assertions``: a new instance on the same term manager stands
    for both, with the options set again for the first and the same options object for the second.
    """

    name = "bitwuzla"
    plan = "apifuzz.engines.bitwuzla.actions"
    calls = read_calls(Path(__file__).with_name("calls.toml"))
    questions = QUESTIONS
    # OverflowError: a number that does not fit the C type of a parameter.
    exceptions = (bitwuzla.BitwuzlaException, OverflowError)

    def __init__(self, session: Session | None = None) -> None:
        super().__init__()
        self.session = session or Session()
        self._shared = session
        self.settings = Settings(self.random)
        self.terminator = Terminator()
        self._solver: Any = None
        self.pending: list[ApiTerm] = []
        self.untouched = True
        """Whether the instance still holds the assertions as they were asserted: checks and ``simplify`` put
        what preprocessing leaves of them in their place."""
        self._compares_uninterpreted = False

    # What it is

    @property
    def version(self) -> str:
        return str(bitwuzla.version())

    def capabilities(self) -> Capabilities:
        asked = {feature for name, feature in _BY_OPTION.items() if self.settings.is_on(name)}
        known = super().capabilities()
        return replace(known, features=known.features | asked)

    def options(self) -> tuple[Option, ...]:
        """bitwuzla's options, without those that end a check by time or write somewhere."""
        return describe_options()

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        """Whether bitwuzla takes the operator at these sorts.

        It answers ``unknown`` wherever functions or elements of uninterpreted sorts are compared; the latter
        are in some runs only.
        """
        if signature.name in ("=", "distinct") and sorts:
            if sorts[0].is_function:
                return False
            if sorts[0].name in self.session.declared and not self._compares_uninterpreted:
                return False
        return operators.takes(signature, sorts, result)

    # Terms

    def written_symbol(self, name: str) -> str:
        """The name with or without bars; bitwuzla puts them where it sees that they are needed: at characters
        that no simple symbol has.
        """
        quoted = quote_symbol(name)
        return self.random.choice((name, quoted)) if " " in name else quoted

    def declared(self, name: str, sort: Any) -> Any:
        """A constant, or a function."""
        symbol = self.written_symbol(name)
        made = self.session.manager.mk_const(sort, symbol)
        self.session.constants.append(made)
        self.session.names[made.id()] = symbol
        return made

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Any:
        handles = [a.handle for a in args]
        if head.kind is HeadKind.APPLY:
            return self.session.make(Kind.APPLY, handles)
        if head.kind is not HeadKind.OPERATOR:
            raise Unsupported("datatypes")
        sorts = [a.sort.sort for a in args]
        return Operators(self.session, self.random).make(head, sort.sort, handles, sorts)

    def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
        """By equality, and by identity number. No row: it is asked of every term."""
        found, expected = term.handle.sort(), sort.handle
        equal = bool(found == expected)
        if equal != (found.id() == expected.id()) or equal == bool(found != expected):
            raise Misbehaviour("sort", f"{found} and {expected}: ==, != and id contradict each other")
        return equal

    def bound(self, kind: Any, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        """A binder over all variables at once, or one inside the other."""
        handles = [v.handle for v in variables]
        # A lambda inside another is a function that gives a function, which bitwuzla does not have.
        if kind != Kind.LAMBDA and self.random.happens(0.3):
            return reduce(lambda inner, v: self.session.make(kind, (v, inner)), handles[::-1], body.handle)
        return self.session.make(kind, (*handles, body.handle))

    # Life

    def new(self) -> None:
        """Make the term manager; the solver follows when its options are known."""
        self.session = self._shared or Session()
        self._forget()
        self._compares_uninterpreted = self.random.happens(0.3)

    def _forget(self) -> None:
        self.settings = Settings(self.random)
        self.reset_assertions()

    def delete(self) -> None:
        """Let go of the instance and the manager, in either order."""
        if self.random.happens(0.5):
            self._solver = None
        self.session = Session()
        self._forget()

    def own_word(self, name: str) -> Any:
        return self.session.word(name)

    def sibling(self) -> Engine:
        """A second instance on the same term manager."""
        other = BitwuzlaEngine(self.session)
        other.random.seed(self.random.getrandbits(32))
        other.new()
        for name in _BY_OPTION:
            other.settings.set(name, "true")
        return other

    @property
    def solver(self) -> Any:
        """The instance, made now if it was not, with everything asserted."""
        if self._solver is None:
            self._solver = self.new_solver()
        if self.pending:
            pending, self.pending = self.pending, []
            self._solver.assert_formula(*(term.handle for term in pending))
        return self._solver

    @property
    def is_made(self) -> bool:
        """Whether the instance is made, so that its options stand."""
        return self._solver is not None

    def new_solver(self) -> Any:
        """Another instance, with the same options."""
        made = bitwuzla.Bitwuzla(self.session.manager, self.settings.options)
        made.configure_terminator(self.terminator)
        return made

    def reset_assertions(self) -> None:
        """A new instance with the same options."""
        self._solver = None
        self.pending = []
        self.untouched = True


def chosen(terms: Sequence[ApiTerm], ids: set[int]) -> list[ApiTerm]:
    """The terms whose handles have these ids, each id once, in order."""
    found = {t.handle.id(): t for t in reversed(terms)}
    return [t for i, t in reversed(found.items()) if i in ids]


def check(solver: Any) -> Answer:
    """The answer of a further instance."""
    solver.configure_terminator(Terminator())
    return Answer(str(solver.check_sat()))


BitwuzlaEngine.words = {
    **{word.__name__: word for word in (as_number, chosen, exact_number, has_binder, must, symbols_in)},
    **{word.__name__: word for word in (bitwuzla.BitwuzlaException, compare, declarations_of, unreadable)},
    **{word.__name__: word for word in (Kind, Misbehaviour, Unsupported, subsorts, text_of)},
    **{"Options": bitwuzla.Options, "Parser": bitwuzla.Parser, "QUESTIONS": QUESTIONS, "ANSWERS": ANSWERS},
    **{"Operators": Operators, "Settings": Settings},
    **{"BASIC_SORTS": BASIC_SORTS, "quoted": quote_symbol, "smtlib_sort": smtlib_sort},
}
