"""--oracles on the command line: named, checked before anything runs, kept by a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

TEXT = "(set-logic QF_LIA)(declare-const x Int)(assert (> x 1))(check-sat)\n"
LIAR = "print('sat')\nif 'get-model' in text: print('((define-fun x () Int 0))')"


@pytest.mark.parametrize("command", [("replay", "no-such-file"), ("hunt", "--seeds", ".", "--out", "out")])
def test_a_name_that_is_no_oracle_is_told_with_what_was_meant(exhume: Any, command: tuple[str, ...]) -> None:
    ended = exhume(*command, "--solver", "no-such-solver", "--oracles", "crash,soundnes")
    assert ended.code == 2
    assert "oracle 'soundnes': not known" in ended.said
    assert "Did you mean soundness?" in ended.said


def test_only_the_oracles_named_look(exhume: Any, fake: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.smt2"
    file.write_text(TEXT)
    solvers = ("--solver", fake("liar", LIAR), "--solver", "z3")
    found = exhume("replay", file, *solvers, "--oracles", "model-cross-check", "--limit", "20")
    assert (found.code, "invalid-model liar" in found.out) == (1, True)
    assert exhume("replay", file, *solvers, "--oracles", "crash,soundness", "--limit", "20").code == 0
    # Where two solvers are given, models are crossed without being asked for.
    assert exhume("replay", file, *solvers, "--limit", "20").code == 1
