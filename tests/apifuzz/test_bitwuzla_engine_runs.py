"""bitwuzla's engine in runs: its own actions, and what runs reach of its interface."""

from __future__ import annotations

import pytest

pytest.importorskip("bitwuzla", reason="bitwuzla is an extra of exhume and not installed")

from apifuzz import calls
from apifuzz.driving import new_run, replay
from apifuzz.engines.around import Witness
from apifuzz.engines.bitwuzla.actions import ACTIONS, BitwuzlaAsking
from apifuzz.engines.bitwuzla.engine import BitwuzlaEngine
from apifuzz.interface import Misbehaviour
from apifuzz.run import Ending, Settings
from apifuzz.trace import Trace, TraceError, read_trace
from tests.apifuzz.counting import api_functions, calls_counted
from tests.apifuzz.kits import drawn

HEADER = """exhume-trace 1 bitwuzla 1
1 new
2 set-option produce-interpolants true
3 set-option produce-unsat-cores true
4 make-sort Bool
return s1
5 make-sort (_ BitVec 8)
return s2
6 make-sort (_ BitVec 1)
return s3
7 make-sort (_ FloatingPoint 5 11)
return s4
8 make-constant s2 x
return t1
9 make-constant s1 p
return t2
10 make-value s2 #b00000011
return t3
11 make-term s1 bvult t1 t3
return t4
12 make-term s1 bvugt t1 t3
return t5
"""


def trace(*lines: str) -> Trace:
    return read_trace(HEADER + "\n".join(lines) + "\n")


def repeat(*lines: str) -> Ending:
    return replay(BitwuzlaEngine(), trace(*lines))


def run(seed: int) -> tuple[str, Ending]:
    return drawn(Witness(BitwuzlaEngine()), seed, Settings(calls=120))


def test_bitwuzla_s_own_actions() -> None:
    ending = repeat(
        "1 bitwuzla:inspect-options",
        "2 bitwuzla:make-term redxor t1",
        "return t6",
        "3 bitwuzla:make-term rol t1 t3",
        "return t7",
        "4 bitwuzla:make-term inc t1",
        "return t8",
        "5 bitwuzla:make-rounded s4 RNA - 1 3",
        "return t9",
        "6 bitwuzla:make-rounded s4 RTP + 70000 1",
        "return t10",
        "7 assert t4",
        "8 assert t2",
        "9 bitwuzla:assertions",
        "10 bitwuzla:read-formula",
        "11 bitwuzla:simplify-assertions",
        "12 assert t5",
        "13 bitwuzla:limit-check 5",
        "14 check-sat",
        "15 bitwuzla:print-core",
        "16 bitwuzla:interpolants (t4) (t2)",
        "return t11 t12",
        "17 bitwuzla:interpolants (t2 t5)",
        "return t13",
        "18 bitwuzla:statistics",
        "19 inspect-term t10",
    )
    assert (ending.kind, ending.detail, ending.refused) == ("done", "", ())
    assert ending.answers == ("unsat",)
    assert set(ending.statistics.tried) >= {action.name for action in ACTIONS}


@pytest.mark.parametrize(
    "line",
    [
        "1 bitwuzla:make-term rol t1",
        "1 bitwuzla:make-term mux t1",
        "1 bitwuzla:make-term inc t2",
        "1 bitwuzla:make-rounded s2 RNE + 1 3",
        "1 bitwuzla:make-rounded s4 RNE + 1 0",
        "1 bitwuzla:make-rounded s4 RNX + 1 3",
        "1 bitwuzla:make-rounded s4 RNE + -1 3",
        "1 bitwuzla:limit-check 0",
        "1 bitwuzla:assertions t1",
    ],
)
def test_arguments_that_are_not_the_action_s_are_refused(line: str) -> None:
    with pytest.raises(TraceError, match="line 23: bitwuzla:"):
        repeat(line)


def test_what_a_check_replaces_is_not_asked_after_it() -> None:
    ending = repeat("1 assert t4", "2 check-sat", "3 bitwuzla:assertions", "4 bitwuzla:interpolants (t4)")
    assert [number for number, _ in ending.refused] == [25, 26]


def test_a_wrong_interpolant_is_noticed() -> None:
    engine = BitwuzlaEngine()
    captured = {}
    terms = ("t4", "t5", "t2", "t6")

    class Spy(Witness):
        def assert_formula(self, term):  # type: ignore[no-untyped-def]
            captured[str(term)] = term
            self.inner.perform(calls.Assert(term))

    replay(Spy(engine), trace("1 make-term s1 bvuge t1 t3", "return t6", *(f"2 assert {t}" for t in terms)))
    below, above, p, from_three = (captured[term].handle for term in terms)
    verify = BitwuzlaAsking(new_run(engine, Settings(), 1), engine).verify
    verify([[below]], [below], [below, above])
    with pytest.raises(Misbehaviour, match="does not follow"):
        verify([[below]], [above], [below, above])
    with pytest.raises(Misbehaviour, match="answers sat to an interpolant with the rest"):
        verify([[above]], [above], [above, from_three])
    with pytest.raises(Misbehaviour, match="not common"):
        verify([[below]], [p], [below, above, p])


def test_runs_end_well_and_are_the_same_each_time() -> None:
    for seed in range(12):
        text, ending = run(seed)
        assert ending.kind == "done", f"seed {seed}: {ending.detail}"
        assert run(seed)[0] == text
        if seed < 4:
            again = replay(Witness(BitwuzlaEngine()), read_trace(text))
            assert again.answers == ending.answers


def test_runs_reach_most_of_the_interface() -> None:
    functions = api_functions("bitwuzla")
    assert {"TermManager.mk_term", "Bitwuzla.check_sat", "Term.children", "Sort.bv_size"} <= set(functions)
    with calls_counted("bitwuzla") as called:
        for seed in range(20, 40):
            run(seed)
    assert called <= set(functions)
    assert len(called) >= 0.65 * len(functions)
    before = set(called)
    BitwuzlaEngine().options()
    run(1)
    assert called == before
