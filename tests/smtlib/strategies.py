"""Hypothesis strategies for well-sorted terms, driven by the signatures of the theory files.

A sort is drawn, then an operator whose result matches it, and so on for its arguments down to
constants, literals and bound variables. ``let`` and quantifiers come in with names from a small
pool, so that they shadow each other and what is declared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from hypothesis import strategies as st

from smtlib import BOOL, INT, REAL, STRING, Signature, Sort, default_theories, make_sort
from smtlib.reader import SExp
from smtlib.signature import Bindings, SortPattern
from smtlib.sorts import REGLAN, ROUNDING_MODE, array, bit_vector, floating_point, subsorts

SORTS = (
    BOOL,
    INT,
    REAL,
    STRING,
    REGLAN,
    ROUNDING_MODE,
    bit_vector(1),
    bit_vector(4),
    bit_vector(8),
    floating_point(8, 24),
    array(INT, BOOL),
    array(bit_vector(4), INT),
    make_sort("Seq", (), (INT,)),
    make_sort("Set", (), (INT,)),
    make_sort("FiniteField", (5,)),
)
"""Sorts for variables, sort parameters and goals."""

BINDABLE = (BOOL, INT, REAL, STRING, bit_vector(4), array(INT, BOOL))
NAMES = ("x", "y", "x!1", "|a b|", "c0", "RNE", "re.all", "$0")
CONSTANTS = tuple(f"c{n}" for n in range(100))
LITERALS = {
    BOOL: ("true", "false"),
    INT: ("0", "1", "42", "(- 3)"),
    REAL: ("0.0", "1.5", "(- 2.0)", "(/ 1.0 3.0)"),
    STRING: ('""', '"a""b"', '"(;|"', '"\\u{48}"'),
    bit_vector(1): ("#b0", "#b1"),
    bit_vector(4): ("#x0", "#xf", "#b0110", "(_ bv3 4)"),
    bit_vector(8): ("#x00", "#xfe", "(_ bv200 8)"),
    ROUNDING_MODE: ("RNE", "RTZ"),
    floating_point(8, 24): ("(_ NaN 8 24)", "(_ -oo 8 24)"),
    make_sort("FiniteField", (5,)): ("#f1m5", "#f4m5"),
}

WANT_VALUES = frozenset(
    {"const", "rel.join_image", "^", "str.power", "char", "Char", "bag", "int.pow2", "re.range"}
)
"""Functions that some solver takes with values only, or with options."""

BOTH = frozenset(("z3", "cvc5"))


NEED_OPTIONS = frozenset({"SeparationLogic"})
"""Theories that a solver takes after a command or option of its own only."""


@dataclass(frozen=True)
class Instance:
    """A signature with everything settled."""

    head: str
    sorts: tuple[Sort, ...]
    solvers: frozenset[str]
    signature: Signature


@dataclass
class State:
    """What one term uses: constants with their sorts, who takes it, and the fuel that is left."""

    constants: dict[str, Sort] = field(default_factory=dict)
    solvers: frozenset[str] = BOTH
    fuel: int = 12

    def declarations(self) -> str:
        """Declarations of the constants."""
        return "".join(f"(declare-const {name} {sort})\n" for name, sort in self.constants.items())


def index_names(pattern: SortPattern) -> set[str]:
    """The index variables of a sort pattern."""
    found: set[str] = set()
    for expression in pattern.indices:
        found |= expression_names(expression)
    return found.union(*(index_names(a) for a in pattern.args))


def expression_names(expression: SExp) -> set[str]:
    """The variables of an index expression."""
    if isinstance(expression, str):
        return {expression} if expression[0].islower() else set()
    return set().union(*map(expression_names, expression[1:]))


def solvers_of_sort(sort: Sort) -> frozenset[str]:
    """Who knows the sort."""
    solvers = BOTH
    for part in subsorts(sort):
        symbol = default_theories().sorts.get(part.name)
        if symbol is not None and symbol.only:
            solvers &= frozenset(symbol.only)
        if part.is_function:
            solvers = frozenset()
    return solvers


def completions(signature: Signature, goal: Sort) -> Iterator[Bindings]:
    """Bindings under which the result is ``goal``; what is left open gets a few values."""
    start: Bindings = {}
    if not signature.result.match(goal, start):
        return
    patterns = (*signature.params, signature.result)
    parameters = sorted(set().union(*(p.parameters() for p in patterns)) - start.keys())
    names = set(signature.indices).union(*(index_names(p) for p in patterns)) - start.keys()
    indices = sorted(n for n in names if not n.isdigit())
    for sorts in itertools.product((INT, BOOL, bit_vector(4)), repeat=len(parameters)):
        for values in itertools.product((1, 2, 3, 4, 5, 0), repeat=len(indices)):
            yield {
                **start,
                **dict(zip(parameters, sorts, strict=True)),
                **dict(zip(indices, values, strict=True)),
            }


@cache
def instances(goal: Sort) -> tuple[Instance, ...]:
    """The operators that make a term of sort ``goal``."""
    found: dict[tuple[str, tuple[Sort, ...]], Instance] = {}
    for signature in default_theories().signatures():
        if signature.name in WANT_VALUES or signature.theory in NEED_OPTIONS or is_large_tuple(signature):
            continue
        taken = 0
        for bindings in completions(signature, goal):
            instance = instantiate(signature, bindings, goal)
            if instance is not None and (instance.head, instance.sorts) not in found:
                found[instance.head, instance.sorts] = instance
                taken += 1
                if taken == 4:
                    break
    return tuple(found.values())


def is_large_tuple(signature: Signature) -> bool:
    """Whether this is one of the many signatures on tuples and relations; the smallest are enough."""
    return signature.theory == "Tuples" and len(set().union(*(p.parameters() for p in signature.params))) > 2


def instantiate(signature: Signature, bindings: Bindings, goal: Sort) -> Instance | None:
    """The instance, or None where the checker would take another signature or nothing."""
    try:
        sorts = tuple(p.instantiate(bindings) for p in signature.params)
    except (KeyError, ZeroDivisionError):
        return None
    if any(bad_sort(s) for s in sorts):
        return None
    indices = tuple(bindings[i] if i in bindings else int(i) for i in signature.indices)
    numbers = tuple(i for i in indices if isinstance(i, int))
    qualifier = goal if signature.needs_as else None
    found = default_theories().find(signature.name, numbers, sorts, qualifier)
    if len(numbers) != len(indices) or found is None or found[0] is not goal or found[1] is not signature:
        return None
    head = f"(_ {signature.name} {' '.join(map(str, numbers))})" if indices else signature.name
    head = f"(as {head} {goal})" if signature.needs_as else head
    solvers = frozenset(signature.only) or BOTH
    for sort in sorts:
        solvers &= solvers_of_sort(sort)
    return Instance(head, sorts, solvers, signature)


def bad_sort(sort: Sort) -> bool:
    """Whether no solver has this sort, or it is a function's."""
    for part in subsorts(sort):
        least = {"BitVec": 1, "FloatingPoint": 2, "FiniteField": 2}.get(part.name, 0)
        if part.is_function or any(i < least for i in part.indices):
            return True
        if part.name == "FiniteField" and part.indices[0] not in (2, 3, 5, 7):
            return True
    return len(str(sort)) > 40


