"""Terms: constants, variables, functions, applications and binders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cvc5 import Kind

from apifuzz.engines.cvc5.calls import MEMBERS, OPERATORS, kind_of, make, operation
from apifuzz.engines.cvc5.session import Session
from apifuzz.engines.cvc5.sorts import Sorts
from apifuzz.engines.walking import walk
from apifuzz.interface import ApiSort, ApiTerm, Head, HeadKind, Unsupported
from smtlib import REAL, Sort

LARGEST_EXPONENT = 8
"""Larger exponents of ``^`` are not made: cvc5 multiplies the powers out."""

LARGEST_REPETITION = 50
"""Larger indices of ``re.^`` and ``re.loop`` are not made: cvc5 writes the repetitions out."""

BINDERS = {
    "forall": Kind.FORALL,
    "exists": Kind.EXISTS,
    "lambda": Kind.LAMBDA,
    "set.comprehension": Kind.SET_COMPREHENSION,
}


class Terms:
    """Makes terms of one term manager."""

    def __init__(self, session: Session, sorts: Sorts) -> None:
        self.session = session
        self.sorts = sorts
        self.constants: list[Any] = []
        """The free constants, as models are printed for them."""

    # Applications

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Any:
        handles = [arg.handle for arg in args]
        if head.kind is HeadKind.APPLY:
            return self._apply(handles)
        if head.kind in MEMBERS:
            assert head.datatype is not None
            made = member_term(self.session, self.sorts.of(head.datatype), head)
            return self.session.maker.mkTerm(MEMBERS[head.kind], made, *handles)
        return self._operator(head, sort.sort, args, handles)

    def _operator(self, head: Head, sort: Sort, args: Sequence[ApiTerm], handles: list[Any]) -> Any:
        if head.name == "^" and not _is_small(args[1].handle):
            raise Unsupported("^ requires a small value as exponent")
        if head.name in ("re.^", "re.loop") and max(head.indices) > LARGEST_REPETITION:
            raise Unsupported("too many repetitions")
        sorts = [arg.sort.sort for arg in args]
        kind = kind_of(head.name, sorts)
        if kind is None:
            routes = OPERATORS.find(head.name, [s.name for s in sorts])
            what, handle = f"operator {head.name}", self.sorts.of(sort)
            return make(self.session, what, routes, handles, head.indices, sort=handle)
        if len(args) == 1 and (kind in (Kind.AND, Kind.OR) or (kind is Kind.TO_REAL and sorts[0] is REAL)):
            # What cvc5 itself makes of a conjunction of one, and of the conversion of a real to a real.
            return handles[0]
        return operation(self.session, head.name, kind, head.indices, handles)

    def _apply(self, handles: list[Any]) -> Any:
        function, *args = handles
        maker = self.session.maker
        if self.session.is_higher_order and self.session.random.happens(0.3):
            for arg in args:
                function = maker.mkTerm(Kind.HO_APPLY, function, arg)
            return function
        return maker.mkTerm(Kind.APPLY_UF, function, *args)


def member_term(session: Session, handle: Any, head: Head) -> Any:
    """The constructor, selector, tester or updater of a datatype sort that a head names."""
    datatype = handle.getDatatype()
    if head.kind in (HeadKind.CONSTRUCTOR, HeadKind.TESTER):
        constructor = (
            datatype.getConstructor(head.name) if session.random.happens(0.5) else _named(datatype, head.name)
        )
        if head.kind is HeadKind.TESTER:
            return constructor.getTesterTerm()
        if datatype.isParametric():
            return constructor.getInstantiatedTerm(handle)
        return constructor.getTerm()
    selector = datatype.getSelector(head.name)
    if session.random.happens(0.5):
        selector = next(_named(c, head.name) for c in datatype if any(s.getName() == head.name for s in c))
    return selector.getTerm() if head.kind is HeadKind.SELECTOR else selector.getUpdaterTerm()


def _named(members: Any, name: str) -> Any:
    """The constructor of a datatype, or the selector of a constructor, with this name."""
    return next(member for member in members if member.getName() == name)


def _is_small(exponent: Any) -> bool:
    if exponent.isIntegerValue():
        return bool(0 <= exponent.getIntegerValue() <= LARGEST_EXPONENT)
    if exponent.isRealValue():
        value = exponent.getRealValue()
        return bool(value.denominator == 1 and 0 <= value <= LARGEST_EXPONENT)
    return False


# Kinds that cvc5 takes as the head of a pattern.
_PATTERN_KINDS = frozenset((Kind.APPLY_UF, Kind.SELECT, Kind.STORE, Kind.SET_MEMBER, Kind.APPLY_SELECTOR))


def pattern_in(variables: list[Any], body: Any) -> Any | None:
    """A subterm of ``body`` that has all the variables and may be a pattern."""
    binders, all_variables = frozenset(BINDERS.values()), set(variables)
    for term in walk([body], lambda term: () if term.getKind() in binders else term, most=200):
        if term.getKind() in _PATTERN_KINDS and all_variables.issubset(walk([term], most=200)):
            return term
    return None
