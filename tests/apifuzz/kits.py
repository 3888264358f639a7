"""Engines with what tests want of them in few words, and runs that are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from apifuzz import calls
from apifuzz.driving import generate
from apifuzz.engine import Engine
from apifuzz.interface import APPLY, Answer, ApiSort, ApiTerm, Head, HeadKind, TermKind
from apifuzz.run import Ending, Settings
from smtlib import BOOL, Sort, make_sort


def drawn(engine: Engine, seed: int, settings: Settings) -> tuple[str, Ending]:
    """The trace of a run that is drawn, and how the run ended."""
    pieces: list[str] = []
    ending = generate(engine, settings, seed, pieces.append)
    return "".join(pieces), ending


class EngineKit:
    """An engine with an instance; its options are names, or ``name=value``."""

    makes: ClassVar[Callable[[], Engine]]

    def __init__(self, *options: str, seed: int = 1) -> None:
        self.engine: Any = self.makes()
        self.engine.random.seed(seed)
        self.perform(calls.New())
        for option in options:
            name, _, value = option.partition("=")
            self.perform(calls.SetOption(name, value or "true"))
        self.count = 0

    def perform(self, call: calls.Call[Any]) -> Any:
        return self.engine.perform(call)

    def keep(
        self,
        sort: Sort,
        handle: Any,
        kind: TermKind = TermKind.TERM,
        head: Head | None = None,
        args: tuple[ApiTerm, ...] = (),
    ) -> ApiTerm:
        self.count += 1
        own = ApiSort(0, sort, None) if kind is TermKind.FUNCTION else self.sort(sort)
        made = ApiTerm(self.count, own, handle, kind, frozenset(), 0, head, args)
        if kind is TermKind.VARIABLE:
            made.free = frozenset((made,))
        assert kind is TermKind.FUNCTION or self.perform(calls.HasSort(made, own))
        return made

    def sort(self, sort: Sort) -> ApiSort:
        return ApiSort(0, sort, self.perform(calls.MakeSort(sort, [self.sort(arg) for arg in sort.args])))

    def constant(self, sort: Sort, name: str = "") -> ApiTerm:
        call = calls.MakeConstant(self.sort(sort), name or f"c{self.count}")
        return self.keep(sort, self.perform(call), TermKind.CONSTANT)

    def variable(self, sort: Sort, name: str = "x") -> ApiTerm:
        return self.keep(sort, self.perform(calls.MakeVariable(self.sort(sort), name)), TermKind.VARIABLE)

    def value(self, sort: Sort, text: str) -> ApiTerm:
        return self.keep(sort, self.perform(calls.MakeValue(self.sort(sort), text)), TermKind.VALUE)

    def make(self, head: Head, sort: Sort, *args: ApiTerm) -> ApiTerm:
        call = calls.MakeTerm(self.sort(sort), head, args)
        return self.keep(sort, self.perform(call), TermKind.TERM, head, args)

    def function(self, name: str, *sorts: Sort) -> ApiTerm:
        *params, result = map(self.sort, sorts)
        handle = self.perform(calls.MakeFunction(name, params, result))
        return self.keep(make_sort("->", (), sorts), handle, TermKind.FUNCTION)

    def apply(self, function: ApiTerm, *args: ApiTerm) -> ApiTerm:
        return self.make(APPLY, function.sort.sort.args[-1], function, *args)

    def binder(self, binder: str, sort: Sort, variables: Sequence[ApiTerm], body: ApiTerm) -> ApiTerm:
        return self.keep(sort, self.perform(calls.MakeBinder(self.sort(sort), binder, variables, body)))

    def term(self, name: str, sort: Sort, *args: ApiTerm, indices: tuple[int, ...] = ()) -> ApiTerm:
        return self.make(Head(HeadKind.OPERATOR, name, indices), sort, *args)

    def equal(self, one: ApiTerm, other: ApiTerm) -> ApiTerm:
        return self.term("=", BOOL, one, other)

    def no(self, term: ApiTerm) -> ApiTerm:
        return self.term("not", BOOL, term)

    def check(self, *formulas: ApiTerm) -> Answer:
        for formula in formulas:
            self.perform(calls.Assert(formula))
        answer: Answer = self.perform(calls.CheckSat())
        return answer