Scope = dict[str, Sort]


def leaf(draw: st.DrawFn, goal: Sort, scope: Scope, state: State) -> str:
    """A variable, literal or constant."""
    choices = [name for name, sort in scope.items() if sort is goal]
    choices += [text for text in LITERALS.get(goal, ()) if text not in scope]
    constants = [n for n, sort in state.constants.items() if sort is goal and n not in scope]
    if not constants:
        constants = [next(n for n in CONSTANTS if n not in scope and n not in state.constants)]
        state.constants[constants[0]] = goal
        state.solvers &= solvers_of_sort(goal)
    choices += constants
    return draw(st.sampled_from(choices))


def term(draw: st.DrawFn, goal: Sort, scope: Scope, state: State) -> str:
    """A term of sort ``goal`` as text."""
    state.fuel -= 1
    if state.fuel <= 0:
        return leaf(draw, goal, scope, state)
    form = draw(st.sampled_from(("operator",) * 6 + ("leaf", "let", "quantifier", "annotation")))
    if form == "let":
        return let(draw, goal, scope, state)
    if form == "quantifier" and goal is BOOL:
        return quantifier(draw, scope, state)
    if form == "annotation":
        return f"(! {term(draw, goal, scope, state)} :some value)"
    made = operator(draw, goal, scope, state) if form == "operator" else None
    return made if made is not None else leaf(draw, goal, scope, state)


def operator(draw: st.DrawFn, goal: Sort, scope: Scope, state: State) -> str | None:
    """An application, or None where no operator fits."""
    usable = [i for i in instances(goal) if state.solvers & i.solvers and i.signature.name not in scope]
    if not usable:
        return None
    chosen = draw(st.sampled_from(usable))
    state.solvers &= chosen.solvers
    sorts = list(chosen.sorts)
    if chosen.signature.associativity and sorts[0] is sorts[1] and draw(st.booleans()):
        sorts.append(sorts[1])
    if not sorts:
        return chosen.head
    return f"({chosen.head} {' '.join(term(draw, s, scope, state) for s in sorts)})"


def let(draw: st.DrawFn, goal: Sort, scope: Scope, state: State) -> str:
    """``let`` of one or two names; the values do not see them."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
    sorts = [draw(st.sampled_from(SORTS)) for _ in names]
    values = [term(draw, s, scope, state) for s in sorts]
    inside = {**scope, **dict(zip(names, sorts, strict=True))}
    bindings = " ".join(f"({n} {v})" for n, v in zip(names, values, strict=True))
    return f"(let ({bindings}) {term(draw, goal, inside, state)})"


def quantifier(draw: st.DrawFn, scope: Scope, state: State) -> str:
    """``forall`` or ``exists`` over one or two names."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
    sorts = [draw(st.sampled_from(BINDABLE)) for _ in names]
    inside = {**scope, **dict(zip(names, sorts, strict=True))}
    variables = " ".join(f"({n} {s})" for n, s in zip(names, sorts, strict=True))
    return f"({draw(st.sampled_from(('forall', 'exists')))} ({variables}) {term(draw, BOOL, inside, state)})"


@st.composite
def scripts(draw: st.DrawFn, solvers: frozenset[str] = BOTH) -> tuple[str, frozenset[str]]:
    """A script with one assertion, and the solvers that know all that is in it (of ``solvers``)."""
    state = State(solvers=solvers)
    goal = draw(st.sampled_from(SORTS))
    if not solvers_of_sort(goal) & solvers:
        goal = BOOL
    left = term(draw, goal, {}, state)
    state.fuel = max(state.fuel, 6)
    right = term(draw, goal, {}, state)
    body = f"(= {left} {right})" if goal is not BOOL else f"(or {left} {right})"
    if goal is REGLAN:
        body = f'(str.in_re "a" (re.++ {left} {right}))'
    return f"{state.declarations()}(assert {body})\n", state.solvers
