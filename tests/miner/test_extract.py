"""Extraction: what is asserted by name here; the labelled set asserts the rest."""

from __future__ import annotations

from tests.miner.mining_help import extract_text


def test_a_shell_session_gives_formula_runs_and_answers() -> None:
    text = (
        "z3 returns `sat` on this unsat formula\n\n```\n[612] % cvc4 -q small.smt2\nunsat\n"
        "[613] % z3 small.smt2\nsat\n[614] % cat small.smt2\n"
        "(declare-fun a () Int)\n(assert (< a a))\n(check-sat)\n[615] %\n```\n"
    )
    (formula,) = extract_text(text).formulas
    assert formula.text == "(declare-fun a () Int)\n(assert (< a a))\n(check-sat)\n"
    assert formula.file == "small.smt2"
    assert formula.line == 9
    assert [(run.solver, run.options) for run in formula.invocations] == [("cvc4", ("-q",)), ("z3", ())]
    assert [(output.solver, output.answers) for output in formula.outputs] == [
        ("cvc4", ("unsat",)),
        ("z3", ("sat",)),
    ]
    assert formula.expected is not None
    assert formula.expected.answer == "unsat"
