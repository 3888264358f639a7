"""What solvers refuse in a test, although they accepted the formulas that its parts are from.

Which solvers accept an atom is learned from the formulas that hold it. Some refusals come only when a theory
first sees a term, and in the formula none did: simplifying took it away, a quantifier hid it, or the formula
set a logic that tests do not. All that is known of these is here: for atoms by their canonical text, for the
terms, sorts and scripts of seeds, and for operators of new terms.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from generator.seeds.script import SeedScript, once_per_seed
from rules import Atom
from smtlib import Kind, Sort, Term, default_theories, read_sexps
from smtlib.reader import SExp
from smtlib.sorts import REGLAN, ROUNDING_MODE, subsorts

OPERATORS = {"cvc5": frozenset(("const", "eqrange"))}
"""What a solver knows and takes only with an option that tests do not set (cvc5: --arrays-exp)."""

RESULTS = {"cvc5": frozenset((("ite", "RegLan"),))}
"""Operators that a solver does not take at a result sort of this head."""

_CHARACTER = r"""(?:"[^"]*"|\(_ char #x[0-9a-f]+\))"""
_CONSTANT_RANGE = re.compile(rf"\(re\.range {_CHARACTER} {_CHARACTER}\)")
_REGLAN_SYMBOL = re.compile(r"\([^() ]+ RegLan\)")


# Values


def constant_arguments(name: str) -> tuple[int, ...]:
    """Arguments of a theory's function that must be values: what stands there is left as it is, or is a
    literal."""
    return default_theories().value_arguments.get(name, ())


def is_value(term: Term) -> bool:
    """Whether solvers take ``term`` for a value: a literal, or a negated number."""
    if term.op.kind is Kind.LITERAL:
        return True
    if term.op.kind is not Kind.OPERATOR:
        return False
    if term.op.name == "-" and len(term.args) == 1:
        return term.args[0].op.kind is Kind.LITERAL
    return term.op.name in ("true", "false") or (term.sort is ROUNDING_MODE and not term.args)


# Atoms


def _cvc5_refuses_atom(atom: Atom) -> bool:
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


def _z3_refuses_atom(atom: Atom) -> bool:
    # With several instances of a parametric datatype in use, it asks for the selector's signature, in a
    # syntax of its own.
    parametric = any("(par (" in command for command in atom.prelude)
    return parametric and any("(_ update " in segment for segment in atom.segments)


_ATOM_REFUSALS = {"cvc5": _cvc5_refuses_atom, "z3": _z3_refuses_atom}


def refuses_atom(atom: Atom, families: Iterable[str]) -> bool:
    """Whether one of these solvers refuses a test that holds ``atom``."""
    return any(_ATOM_REFUSALS[family](atom) for family in families if family in _ATOM_REFUSALS)


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


# Terms of joined seeds


def refusal(term: Term, families: Collection[str]) -> str:
    """Why one of these solvers may refuse a script for ``term``, its arguments apart; empty where none does.

    In a seed that all of them accept it may stand where simplifying takes it away.
    """
    if "cvc5" not in families:
        return ""
    op = term.op
    if term.sort.name == "RegLan" and (op.name == "ite" or op.kind in (Kind.SYMBOL, Kind.VARIABLE)):
        return "a regular expression that is not constant"
    if op.name == "re.range" and not all(_is_character(a) for a in term.args):
        return "a range of characters that are not constants"
    if _is_indexed_by_arrays(term.sort):
        return "arrays indexed by arrays"
    return ""


def _is_character(term: Term) -> bool:
    return term.op.kind is Kind.LITERAL or term.op.name in ("char", "Char")


# Seeds that are mutated


def refuses_seed(script: SeedScript, families: Collection[str]) -> bool:
    """Whether one of the solvers takes the script only where its theories never see it."""
    return "cvc5" in families and _cvc5_refuses_seed(script)


@once_per_seed
def _cvc5_refuses_seed(script: SeedScript) -> bool:
    """Whether a seed has what cvc5 only takes where its theories never see it.

    That is: variable regular expressions, constant arrays, arrays indexed by arrays, floating-point formats
    other than 32 and 64 bits, fields, ranges and powers of variables, conditionals between regular
    expressions.
    """
    sorts: set[Sort] = set()
    for declaration in script.declarations:
        if REGLAN in (*declaration.params, declaration.result):
            return True
        if not declaration.params:
            sorts.add(declaration.result)
    for term in script.terms:
        sorts.add(term.sort)
        op = term.op
        if op.kind is Kind.OPERATOR:
            if op.name == "const" or (op.name == "ite" and term.sort is REGLAN):
                return True
            if not all(is_value(term.args[i]) for i in constant_arguments(op.name)):
                return True
        elif op.kind is Kind.VARIABLE and term.sort is REGLAN:
            return True
    return any(refuses_sort(sort, ("cvc5",)) for sort in sorts)


def refuses_sort(sort: Sort, families: Collection[str]) -> bool:
    """Whether one of the solvers takes terms of this sort only where its theories never see them."""
    return "cvc5" in families and any(map(_cvc5_refuses_sort, subsorts(sort)))


def _cvc5_refuses_sort(sort: Sort) -> bool:
    if sort.name == "FloatingPoint":
        return sort.indices not in ((8, 24), (11, 53))
    if sort.name == "FiniteField":
        return True
    return _is_indexed_by_arrays(sort)


def _is_indexed_by_arrays(sort: Sort) -> bool:
    return sort.name == "Array" and sort.args[0].name == "Array"
