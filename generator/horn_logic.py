"""What z3's logic HORN has: a fragment of the theories, which constrained Horn clauses are written in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from generator.seeds.script import SeedScript
from smtlib import CheckedCommand, Kind, Sort, Term, default_theories, postorder
from smtlib.environment import is_parameter
from smtlib.sorts import subsorts

_SORTS = frozenset(("Bool", "Int", "Real", "BitVec", "Array"))

_THEORIES = frozenset(("Core", "Ints", "Reals", "Reals_Ints", "ArraysEx", "FixedSizeBitVectors"))

CHECK_BY_HORN = "(check-sat-using horn)"
"""Asks z3's tactic for Horn clauses, which has all theories."""


def horn_has(script: SeedScript, roots: Iterable[Term]) -> bool:
    """Whether z3's logic HORN has all that ``script`` declares, and what is in these terms."""
    own = script.sort_names
    if not all(_has_sort(sort, own) for command in script.prelude for sort in _sorts_of(command)):
        return False
    return all(_has_term(term, own) for term in postorder([*script.bodies, *roots]))


def _sorts_of(command: CheckedCommand) -> Iterator[Sort]:
    symbols = [symbol for datatype in command.datatypes for symbol in datatype.symbols]
    for declaration in (*command.declarations, *symbols):
        yield from (*declaration.params, declaration.result)
    if command.sort is not None and isinstance(command.sort.body, Sort):
        yield command.sort.body


def _has_term(term: Term, own: Collection[str]) -> bool:
    if term.op.kind is Kind.OPERATOR and term.op.name != "const":
        rank = default_theories().find(term.op.name, term.op.indices, tuple(arg.sort for arg in term.args))
        if rank is None or rank[1].only or rank[1].theory not in _THEORIES or term.op.name == "^":
            return False
    return all(_has_sort(sort, own) for sort in (term.sort, *(v.sort for v in term.bound)))


def _has_sort(sort: Sort, own: Collection[str]) -> bool:
    return all(part.name in _SORTS or part.name in own or is_parameter(part) for part in subsorts(sort))
