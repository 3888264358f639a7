"""What the rows of ``actions.toml``, the actions that only cvc5 has, need beside cvc5's own calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import cvc5
from cvc5 import Kind, SortKind

from apifuzz import call
from apifuzz.actions import Made, Second
from apifuzz.call import draw_formula, read_name
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.session import CHECK_RESOURCES
from apifuzz.engines.cvc5.session import answer as answer_of
from apifuzz.engines.declared import Asking, declared
from apifuzz.engines.walking import walk
from apifuzz.interface import Answer, ApiSort, ApiTerm, TermKind, Unsupported, expect, must
from apifuzz.run import Run
from apifuzz.store import Store
from smtlib import INT, REAL, Sort

_ENUMERABLE = frozenset(
    ("Core", "Ints", "Reals", "Reals_Ints", "FixedSizeBitVectors", "UnicodeStrings", "ArraysEx")
)
_SYNTHESIZED = frozenset(("Bool", "Int", "Real", "BitVec", "String"))
MOST_PROOF_NODES = 300


class Cvc5Asking(Asking, Second):
    """A run of cvc5. The second instance is another solver on the same term manager, made for each question.

    To what it does not take under default options it answers unknown. It leaves out definitions among the
    formulas: it has them already, and cvc5 aborts where one comes twice.
    """

    def __init__(self, run: Run, core: Cvc5Engine) -> None:
        super().__init__(run, core)
        self.session, self.solver, self.manager = core.session, core.session.solver, core.session.manager

    def word(self, name: str) -> Any:
        return vars(cvc5)[name]

    def answer(self, formulas: Sequence[Any]) -> Answer:
        other = self.core.sibling()
        solver = other.session.solver
        try:
            for formula in formulas:
                if not _is_definition(formula):
                    solver.assertFormula(other.session.expand(formula))
            return answer_of(solver.checkSat())
        except RuntimeError:
            return Answer.UNKNOWN
        finally:
            other.delete()

    def negated(self, formula: Any) -> Any:
        return formula.notTerm()

    def synthesizer(self) -> Any:
        """A solver of its own that synthesizes functions."""
        made = cvc5.Solver(self.manager)
        for name, value in (("sygus", "true"), ("incremental", "true"), ("rlimit-per", CHECK_RESOURCES)):
            made.setOption(name, value)
        made.setLogic(self.session.logic or "ALL")
        return made

    def productions(self, sort: Any, start: Any) -> list[Any]:
        """What a grammar makes terms of the sort with."""
        manager = self.manager
        if sort.isBoolean():
            return [manager.mkTrue(), start.notTerm(), start.andTerm(start)]
        if sort.isInteger():
            return [manager.mkInteger(1), manager.mkTerm(Kind.ADD, start, start)]
        if sort.isReal():
            return [manager.mkReal(1, 2), manager.mkTerm(Kind.SUB, start, start)]
        if sort.isBitVector():
            one = manager.mkBitVector(sort.getBitVectorSize(), 1)
            return [one, manager.mkTerm(Kind.BITVECTOR_ADD, start, start)]
        return [manager.mkString("a")]

    def enumerated(self, call: Any, asked: str, check: Callable[[Any], None]) -> Made | None:
        """A formula that cvc5 enumerates for the call's goal with the method ``asked``, and then perhaps
        another one; ``check`` says what must hold of each.
        """
        if not may_enumerate(self.run):
            raise Unsupported("no enumeration over these sorts")
        self.stack.changed()
        goal = call.goal
        found = getattr(self.solver, asked)(self.session.expand(goal.handle))
        if found.isNull():
            return None
        check(found)
        made = [self.run.keep_term(goal.sort, found, TermKind.TERM)]
        if is_incremental(self.run) and self.happens(0.5):
            other = getattr(self.solver, f"{asked}Next")()
            if not other.isNull():
                expect("value", other == found, False, f"the next one of {call.name} is the same")
                check(other)
                made.append(self.run.keep_term(goal.sort, other, TermKind.TERM))
        return tuple(made)


def _is_definition(formula: Any) -> bool:
    """Whether a formula is what cvc5 makes of a recursive definition: a quantifier that has the application
    which it defines as an attribute.
    """
    if formula.getKind() is not Kind.FORALL or formula.getNumChildren() < 3:
        return False
    return any(
        note.getKind() is Kind.INST_ATTRIBUTE and note[0].getKind() is Kind.APPLY_UF for note in formula[2]
    )


# Conditions


def core_of(run: Run) -> Cvc5Engine:
    """cvc5's own engine."""
    return cast(Cvc5Engine, run.engine.core)


def is_incremental(run: Run) -> bool:
    """Whether there may be a second check."""
    return run.options.get("incremental", "true") == "true"


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


def has_skolem(term: Any) -> bool:
    """Whether a symbol of the solver's own occurs, so that another solver has no meaning for the term."""
    return any(part.isSkolem() for part in walk([term]))


def has_selector(term: Any) -> bool:
    """Whether a selector of a datatype occurs."""
    return any(part.getKind() is Kind.APPLY_SELECTOR for part in walk([term]))


