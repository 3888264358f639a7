"""From an error of a run to its key."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from apifuzz.minimise.session import look
from apifuzz.running.examine import examine
from apifuzz.running.runs import RUN_LIMITS, Runner
from apifuzz.running.setup import Setup
from apifuzz.trace import load_trace, print_trace

FOUND = Path(__file__).parents[2] / "docs" / "findings" / "z3-partial-order-model-list-segfault"


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_a_death_by_a_signal_has_the_function_of_the_solver_in_its_key() -> None:
    text = print_trace(load_trace(FOUND / "minimised.trace"))
    with Runner(Setup("z3")) as runner:
        fault = look(runner, text, RUN_LIMITS, "crash", fresh=True).fault
        assert fault is not None and fault.signal == "SIGSEGV"
        found = examine(runner, text, fault, RUN_LIMITS, seconds=0.0)
    assert found is not None
    assert found.key.key == "crash|z3|SIGSEGV in datatype::def::instantiate"
    assert found.key.by_operators.startswith("crash|z3|z3:equalities: SIGSEGV|")
