"""The real solvers as judges of texts, in this process; for small formulas only."""

from __future__ import annotations

from collections.abc import Callable

import cvc5
import z3

MILLISECONDS = 2000


def ask_z3(text: str) -> list[str]:
    """z3's output, line by line. A line of an error begins with ``(error``."""
    context = z3.Context()
    try:
        output: str = z3.Z3_eval_smtlib2_string(
            context.ref(), f"(set-option :timeout {MILLISECONDS})\n" + text
        )
    except z3.Z3Exception as error:
        value = error.value
        output = value.decode() if isinstance(value, bytes) else str(value)
    finally:
        z3.Z3_global_param_reset_all()
    return output.split("\n")


def ask_cvc5(text: str) -> list[str]:
    """cvc5's output, line by line. A line of an error begins with ``(error``."""
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    symbols = cvc5.SymbolManager(manager)
    solver.setOption("tlimit-per", str(MILLISECONDS))
    parser = cvc5.InputParser(solver, symbols)
    if "set-logic" not in text:
        text = "(set-logic HO_ALL)\n" + text if "(-> " in text else "(set-logic ALL)\n" + text
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "text")
    lines: list[str] = []
    try:
        while not (command := parser.nextCommand()).isNull():
            lines += command.invoke(solver, symbols).split("\n")
    except RuntimeError as error:
        lines.append(f"(error {error})")
    return lines


ASK: dict[str, Callable[[str], list[str]]] = {"z3": ask_z3, "cvc5": ask_cvc5}


def answer(solver: str, text: str) -> str:
    """sat, unsat or unknown for the text with ``(check-sat)`` behind it; ``refused`` where it has errors.

    cvc5 refuses some theories only when it solves.
    """
    lines = ASK[solver](text + "\n(check-sat)\n")
    if any(line.startswith("(error") for line in lines):
        return "refused"
    words = [line.split()[0] for line in lines if line]
    return next((word for word in reversed(words) if word in ("sat", "unsat", "unknown")), "nothing")
