"""Solvers as shell scripts do what the same bodies do in Python."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.shell import fake_spec, quick_spec

TEXTS = ("(declare-const x Int)\n(assert (= 3 (div x 2)))\n(check-sat)\n", '(assert (= "*\' $x \\n" a))', "")


def ending(spec: str, file: Path | str) -> tuple[int, str]:
    done = subprocess.run([*shlex.split(spec.partition("=")[2]), file], capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "body",
    [
        "say('sat')",
        "print('unsat')",
        "say('sat', '((define-fun x () Real 0.0) \"*\")', '', 'WARNING: $x')",
        "say('unsat' if '(div ' in text else 'sat')",
        "say('unsat' if '*\" $x' in text else 'sat')",
        "if '(div ' in text: os.abort()\nsay('sat')",
        "os.abort()",
        "say('unsat' if 'div' in text and 'check-sat' in text else 'unknown')",
        "say('ASSERTION VIOLATION', 'Line: 12'); sys.exit(114)",
        "if '*' in text and 'a' in text: say('a'); sys.exit(3)\nsay('sat')",
    ],
)
def test_a_shell_script_does_what_python_does(body: str, tmp_path: Path) -> None:
    quick, plain = quick_spec(tmp_path, "quick", body), fake_spec(tmp_path, "plain", body)
    assert "/bin/sh" in quick and "/bin/sh" not in plain
    file = tmp_path / "a.smt2"
    for text in TEXTS:
        file.write_text(text)
        assert ending(quick, file) == ending(plain, file), text
    # As where an option stands in place of a file.
    assert ending(quick, "--options") == ending(plain, "--options") == (1, "")
    assert ending(quick, "--version") == ending(plain, "--version") == (0, "fake 1.0\n")


def test_what_the_shell_does_not_know_stays_python(tmp_path: Path) -> None:
    for body in ("time.sleep(1)\nsay('sat')", "say('it\\'s')", "sys.exit('x')", "if 'a' in text: pass"):
        assert quick_spec(tmp_path, "fake", body) == fake_spec(tmp_path, "fake", body)
