"""Parity: whether weakening a position weakens the whole formula (1), strengthens it (-1), or neither is
known (0: only an equivalent may stand there).

Source: Bringolf, "Fuzz-testing SMT Solvers with Formula Weakening and Strengthening" (2021), Definition 2
and 3.1.4, extended to all of our terms and to positions of sort RegLan, where weaker means a larger
language. A position is an occurrence: our terms share subterms instead of using ``let``, so a term that a
``let`` binds has the parities of all its occurrences, each of them a position of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from generator.refusals import constant_arguments
from smtlib import BOOL, Kind, Term, TermTable, rewrite
from smtlib.sorts import REGLAN

Step = tuple[int, int]
"""An argument's index, and the factor by which the parity above it is multiplied there."""

_MONOTONE = frozenset("and or re.++ re.union re.inter re.* re.+ re.opt re.loop re.^".split())

_CLOSED = {"int.pow2": (0,), "str.replace_re": (1,), "str.replace_re_all": (1,), "str.indexof_re": (1,)}
"""Arguments in which nothing is changed, not even for an equivalent, besides those that must be values."""

_CLOSED_BINDERS = frozenset(("choice", "set.comprehension"))


def steps(term: Term) -> tuple[Step, ...]:
    """The arguments of ``term`` that positions lie in, each with its factor (1, -1, or 0 for ambiguous)."""
    kind = term.op.kind
    if kind is Kind.OPERATOR:
        return _operator_steps(term)
    if term.is_quantifier:
        return ((0, 1),)
    if kind is Kind.BINDER:
        return () if term.op.name in _CLOSED_BINDERS else ((0, 0),)
    if kind is Kind.ANNOTATION:
        # The terms of a :pattern stay as they are.
        return ((0, 1),)
    if kind is Kind.MATCH:
        factor = int(term.sort is BOOL)
        return ((0, 0), *((i, factor) for i in range(1, len(term.args))))
    return tuple([(i, 0) for i in range(len(term.args))])


def _operator_steps(term: Term) -> tuple[Step, ...]:
    name = term.op.name
    count = len(term.args)
    if name in _MONOTONE:
        # z3's (re.loop r 1 2) has numbers for arguments.
        return tuple([(i, 1) for i, a in enumerate(term.args) if a.sort is BOOL or a.sort is REGLAN])
    if name in ("not", "re.comp"):
        return ((0, -1),)
    if name == "=>":
        return (*((i, -1) for i in range(count - 1)), (count - 1, 1))
    if name == "re.diff":
        return ((0, 1), *((i, -1) for i in range(1, count)))
    if name == "str.in_re":
        return ((0, 0), (1, 1))
    if name == "ite" and term.sort is BOOL:
        return ((0, 0), (1, 1), (2, 1))
    closed = _CLOSED.get(name) or constant_arguments(name)
    if name.startswith("to_fp"):
        closed = tuple(i for i, a in enumerate(term.args) if a.sort.name == "Real")
    return tuple([(i, 0) for i in range(count) if i not in closed])


_CONNECTIVES = ("=>", "and", "or")


def without_ambiguity(table: TermTable, root: Term, choose: Callable[[tuple[str, ...]], str]) -> Term:
    """``root`` with every ``xor`` and every ``=`` and ``distinct`` of Booleans turned into one of ``=>``,
    ``and`` and ``or``, by ``choose`` (3.1.4 of the source).

    The formula means something else then: what was known of its answer no longer holds.
    """

    def change(term: Term, args: tuple[Term, ...]) -> Term | None:
        if term.op.kind is not Kind.OPERATOR or term.op.name not in ("xor", "=", "distinct"):
            return None
        if len(args) < 2 or args[0].sort is not BOOL:
            return None
        return table.operator(choose(_CONNECTIVES), args, BOOL)

    return rewrite(table, root, change)
