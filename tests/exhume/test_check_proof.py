"""The command check-proof."""

from __future__ import annotations

import json
from pathlib import Path

from tests.stored import Command

UNSAT = "(set-logic QF_LIA)(declare-const x Int)(assert (> x 3))(assert (< x 2))(check-sat)\n"


def test_proofs_of_files_are_checked(exhume: Command, tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text(UNSAT)
    (tmp_path / "b.smt2").write_text(UNSAT.replace("< x 2", "< x 9"))
    (tmp_path / "c.smt2").write_text("(assert (")
    (tmp_path / "d.smt2").write_text("(assert true)")
    files = [str(tmp_path / f"{name}.smt2") for name in "abcd"]
    done = exhume("check-proof", *files, "--solver", "cvc5", "--json")
    assert done.code == 0, done.err
    first, second, third, fourth = json.loads(done.out)
    assert first["rules"]["assume"] == {"held": 2}
    assert first["faults"] == []
    assert second["problem"] == "no proof: cvc5 says sat"
    assert third["problem"].startswith("no proof: cvc5 refused: ") and "Parse Error" in third["problem"]
    assert fourth["problem"] == "no proof: cvc5 gives no answer: the script has no check-sat"
    shown = exhume("check-proof", files[0], "--solver", "cvc5", "--checker", "z3", "--time", "30s").out
    assert "not expressible" in shown
    assert "a.smt2: " in shown


def test_a_wrong_step_is_shown(exhume: Command, tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text(UNSAT)
    wrong = "unsat\\n(declare-const x Int)\\n(step @p1 (= x 1) :rule odd)"
    body = f"print('{wrong}' if 'get-proof' in text else 'unsat')"
    script = tmp_path / "liar.py"
    script.write_text(f"import sys\ntext = open(sys.argv[-1]).read()\n{body}\n")
    done = exhume("check-proof", str(tmp_path / "a.smt2"), "--solver", f"cvc5-liar=python3 {script}")
    assert done.code == 1, done.err
    assert "Its premises do not imply its conclusion" in done.out
    assert "says sat to this formula" in done.out


def test_what_gives_no_proofs_is_an_error(exhume: Command, tmp_path: Path) -> None:
    done = exhume("check-proof", str(tmp_path / "a.smt2"), "--solver", "bitwuzla")
    assert done.code == 2
    assert "prints no proofs" in done.err
    done = exhume("check-proof", str(tmp_path / "no.smt2"), "--solver", "cvc5")
    assert done.code != 0
    assert "no.smt2" in done.err


def test_a_crash_is_no_answer(exhume: Command, tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text(UNSAT)
    script = tmp_path / "dies.py"
    script.write_text("import os\nos.abort()\n")
    done = exhume("check-proof", str(tmp_path / "a.smt2"), "--solver", f"cvc5-dies=python3 {script}")
    assert "no proof: cvc5-dies gives no answer: crash" in done.out
    assert done.code == 3
    assert "cvc5-dies gave no proof for any file" in done.err
