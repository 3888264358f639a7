"""Two solvers in lockstep: every call is made with both, and what they answer is compared.

A handle is a pair of the two solvers' own. What is made for the run is what both can do: theories, features
and sorts are the intersection, options those of the first. ``unknown`` conflicts with nothing. Terms and
sorts are handed to each solver's wrapper as its own ``ApiTerm`` and ``ApiSort``, made once per pair.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    DatatypeSpec,
    Field,
    Head,
    Misbehaviour,
    Option,
    Rejected,
    Unsupported,
    Wrapper,
)
from apifuzz.producers import PRODUCERS
from smtlib import Signature, Sort

if TYPE_CHECKING:
    from apifuzz.actions import Action
    from apifuzz.model import Model


class Pair:
    """A handle: the two solvers' own, and what wraps them for each side, made when first needed."""

    __slots__ = ("handles", "sides")

    def __init__(self, first: Any, second: Any) -> None:
        self.handles = (first, second)
        self.sides: list[Any] = [None, None]


class CrossCheck(Wrapper):
    """``first`` is the solver under test: the run has its name, its options, its witnesses.

    Raises :class:`Misbehaviour` of kind ``answer`` where one says sat and the other unsat, and of kind
    ``sort`` where they do not agree whether two sorts are the same. What the second solver rejects is
    :class:`Rejected` with its name in front.
    """

    def __init__(self, first: Wrapper, second: Wrapper) -> None:
        super().__init__()
        self.first = first
        self.second = second
        self.name = first.name
        self.answers = first.answers and second.answers
        # The first draws as it does alone; the second from a source of its own with the same seeds.
        self.random = first.random = _Twin(second.random)
        # Whether one of the two made a change that the other one refused.
        self._parted = False
        # What was asserted and assumed, by number: cores are made of these.
        self._given: dict[int, ApiTerm] = {}
        # Functions that were given a body, perhaps by one of the two only: a second one would be wrong there.
        self._defined: set[int] = set()

    @property
    def version(self) -> str:
        return f"{self.first.version}, {self.second.name} {self.second.version}"

    @property
    def families(self) -> tuple[str, ...]:
        return (*self.first.families, *self.second.families)

    # What both can do

    def capabilities(self) -> Capabilities:
        one, two = self.first.capabilities(), self.second.capabilities()
        return Capabilities(
            theories=one.theories & two.theories,
            features=one.features & two.features,
            without=one.without | two.without,
            sorts_without=_united(one.sorts_without, two.sorts_without),
            max_width=min(one.max_width, two.max_width),
            required_options=one.required_options,
            binders=tuple(binder for binder in one.binders if binder in two.binders),
            value_arguments=_all_places(one.value_arguments, two.value_arguments),
        )

    def options(self) -> tuple[Option, ...]:
        return self.first.options()

    def takes(self, signature: Signature, sorts: tuple[Sort, ...], result: Sort) -> bool:
        return self.first.takes(signature, sorts, result) and self.second.takes(signature, sorts, result)

    def extra_actions(self) -> tuple[Action, ...]:
        return ()

    def adjust(self, model: Model) -> None:
        for wrapper in (self.first, self.second):
            # Its own actions are there while it adjusts, and then no more.
            own = {action.name: action for action in wrapper.extra_actions()}
            model.actions.update(own)
            wrapper.adjust(model)
            for state in model.states.values():
                state.transitions[:] = [t for t in state.transitions if t.action not in own]
                state.sums.clear()
            for name in own:
                del model.actions[name]

    # Life

    def new(self) -> None:
        self.first.new()
        own = {option.name for option in self.first.options()}
        with self._as_second():
            self.second.new()
            for name, value in self.second.capabilities().required_options:
                self.second.set_option(name, value)
            # What is always on in the first, or has no name there.
            for name in sorted(self._producers - own):
                self.second.set_option(name, "true")
        self._parted = False
        self._given.clear()
        self._defined.clear()

    def delete(self) -> None:
        self._given.clear()
        self.first.delete()
        with self._as_second():
            self.second.delete()

    def sibling(self) -> Wrapper:
        return CrossCheck(self.first.sibling(), self.second.sibling())

    def set_logic(self, logic: str) -> None:
        self._change(lambda w, side: w.set_logic(logic))

    def set_option(self, name: str, value: str) -> None:
        self.first.set_option(name, value)
        if name in self._producers:
            with self._as_second():
                self.second.set_option(name, value)

    @property
    def _producers(self) -> set[str]:
        """SMT-LIB's options for features that the second solver has, too."""
        return {option.name for option in self.second.options() if option.name in PRODUCERS}

    # Sorts

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Pair:
        return self._both(lambda w, side: w.make_sort(sort, _sorts(args, side)))

    def declare_sort(self, name: str, arity: int) -> Pair:
        return self._both(lambda w, side: w.declare_sort(name, arity))

    def declare_datatypes(self, group: Sequence[DatatypeSpec]) -> list[Pair]:
        made = self._both(lambda w, side: w.declare_datatypes([_datatype(spec, side) for spec in group]))
        return [Pair(one, two) for one, two in zip(*made.handles, strict=True)]

    # Terms

    def make_value(self, sort: ApiSort, text: str) -> Pair:
        return self._both(lambda w, side: w.make_value(_sort(sort, side), text))

    def make_constant(self, name: str, sort: ApiSort) -> Pair:
        return self._both(lambda w, side: w.make_constant(name, _sort(sort, side)))

    def make_variable(self, name: str, sort: ApiSort) -> Pair:
        return self._both(lambda w, side: w.make_variable(name, _sort(sort, side)))

    def make_function(self, name: str, params: Sequence[ApiSort], result: ApiSort) -> Pair:
        return self._both(lambda w, side: w.make_function(name, _sorts(params, side), _sort(result, side)))

    def make_term(self, head: Head, sort: Sort, args: Sequence[ApiTerm]) -> Pair:
        return self._both(lambda w, side: w.make_term(head, sort, _terms(args, side)))

    def make_binder(self, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Pair:
        return self._both(lambda w, side: w.make_binder(binder, _terms(variables, side), _term(body, side)))

    def define_function(
        self,
        name: str,
        variables: Sequence[ApiTerm],
        result: ApiSort,
        body: ApiTerm,
        recursive: ApiTerm | None,
    ) -> Pair:
        if recursive is not None:
            if recursive.id in self._defined:
                raise Unsupported(f"{recursive} may be defined already, by one of the two")
            self._defined.add(recursive.id)
        return self._both(
            lambda w, side: w.define_function(
                name,
                _terms(variables, side),
                _sort(result, side),
                _term(body, side),
                None if recursive is None else _term(recursive, side),
            )
        )

    def sort_of(self, term: ApiTerm) -> Pair:
        return self._both(lambda w, side: w.sort_of(_term(term, side)))

    def same_sort(self, handle: Any, sort: ApiSort) -> bool:
        one = self.first.same_sort(handle.handles[0], _sort(sort, 0))
        with self._as_second():
            two = self.second.same_sort(handle.handles[1], _sort(sort, 1))
        if one != two:
            yes, no = (self.first, self.second) if one else (self.second, self.first)
            raise Misbehaviour(
                "sort", f"{yes.name} says that a term is of sort {sort.sort}, {no.name} that not"
            )
        return one

    def inspect_sort(self, sort: ApiSort) -> None:
        self._both(lambda w, side: w.inspect_sort(_sort(sort, side)))

    def inspect_term(self, term: ApiTerm) -> None:
        self._both(lambda w, side: w.inspect_term(_term(term, side)))

    def read_back(self, term: ApiTerm) -> None:
        self._both(lambda w, side: w.read_back(_term(term, side)))

    def simplify(self, term: ApiTerm) -> Pair:
        return self._both(lambda w, side: w.simplify(_term(term, side)))

    def substitute(self, term: ApiTerm, replaced: Sequence[ApiTerm], by: Sequence[ApiTerm]) -> Pair:
        return self._both(
            lambda w, side: w.substitute(_term(term, side), _terms(replaced, side), _terms(by, side))
        )

    # Solving

    def assert_formula(self, term: ApiTerm) -> None:
        self._given[term.id] = term
        self._change(lambda w, side: w.assert_formula(_term(term, side)))

    def check_sat(self, assumptions: Sequence[ApiTerm] | None) -> Answer:
        self._given.update((term.id, term) for term in assumptions or ())
        asked = self._both(
            lambda w, side: w.check_sat(None if assumptions is None else _terms(assumptions, side))
        )
        one, two = asked.handles
        if one == two:
            return Answer(one)
        if Answer.UNKNOWN not in (one, two) and not self._parted:
            raise Misbehaviour("answer", f"{self.first.name} answers {one}, {self.second.name} {two}")
        return Answer.UNKNOWN

    def unsat_assumptions(self) -> list[ApiTerm]:
        return self._run_terms("assumptions", self._both(lambda w, side: w.unsat_assumptions()))

    def unsat_core(self) -> list[ApiTerm]:
        return self._run_terms("core", self._both(lambda w, side: w.unsat_core()))

    def values(self, terms: Sequence[ApiTerm]) -> list[Pair]:
        found = self._both(lambda w, side: w.values(_terms(terms, side)))
        return [Pair(one, two) for one, two in zip(*found.handles, strict=True)]

    def equal(self, term: ApiTerm, value: Any) -> Pair:
        return self._both(lambda w, side: w.equal(_term(term, side), value.handles[side]))

    def print_model(self) -> str:
        return str(self._both(lambda w, side: w.print_model()).handles[0])

    def push(self, levels: int) -> None:
        self._change(lambda w, side: w.push(levels))

    def pop(self, levels: int) -> None:
        self._change(lambda w, side: w.pop(levels))

    def reset(self) -> None:
        self._change(lambda w, side: w.reset())

    def reset_assertions(self) -> None:
        self._change(lambda w, side: w.reset_assertions())

    # The two of them

    def _both(self, call: Callable[[Wrapper, int], Any]) -> Pair:
        one = call(self.first, 0)
        with self._as_second():
            return Pair(one, call(self.second, 1))

    def _change(self, call: Callable[[Wrapper, int], None]) -> None:
        """A call that changes what is asserted; if the second refuses, the two have parted."""
        try:
            self._both(call)
        except Unsupported:
            self._parted = True
            raise

    @contextlib.contextmanager
    def _as_second(self) -> Iterator[None]:
        try:
            yield
        except Rejected as error:
            raise Rejected(f"{self.second.name}: {error}") from error
        except Unsupported as error:
            raise Unsupported(f"{self.second.name}: {error}") from error

    def _run_terms(self, kind: str, found: Pair) -> list[ApiTerm]:
        """The run's own terms for those of the first solver's side."""
        terms: list[ApiTerm] = found.handles[0]
        strange = [str(term) for term in terms if term.id not in self._given]
        if strange:
            raise Misbehaviour(kind, f"{' '.join(strange)} in it was not given")
        return [self._given[term.id] for term in terms]


def _sort(sort: ApiSort, side: int) -> ApiSort:
    """What a sort of the run is for one of the solvers."""
    if sort.handle is None:
        return sort  # a function's sort that no call made
    pair: Pair = sort.handle
    if pair.sides[side] is None:
        pair.sides[side] = ApiSort(sort.id, sort.sort, pair.handles[side])
    made: ApiSort = pair.sides[side]
    return made


def _sorts(sorts: Sequence[ApiSort], side: int) -> list[ApiSort]:
    return [_sort(sort, side) for sort in sorts]


def _term(term: ApiTerm, side: int) -> ApiTerm:
    """What a term of the run is for one of the solvers."""
    pair: Pair = term.handle
    if pair.sides[side] is None:
        head, args = term.head, tuple(_terms(term.args, side))
        made = ApiTerm(term.id, _sort(term.sort, side), pair.handles[side], term.kind, head=head, args=args)
        pair.sides[side] = made
        # Free in a variable is itself.
        made.free = frozenset(_terms(sorted(term.free, key=lambda variable: variable.id), side))
    known: ApiTerm = pair.sides[side]
    return known


def _terms(terms: Sequence[ApiTerm], side: int) -> list[ApiTerm]:
    return [_term(term, side) for term in terms]


def _datatype(spec: DatatypeSpec, side: int) -> DatatypeSpec:
    constructors = tuple(
        (
            name,
            tuple(Field(f.name, f.sort if isinstance(f.sort, str) else _sort(f.sort, side)) for f in fields),
        )
        for name, fields in spec.constructors
    )
    return DatatypeSpec(spec.name, constructors, spec.parameters)


class _Twin(Random):
    """A source that seeds another one whenever it is seeded itself."""

    def __init__(self, other: Random) -> None:
        self.other = other
        super().__init__()

    def seed(self, a: Any = None, version: int = 2) -> None:
        super().seed(a, version)
        self.other.seed(a, version)


def _united(
    one: Mapping[str, frozenset[str]], two: Mapping[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    uses = dict.fromkeys([*one, *two])
    return {use: one.get(use, frozenset()) | two.get(use, frozenset()) for use in uses}


def _all_places(
    one: Mapping[str, tuple[int, ...]], two: Mapping[str, tuple[int, ...]]
) -> dict[str, tuple[int, ...]]:
    operators = dict.fromkeys([*one, *two])
    return {name: tuple(sorted({*one.get(name, ()), *two.get(name, ())})) for name in operators}
