"""What one run holds of cvc5: the term manager, the solver on it, what was set and defined; and what was
built into the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import cvc5
from cvc5 import Kind

from apifuzz.chance import Chance
from apifuzz.interface import Answer, ApiSort, ApiTerm, Misbehaviour, Unsupported
from smtlib import quote_symbol
from smtlib.commands import declaration_text


@lru_cache(maxsize=1)
def solves_fields() -> bool:
    """Whether this build can solve over finite fields: it takes a library that wheels may lack."""
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    element = manager.mkConst(manager.mkFiniteFieldSort(5), "x")
    product = manager.mkTerm(Kind.FINITE_FIELD_MULT, element, element)
    solver.assertFormula(manager.mkTerm(Kind.EQUAL, element, product))
    try:
        solver.checkSat()
    except RuntimeError:
        return False
    return True


_DEPRECATED_SHARE = 0.05
"""Share of calls that go through the solver's own, deprecated doubles of the term manager's methods."""

CHECK_RESOURCES: Final = "20000"
"""The resources of one check, in cvc5's own units (``rlimit-per``): its measure that does not depend on the
machine. Checks that use them up took 0.1 to 1 s here.
"""


TIMEOUT_CORE_MS: Final = "200"
"""How long the checks for a timeout core may take, in milliseconds: cvc5 has no other limit for them. What
comes of it is checked, but never written into a trace.
"""


def define_recursive(solver: cvc5.Solver, function: Any, variables: list[Any], body: Any) -> None:
    """``define-fun-rec`` for a declared function, globally.

    ``glbl`` is passed by name: the Python interface of 1.4.2 documents it as the fourth argument, but
    ignores it there (docs/findings/cvc5-define-fun-rec-not-global).
    """
    solver.defineFunRec(function, variables, body, glbl=True)


@dataclass(slots=True)
class Definition:
    """A function with a body. Another solver on the same term manager does not know it: ``body`` (a lambda,
    or for a constant its value) is put in its place there, or the recursive definition is made again.
    """

    function: Any
    body: Any
    variables: list[Any]
    recursive: bool


@dataclass(slots=True)
class Session:
    """One term manager and one solver on it. ``options`` are those that were set, ``logic`` the one that was
    set, ``heap`` the sorts of separation logic's heap (location, data), ``definitions`` all functions that
    were defined on the term manager, ``known`` those of them that this solver knows.
    """

    random: Chance
    manager: Any = field(default_factory=cvc5.TermManager)
    solver: Any = None
    logic: str = ""
    options: dict[str, str] = field(default_factory=dict)
    heap: tuple[ApiSort, ApiSort] | None = None
    pools: list[tuple[Any, Any]] = field(default_factory=list)
    """Pools of terms to instantiate quantifiers with: the symbol and the sort of each."""
    plugins: list[Any] = field(default_factory=list)
    declarations: list[str] = field(default_factory=list)
    """The commands that declare what was declared, for reading back."""
    definitions: list[Definition] = field(default_factory=list)
    known: set[int] = field(default_factory=set)
    assumptions: list[tuple[Any, ApiTerm]] = field(default_factory=list)
    """What was assumed at the last check, and for which term."""
    answered: bool = False
    """Whether the last check may still be asked about. Declarations and definitions by the solver end that;
    the term manager's leave it.
    """
    assumed: bool = False
    """Whether the last check had assumptions."""
    simplified: bool = False
    """Whether a term was simplified after it."""

    def start(self) -> None:
        """Make the solver: as new, on the same term manager."""
        self.solver = cvc5.Solver(self.manager)
        self.started()

    def started(self) -> None:
        """The solver is as new: nothing is set but its limit of resources."""
        self.solver.setOption("rlimit-per", CHECK_RESOURCES)
        self.solver.setOption("timeout-core-timeout", TIMEOUT_CORE_MS)
        # Synthesis (of abducts, interpolants) with it runs on beyond all limits.
        self.solver.setOption("sygus-core-connective", "false")
        self.logic = ""
        self.options = {}
        self.heap = None
        self.pools = []
        self.plugins = []
        self.known = set()
        self.answered = False

    def simplify(self, term: Any, *settings: Any) -> Any:
        """``term`` simplified by the solver."""
        self.simplified = True
        return self.solver.simplify(term, *settings)

    def require_assumptions(self) -> None:
        """Raise :class:`Unsupported` where the last check had assumptions and a term was simplified since.

        Cores and proofs then end the process of 1.4.2, so often that other errors would not be seen:
        docs/findings/cvc5-value-after-simplify.
        """
        if self.assumed and self.simplified:
            raise Unsupported("cores of assumptions after a simplification")

    def require_no_answer(self) -> None:
        """Raise :class:`Unsupported` while the last answer may be asked about."""
        if self.answered:
            raise Unsupported("a definition while the last answer may be asked about")

    def declare(self, name: str, params: Sequence[Any], result: Any) -> None:
        """Keep the command that declares a function, with handles of sorts."""
        self.declarations.append(declaration_text(quote_symbol(name), map(str, params), str(result)))

    def define(self, definition: Definition) -> None:
        """Keep a definition that this solver has made."""
        self.definitions.append(definition)
        self.known.add(id(definition))

    @property
    def is_higher_order(self) -> bool:
        """Whether the logic has function sorts as sorts like others."""
        return self.logic.startswith("HO_")

    def is_on(self, option: str) -> bool:
        """Whether an option of two values was set to true."""
        return self.options.get(option) == "true"

    def may_declare(self) -> bool:
        """Whether to declare through the solver this time: sometimes, where that ends no answer."""
        return self.random.happens(0.5) and not self.answered

    @property
    def maker(self) -> Any:
        """What makes sorts and terms: the term manager, sometimes the solver, which has the same methods."""
        return self.solver if self.random.happens(_DEPRECATED_SHARE) else self.manager

    def expand(self, term: Any) -> Any:
        """``term`` with the definitions that this solver does not know put in their places."""
        for definition in reversed(self.definitions):
            if id(definition) in self.known:
                continue
            if definition.recursive:
                define_recursive(self.solver, definition.function, definition.variables, definition.body)
                self.known.add(id(definition))
            else:
                term = term.substitute(definition.function, definition.body)
        return term

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
        return any(definition.function in heads for definition in self.definitions)


def answer(result: Any) -> Answer:
    """A result as an answer; what it says of itself must be one of three."""
    said = [result.isSat(), result.isUnsat(), result.isUnknown()]
    if result.isNull() or sum(said) != 1:
        raise Misbehaviour("value", f"the result {result} is {said}")
    if said[2]:
        result.getUnknownExplanation()
        return Answer.UNKNOWN
    return Answer.SAT if said[0] else Answer.UNSAT
