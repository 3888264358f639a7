"""Steps of proofs as formulas, and their shapes.

The shape of a step has numbered names for its constants and functions. It is also cut at a depth: constants
stand for the terms below, equal ones for equal terms. A step whose cut shape holds is right, whatever these
terms are, so most steps need only a few, small formulas; a cut shape that does not hold says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from difftest.proofs.terms import NotExpressible, TermReader
from smtlib.commands import print_declaration
from smtlib.printer import print_term
from smtlib.scanner import lexemes
from smtlib.sorts import BOOL
from smtlib.terms import Declaration, Kind, Term, postorder, substitute

LOGIC = "(set-logic ALL)\n"
DEPTHS = (2, 4, 1_000_000)
"""Where shapes are cut, one after the other; the last one is the whole step."""


def step_formula(reader: TermReader, premises: Sequence[Term], conclusion: Term, depth: int) -> str:
    """A script that is unsatisfiable if the premises imply the conclusion, cut at ``depth``.

    A step with free variables holds for all their values: those of the conclusion become constants, others
    are quantified. Raises NotExpressible where a variable is also bound.
    """
    table, free = reader.table, reader.free
    roots = _closed(reader, [*premises, table.operator("not", (conclusion,), BOOL)])
    levels = _levels(roots, depth)
    reader.note_free(roots)
    new: dict[Term, Term] = {}
    declared: dict[object, Declaration] = {}

    def renamed(key: object, letter: str, source: Declaration) -> Declaration:
        """The numbered symbol for a function of the proof or a term."""
        if key not in declared:
            name = f"{letter}!{len(declared)}"
            declared[key] = Declaration(name, source.params, source.result)
        return declared[key]

    def is_cut(term: Term) -> bool:
        return bool(term.args) and levels.get(term, depth + 1) > depth and not free[term]

    for term in postorder(roots, below=lambda term: () if is_cut(term) else term.args):
        own = term.op.declaration
        if is_cut(term):
            new[term] = table.symbol(renamed(term, "t", Declaration("", (), term.sort)))
            continue
        args = tuple(new[arg] for arg in term.args)
        if term.kind is Kind.SYMBOL and own is not None and own.origin == "declare":
            new[term] = table.symbol(renamed(own, "f" if own.params else "t", own), args)
        else:
            new[term] = table.rebuild(term, args)
    asserted = "".join(f"(assert {print_term(new[root])})\n" for root in roots)
    heads = "".join(print_declaration(declaration) + "\n" for declaration in declared.values())
    types = ""
    if reader.introduced and not reader.introduced.isdisjoint(lexemes(heads + asserted)):
        types = "".join(line + "\n" for line in reader.types)
    return f"{LOGIC}{types}{heads}{asserted}(check-sat)\n"


def _closed(reader: TermReader, roots: list[Term]) -> list[Term]:
    """``roots`` with constants for the variables of the last one, and the others quantified."""
    table, free = reader.table, reader.free
    reader.note_free(roots)
    fixed = free[roots[-1]]
    closed = []
    for root in roots:
        if others := sorted(free[root] - fixed, key=lambda variable: variable.id):
            root = table.make(table.op(Kind.BINDER, "forall"), (root,), BOOL, tuple(others))
        closed.append(root)
    if not fixed:
        return closed
    if any(not fixed.isdisjoint(term.bound) for term in postorder(closed)):
        raise NotExpressible("a variable that is free and bound")
    constants = {variable: table.symbol(Declaration(variable.name, (), variable.sort)) for variable in fixed}
    return [substitute(table, root, constants) for root in closed]


def _levels(roots: Sequence[Term], deepest: int) -> dict[Term, int]:
    """How far each term is below the roots at least, up to ``deepest``; a negation does not count."""
    levels: dict[Term, int] = {}
    wave, level = list(roots), 0
    while wave and level <= deepest:
        below: list[Term] = []
        while wave:
            term = wave.pop()
            if term not in levels:
                levels[term] = level
                (wave if term.name == "not" else below).extend(term.args)
        wave, level = below, level + 1
    return levels
