"""Which seeds can be mutated for cvc5."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from generator.seeds.script import SeedScript
from generator.strategies.mutation.literals import is_value
from generator.strategies.mutation.places import constant_arguments
from smtlib import Kind, Sort
from smtlib.sorts import REGLAN, subsorts


@lru_cache(maxsize=256)
def cvc5_refuses(script: SeedScript) -> bool:
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
    return any(map(cvc5_refuses_sort, sorts))


def is_unsuitable(script: SeedScript, families: Collection[str]) -> bool:
    """Whether one of the solvers takes the script only where its theories never see it."""
    return "cvc5" in families and cvc5_refuses(script)


def is_unsuitable_sort(sort: Sort, families: Collection[str]) -> bool:
    """The same for terms of a sort."""
    return "cvc5" in families and cvc5_refuses_sort(sort)


def cvc5_refuses_sort(sort: Sort) -> bool:
    """Whether cvc5 takes terms of this sort only where its theories never see them."""
    return any(map(_is_refused, subsorts(sort)))


def _is_refused(sort: Sort) -> bool:
    if sort.name == "FloatingPoint":
        return sort.indices not in ((8, 24), (11, 53))
    if sort.name == "FiniteField":
        return True
    return sort.name == "Array" and sort.args[0].name == "Array"
