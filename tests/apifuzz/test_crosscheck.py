"""Two solvers in lockstep: what they answer is compared, and nothing else makes them conflict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from apifuzz import calls
from apifuzz.driving import replay
from apifuzz.engine import Engine
from apifuzz.engines import make_engine
from apifuzz.engines.around import Around, Witness
from apifuzz.engines.crosscheck import CrossCheck
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Capabilities,
    Feature,
    Rejected,
    Unsupported,
)
from apifuzz.model import default_model
from apifuzz.run import Ending, Settings
from apifuzz.trace import read_trace
from tests.apifuzz.kits import drawn

TRACE = """exhume-trace 1 bitwuzla 1
1 new
2 set-option produce-models true
3 make-sort Bool
return s1
4 make-sort (_ BitVec 4)
return s2
5 make-constant s2 a
return t1
6 make-value s2 #b0011
return t2
7 make-term s2 bvadd t1 t2
return t3
8 make-term s1 bvult t3 t1
return t4
9 assert t4
10 check-sat
11 push 1
12 make-term s1 = t1 t2
return t5
13 assert t5
14 check-sat
15 pop 1
16 check-sat
17 get-value t1 t3
"""
CORE = """exhume-trace 1 bitwuzla 1
1 new
2 set-option produce-unsat-cores true
3 set-option produce-unsat-assumptions true
4 make-sort Bool
return s1
5 make-constant s1 p
return t1
6 make-constant s1 q
return t2
7 make-term s1 not t1
return t3
8 assert t1
9 assert t2
10 check-sat-assuming t2 t3
11 unsat-core
12 unsat-assumptions
"""


def solver() -> Engine:
    return make_engine("bitwuzla")


def run(engine: Engine, text: str = TRACE) -> Ending:
    return replay(engine, read_trace(text))


class Says(Around):
    """Gives the answers that it is given, whatever the question."""

    def __init__(self, inner: Engine, answer: Answer) -> None:
        super().__init__(inner)
        self.answer = answer

    def check_sat(self, assumptions: Sequence[ApiTerm] | None = None) -> Answer:
        self.inner.perform(calls.check(assumptions))
        return self.answer


class Refuses(Around):
    """Cannot assert a second time; or says that it was wrong to ask, if ``rejects``."""

    def __init__(self, inner: Engine, rejects: bool = False) -> None:
        super().__init__(inner)
        self.asserted = 0
        self.rejects = rejects

    def assert_formula(self, term: ApiTerm) -> None:
        self.asserted += 1
        if self.asserted > 1:
            raise (Rejected if self.rejects else Unsupported)("no more assertions")
        self.inner.perform(calls.Assert(term))


class CoresOfAll(Around):
    """Its cores are all of its assertions."""

    def unsat_core(self) -> list[ApiTerm]:
        return list(self.stack.terms)


class Confuses(Around):
    """Takes every sort for another one."""

    def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
        return False


class Narrow(Around):
    """Knows little."""

    def capabilities(self) -> Capabilities:
        return Capabilities(
            frozenset({"Core", "Ints"}),
            frozenset({Feature.MODELS}),
            frozenset({"xor"}),
            {"function": frozenset({"Bool"})},
            8,
            binders=("exists",),
            value_arguments={"bvmul": (1,), "^": (0,)},
        )


def test_solvers_that_agree_answer_as_one() -> None:
    ended = run(CrossCheck(solver(), solver()))
    assert (ended.kind, ended.detail, ended.refused) == ("done", "", ())
    assert ended.answers == ("sat", "unsat", "sat")


def test_sat_against_unsat_is_misbehaviour() -> None:
    ended = run(CrossCheck(solver(), Says(solver(), Answer.UNSAT)))
    assert (ended.kind, ended.error) == ("misbehaviour", "answer")
    assert ended.detail == "bitwuzla answers sat, bitwuzla unsat"


def test_unknown_conflicts_with_nothing() -> None:
    for pair in ((solver(), Says(solver(), Answer.UNKNOWN)), (Says(solver(), Answer.UNKNOWN), solver())):
        ended = run(CrossCheck(*pair))
        assert (ended.kind, ended.answers) == ("done", ("unknown", "unknown", "unknown"))


def test_what_one_has_made_and_the_other_refused_is_compared_no_more() -> None:
    ended = run(CrossCheck(solver(), Refuses(solver())))
    # Without the second assertion the second solver says sat; that is no disagreement.
    assert (ended.kind, ended.answers) == ("done", ("sat", "unknown", "sat"))
    assert [reason for _, reason in ended.refused if "assert" in reason] == [
        "assert: bitwuzla: no more assertions"
    ]


def test_who_rejects_is_named() -> None:
    ended = run(CrossCheck(solver(), Refuses(solver(), rejects=True)))
    assert (ended.kind, ended.detail) == ("rejected", "bitwuzla: no more assertions")


def test_sorts_are_compared() -> None:
    ended = run(CrossCheck(solver(), Confuses(solver())))
    assert (ended.kind, ended.error) == ("misbehaviour", "sort")


def test_cores_and_failed_assumptions_are_terms_of_the_run() -> None:
    ended = run(CrossCheck(solver(), solver()), CORE)
    assert (ended.kind, ended.detail, ended.refused, ended.answers) == ("done", "", (), ("unsat",))


def test_no_core_is_requested_after_an_assertion_that_only_one_has() -> None:
    # The second assertion, t2, is of the first solver only, and its core may hold it.
    text = CORE.replace("assuming t2 t3", "assuming t3")
    ended = run(CrossCheck(CoresOfAll(solver()), Refuses(solver())), text)
    assert (ended.kind, ended.detail, ended.answers) == ("done", "", ("unsat",))
    reason = "only one of the solvers has all assertions"
    assert [said for _, said in ended.refused[1:]] == [
        f"{action}: {reason}" for action in ("unsat-core", "unsat-assumptions")
    ]


def test_only_what_both_can_do_is_drawn() -> None:
    broad = make_engine("smtlib").capabilities()
    both = CrossCheck(make_engine("smtlib"), Narrow(make_engine("smtlib"))).capabilities()
    assert both.theories == {"Core", "Ints"}
    assert both.features == {Feature.MODELS} & broad.features
    assert both.without >= broad.without | {"xor"}
    assert both.sorts_without["function"] == broad.sorts_without["function"] | {"Bool"}
    assert (both.max_width, both.binders) == (8, ("exists",))
    assert both.value_arguments["bvmul"] == (1,)
    assert both.value_arguments["^"] == tuple(sorted({0, *broad.value_arguments["^"]}))


def test_the_first_draws_as_it_does_alone() -> None:
    alone, first, second = solver(), solver(), solver()
    both = CrossCheck(first, second)
    for engine in (alone, both):
        engine.random.seed(17)
    second.random.random()
    assert [first.random.random() for _ in range(5)] == [alone.random.random() for _ in range(5)]
    both.random.seed(17)
    once = second.random.random()
    both.random.seed(17)
    assert second.random.random() == once


def test_a_run_of_two_repeats_on_one() -> None:
    settings = Settings(("FixedSizeBitVectors",), False, False, calls=60)
    for seed in range(5):
        text, both = drawn(CrossCheck(solver(), solver()), seed, settings)
        assert (both.kind, both.detail) == ("done", "")
        alone = replay(solver(), read_trace(text))
        assert (alone.kind, alone.answers) == ("done", both.answers)


@pytest.mark.parametrize("second", ["cvc5", "z3"])
def test_real_solvers_run_in_lockstep(second: str) -> None:
    ended = run(CrossCheck(solver(), make_engine(second)))
    assert (ended.kind, ended.detail, ended.answers) == ("done", "", ("sat", "unsat", "sat"))
    ended = run(CrossCheck(make_engine(second), solver()), CORE)
    assert (ended.kind, ended.detail, ended.answers) == ("done", "", ("unsat",))


def test_neither_solver_has_its_own_actions_in_lockstep() -> None:
    model = default_model(CrossCheck(make_engine("z3"), make_engine("cvc5")))
    assert not [name for name in model.actions if ":" in name]
    assert not [t for state in model.states.values() for t in state.transitions if ":" in t.action]


def test_values_can_be_requested_where_the_first_has_models_by_default() -> None:
    text = TRACE[: TRACE.index("check-sat")] + "check-sat\n99 get-value t1\n"
    text = "\n".join(line for line in text.splitlines() if "set-option" not in line) + "\n"
    assert "get-value" in text
    ended = run(CrossCheck(make_engine("z3"), make_engine("cvc5")), text)
    assert (ended.kind, ended.detail, ended.refused) == ("done", "", ())


def test_values_are_each_solvers_own() -> None:
    class Zero(Around):
        def equate(self, term: ApiTerm, value: Any) -> Any:
            false = self.inner.perform(calls.MakeValue(term.sort, "false"))
            return self.inner.perform(calls.Equate(term, false))

        def sibling(self) -> Engine:
            return Zero(super().sibling())

    text = """exhume-trace 1 bitwuzla 1
    1 new
    2 set-option produce-models true
    3 make-sort Bool
    return s1
    4 make-constant s1 p
    return t1
    5 assert t1
    6 check-sat
    7 get-value t1
    """
    ended = run(Witness(CrossCheck(solver(), make_engine("cvc5"))), text)
    assert (ended.kind, ended.detail, ended.refused) == ("done", "", ())
    for pair in ((solver(), Zero(make_engine("cvc5"))), (Zero(make_engine("cvc5")), solver())):
        ended = run(Witness(CrossCheck(*pair)), text)
        assert (ended.error, ended.detail) == ("model", "a second instance of cvc5 refutes its own values")


def test_variables_go_to_each_side() -> None:
    text = """exhume-trace 1 bitwuzla 1
    1 new
    2 make-sort Bool
    return s1
    3 make-sort (_ BitVec 2)
    return s2
    4 make-variable s2 x
    return t1
    5 make-variable s2 y
    return t2
    6 make-term s2 bvadd t1 t2
    return t3
    7 make-term s1 bvult t3 t1
    return t4
    8 make-binder s1 forall (t1 t2) t4
    return t5
    9 assert t5
    10 check-sat
    """
    ended = run(CrossCheck(solver(), make_engine("cvc5")), text)
    assert (ended.kind, ended.detail, ended.refused, ended.answers) == ("done", "", (), ("unsat",))


# A function, and what may be its body.
FUNCTION = """exhume-trace 1 {} 1
    1 new
    2 make-sort Bool
    return s1
    3 make-function f (s1) s1
    return t1
    4 make-variable s1 x
    return t2
    5 make-term s1 not t2
    return t3
