"""The operators of a formula that a finding takes: those for which no uninterpreted function can stand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from smtlib import (
    CheckedScript,
    Declaration,
    Kind,
    Sort,
    Term,
    default_theories,
    postorder,
    print_command,
    print_declaration,
    print_term,
    rewrite,
)
from smtlib.checker import read_well_sorted

_MOST_OPERATORS = 12


def essential_operators(
    text: str, check: Callable[[str], bool], deadline: float
) -> tuple[tuple[str, ...], bool]:
    """The theory operators of ``text`` for which no uninterpreted function can stand while ``check`` holds,
    sorted; and whether there was time to try them all. None for a text that is not well sorted.
    """
    found: set[str] = set()
    tried: set[str] = set()
    is_complete = True
    while (checked := read_well_sorted(text)) is not None:
        found = _operators(checked)
        left = sorted(found - tried)
        is_complete = not left or (len(left) <= _MOST_OPERATORS and time.monotonic() < deadline)
        if not left or not is_complete:
            break
        tried.add(left[0])
        abstract = _abstracted(checked, left[0], len(tried))
        if check(abstract):
            text = abstract
    return tuple(sorted(found)), is_complete


def _operators(checked: CheckedScript) -> set[str]:
    """The names of the theory operators that are applied in the script's terms."""
    roots = [term for command in checked.commands for term in command.terms]
    roots += [definition.body for command in checked.commands for definition in command.definitions]
    applied = {term.name for term in postorder(roots) if term.kind is Kind.OPERATOR and term.args}
    return applied - default_theories().marked(":neutral")


def _abstracted(checked: CheckedScript, name: str, number: int) -> str:
    """The script with fresh functions, one per rank, in place of operator ``name`` in its assertions and
    definitions; ``number`` keeps their names apart from those of other operators.
    """
    fresh: dict[tuple[Sort, ...], Declaration] = {}

    def change(term: Term, args: tuple[Term, ...]) -> Term | None:
        if term.kind is not Kind.OPERATOR or term.name != name or not args:
            return None
        # Solvers have no functions of regular expressions.
        args = tuple(arg for arg in args if arg.sort.name != "RegLan")
        rank = (*(arg.sort for arg in args), term.sort)
        if rank not in fresh:
            fresh[rank] = Declaration(f"abstract!{number}!{len(fresh)}", rank[:-1], term.sort)
        return checked.table.symbol(fresh[rank], args)

    lines = []
    for command in checked.commands:
        known = len(fresh)
        if command.name == "assert" and len(command.terms) == 1:
            text = f"(assert {print_term(rewrite(checked.table, command.terms[0], change))})"
        elif command.definitions:
            made = (replace(d, body=rewrite(checked.table, d.body, change)) for d in command.definitions)
            text = print_command(replace(command, definitions=tuple(made)))
        else:
            text = print_command(command)
        lines += [print_declaration(declaration) for declaration in list(fresh.values())[known:]]
        lines.append(text)
    return "\n".join(lines) + "\n"
