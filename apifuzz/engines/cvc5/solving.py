"""Assertions, checks and what can be asked after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cvc5 import Kind

from apifuzz.engine import Stack
from apifuzz.engines.cvc5.session import Session
from apifuzz.interface import Answer, ApiTerm, Misbehaviour


class Solving:
    """One solver's assertions: each is marked by what was asserted for it, as cores name that."""

    def __init__(self, session: Session, stack: Stack) -> None:
        self.session = session
        self.stack = stack
        self.assumptions: list[tuple[Any, ApiTerm]] = []

    def clear(self) -> None:
        """Nothing is asserted."""
        self.session.answered = False
        self.assumptions = []

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        solver = self.session.solver
        self.assumptions = [(self.session.expand(term.handle), term) for term in assumptions or ()]
        self.session.answered = False
        if assumptions is None:
            found = answer(solver.checkSat())
        else:
            found = answer(solver.checkSatAssuming(*[handle for handle, _ in self.assumptions]))
        self.session.answered = True
        self.session.assumed = bool(self.assumptions)
        self.session.simplified = False
        return found

    def change_levels(self, change: Callable[..., None], levels: int) -> None:
        """Open or close levels; one of them is said in one of two ways."""
        self.session.answered = False
        change(*(() if levels == 1 and self.session.random.happens(0.5) else (levels,)))

    def named(self, kind: str, found: Sequence[Any], given: list[tuple[Any, ApiTerm]]) -> list[ApiTerm]:
        """The terms that handles stand for; ``given``: what was asserted or assumed for which term."""
        terms = dict(reversed(given))
        named = []
        for handle in found:
            if handle in terms:
                named.append(terms[handle])
            elif not self._is_definition(handle):
                raise Misbehaviour(kind, f"{str(handle)[:200]} in it was not given")
        return named

    def _is_definition(self, handle: Any) -> bool:
        """Whether a formula is what cvc5 makes of a definition: an equation with the function or with an
        application of it, perhaps below a quantifier.
        """
        if handle.getKind() is Kind.FORALL:
            handle = handle[1]
        if handle.getKind() is not Kind.EQUAL:
            return False
        heads = [side[0] if side.getKind() is Kind.APPLY_UF else side for side in handle]
        return any(definition.function in heads for definition in self.session.definitions)


def answer(result: Any) -> Answer:
    """A result as an answer; what it says of itself must be one of three."""
    said = [result.isSat(), result.isUnsat(), result.isUnknown()]
    if result.isNull() or sum(said) != 1:
        raise Misbehaviour("value", f"the result {result} is {said}")
    if said[2]:
        result.getUnknownExplanation()
        return Answer.UNKNOWN
    return Answer.SAT if said[0] else Answer.UNSAT
