"""bitwuzla behind its Python interface: a term manager, options and one solver instance at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import bitwuzla
from bitwuzla import Kind

from apifuzz.call import Call
from apifuzz.engine import Engine
from apifuzz.engines.bitwuzla import inspection, operators
from apifuzz.engines.bitwuzla.operators import BASIC_SORTS, Operators, equality
from apifuzz.engines.bitwuzla.options import Settings, describe_options
from apifuzz.engines.bitwuzla.session import Session, Terminator
from apifuzz.engines.profile import profile
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
    Misbehaviour,
    Option,
    Rejected,
    Unsupported,
    must,
)
from smtlib import Signature, Sort, quote_symbol
from smtlib import make_sort as smtlib_sort

_ANSWERS = {
    bitwuzla.Result.SAT: Answer.SAT,
    bitwuzla.Result.UNSAT: Answer.UNSAT,
    bitwuzla.Result.UNKNOWN: Answer.UNKNOWN,
}

_BY_OPTION = {
    "produce-models": Feature.MODELS,
    "produce-unsat-assumptions": Feature.UNSAT_ASSUMPTIONS,
    "produce-unsat-cores": Feature.UNSAT_CORES,
}
"""Features that need an option."""


class BitwuzlaEngine(TableEngine):
    """bitwuzla. The solver instance is made at the first call that needs it, for it takes its options then.

    bitwuzla has neither ``reset`` nor ``reset-assertions``: a new instance on the same term manager stands
    for both, with the options set again for the first and the same options object for the second.
    """

    name = "bitwuzla"
    plan = "apifuzz.engines.bitwuzla.actions"
    calls = read_calls(Path(__file__).with_name("calls.toml"))
    # OverflowError: a number that does not fit the C type of a parameter.
    exceptions = (bitwuzla.BitwuzlaException, OverflowError)

    def __init__(self, session: Session | None = None) -> None:
        super().__init__()
        self.session = session or Session()
        self._shared = session
        self.settings = Settings(self.random)
        self.terminator = Terminator()
        self._solver: Any = None
        self._pending: list[ApiTerm] = []
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
        known = profile(self.name).capabilities
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

    # Sorts

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        return self.session.sort(sort)

    def declare_sort(self, name: str, arity: int) -> Any:
        """An uninterpreted sort without arguments."""
        if arity:
            raise Unsupported("sorts with arguments")
        # Between bars where it needs them: names of sorts bitwuzla prints as they are.
        made = self.session.manager.mk_uninterpreted_sort(quote_symbol(name))
        self.session.declared[name] = made
        return made

    def written_symbol(self, name: str) -> str:
        """The name with or without bars; bitwuzla puts them where it sees that they are needed: at characters
        that no simple symbol has.
        """
        quoted = quote_symbol(name)
        return self.random.choice((name, quoted)) if " " in name else quoted

    # Terms

    def make_value(self, sort: ApiSort, text: str) -> Any:
        return Operators(self.session, self.random).make_value(sort.sort, text)

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
        if operators.gives_unknown_format(sort.sort):
            raise Unsupported(f"floating-point format {sort.sort}")
        return Operators(self.session, self.random).make(head, sort.sort, handles, sorts)

    def bound(self, kind: Any, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        """A binder over all variables at once, or one inside the other."""
        handles = [v.handle for v in variables]
        # A lambda inside another is a function that gives a function, which bitwuzla does not have.
        if kind != Kind.LAMBDA and self.random.random() < 0.3:
            return reduce(lambda inner, v: self.session.make(kind, (v, inner)), handles[::-1], body.handle)
        return self.session.make(kind, (*handles, body.handle))

    # Life

    def new(self) -> None:
        """Make the term manager; the solver follows when its options are known."""
        self.session = self._shared or Session()
        self._forget()
        self._compares_uninterpreted = self.random.random() < 0.3

    def _forget(self) -> None:
        self.settings = Settings(self.random)
        self.reset_assertions()

    def delete(self) -> None:
        """Let go of the instance and the manager, in either order."""
        if self.random.random() < 0.5:
            self._solver = None
        self.session = Session()
        self._forget()

    def translate(self, error: BaseException, call: Call[Any]) -> BaseException:
        return profile(self.name).translate(str(error))

    def sibling(self) -> Engine:
        """A second instance on the same term manager."""
        other = BitwuzlaEngine(self.session)
        other.new()
        for name in _BY_OPTION:
            other.set_option(name, "true")
        return other

    @property
    def solver(self) -> Any:
        """The instance, made now if it was not, with everything asserted."""
        if self._solver is None:
            self._solver = self.new_solver()
        if self._pending:
            self._assert_pending()
        return self._solver

    def new_solver(self) -> Any:
        """Another instance, with the same options."""
        made = bitwuzla.Bitwuzla(self.session.manager, self.settings.options)
        made.configure_terminator(self.terminator)
        return made

    def set_option(self, name: str, value: str) -> None:
        """Set an option; Unsupported once the instance is made."""
        if self._solver is not None:
            raise Unsupported("options are set before the first formula")
        self.settings.set(name, value)

    # Solving

    def assert_formula(self, term: ApiTerm) -> None:
        """Assert a closed term of sort Bool: now, or together with those that follow, before the instance is
        used for anything else.
        """
        self._pending.append(term)
        if self.random.random() < 0.7:
            self._assert_pending()

    def _assert_pending(self) -> None:
        pending, self._pending = self._pending, []
        self.solver.assert_formula(*(t.handle for t in pending))

    def simplify_assertions(self) -> None:
        """Simplify the assertions; bitwuzla forgets its answer."""
        solver = self.solver
        self.untouched = False
        self.stack.changed()
        solver.simplify()

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        solver = self.solver
        self.untouched = False
        self.terminator.start()
        return _ANSWERS[solver.check_sat(*(a.handle for a in assumptions or ()))]

    def reset(self) -> None:
        """A new instance, whose options are set again; terms live on."""
        again = Settings(self.random)
        for name, value in self.settings.given.items():
            again.set(name, value)
        self.settings = again
        self.reset_assertions()

    def reset_assertions(self) -> None:
        """A new instance with the same options."""
        self._solver = None
        self._pending = []
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
    **{"inspection": inspection, "Kind": Kind, "smtlib_sort": smtlib_sort, "chosen": chosen, "must": must},
    **{"Misbehaviour": Misbehaviour, "Rejected": Rejected, "Unsupported": Unsupported},
    **{"BASIC_SORTS": BASIC_SORTS, "equality": equality},
}