"""


def test_a_function_that_one_has_defined_is_not_defined_again() -> None:
    class Refusing(Around):
        def define_recursive(self, *args: Any) -> Any:
            raise Unsupported("no recursion")

    text = (
        FUNCTION.format("smtlib")
        + """    6 define-recursive t1 (t2) s1 t3
    7 define-recursive t1 (t2) s1 t3
    8 check-sat
    """
    )
    both = CrossCheck(Refusing(make_engine("smtlib")), make_engine("smtlib"))
    ended = run(both, text)
    assert ended.kind == "done"
    assert [reason.partition(": ")[2] for _, reason in ended.refused] == [
        "no recursion",
        "t1 may be defined already, by one of the two",
    ]
    assert both._parted


def test_what_the_second_does_not_define_the_first_does_not_either() -> None:
    text = (
        FUNCTION.format("z3")
        + """    6 make-constant s1 c
    return t4
    7 check-sat
    8 define-recursive t1 (t2) s1 t3
    9 make-term s1 apply t1 t4
    return t5
    10 make-term s1 = t4 t5
    return t6
    11 assert t6
    12 check-sat
    """
    )
    ended = run(CrossCheck(make_engine("z3"), make_engine("cvc5")), text)
    assert (ended.kind, ended.detail, ended.answers) == ("done", "", ("sat", "sat"))
    assert "cvc5: a definition while the last answer" in ended.refused[0][1]
