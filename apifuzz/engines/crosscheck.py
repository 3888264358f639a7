"""Two solvers in lockstep: every call is made with both, and what they answer is compared.

A handle is a pair of the two solvers' own. What is made for the run is what both can do: theories, features
and sorts are the intersection, options those of the first. ``unknown`` conflicts with nothing. Terms and
sorts are handed to each solver's engine as its own ``ApiTerm`` and ``ApiSort``, made once per pair.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from apifuzz.calls import (
    Call,
    DefineRecursive,
    Equate,
    HasSort,
    New,
    SetOption,
    UnsatAssumptions,
    UnsatCore,
    check,
)
from apifuzz.chance import Chance
from apifuzz.engine import Engine
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    DatatypeSpec,
    Field,
    MadeSort,
    Misbehaviour,
    Option,
    Rejected,
    Unsupported,
    must_be_given,
)
from apifuzz.scope import PRODUCERS
from smtlib import Signature, Sort


class CrossCheck(Engine):
    """``first`` is the solver under test: the run has its name, its options, its witnesses.

    Raises :class:`Misbehaviour` of kind ``answer`` where one says sat and the other unsat, of kind ``model``
    where one finds that the values it gave itself cannot be, and of kind ``sort`` where they do not agree
    what sort a term has. What the second solver rejects is :class:`Rejected` with its name in front.
    """

    def __init__(self, first: Engine, second: Engine) -> None:
        super().__init__()
        self.first = first
        self.second = second
        self.name = first.name
        self.answers = first.answers or second.answers
        self.plan = first.plan if first.plan_takes_pairs else ""
        # The solver that is believed if the other one only prints.
        self._believed = 0 if first.answers else 1
        # The first draws as it does alone; the second from a source of its own with the same seeds.
        self.random = first.random = _Twin(second.random)
        # Whether one of the two made a change, or a definition, that the other one refused.
        self._parted = False
        # Equations with values, which are each solver's own.
        self._equations: set[Pair] = set()
        # Functions that were given a body, perhaps by one of the two only: a second one would be wrong there.
        self._defined: set[int] = set()

    @property
    def version(self) -> str:
        return f"{self.first.version}, {self.second.name} {self.second.version}"

    @property
    def families(self) -> tuple[str, ...]:
        return (*self.first.families, *self.second.families)

    @property
    def core(self) -> Engine:
        """The first solver's engine, where its own actions take pairs."""
        return self.first.core if self.plan else self

    # What both can do

    def capabilities(self) -> Capabilities:
        one, two = self.first.capabilities(), self.second.capabilities()
        nothing: frozenset[str] = frozenset()
        return Capabilities(
            theories=one.theories & two.theories,
            features=one.features & two.features,
            without=one.without | two.without,
            sorts_without={
                use: one.sorts_without.get(use, nothing) | two.sorts_without.get(use, nothing)
                for use in {**one.sorts_without, **two.sorts_without}
            },
            max_width=min(one.max_width, two.max_width),
            required_options=one.required_options,
            binders=tuple(binder for binder in one.binders if binder in two.binders),
            value_arguments={
                name: tuple(sorted({*one.value_arguments.get(name, ()), *two.value_arguments.get(name, ())}))
                for name in {**one.value_arguments, **two.value_arguments}
            },
        )

    def options(self) -> tuple[Option, ...]:
        return self.first.options()

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        return self.first.takes(signature, sorts, result) and self.second.takes(signature, sorts, result)

    def sibling(self) -> Engine:
        other = CrossCheck(self.first.sibling(), self.second.sibling())
        other.random.seed(self.random.getrandbits(32))
        other._equations = self._equations
        other._parted = self._parted
        return other

    # Both of them

    def maker(self, call: Call[Any]) -> Callable[..., Any]:
        """The method for the call, or what makes it with both."""
        return getattr(self, call.method, None) or (lambda *arguments: self._both(call))

    def _both(self, call: Call[Any]) -> Any:
        """Make the call with both, each with its own handles; a pair of what they give."""
        try:
            one, two = self._each(call)
        except Unsupported:
            self._parted |= call.changes
            raise
        if isinstance(one, list):
            return [Pair(*pair) for pair in zip(one, two, strict=True)]
        return Pair(one, two)

    def _each(self, call: Call[Any]) -> tuple[Any, Any]:
        one = self.first.perform(on_side(call, 0))
        with self._as_second():
            return one, self.second.perform(on_side(call, 1))

    @contextlib.contextmanager
    def _as_second(self) -> Iterator[None]:
        try:
            yield
        except Rejected as error:
            raise Rejected(f"{self.second.name}: {error}") from error
        except Unsupported as error:
            raise Unsupported(f"{self.second.name}: {error}") from error

    # Calls that are more than both

    def new(self) -> None:
        """Make both instances; the second with what the first one has on by default."""
        self.first.perform(New())
        defaults = {option.name: option.default for option in self.first.options()}
        with self._as_second():
            self.second.perform(New())
            for name, value in self.second.capabilities().required_options:
                self.second.perform(SetOption(name, value))
            # What is on in the first from the beginning, or always, without a name.
            for name in sorted(self._producers):
                if defaults.get(name, "true") == "true":
                    self.second.perform(SetOption(name, "true"))
        self._parted = False
        self._equations.clear()
        self._defined.clear()

    def set_option(self, name: str, value: str) -> None:
        """Set it in the first; in the second where it is one of SMT-LIB's for features."""
        self.first.perform(SetOption(name, value))
        if name in self._producers:
            with self._as_second():
                self.second.perform(SetOption(name, value))

    @property
    def _producers(self) -> set[str]:
        """SMT-LIB's options for features that the second solver has, too."""
        return {option.name for option in self.second.options() if option.name in PRODUCERS}

    def define_recursive(
        self, function: ApiTerm, variables: tuple[ApiTerm, ...], result: ApiSort, body: ApiTerm
    ) -> None:
        """Define it with both, or with none."""
        if function.id in self._defined:
            raise Unsupported(f"{function} may be defined already, by one of the two")
        call = DefineRecursive(function, variables, result, body)
        # If only one of the two had the body, the function would mean two things. The second is asked first:
        # it is mostly cvc5, which cannot define functions while an answer stands.
        with self._as_second():
            self.second.perform(on_side(call, 1))
        self._defined.add(function.id)
        try:
            self.first.perform(on_side(call, 0))
        except Unsupported:
            self._parted = True
            raise

    def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
        """Whether both say so; Misbehaviour where only one does."""
        one, two = self._each(HasSort(term, sort))
        if one != two:
            yes, no = (self.first, self.second) if one else (self.second, self.first)
            raise Misbehaviour(
                "sort", f"{yes.name} says that a term is of sort {sort.sort}, {no.name} that not"
            )
        return bool(one)

    def check_sat(self, assumptions: tuple[ApiTerm, ...] | None = None) -> Answer:
        """The answer of both; Misbehaviour where they contradict each other."""
        one, two = self._each(check(assumptions))
        if any(term.handle in self._equations for term in self.stack.terms):
            return self._answer_to_values(one, two)
        if one == two or not (self.first.answers and self.second.answers):
            return Answer((one, two)[self._believed])
        if Answer.UNKNOWN not in (one, two) and not self._parted:
            raise Misbehaviour("answer", f"{self.first.name} answers {one}, {self.second.name} {two}")
        return Answer.UNKNOWN

    def _answer_to_values(self, one: Answer, two: Answer) -> Answer:
        """The answer to formulas with values in them: the two solvers' differ, and so may their answers."""
        wrong = [w.name for w, said in ((self.first, one), (self.second, two)) if said is Answer.UNSAT]
        if wrong and not self._parted:
            raise Misbehaviour(
                "model", f"a second instance of {' and of '.join(wrong)} refutes its own values"
            )
        return Answer(one) if one == two else Answer.UNKNOWN

    def unsat_assumptions(self) -> list[ApiTerm]:
        """Those of the solver that is believed."""
        return self._run_terms("assumptions", UnsatAssumptions())

    def unsat_core(self) -> list[ApiTerm]:
        """That of the solver that is believed."""
        return self._run_terms("core", UnsatCore())

    def _run_terms(self, kind: str, call: Call[list[ApiTerm]]) -> list[ApiTerm]:
        """The run's own terms for those that the first solver gives, or the only one that answers.

        Raises Unsupported where they may depend on an assertion that only one of the solvers has.
        """
        if self._parted:
            raise Unsupported("only one of the solvers has all assertions")
        terms = self._each(call)[self._believed]
        given = {term.id: term for term in (*self.stack.terms, *(self.stack.assumptions or ()))}
        must_be_given(kind, [f"t{term.id}" for term in terms], map(str, given.values()))
        return [given[term.id] for term in terms]

    def equate(self, term: ApiTerm, value: Any) -> Pair:
        """The equation, which is remembered: the two solvers' values differ."""
        made: Pair = self._both(Equate(term, value))
        self._equations.add(made)
        return made


