"""The package itself: its version, what was built into it, and a command that only its parser has."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import cvc5
from cvc5 import Kind


@lru_cache(maxsize=1)
def version() -> str:
    """The version, as cvc5 says it."""
    said = cvc5.Solver(cvc5.TermManager()).getVersion()
    return said.decode() if isinstance(said, bytes) else str(said)


@lru_cache(maxsize=1)
def solves_fields() -> bool:
    """Whether this build can solve over finite fields: it takes a library that wheels may lack."""
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    element = manager.mkConst(manager.mkFiniteFieldSort(5), "x")
    product = manager.mkTerm(Kind.FINITE_FIELD_MULT, element, element)
    solver.assertFormula(manager.mkTerm(Kind.EQUAL, element, product))
    try:
        solver.checkSat()
    except RuntimeError:
        return False
    return True


def reset(solver: Any, manager: Any) -> None:
    """``(reset)``, through the parser."""
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "(reset)", "reset")
    parser.nextCommand().invoke(solver, symbols)
