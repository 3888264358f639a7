"""--oracles on the command line: named, checked before anything runs, kept by a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from difftest.campaign.stored import read_campaign
from tests.exhume.conftest import hunting

TEXT = "(set-logic QF_LIA)(declare-const x Int)(assert (> x 1))(check-sat)\n"
LIAR = "print('sat')\nif 'get-model' in text: print('((define-fun x () Int 0))')"


@pytest.mark.parametrize("command", [("replay", "no-such-file"), ("hunt", "--seeds", ".", "--out", "out")])
def test_an_unknown_oracle_gets_a_suggestion(exhume: Any, command: tuple[str, ...]) -> None:
    ended = exhume(*command, "--solver", "no-such-solver", "--oracles", "crash,soundnes")
    assert ended.code == 2
    assert "oracle 'soundnes': not known" in ended.said
    assert "did you mean soundness?" in ended.said


@pytest.mark.thorough
def test_only_the_oracles_named_look(exhume: Any, fake: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.smt2"
    file.write_text(TEXT)
    solvers = ("--solver", fake("liar", LIAR), "--solver", "z3")
    found = exhume("replay", file, *solvers, "--oracles", "model-cross-check", "--limit", "20")
    assert (found.code, "invalid-model liar" in found.out) == (1, True)
    assert exhume("replay", file, *solvers, "--oracles", "crash,soundness", "--limit", "20").code == 0
    # Where two solvers are given, models are cross-checked by default.
    assert exhume("replay", file, *solvers, "--limit", "20").code == 1


@pytest.mark.parametrize(
    "given", [("--oracles=-model-cross-check,-slowdown",), ("--oracles", "-model-cross-check")]
)
def test_oracles_are_switched_off_and_the_others_stay(
    exhume: Any, fake: Any, tmp_path: Path, given: tuple[str, ...]
) -> None:
    for name, body in (("liar", LIAR), ("dies", "os.abort()")):
        file = tmp_path / f"{name}.smt2"
        file.write_text(TEXT)
        spec = fake(name, body)
        ended = exhume("replay", file, "--solver", spec, "--solver", "z3", "--limit", "20", *given)
        assert ended.code == (name == "dies"), ended.out + ended.err


def test_a_hunt_continues_with_what_is_switched_off(
    exhume: Any, corpus: Path, yes: str, tmp_path: Path
) -> None:
    out = tmp_path / "h"
    command = (*hunting(corpus, out, yes), "--tests", 1)
    assert exhume(*command, "--oracles=-slowdown").code == 0
    assert read_campaign(out).settings["given"]["oracles"] == ["-slowdown"]
    assert exhume("hunt", "--resume", "--out", out, "--tests", 2).code == 0


def test_what_is_on_and_what_is_off_are_not_mixed(exhume: Any) -> None:
    ended = exhume("replay", ".", "--solver", "z3", "--oracles=-slowdown,crash")
    assert ended.code == 2
    assert "not both" in ended.said
