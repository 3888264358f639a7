"""What the actions of cvc5 share: their preconditions, and a second solver to check answers with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import cvc5

from apifuzz.actions.own import Own
from apifuzz.call import Kind, read_name
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.solving import answer
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, Unsupported
from apifuzz.run import Run
from apifuzz.store import Store
from smtlib import BOOL

_ENUMERABLE = frozenset(
    ("Core", "Ints", "Reals", "Reals_Ints", "FixedSizeBitVectors", "UnicodeStrings", "ArraysEx")
)


class Cvc5Action(Own):
    """An action of cvc5."""

    solver = "cvc5"


def core_of(run: Run) -> Cvc5Engine:
    """cvc5's own engine."""
    return cast(Cvc5Engine, run.engine.core)


def kind_named(names: Mapping[str, Any], what: str) -> Kind:
    """An argument that is a member of one of cvc5's enumerations, by name."""

    def read(store: Store, token: str) -> str:
        if read_name(token) not in names:
            raise Unsupported(f"no {what} {token[:60]}")
        return token

    return Kind(read)


def names_of(enumeration: Any) -> dict[str, Any]:
    """The members of an enumeration by the names that traces have."""
    return {member.name.lower().replace("_", "-"): member for member in enumeration}


def draw_formula(run: Run) -> ApiTerm | None:
    """A closed formula; None: there is none."""
    return run.store.pick_closed(BOOL, run.random) if BOOL in run.store.pools else None


def is_incremental(run: Run) -> bool:
    """Whether the run may push and check again."""
    return run.options.get("incremental", "true") == "true"


def may_enumerate(run: Run) -> bool:
    """Whether cvc5 can make formulas from what the run has made: it wants functions to be values."""
    return not run.store.functions or run.logic.startswith("HO_")


def should_enumerate(run: Run) -> bool:
    """Whether it would come to an end: of other theories it has no grammars, and what it cannot verify it
    tries without end. For drawing only.
    """
    return may_enumerate(run) and run.scope.theories <= _ENUMERABLE and not run.scope.quantifiers


def handles(terms: Sequence[ApiTerm]) -> list[Any]:
    """The solver's terms."""
    return [term.handle for term in terms]


@contextlib.contextmanager
def second_solver(engine: Cvc5Engine) -> Iterator[Cvc5Engine]:
    """Another solver on the same term manager, for a while."""
    other = engine.sibling()
    try:
        yield other
    finally:
        other.delete()


def second_answer(engine: Cvc5Engine, formulas: Sequence[Any]) -> Answer:
    """What a second solver answers to these formulas (handles); unknown, too, to what it does not take under
    default options.

    Definitions among them are left out: the second solver has them, and cvc5 ends where one comes twice.
    """
    with second_solver(engine) as other:
        solver = other.session.solver
        try:
            for formula in formulas:
                if not _is_definition(formula):
                    solver.assertFormula(other.session.expand(formula))
            return answer(solver.checkSat())
        except RuntimeError:
            return Answer.UNKNOWN


def must_not_be(engine: Cvc5Engine, wrong: Answer, kind: str, formulas: Sequence[Any], told: str) -> None:
    """Raise :class:`Misbehaviour` where a second solver answers ``wrong`` to these formulas (handles)."""
    if second_answer(engine, formulas) is wrong:
        raise Misbehaviour(kind, f"a second solver answers {wrong} to {told}")


def _is_definition(formula: Any) -> bool:
    """Whether a formula is what cvc5 makes of a recursive definition: a quantifier that has the application
    which it defines as an attribute.
    """
    if formula.getKind() is not cvc5.Kind.FORALL or formula.getNumChildren() < 3:
        return False
    return any(
        note.getKind() is cvc5.Kind.INST_ATTRIBUTE and note[0].getKind() is cvc5.Kind.APPLY_UF
        for note in formula[2]
    )


def has_skolem(term: Any) -> bool:
    """Whether a symbol of the solver's own occurs, so that another solver has no meaning for the term."""
    return some_part(term, lambda part: bool(part.isSkolem()))


def has_quantifier(term: Any) -> bool:
    """Whether a quantifier occurs: perhaps what the solver made of a definition."""
    return some_part(term, lambda part: part.getKind() in (cvc5.Kind.FORALL, cvc5.Kind.EXISTS))


def some_part(term: Any, holds: Callable[[Any], bool]) -> bool:
    """Whether something holds of the term or of one that it is made of."""
    todo = [term]
    seen = set()
    while todo:
        part = todo.pop()
        if part in seen:
            continue
        seen.add(part)
        if holds(part):
            return True
        todo.extend(part)
    return False
