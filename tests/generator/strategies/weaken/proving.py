"""Puts scripts to z3 and, where it does not know, to cvc5."""

from __future__ import annotations

from functools import cache

import z3

from tests.smtlib.solving import cvc5_lines

# Milliseconds: most scripts take a few; the last try is for the same script on a busy machine.
QUICK, SECOND, LAST = 500, 10_000, 60_000


@cache
def _context() -> z3.Context:
    return z3.Context()


def ask_z3(text: str, milliseconds: int) -> str:
    """What z3 answers to a script with one check-sat."""
    solver = z3.Solver(ctx=_context())
    solver.set("timeout", milliseconds)
    solver.from_string(text)
    return str(solver.check())


def ask_cvc5(text: str, milliseconds: int) -> str:
    """What cvc5 answers to a script with one check-sat."""
    said = "\n".join(cvc5_lines(text, milliseconds, {"strings-exp": "true"})).strip()
    assert "(error" not in said, said
    return said


def answer(text: str) -> str:
    """``sat`` or ``unsat`` by the first solver that knows, else ``unknown``."""
    for ask, milliseconds in ((ask_z3, QUICK), (ask_cvc5, SECOND), (ask_z3, LAST)):
        said = ask(text, milliseconds)
        if said in ("sat", "unsat"):
            return said
    return "unknown"
