"""The numbers of the language: nested 100,000 deep, and a let chain of 2^60 leaves, in 5 s and 1 GB each.

An ordinary run nests 20,000 deep, which takes about a second. Its limit is ten times that, as others may use
the machine: what is quadratic takes minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.sizes import size

DEPTH = size(20_000, 100_000)
SECONDS = size(10, 5)
DOUBLINGS = 60

RUN = """
import json, resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from smtlib import check_script, print_script, read_script
text = eval(sys.argv[1])
start = time.process_time()
checked = check_script(read_script(text))
printed = print_script(checked)
seconds = time.process_time() - start
again = print_script(check_script(read_script(printed)))
print(json.dumps([seconds, [str(e) for e in checked.errors], len(printed), again == printed]))
"""


def nested(opening: str, inside: str, closing: str = ")", times: int = DEPTH) -> str:
    """Code that makes an assertion of ``times`` openings, numbered by ``i``."""
    opened = f"''.join(f'{opening}' for i in range({times}))"
    return f"'(assert ' + {opened} + '{inside}' + '{closing}' * {times} + ')'"


INTEGER = "'(declare-const v0 Int)' + "
FORMULAS = {
    "sum": INTEGER + f"'(assert (= 0 ' + '(+ 1 ' * {DEPTH} + 'v0' + ')' * {DEPTH} + '))'",
    "arrays": "'(declare-const a (Array Int Int))(assert (= a ' + "
    f"'(store ' * {DEPTH} + 'a' + ' 1 2)' * {DEPTH} + '))'",
    "not": nested("(not ", "true"),
    "let": INTEGER + nested("(let ((w{i} (+ v0 {i}))) ", "(= w0 w1)"),
    "let chain": INTEGER + nested("(let ((v{i + 1} (+ v{i} 1))) ", f"(= v{DEPTH} 0)"),
    "quantifiers": nested("(exists ((v{i} Int)) ", "(= v0 v1)"),
    "quantifiers of one variable": nested("(exists ((x Int)) ", "(= x 0)"),
    "annotations": nested("(! ", "true", " :a b)"),
    "names": "'(assert ' + "
    + f"'(! (not ' * {DEPTH} + 'true' + ''.join(f') :named n{{i}})' for i in range({DEPTH})) + ')'",
    "names inside let": "'(assert (let ((y true)) ' + "
    + f"'(! (not ' * {DEPTH} + 'y' + ''.join(f') :named n{{i}})' for i in range({DEPTH})) + '))'",
    "doublings": INTEGER + nested("(let ((v{i + 1} (+ v{i} v{i}))) ", f"(= v{DOUBLINGS} 0)", times=DOUBLINGS),
    "doublings of a condition": "'(declare-const v0 Bool)' + "
    + nested(
        "(let ((v{i + 1} (ite v{i} (xor v{i} v0) (=> v{i} v{i} v0)))) ", f"v{DOUBLINGS}", times=DOUBLINGS
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.few(5)
def test_extreme_formulas_stay_in_their_time_and_a_gigabyte(name: str) -> None:
    command = [sys.executable, "-c", RUN, FORMULAS[name]]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr[-500:]
    seconds, errors, length, same = json.loads(run.stdout)
    assert errors == []
    assert same
    assert seconds < SECONDS
    assert length < 10_000 or "doubl" not in name
