"""The real solvers as judges of texts, in this process; for small formulas only."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cvc5
import z3

from corpus.acceptance import Acceptance

MILLISECONDS = 2000


def z3_lines(text: str, milliseconds: int = MILLISECONDS) -> list[str]:
    """z3's output, line by line. A line of an error begins with ``(error``."""
    context = z3.Context()
    try:
        output: str = z3.Z3_eval_smtlib2_string(
            context.ref(), f"(set-option :timeout {milliseconds})\n" + text
        )
    except z3.Z3Exception as error:
        value = error.value
        output = value.decode() if isinstance(value, bytes) else str(value)
    finally:
        z3.Z3_global_param_reset_all()
    return output.split("\n")


def cvc5_lines(
    text: str, milliseconds: int = MILLISECONDS, options: Mapping[str, str] | None = None
) -> list[str]:
    """cvc5's output, line by line. A line of an error begins with ``(error``."""
    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    symbols = cvc5.SymbolManager(manager)
    for name, value in {"tlimit-per": str(milliseconds), **(options or {})}.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, with_logic(text), "text")
    lines: list[str] = []
    try:
        while not (command := parser.nextCommand()).isNull():
            lines += command.invoke(solver, symbols).split("\n")
    except RuntimeError as error:
        lines.append(f"(error {error})")
    return lines


def with_logic(text: str) -> str:
    """A script with a logic in which cvc5 takes it, if it has none."""
    if "set-logic" in text:
        return text
    return f"(set-logic {'HO_ALL' if '(-> ' in text else 'ALL'})\n{text}"


ASK: dict[str, Callable[[str], list[str]]] = {"z3": z3_lines, "cvc5": cvc5_lines}


LIMITS = (
    "not supported",
    "supported in default mode",
    "in this configuration",
    "not configured with --cocoa",
    "eqrange only supports",
)
"""What cvc5 says of well-sorted text that its options or its build leave out."""


def is_well_sorted(said: Acceptance) -> bool:
    """Whether the solver took the text, or refuses it for other reasons than its sorts."""
    return said.accepted or any(limit in said.message for limit in LIMITS)


def is_same_for_z3(left: str, right: str) -> bool:
    """Whether z3 reads the assertions of both texts as the same terms.

    Names of bound variables do not count, nor whether a number is written ``(to_real 1)`` or ``1.0``.
    """
    context = z3.Context()
    pairs = list(
        zip(z3.parse_smt2_string(left, ctx=context), z3.parse_smt2_string(right, ctx=context), strict=True)
    )
    seen: set[tuple[int, int]] = set()
    while pairs:
        one, other = pairs.pop()
        if (one.get_id(), other.get_id()) in seen:
            continue
        seen.add((one.get_id(), other.get_id()))
        if are_equal_numbers(one, other):
            continue
        if z3.is_quantifier(one) and z3.is_quantifier(other):
            if quantifier_shape(one) != quantifier_shape(other):
                return False
            pairs.append((one.body(), other.body()))
            pairs += [(one.pattern(i), other.pattern(i)) for i in range(one.num_patterns())]
        elif z3.is_var(one) and z3.is_var(other):
            # Variables count outwards from the place of use: names do not matter.
            if z3.get_var_index(one) != z3.get_var_index(other) or not one.sort().eq(other.sort()):
                return False
        elif z3.is_app(one) and z3.is_app(other):
            if not one.decl().eq(other.decl()) or one.num_args() != other.num_args():
                return False
            pairs += zip(one.children(), other.children(), strict=True)
        else:
            return False
    return True


def are_equal_numbers(one: z3.ExprRef, other: z3.ExprRef) -> bool:
    """Whether both are one number, perhaps converted or with a sign before it."""
    if not all(z3.is_app(t) and t.num_args() < 2 and z3.is_arith(t) for t in (one, other)):
        return False
    left, right = z3.simplify(one), z3.simplify(other)
    return bool(z3.is_rational_value(left) or z3.is_int_value(left)) and left.eq(right)


def quantifier_shape(term: z3.QuantifierRef) -> tuple[object, ...]:
    """What two quantifiers must agree in, beside their bodies."""
    kind = (term.is_forall(), term.is_exists(), term.is_lambda())
    return (*kind, [term.var_sort(i).sexpr() for i in range(term.num_vars())], term.num_patterns())


def answer(solver: str, text: str) -> str:
    """sat, unsat or unknown for the text with ``(check-sat)`` behind it; ``refused`` where it has errors.

    cvc5 refuses some theories only when it solves.
    """
    lines = ASK[solver](text + "\n(check-sat)\n")
    if any(line.startswith("(error") for line in lines):
        return "refused"
    words = [line.split()[0] for line in lines if line]
    return next((word for word in reversed(words) if word in ("sat", "unsat", "unknown")), "nothing")
