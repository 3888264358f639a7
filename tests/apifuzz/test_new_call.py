"""A new call of one solver's interface is one class, as docs/extending.md says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from apifuzz.driving import replay
from apifuzz.engines.text import TextEngine
from apifuzz.run import Settings, Statistics
from apifuzz.trace import TraceError, read_trace
from tests.apifuzz.kits import drawn

MODULE = '''
import sys
from typing import Annotated

from apifuzz.actions import MAY_CHANGE, actions_in
from apifuzz.actions import Own
from apifuzz.call import Count, Formula, one_of, up_to
from apifuzz.interface import must


class Stir(Own):
    """``smtlib:stir FORMULA N SPEED``"""

    solver = "smtlib"
    places = (("terms", 20),)
    needs = (MAY_CHANGE,)
    likely = (lambda run: len(run.store.closed_terms) > 5,)
    term: Formula
    times: Annotated[Count, up_to(7)]
    speed: Annotated[str, one_of("slow", "fast")]

    def act(self, run, core):
        must("term", self.times < 8 and core.name == "smtlib", f"stirred {self.times} times")


ACTIONS = actions_in(sys.modules[__name__])
'''


@pytest.fixture(autouse=True)
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The new call is one of the engine that prints."""
    (tmp_path / "plan_of_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(TextEngine, "plan", "plan_of_test")
    yield
    sys.modules.pop("plan_of_test")


def test_a_call_is_one_class() -> None:
    total = Statistics()
    for seed in range(4):
        text, ending = drawn(TextEngine(), seed, Settings())
        again = replay(TextEngine(), read_trace(text))
        assert ending.kind == again.kind == "done"
        assert ending.statistics.tried == again.statistics.tried + ending.statistics.refused
        total.add(ending.statistics)
    assert total.tried["smtlib:stir"] > 4


@pytest.mark.parametrize(
    ("line", "kind", "detail"),
    [
        ("smtlib:stir t1 8 slow", "misbehaviour", "stirred 8 times"),
        ("smtlib:stir t1 1 slow", "done", ""),
        ("smtlib:stir t1 0 slow", "error", "line 6: smtlib:stir: a numeral from 1 to 1000 expected, found 0"),
        ("smtlib:stir t1 1 soon", "error", "line 6: smtlib:stir: one of slow fast expected, found soon"),
        ("smtlib:stir t1", "error", "line 6: smtlib:stir: 3 arguments expected, found 1"),
    ],
)
def test_its_arguments_are_checked(line: str, kind: str, detail: str) -> None:
    text = f"exhume-trace 1 smtlib 1\n1 new\n2 make-sort Bool\nreturn s1\n3 make-constant s1 p\n4 {line}\n"
    try:
        ending = replay(TextEngine(), read_trace(text))
        found = (ending.kind, ending.detail)
    except TraceError as error:
        found = ("error", str(error))
    assert found == (kind, detail)
