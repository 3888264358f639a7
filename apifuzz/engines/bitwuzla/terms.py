"""Sorts and terms of bitwuzla: one half of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from bitwuzla import Kind

from apifuzz.engine import Engine
from apifuzz.engines.bitwuzla import inspection, operators
from apifuzz.engines.bitwuzla.operators import Operators
from apifuzz.engines.bitwuzla.session import Session
from apifuzz.interface import ApiSort, ApiTerm, Head, HeadKind, Misbehaviour, Unsupported
from smtlib import Sort, quote_symbol
from smtlib import make_sort as smtlib_sort


class BitwuzlaTerms(Engine):
    """Makes sorts and terms in a session, and asks them what they are."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    # Sorts

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        """A sort of a theory file, or a declared one."""
        return self.session.sort(sort)

    def declare_sort(self, name: str, arity: int) -> Any:
        """An uninterpreted sort without arguments."""
        if arity:
            raise Unsupported("sorts with arguments")
        # Between bars where it needs them: names of sorts bitwuzla prints as they are.
        made = self.session.manager.mk_uninterpreted_sort(quote_symbol(name))
        self.session.declared[name] = made
        return made

    def _symbol(self, name: str) -> str:
        """The name with or without bars; bitwuzla puts them where it sees that they are needed: at characters
        that no simple symbol has.
        """
        quoted = quote_symbol(name)
        return self.random.choice((name, quoted)) if " " in name else quoted

    # Terms

    def make_value(self, sort: ApiSort, text: str) -> Any:
        """The value that ``text`` writes."""
        return Operators(self.session, self.random).make_value(sort.sort, text)

    def make_constant(self, sort: ApiSort, name: str) -> Any:
        """A free constant."""
        return self._declared(name, sort.handle)

    def _declared(self, name: str, sort: Any) -> Any:
        symbol = self._symbol(name)
        made = self.session.manager.mk_const(sort, symbol)
        self.session.constants.append(made)
        self.session.names[made.id()] = symbol
        return made

    def make_variable(self, sort: ApiSort, name: str) -> Any:
        """A variable to be bound later."""
        symbol = self._symbol(name)
        made = self.session.manager.mk_var(sort.handle, symbol)
        self.session.names[made.id()] = symbol
        return made

    def make_function(self, name: str, params: Sequence[ApiSort], result: ApiSort) -> Any:
        """A constant of a function sort."""
        sort = self.session.manager.mk_fun_sort([p.handle for p in params], result.handle)
        if self.random.random() < 0.2:
            own = smtlib_sort("->", (), tuple([p.sort for p in (*params, result)]))
            inspection.inspect_sort(self.session, sort, own)
        return self._declared(name, sort)

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Any:
        """An operator or function applied."""
        handles = [a.handle for a in args]
        if head.kind is HeadKind.APPLY:
            return self.session.make(Kind.APPLY, handles)
        if head.kind is not HeadKind.OPERATOR:
            raise Unsupported("datatypes")
        sorts = [a.sort.sort for a in args]
        if operators.gives_unknown_format(sort.sort):
            raise Unsupported(f"floating-point format {sort.sort}")
        return Operators(self.session, self.random).make(head, sort.sort, handles, sorts)

    def make_binder(self, sort: ApiSort, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        """A quantifier over all variables at once, or one inside the other."""
        if binder not in ("forall", "exists", "lambda"):
            raise Unsupported(f"binder {binder}")
        return self._bound(Kind[binder.upper()], variables, body)

    def _bound(self, kind: Any, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        handles = [v.handle for v in variables]
        # A lambda inside another is a function that gives a function, which bitwuzla does not have.
        if kind != Kind.LAMBDA and self.random.random() < 0.3:
            return reduce(lambda inner, v: self.session.make(kind, (v, inner)), handles[::-1], body.handle)
        return self.session.make(kind, (*handles, body.handle))

    def define_function(self, name: str, variables: Sequence[ApiTerm], result: ApiSort, body: ApiTerm) -> Any:
        """A lambda (bitwuzla's interface has no named definitions), or the body itself."""
        return self._bound(Kind.LAMBDA, variables, body) if variables else body.handle

    def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
        """Whether bitwuzla holds the term's sort to be ``sort``: by equality, and by identity number."""
        handle = term.handle.sort()
        equal = bool(handle == sort.handle)
        if equal != (handle.id() == sort.handle.id()) or equal == bool(handle != sort.handle):
            raise Misbehaviour("sort", f"{handle} and {sort.handle}: ==, != and id contradict each other")
        return equal

    def inspect_sort(self, sort: ApiSort) -> None:
        """Ask the sort all it can be asked."""
        inspection.inspect_sort(self.session, sort.handle, sort.sort)

    def inspect_term(self, term: ApiTerm) -> None:
        """Ask the term all it can be asked, and make it again."""
        inspection.inspect_term(self.session, term.handle, term.sort.sort)

    def read_back(self, term: ApiTerm) -> None:
        """Print the term, read it with bitwuzla's parser, and compare."""
        free = frozenset(v.handle.id() for v in term.free)
        inspection.read_back(self.session, self.random, term.handle, free)

    def substitute(self, term: ApiTerm, replaced: Sequence[ApiTerm], by: Sequence[ApiTerm]) -> Any:
        """``term`` with each of ``replaced`` replaced at once."""
        table = {old.handle: new.handle for old, new in zip(replaced, by, strict=True)}
        manager = self.session.manager
        if self.random.random() < 0.5:
            return manager.substitute_term(term.handle, table)
        return manager.substitute_terms([term.handle], table)[0]
