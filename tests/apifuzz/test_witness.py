"""Witnesses are re-checked in a second instance: those of an honest solver hold, and wrong ones are seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from apifuzz import calls
from apifuzz.driving import replay
from apifuzz.engine import Engine
from apifuzz.engines import make_engine
from apifuzz.engines.around import Around, Witness
from apifuzz.engines.crosscheck import CrossCheck
from apifuzz.interface import Answer, ApiTerm, Rejected
from apifuzz.run import Ending
from apifuzz.trace import read_trace

HEAD = """exhume-trace 1 bitwuzla 1
1 new
2 set-option produce-models true
3 set-option produce-unsat-cores true
4 set-option produce-unsat-assumptions true
5 make-sort Bool
return s1
6 make-sort (_ BitVec 4)
return s2
7 make-constant s2 a
return t1
8 make-value s2 #b0011
return t2
9 make-constant s1 p
return t3
10 make-term s1 not t3
return t4
11 make-term s1 = t1 t2
return t5
"""
VALUES = HEAD + "12 assert t5\n13 check-sat\n14 get-value t1 t5 t3\n"
ASSUMED = HEAD + "12 check-sat-assuming t5\n13 get-value t1\n"
CORE = HEAD + "12 assert t3\n13 assert t5\n14 assert t4\n15 check-sat\n16 unsat-core\n"
FAILED = HEAD + "12 assert t3\n13 check-sat-assuming t5 t4\n14 unsat-assumptions\n15 unsat-core\n"
LEVELS = (
    HEAD
    + "12 push 2\n13 assert t4\n14 pop 1\n15 assert t3\n16 check-sat\n17 get-value t3\n"
    + "18 push 1\n19 assert t4\n20 check-sat\n21 unsat-core\n22 pop 2\n23 assert t4\n24 check-sat\n"
    + "25 get-value t3 t4\n26 reset-assertions\n27 assert t3\n28 check-sat\n29 get-value t3\n"
)
ALL = {"values": VALUES, "assumed": ASSUMED, "core": CORE, "failed": FAILED, "levels": LEVELS}


class Wrong(Around):
    """Gives witnesses that ``spoil`` has been at: a list of terms, or of values."""

    def __init__(self, inner: Engine, spoil: Callable[[list[Any]], list[Any]]) -> None:
        super().__init__(inner)
        self.spoil = spoil

    def unsat_core(self) -> list[ApiTerm]:
        return self.spoil(self.inner.perform(calls.UnsatCore()))

    def unsat_assumptions(self) -> list[ApiTerm]:
        return self.spoil(self.inner.perform(calls.UnsatAssumptions()))

    def get_value(self, terms: Sequence[ApiTerm]) -> list[Any]:
        return self.spoil(self.inner.perform(calls.GetValue(terms)))


def run(engine: Engine, text: str) -> Ending:
    return replay(Witness(engine), read_trace(text))


def solver() -> Engine:
    return make_engine("bitwuzla")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("spec", ["bitwuzla", "cvc5", "z3"])
def test_witnesses_of_an_honest_solver_hold(spec: str, name: str) -> None:
    ended = run(make_engine(spec), ALL[name])
    assert (ended.kind, ended.detail) == ("done", "")
    assert ended.answers


@pytest.mark.parametrize("name", ALL)
def test_witnesses_of_two_solvers_in_lockstep_hold(name: str) -> None:
    ended = run(CrossCheck(solver(), make_engine("cvc5")), ALL[name])
    assert (ended.kind, ended.detail) == ("done", "")


def test_a_core_that_is_satisfiable_is_seen() -> None:
    ended = run(Wrong(solver(), lambda core: core[:-1]), CORE)
    assert (ended.kind, ended.error) == ("misbehaviour", "core")
    assert ended.detail.startswith("a second instance answers sat to the unsat core t")


def test_assumptions_that_did_not_fail_are_seen() -> None:
    ended = run(Wrong(solver(), lambda failed: []), FAILED)
    assert (ended.kind, ended.error) == ("misbehaviour", "assumptions")
    assert ended.detail == "a second instance answers sat to the failed assumptions of nothing"


def test_terms_that_were_not_given_are_seen() -> None:
    kept: list[Any] = []

    def mix(found: list[Any]) -> list[Any]:
        kept.append(ApiTerm(99, found[0].sort, found[0].handle, found[0].kind))
        return [*found, kept[0]]

    for text, kind in ((CORE, "core"), (FAILED, "assumptions")):
        ended = run(Wrong(solver(), mix), text)
        assert (ended.kind, ended.error, ended.detail) == ("misbehaviour", kind, "t99 in it was not given")


@pytest.mark.parametrize("text", [VALUES, ASSUMED], ids=["asserted", "assumed"])
def test_values_that_contradict_the_formula_are_seen(text: str) -> None:
    class Zero(Around):
        def equate(self, term: ApiTerm, value: Any) -> Any:
            sort = term.sort
            zero = self.inner.perform(
                calls.MakeValue(sort, "false" if sort.sort.name == "Bool" else "#b0000")
            )
            return self.inner.perform(calls.Equate(term, zero))

    ended = run(Zero(solver()), text)
    assert (ended.kind, ended.error) == ("misbehaviour", "model")
    assert ended.detail.startswith("a second instance answers unsat to the values of t1")


def test_an_unknown_of_the_second_instance_says_nothing() -> None:
    class Shy(Around):
        def sibling(self) -> Engine:
            return Mute(super().sibling())

    class Mute(Around):
        def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
            return Answer.UNKNOWN

    for text in ALL.values():
        assert run(Wrong(Shy(solver()), lambda found: found[:0] or found), text).kind == "done"
    assert run(Wrong(Shy(solver()), lambda core: core[:-1]), CORE).kind == "done"


def test_values_that_cannot_be_asserted_are_not_checked() -> None:
    class Narrow(Around):
        def sibling(self) -> Engine:
            return Strict(super().sibling())

    class Strict(Around):
        def assert_formula(self, term: ApiTerm) -> None:
            if term.id == 0:
                raise Rejected("no values here")
            self.inner.perform(calls.Assert(term))

    for text in ALL.values():
        assert run(Narrow(solver()), text).kind == "done"
