"""cvc5's options: what may be drawn of what it tells, and what does not go together."""

from __future__ import annotations

import itertools

import cvc5
import pytest

from apifuzz import calls
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.options import describe_options, is_harmless
from apifuzz.engines.profile import Conflict, profile
from apifuzz.interface import OptionKind, Unsupported


def values_of(kind: OptionKind, low: float | None, high: float | None, choices: tuple[str, ...]) -> list[str]:
    if kind is OptionKind.BOOL:
        return ["true", "false"]
    if kind is OptionKind.MODE:
        return list(choices)
    assert low is not None and high is not None and low <= high
    return [str(int(low)), str(int(high))] if kind is OptionKind.INT else [str(low), str(high)]


def test_every_option_takes_the_values_that_may_be_drawn() -> None:
    options = describe_options()
    assert len(options) > 120
    solver = cvc5.Solver(cvc5.TermManager())
    for option in options:
        for value in values_of(option.kind, option.low, option.high, option.choices):
            solver.setOption(option.name, value)


def test_experts_options_are_left_out() -> None:
    usual = {option.name for option in Cvc5Engine().options()}
    assert "produce-models" in usual and "ackermann" not in usual
    assert not Cvc5Engine().capabilities().required_options


def test_what_is_dangerous_is_never_drawn() -> None:
    options = {option.name: option for option in describe_options()}
    for name in (
        "tlimit",
        "rlimit-per",
        "output",
        "out",
        "lang",
        "parse-only",
        "interactive",
        "help",
        "stats",
    ):
        assert name not in options
    assert "kissat" not in options["bv-sat-solver"].choices if "bv-sat-solver" in options else True
    assert not {"solve-real-as-int", "solve-int-as-bv", "inst-max-level"} & set(options)
    assert not is_harmless("cegis-sample", "trust") and is_harmless("cegis-sample", "use")


def test_the_profile_names_options_that_there_are() -> None:
    known = set(cvc5.Solver(cvc5.TermManager()).getOptionNames()) | {"logic"}
    for conflict in profile("cvc5").conflicts:
        assert {conflict.option, conflict.other} <= known
        assert conflict.why
    assert set(profile("cvc5").ranges) <= known and set(profile("cvc5").dangerous_values) <= known
    assert all(limit.message and limit.why for limit in profile("cvc5").limits)


def test_what_does_not_go_together_is_refused_in_either_order() -> None:
    for first, second in (("produce-abducts", "produce-proofs"), ("produce-proofs", "produce-abducts")):
        engine = Cvc5Engine()
        engine.perform(calls.New())
        engine.perform(calls.SetOption(first, "true"))
        with pytest.raises(Unsupported, match="with"):
            engine.perform(calls.SetOption(second, "true"))
        engine.perform(calls.SetOption(second, "false"))


def test_what_the_logic_does_not_allow_is_refused() -> None:
    engine = Cvc5Engine()
    engine.perform(calls.New())
    with pytest.raises(Unsupported, match="logic"):
        engine.perform(calls.SetOption("bool-to-bv", "all"))
    engine.perform(calls.SetLogic("QF_BV"))
    engine.perform(calls.SetOption("bool-to-bv", "all"))


@pytest.mark.parametrize("kept", profile("cvc5").conflicts, ids=lambda c: f"{c.option} {c.other}")
def test_conflicts_are_those_of_the_solver(kept: Conflict) -> None:
    """Each conflict of the profile is one: cvc5 says no when it is asked all the same."""
    for one, other in itertools.product(_some(kept.option, kept.value), _some(kept.other, kept.other_value)):
        manager = cvc5.TermManager()
        solver = cvc5.Solver(manager)
        solver.setOption("incremental", "true")
        if kept.other != "logic":
            solver.setLogic("QF_BV")
        for name, value in ((kept.option, one), (kept.other, other)):
            if name == "logic":
                solver.setLogic(value)
            else:
                solver.setOption(name, value)
        if kept.other_value == "HO_*":
            # Others show at any check; what is said of functions as values shows with some formulas only.
            eight = manager.mkBitVectorSort(8)
            x, f = manager.mkConst(eight, "x"), manager.mkConst(manager.mkFunctionSort(eight, eight), "f")
            applied = manager.mkTerm(cvc5.Kind.APPLY_UF, f, x)
            solver.assertFormula(manager.mkTerm(cvc5.Kind.BITVECTOR_ULT, applied, x))
        with pytest.raises(RuntimeError):
            solver.checkSat()


def _some(name: str, value: str) -> list[str]:
    """Values that the profile's pattern stands for."""
    if name == "logic":
        logics = {"!QF_*": ["ALL", "UFBV"], "!QF_BV": ["ALL", "QF_AUFBV"], "HO_*": ["HO_ALL"]}
        return logics[value]
    if value != "*":
        return [value]
    info = cvc5.Solver(cvc5.TermManager()).getOptionInfo(name)
    return [mode for mode in info["modes"] if mode != info["default"]]
