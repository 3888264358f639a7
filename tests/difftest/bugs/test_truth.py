"""Which answer is right: by two families, or by a model that another family confirms; and reduction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import difftest.bugs.truth as truth
from difftest.bugs.pairing import Case
from difftest.bugs.records import Bug, Seen
from difftest.bugs.reducing import reduce_bug
from difftest.bugs.truth import find_truth
from difftest.models.cross_check import CrossCheck
from solvers.running.runner import Runner
from solvers.solver import Solver
from tests.difftest.bugs.planted import TEXT, Planted, trigger

Fake = Callable[..., Solver]


def found_by(fake: Fake, said: dict[str, str], releases: list[str], text: str = TEXT) -> truth.Truth:
    """The truth where installed families say ``said`` and releases of z3, oldest first, ``releases``."""
    shelf = Planted(lambda n, _: ("ok", "sat"))
    others = [replace(fake(f"say({a!r})", f), family=f, name=f, spec=f) for f, a in said.items()]
    shelf.others = lambda family: others  # type: ignore[method-assign]
    shelf.solver = lambda spec: replace(fake("say('sat')", "z3"), family="z3", name="z3")  # type: ignore[method-assign]
    seen = [Seen(release=f"4.{n}", outcome="ok", answers=(a,)) for n, a in enumerate(releases)]
    with Runner(warm=False) as runner:
        return find_truth(trigger(text=text), seen, 0, shelf, runner, 5.0)


@pytest.mark.parametrize(
    ("said", "releases", "right"),
    [
        ({"cvc5": "unsat"}, ["sat", "unsat"], "unsat"),
        ({"cvc5": "unsat", "yices": "unsat"}, ["sat", "unknown"], None),
        ({"cvc5": "unsat", "yices": "unsat"}, ["unknown"], "unsat"),
        ({"cvc5": "unsat"}, ["unsat", "sat"], None),
        ({"cvc5": "unknown"}, ["sat", "unsat"], None),
        ({"cvc5": "unsat"}, ["unknown"], None),
    ],
)
def test_two_families_agree_and_none_contradicts(
    fake: Fake, said: dict[str, str], releases: list[str], right: str | None
) -> None:
    assert found_by(fake, said, releases).answer == right


@pytest.mark.parametrize(("word", "right"), [("sat", "sat"), ("unsat", None), ("timeout", None)])
def test_a_model_that_another_family_confirms_is_a_witness(
    fake: Fake, word: str, right: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(*given: Any) -> CrossCheck:
        return CrossCheck(given[1].name, {judge.name: word for judge in given[4]})

    monkeypatch.setattr(truth, "check_model", check)
    assert found_by(fake, {"cvc5": "unknown"}, ["unsat", "sat"]).answer == right
    # The newest release contradicts.
    assert found_by(fake, {"cvc5": "unknown"}, ["sat", "unsat"]).answer is None


def test_a_bug_is_reduced_while_one_release_shows_it_and_the_other_does_not(fake: Fake) -> None:
    crash = "say('ASSERTION VIOLATION', 'File: a.cpp', 'Line: 12', 'x'); sys.exit(114)"
    bad = fake(f"if 'abs' in text:\n    {crash}\nsay('sat')", "bad")
    shelf = Planted(lambda n, _: ("crash", None) if n < 7 else ("ok", "sat"))
    text = "(declare-const x Int)\n(assert (> (abs x) 1))\n(assert (< x 9))\n(check-sat)\n"
    with Runner(warm=False) as runner:
        (bug,) = Case(trigger(text=text), shelf, runner).examine()
        assert isinstance(bug, Bug)
        solvers = {bug.spec("4.6"): replace(bad, family="z3"), bug.spec("4.7"): fake("say('sat')", "good")}
        shelf.solver = solvers.get  # type: ignore[method-assign]
        reduced = reduce_bug(bug, shelf, 3.0, 5.0, runner)
    assert isinstance(reduced, Bug) and reduced.reduced is not None
    assert "abs" in reduced.reduced and "9" not in reduced.reduced
