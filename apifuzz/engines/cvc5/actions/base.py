"""What the actions of cvc5 share: preconditions, and a second solver that checks answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import cvc5

from apifuzz.actions import Need, Own, Second
from apifuzz.call import Kind, read_name
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.solving import answer
from apifuzz.engines.walking import walk
from apifuzz.interface import Answer, ApiTerm, Unsupported
from apifuzz.run import Run
from apifuzz.store import Store
from smtlib import Sort

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

    return Kind(read, draw=lambda run: run.random.pick(list(names)))


def names_of(enumeration: Any) -> dict[str, Any]:
    """The members of an enumeration by the names that traces have."""
    return {member.name.lower().replace("_", "-"): member for member in enumeration}


INCREMENTAL = Need(
    lambda run: run.options.get("incremental", "true") == "true",
    "a second check, without incremental solving",
)


def has_assertions(run: Run) -> bool:
    """Whether there is an assertion."""
    return any(run.stack.levels)


def may_enumerate(run: Run) -> bool:
    """Whether cvc5 can make formulas from what the run has made: functions must be values."""
    return not run.store.functions or run.logic.startswith("HO_")


def should_enumerate(run: Run) -> bool:
    """Whether that would end: for other theories cvc5 has no grammars, and it tries without end what it
    cannot verify. For drawing only.
    """
    return may_enumerate(run) and run.scope.theories <= _ENUMERABLE and not run.scope.quantifiers


def is_plain(sort: Sort) -> bool:
    """Whether the sort's terms can be parts of records, pools and models."""
    return not sort.is_function and sort.name != "RegLan"


def handles(terms: Sequence[ApiTerm]) -> list[Any]:
    """The solver's terms."""
    return [term.handle for term in terms]


class SecondSolver(Second):
    """Another solver on the same term manager, made for each question.

    To what it does not take under default options it answers unknown. It leaves out definitions among the
    formulas: it has them already, and cvc5 aborts where one comes twice.
    """

    def __init__(self, engine: Cvc5Engine) -> None:
        self.engine = engine

    def answer(self, formulas: Sequence[Any]) -> Answer:
        other = self.engine.sibling()
        solver = other.session.solver
        try:
            for formula in formulas:
                if not _is_definition(formula):
                    solver.assertFormula(other.session.expand(formula))
            return answer(solver.checkSat())
        except RuntimeError:
            return Answer.UNKNOWN
        finally:
            other.delete()

    def negated(self, formula: Any) -> Any:
        return formula.notTerm()


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
    return any(part.isSkolem() for part in walk([term]))


def has_quantifier(term: Any) -> bool:
    """Whether a quantifier occurs: perhaps what the solver made of a definition."""
    return any(part.getKind() in (cvc5.Kind.FORALL, cvc5.Kind.EXISTS) for part in walk([term]))