class Pair:
    """A handle: the two solvers' own, and what wraps them for each side, made when first needed."""

    __slots__ = ("handles", "sides")

    def __init__(self, first: Any, second: Any) -> None:
        self.handles = (first, second)
        self.sides: list[Any] = [None, None]


def on_side(call: Call[Any], side: int) -> Call[Any]:
    """A call of the run as it is for one of the solvers."""
    return type(call)(*[_on(argument, side) for argument in call])


def _on(argument: Any, side: int) -> Any:
    """An argument of a call, or a part of one, as it is for one of the solvers."""
    match argument:
        case ApiTerm():
            return _term_on(argument, side)
        case ApiSort():
            return _sort_on(argument, side)
        case tuple():
            return tuple([_on(part, side) for part in argument])
        case Pair():
            return argument.handles[side]
        case DatatypeSpec(name, constructors, parameters):
            return DatatypeSpec(name, _on(constructors, side), parameters)
        case Field(name, sort) | MadeSort(name, sort):
            return type(argument)(name, _on(sort, side))
    return argument


def _sort_on(sort: ApiSort, side: int) -> ApiSort:
    if sort.handle is None:
        return sort  # a function's sort that no call made
    pair: Pair = sort.handle
    if pair.sides[side] is None:
        pair.sides[side] = ApiSort(sort.id, sort.sort, pair.handles[side])
    made: ApiSort = pair.sides[side]
    return made


def _term_on(term: ApiTerm, side: int) -> ApiTerm:
    pair: Pair = term.handle
    if pair.sides[side] is None:
        args, own = _on(term.args, side), _sort_on(term.sort, side)
        made = ApiTerm(term.id, own, pair.handles[side], term.kind, head=term.head, args=args)
        pair.sides[side] = made
        # Free in a variable is itself.
        free = sorted(term.free, key=lambda variable: variable.id)
        made.free = frozenset(_on(tuple(free), side))
    known: ApiTerm = pair.sides[side]
    return known


class _Twin(Chance):
    """A source that seeds another one whenever it is seeded itself."""

    def __init__(self, other: Chance) -> None:
        self.other = other
        super().__init__()

    def seed(self, a: Any = None, version: int = 2) -> None:
        super().seed(a, version)
        self.other.seed(a, version)
