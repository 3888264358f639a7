"""Puts scripts to z3 and, where it does not know, to cvc5."""

from __future__ import annotations

from functools import cache

import cvc5
import z3

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
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    solver.setOption("tlimit", str(milliseconds))
    solver.setOption("strings-exp", "true")
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, symbols)
    return said.strip()


def answer(text: str) -> str:
    """``sat`` or ``unsat`` by the first solver that knows, else ``unknown``."""
    for ask, milliseconds in ((ask_z3, QUICK), (ask_cvc5, SECOND), (ask_z3, LAST)):
        said = ask(text, milliseconds)
        if said in ("sat", "unsat"):
            return said
    return "unknown"
