"""What solvers refuse in a test, although they accepted the formulas that its parts are from.

Which solvers accept a formula is known. Some refusals come only when a theory first sees a term, and in the
formula none did: simplifying took it away, a quantifier hid it, or the formula set a logic that tests do not.
All that is known of these is here, for terms: atoms and seeds are made of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache, lru_cache
from itertools import chain

from generator.seeds.script import SeedScript, once_per_seed
from rules import Atom
from smtlib import (
    CheckedCommand,
    Kind,
    Sort,
    Term,
    check_script,
    default_theories,
    postorder,
    read_script,
)
from smtlib.environment import Datatype
from smtlib.sorts import REGLAN, ROUNDING_MODE, subsorts

OPERATORS = {"cvc5": frozenset(("const", "eqrange"))}
"""What a solver knows and takes only with an option that tests do not set (cvc5: --arrays-exp)."""

RESULTS = {"cvc5": frozenset((("ite", "RegLan"),))}
"""Operators that a solver does not take at a result sort of this head."""

_FORMATS = ((8, 24), (11, 53))
"""The floating-point formats that cvc5 takes without an option."""

_SORTS = frozenset(("FloatingPoint", "FiniteField", "RegLan"))
"""Sorts of which only some terms are taken."""

_SORT_MAKERS = (
    "declare-datatype declare-datatypes declare-codatatype declare-codatatypes define-sort lambda".split()
)
_WORD = re.compile(r"[^\s()]+")


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


# Terms


def refused_sort(sort: Sort, families: Collection[str]) -> str:
    """Why one of these solvers may refuse terms of this sort; empty if none does."""
    return _refused_by_cvc5(sort) if "cvc5" in families else ""


@lru_cache(maxsize=4096)
def _refused_by_cvc5(sort: Sort) -> str:
    for part in subsorts(sort):
        if part.name == "FloatingPoint" and part.indices not in _FORMATS:
            return "a floating-point format that needs an option"
        if part.name == "FiniteField":
            return "a finite field"
        if part.name == "Array" and part.args[0].name == "Array":
            return "arrays indexed by arrays"
    return ""


def is_taken_everywhere(name: str, result: Sort) -> bool:
    """Whether every solver takes an operator at this result sort, whichever solvers tests are for."""
    return not any((name, result.name) in refused for refused in RESULTS.values())


def refused_term(term: Term, families: Collection[str]) -> str:
    """Why one of these solvers may refuse a script for ``term``, its arguments apart; empty if none does."""
    if "cvc5" not in families:
        return ""
    op = term.op
    if op.kind is Kind.OPERATOR:
        if op.name in OPERATORS["cvc5"]:
            return "an operator that needs an option"
        if (op.name, term.sort.name) in RESULTS["cvc5"]:
            return "a choice between regular expressions"
        if not all(_is_constant(term.args[i]) for i in constant_arguments(op.name)):
            return "an argument that is not a value"
    elif op.kind in (Kind.SYMBOL, Kind.VARIABLE) and REGLAN in (term.sort, *(a.sort for a in term.args)):
        return "a regular expression that is not constant"
    sorts = (term.sort, *(variable.sort for variable in term.bound))
    return next(filter(None, (refused_sort(sort, families) for sort in sorts)), "")


def _is_constant(term: Term) -> bool:
    return is_value(term) or (term.op.kind is Kind.OPERATOR and term.op.name == "char")


# Scripts


def refused(commands: Iterable[CheckedCommand], terms: Iterable[Term], families: Collection[str]) -> str:
    """Why one of these solvers may refuse a script of these declarations and terms; empty if none does."""
    terms = list(terms)
    datatypes = [datatype for command in commands for datatype in command.datatypes]
    if "cvc5" in families and any(map(_is_nested_recursive, datatypes)):
        return "a nested recursive datatype"
    # With several instances of a parametric datatype in use, z3 asks for the selector's signature, in a
    # syntax of its own.
    if "z3" in families and any(datatype.params for datatype in datatypes):
        if any(term.op.name == "update" and term.op.indices for term in terms):
            return "an update of a parametric datatype"
    return next(filter(None, (refused_term(term, families) for term in terms)), "")


def _is_nested_recursive(datatype: Datatype) -> bool:
    """Whether it has a field whose sort holds a datatype declared with it as an argument of another sort."""
    fields = [sort for c in datatype.constructors for sort in c.declaration.params]
    return any(part.name in datatype.group for field in fields for part in subsorts(field)[1:])


def refused_atom(atom: Atom, families: Collection[str]) -> str:
    """Why one of these solvers may refuse a test that holds ``atom``; empty if none does."""
    if not families:
        return ""
    text = atom.script()
    if "cvc5" in families and "(-> " in text:
        return "functions as values without a higher-order logic, which most other solvers refuse"
    if not _may_be_refused(text):
        return ""
    checked = check_script(read_script(text))
    bodies = [definition.body for command in checked.commands for definition in command.definitions]
    return refused(checked.commands, postorder([*checked.assertions, *bodies]), families)


def _may_be_refused(text: str) -> bool:
    """Whether an atom's script has to be read: there are many atoms, and most have nothing of this."""
    return "(Array (Array " in text or "#f" in text or not _signs().isdisjoint(_WORD.findall(text))


@cache
def _signs() -> frozenset[str]:
    """One of these words is in each script that is refused, but for arrays indexed by arrays and literals
    of fields.
    """
    theories = default_theories()
    sorts = {name for name, sort in theories.abbreviations.items() if sort.name in _SORTS}
    functions = {s.name for s in theories.signatures() if _SORTS.intersection(s.sort_names())}
    return OPERATORS["cvc5"].union(_SORTS, sorts, functions, theories.value_arguments, _SORT_MAKERS)


@once_per_seed
def refused_seed(script: SeedScript, families: frozenset[str]) -> str:
    """Why one of these solvers may refuse the script, or one with other terms over what it declares."""
    table = script.table.copy()
    constants = [table.symbol(d) for d in script.declarations if not d.params]
    return refused(script.prelude, chain(script.all_terms, constants), families)
