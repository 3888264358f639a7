"""Two solvers in lockstep: every call is made with both, and what they answer is compared.

A handle is a pair of the two solvers' own. What is made for the run is what both can do: theories, features
and sorts are the intersection, options those of the first. ``unknown`` conflicts with nothing. Terms and
sorts are handed to each solver's engine as its own ``ApiTerm`` and ``ApiSort``, made once per pair.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from apifuzz.engines.pairs import Pair, datatype_on, sort_on, sorts_on, term_on, terms_on
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    DatatypeSpec,
    Engine,
    Head,
    Misbehaviour,
    Option,
    Rejected,
    Unsupported,
)
from apifuzz.producers import PRODUCERS
from smtlib import Signature, Sort


class CrossCheck(Engine):
    """``first`` is the solver under test: the run has its name, its options, its witnesses.

    Raises :class:`Misbehaviour` of kind ``answer`` where one says sat and the other unsat, of kind ``model``
    where one finds that the values it gave itself cannot be, and of kind ``sort`` where they do not agree
    whether two sorts are the same. What the second solver rejects is
    :class:`Rejected` with its name in front.
    """

    def __init__(self, first: Engine, second: Engine) -> None:
        super().__init__()
        self.first = first
        self.second = second
        self.name = first.name
        self.answers = first.answers or second.answers
        # Who is believed where the other one only prints.
        self._told = 0 if first.answers else 1
        # The first draws as it does alone; the second from a source of its own with the same seeds.
        self.random = first.random = _Twin(second.random)
        # Whether one of the two made a change, or a definition, that the other one refused.
        self._parted = False
        # Equations with values, which are each solver's own, and whether one of them is asserted.
        self._equations: list[Pair] = []
        self._valued = False
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

    # Life

    def new(self) -> None:
        self.first.new()
        defaults = {option.name: option.default for option in self.first.options()}
        with self._as_second():
            self.second.new()
            for name, value in self.second.capabilities().required_options:
                self.second.set_option(name, value)
            # What is on in the first from the beginning, or always, without a name.
            for name in sorted(self._producers):
                if defaults.get(name, "true") == "true":
                    self.second.set_option(name, "true")
        self._parted = False
        self._valued = False
        self._equations.clear()
        self._given.clear()
        self._defined.clear()

    def delete(self) -> None:
        self._given.clear()
        self.first.delete()
        with self._as_second():
            self.second.delete()

    def sibling(self) -> Engine:
        other = CrossCheck(self.first.sibling(), self.second.sibling())
        other._equations = self._equations
        other._parted = self._parted
        return other

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
        return self._both(lambda w, side: w.make_sort(sort, sorts_on(args, side)))

    def declare_sort(self, name: str, arity: int) -> Pair:
        return self._both(lambda w, side: w.declare_sort(name, arity))

    def declare_datatypes(self, group: Sequence[DatatypeSpec]) -> list[Pair]:
        made = self._both(lambda w, side: w.declare_datatypes([datatype_on(spec, side) for spec in group]))
        return [Pair(one, two) for one, two in zip(*made.handles, strict=True)]

    # Terms

    def make_value(self, sort: ApiSort, text: str) -> Pair:
        return self._both(lambda w, side: w.make_value(sort_on(sort, side), text))

    def make_constant(self, name: str, sort: ApiSort) -> Pair:
        return self._both(lambda w, side: w.make_constant(name, sort_on(sort, side)))

    def make_variable(self, name: str, sort: ApiSort) -> Pair:
        return self._both(lambda w, side: w.make_variable(name, sort_on(sort, side)))

    def make_function(self, name: str, params: Sequence[ApiSort], result: ApiSort) -> Pair:
        return self._both(
            lambda w, side: w.make_function(name, sorts_on(params, side), sort_on(result, side))
        )

    def make_term(self, head: Head, sort: Sort, args: Sequence[ApiTerm]) -> Pair:
        return self._both(lambda w, side: w.make_term(head, sort, terms_on(args, side)))

    def make_binder(self, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Pair:
        return self._both(
            lambda w, side: w.make_binder(binder, terms_on(variables, side), term_on(body, side))
        )

    def define_function(
        self,
        name: str,
        variables: Sequence[ApiTerm],
        result: ApiSort,
        body: ApiTerm,
        recursive: ApiTerm | None,
    ) -> Pair:
        def define(engine: Engine, side: int) -> Any:
            return engine.define_function(
                name,
                terms_on(variables, side),
                sort_on(result, side),
                term_on(body, side),
                None if recursive is None else term_on(recursive, side),
            )

        if recursive is None:
            return self._both(define)
        if recursive.id in self._defined:
            raise Unsupported(f"{recursive} may be defined already, by one of the two")
        # A function that only one of the two has a body for means two things. The second is asked first, for
        # cvc5, which cannot define while an answer stands, mostly is the second.
        with self._as_second():
            two = define(self.second, 1)
        self._defined.add(recursive.id)
        try:
            return Pair(define(self.first, 0), two)
        except Unsupported:
            self._parted = True
            raise

    def sort_of(self, term: ApiTerm) -> Pair:
        return self._both(lambda w, side: w.sort_of(term_on(term, side)))

    def same_sort(self, handle: Any, sort: ApiSort) -> bool:
        one = self.first.same_sort(handle.handles[0], sort_on(sort, 0))
        with self._as_second():
            two = self.second.same_sort(handle.handles[1], sort_on(sort, 1))
        if one != two:
            yes, no = (self.first, self.second) if one else (self.second, self.first)
            raise Misbehaviour(
                "sort", f"{yes.name} says that a term is of sort {sort.sort}, {no.name} that not"
            )
        return one

    def inspect_sort(self, sort: ApiSort) -> None:
        self._both(lambda w, side: w.inspect_sort(sort_on(sort, side)))

    def inspect_term(self, term: ApiTerm) -> None:
        self._both(lambda w, side: w.inspect_term(term_on(term, side)))

    def read_back(self, term: ApiTerm) -> None:
        self._both(lambda w, side: w.read_back(term_on(term, side)))

    def simplify(self, term: ApiTerm) -> Pair:
        return self._both(lambda w, side: w.simplify(term_on(term, side)))

    def substitute(self, term: ApiTerm, replaced: Sequence[ApiTerm], by: Sequence[ApiTerm]) -> Pair:
        return self._both(
            lambda w, side: w.substitute(term_on(term, side), terms_on(replaced, side), terms_on(by, side))
        )

    # Solving

    def assert_formula(self, term: ApiTerm) -> None:
        self._given[term.id] = term
        self._valued |= any(term.handle is equation for equation in self._equations)
        self._change(lambda w, side: w.assert_formula(term_on(term, side)))

    def check_sat(self, assumptions: Sequence[ApiTerm] | None) -> Answer:
        self._given.update((term.id, term) for term in assumptions or ())
        asked = self._both(
            lambda w, side: w.check_sat(None if assumptions is None else terms_on(assumptions, side))
        )
        one, two = asked.handles
        if self._valued:
            return self._answer_to_values(one, two)
        if one == two or not (self.first.answers and self.second.answers):
            return Answer(asked.handles[self._told])
        if Answer.UNKNOWN not in (one, two) and not self._parted:
            raise Misbehaviour("answer", f"{self.first.name} answers {one}, {self.second.name} {two}")
        return Answer.UNKNOWN

    def _answer_to_values(self, one: Answer, two: Answer) -> Answer:
        """The answer to formulas with values in them: the two solvers' differ, and so may their answers."""
        wrong = [w.name for w, told in ((self.first, one), (self.second, two)) if told is Answer.UNSAT]
        if wrong and not self._parted:
            raise Misbehaviour(
                "model", f"a second instance of {' and of '.join(wrong)} refutes its own values"
            )
        return Answer(one) if one == two else Answer.UNKNOWN

    def unsat_assumptions(self) -> list[ApiTerm]:
        return self._run_terms("assumptions", self._both(lambda w, side: w.unsat_assumptions()))

    def unsat_core(self) -> list[ApiTerm]:
        return self._run_terms("core", self._both(lambda w, side: w.unsat_core()))

    def values(self, terms: Sequence[ApiTerm]) -> list[Pair]:
        found = self._both(lambda w, side: w.values(terms_on(terms, side)))
        return [Pair(one, two) for one, two in zip(*found.handles, strict=True)]

    def equal(self, term: ApiTerm, value: Any) -> Pair:
        made = self._both(lambda w, side: w.equal(term_on(term, side), value.handles[side]))
        self._equations.append(made)
        return made

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

    def _both(self, call: Callable[[Engine, int], Any]) -> Pair:
        one = call(self.first, 0)
        with self._as_second():
            return Pair(one, call(self.second, 1))

    def _change(self, call: Callable[[Engine, int], None]) -> None:
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
        """The run's own terms for those of the first solver's side, or of the only one that answers."""
        terms: list[ApiTerm] = found.handles[self._told]
        strange = [str(term) for term in terms if term.id not in self._given]
        if strange:
            raise Misbehaviour(kind, f"{' '.join(strange)} in it was not given")
        return [self._given[term.id] for term in terms]


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
