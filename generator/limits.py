"""What a solver takes in a formula and refuses in a test made from its parts.

Which solvers accept an atom is learned from the formulas that hold it. Some refusals come only when a theory
first sees a term, and in the formula none did: simplifying took it away, a quantifier hid it, or the formula
set a logic that tests do not. These atoms are known by their canonical text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from generator.seeds.script import SeedScript
from rules import Atom
from smtlib import CheckedCommand, Kind, Sort, Term, default_theories, postorder, read_sexps
from smtlib.environment import is_parameter
from smtlib.reader import SExp
from smtlib.sorts import subsorts

_CHARACTER = r"""(?:"[^"]*"|\(_ char #x[0-9a-f]+\))"""
_CONSTANT_RANGE = re.compile(rf"\(re\.range {_CHARACTER} {_CHARACTER}\)")
_REGLAN_SYMBOL = re.compile(r"\([^() ]+ RegLan\)")

_HORN_SORTS = frozenset(("Bool", "Int", "Real", "BitVec", "Array"))

_HORN_THEORIES = frozenset(("Core", "Ints", "Reals", "Reals_Ints", "ArraysEx", "FixedSizeBitVectors"))

CHECK_BY_HORN = "(check-sat-using horn)"
"""Asks z3's tactic for Horn clauses, which has all theories."""


def is_suitable(atom: Atom, solvers: Iterable[str]) -> bool:
    """Whether tests for these solvers, named without release, can hold ``atom``."""
    return not any(_REFUSES[solver](atom) for solver in solvers if solver in _REFUSES)


def _cvc5_refuses(atom: Atom) -> bool:
    everything = " ".join((atom.text.removeprefix("(lambda "), *atom.prelude))
    return (
        # Unless the logic is a higher-order one, which is refused by most other solvers.
        any("(-> " in text for text in (*atom.segments, *atom.prelude))
        or any("(-> " in sort for slot in atom.slots for sort in (*slot.params, slot.result))
        # "Arrays cannot be indexed by array types"
        or "(Array (Array " in everything
        # "Regular expression variables are not supported"
        or any("RegLan" in (*slot.params, slot.result) for slot in atom.slots)
        or _REGLAN_SYMBOL.search(everything) is not None
        # "expecting a constant string term in regexp range"
        or "(re.range " in _CONSTANT_RANGE.sub("", everything)
        # "Cannot handle nested-recursive datatype"
        or any("datatypes " in command and _is_nested_recursive(command) for command in atom.prelude)
    )


def _z3_refuses(atom: Atom) -> bool:
    # With several instances of a parametric datatype in use, it asks for the selector's signature, in a
    # syntax of its own.
    parametric = any("(par (" in command for command in atom.prelude)
    return parametric and any("(_ update " in segment for segment in atom.segments)


_REFUSES = {"cvc5": _cvc5_refuses, "z3": _z3_refuses}


def refusal(term: Term, solvers: Iterable[str]) -> str:
    """Why one of these solvers may refuse a script for ``term``, its arguments apart; empty where none does.

    In a seed that all of them accept it may stand where simplifying takes it away.
    """
    if "cvc5" not in solvers:
        return ""
    op = term.op
    if term.sort.name == "RegLan" and (op.name == "ite" or op.kind in (Kind.SYMBOL, Kind.VARIABLE)):
        return "a regular expression that is not constant"
    if op.name == "re.range" and not all(_is_character(a) for a in term.args):
        return "a range of characters that are not constants"
    if term.sort.name == "Array" and term.sort.args[0].name == "Array":
        return "arrays indexed by arrays"
    return ""


def horn_has(script: SeedScript, roots: Iterable[Term]) -> bool:
    """Whether z3's logic HORN has all that ``script`` declares, and what is in these terms."""
    own = script.sort_names
    if not all(_horn_has_sort(sort, own) for command in script.prelude for sort in _sorts_of(command)):
        return False
    return all(_horn_has_term(term, own) for term in postorder([*script.bodies, *roots]))


def _sorts_of(command: CheckedCommand) -> Iterator[Sort]:
    symbols = [symbol for datatype in command.datatypes for symbol in datatype.symbols]
    for declaration in (*command.declarations, *symbols):
        yield from (*declaration.params, declaration.result)
    if command.sort is not None and isinstance(command.sort.body, Sort):
        yield command.sort.body


def _horn_has_term(term: Term, own: Collection[str]) -> bool:
    if term.op.kind is Kind.OPERATOR and term.op.name != "const":
        rank = default_theories().find(term.op.name, term.op.indices, tuple(arg.sort for arg in term.args))
        if rank is None or rank[1].only or rank[1].theory not in _HORN_THEORIES or term.op.name == "^":
            return False
    return all(_horn_has_sort(sort, own) for sort in (term.sort, *(v.sort for v in term.bound)))


def _horn_has_sort(sort: Sort, own: Collection[str]) -> bool:
    return all(part.name in _HORN_SORTS or part.name in own or is_parameter(part) for part in subsorts(sort))


def _is_character(term: Term) -> bool:
    return term.op.kind is Kind.LITERAL or term.op.name in ("char", "Char")


def _is_nested_recursive(command: str) -> bool:
    """Whether a datatype declared here has a field whose sort holds it as an argument of another sort."""
    _, heads, bodies = read_sexps(command)[0]
    own = {head[0] for head in heads}
    for body in bodies:
        constructors = body[2] if body[0] == "par" else body
        for constructor in constructors:
            for _, sort in constructor[1:]:
                if not isinstance(sort, str) and any(_names(argument) & own for argument in sort[1:]):
                    return True
    return False


def _names(sort: SExp) -> set[str]:
    if isinstance(sort, str):
        return {str(sort)}
    return set().union(*map(_names, sort))