def is_quantified(term: Any) -> bool:
    """Whether it is a quantifier."""
    return term.getKind() in (Kind.FORALL, Kind.EXISTS)


def has_quantifier(term: Any) -> bool:
    """Whether a quantifier occurs: perhaps what the solver made of a definition."""
    return any(map(is_quantified, walk([term])))


def has_other_variables(formula: Any) -> bool:
    """Whether a variable of another sort than Bool, Int and Real occurs."""
    variables = (part.getSort() for part in walk([formula]) if part.getKind() is Kind.VARIABLE)
    return any(not (sort.isBoolean() or sort.isInteger() or sort.isReal()) for sort in variables)


# Arguments


def names_of(enumeration: Any) -> dict[str, Any]:
    """The members of an enumeration by the names that traces have."""
    return {member.name.lower().replace("_", "-"): member for member in enumeration}


LITERALS, COMPONENTS, FORMATS, MODES, SKOLEMS = map(
    names_of,
    (cvc5.LearnedLitType, cvc5.ProofComponent, cvc5.ProofFormat, cvc5.BlockModelsMode, cvc5.SkolemId),
)


def kind_named(names: Mapping[str, Any], what: str) -> call.Kind:
    """An argument that is a member of one of cvc5's enumerations, by name."""

    def read(store: Store, token: str) -> str:
        if read_name(token) not in names:
            raise Unsupported(f"no {what} {token[:60]}")
        return token

    return call.Kind(read, draw=lambda run: run.random.pick(list(names)))


def draw_uninterpreted(run: Run) -> ApiSort | None:
    """An uninterpreted sort."""
    declared = core_of(run).sorts.declared
    names = [name for name, handle in declared.items() if handle.isUninterpretedSort()]
    return run.random.pick_if_any(
        [own for sort, own in run.store.sorts.items() if sort.name in names and not sort.args]
    )


def draw_infinite(run: Run) -> ApiSort | None:
    """The sort of integers or of reals."""
    return run.random.pick_if_any([sort for sort in map(run.store.sorts.get, (INT, REAL)) if sort])


def draw_two(run: Run, fits: Callable[[Sort], bool]) -> tuple[ApiTerm, ApiTerm] | None:
    """Two terms of one of the sorts that fit; None: there are none."""
    sort = run.random.pick_if_any([sort for sort in run.store.populated if fits(sort)])
    if sort is None:
        return None
    one, two = (run.store.pick(sort, run.random) for _ in range(2))
    return None if one is None or two is None else (one, two)


def draw_assumed(run: Run) -> tuple[ApiTerm, ...]:
    """One formula or none."""
    assumed = draw_formula(run)
    return () if run.random.happens(0.5) or assumed is None else (assumed,)


def draw_constants(run: Run) -> tuple[ApiTerm, ...] | None:
    """Constants of sorts that there are grammars for."""
    return tuple(run.store.constants(lambda sort: sort.name in _SYNTHESIZED)[-3:]) or None


# Terms


LIFTED = {"Int": Kind.ADD, "Real": Kind.MULT, "Bool": Kind.AND, "BitVec": Kind.BITVECTOR_ADD}
PROJECTIONS: dict[str, tuple[Kind, Kind | None, Kind | None]] = {
    "Tuple": (Kind.TUPLE_PROJECT, None, None),
    "Set": (Kind.RELATION_PROJECT, Kind.RELATION_GROUP, Kind.SET_CARD),
    "Bag": (Kind.TABLE_PROJECT, Kind.TABLE_GROUP, Kind.BAG_CARD),
}
ABSTRACT = [
    SortKind[f"{name}_SORT"]
    for name in "ABSTRACT ARRAY BAG BITVECTOR FINITE_FIELD FLOATINGPOINT FUNCTION SEQUENCE SET TUPLE".split()
]


def may_project(run: Run, sort: Sort) -> bool:
    """Whether terms of the sort may be projected: relations and tables in higher-order logic only."""
    return sort.name == "Tuple" or run.logic.startswith("HO_")


def columns(sort: Sort) -> int:
    """How many columns a tuple, a relation or a table has; 0 for any other sort."""
    if sort.name in ("Set", "Bag"):
        sort = sort.args[0]
    return len(sort.args) if sort.name == "Tuple" else 0


# Objects of cvc5


class Listener(cvc5.Plugin):  # type: ignore[misc]
    """A plugin that looks at every clause and lemma, and adds none of its own."""

    def check(self) -> list[Any]:
        return []

    def notifySatClause(self, cl: Any) -> None:
        self._look(cl)

    def notifyTheoryLemma(self, lem: Any) -> None:
        self._look(lem)

    def getName(self) -> str:
        return "listener"

    def _look(self, formula: Any) -> None:
        is_formula = formula.getSort().isBoolean()
        must("sort", is_formula, f"the plugin is notified of {formula!s:.200}, no formula")


# Words of the rows, besides what is defined here.
__all__ = ["ACTIONS", "answer_of"]

ACTIONS = declared(Path(__file__).with_suffix(".toml"), "cvc5", Cvc5Asking, globals())
