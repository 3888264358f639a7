"""Expands applications of non-recursive defined functions; shared terms stay shared."""

from __future__ import annotations

from collections.abc import Mapping

from smtlib import CheckedScript, Declaration, Kind, Term, TermTable, declarations_in, postorder
from smtlib.reader import with_ending

MAX_NEW_TERMS = 20_000
"""Maximum number of terms that expanding the definitions of one script may create."""

MAX_WORK = 400_000
"""Maximum number of terms that it may visit."""


class OverBudgetError(Exception):
    """Expansion is too expensive; the functions stay defined functions."""


class Expander:
    """Expands the definitions of one script."""

    def __init__(self, script: CheckedScript) -> None:
        self.definitions = {d: m for d, m in script.definitions.items() if d.origin == "define"}
        self.table = script.table
        self._limit = len(script.table) + MAX_NEW_TERMS
        self._work = 0
        self._order = {d: n for n, d in enumerate(self.definitions)}
        self._bodies: dict[Declaration, Term] = {}
        self._expanded: dict[Term, Term] = {}

    def expand(self, root: Term) -> Term:
        """``root`` without applications of defined functions. Raises :class:`OverBudgetError`."""
        if not self.definitions:
            return root
        if self._work > MAX_WORK or len(self.table) > self._limit:
            raise OverBudgetError
        for declaration in sorted(self._needed(root), key=self._order.__getitem__):
            body = _rename_binders(self.table, self.definitions[declaration].body, self._order[declaration])
            self._bodies[declaration] = self._expand(body)
        return self._expand(root)

    def _needed(self, root: Term) -> set[Declaration]:
        """The defined functions that ``root`` uses, directly or not, and that were not expanded before."""
        needed: set[Declaration] = set()
        new = [root]
        while new:
            found = {
                d for d in declarations_in(new) if d in self.definitions and d not in self._bodies
            } - needed
            needed |= found
            new = [self.definitions[d].body for d in found]
        return needed

    def _expand(self, root: Term) -> Term:
        known = self._expanded
        for term in postorder([root]):
            self._work += 1
            if term in known:
                continue
            args = tuple([known[a] for a in term.args])
            declaration = term.op.declaration
            if (
                term.op.kind is Kind.SYMBOL
                and declaration in self._bodies
                and len(declaration.params) == len(args)
            ):
                params = self.definitions[declaration].params
                known[term] = self._substitute(
                    self._bodies[declaration], dict(zip(params, args, strict=True))
                )
            else:
                known[term] = self.table.rebuild(term, args)
            if len(self.table) > self._limit or self._work > MAX_WORK:
                raise OverBudgetError
        return known[root]

    def _substitute(self, body: Term, mapping: Mapping[Term, Term]) -> Term:
        if not mapping:
            return body
        new: dict[Term, Term] = {}
        for term in postorder([body]):
            self._work += 1
            if not term.args:
                new[term] = mapping.get(term, term)
            else:
                new[term] = self.table.rebuild(term, tuple([new[a] for a in term.args]))
            if self._work > MAX_WORK:
                raise OverBudgetError
        return new[body]


def _rename_binders(table: TermTable, root: Term, number: int) -> Term:
    """``root`` with its bound variables consistently renamed, so that they cannot capture a variable of an
    argument: no variable that was read has NUL in its name.
    """
    order = list(postorder([root]))
    bound = {v for term in order for v in term.bound}
    if not bound:
        return root
    new = {v: table.variable(with_ending(v.op.name, f"\0{number}"), v.sort) for v in bound}
    for term in order:
        if term in new:
            continue
        variables = tuple(new[v] for v in term.variables)
        patterns = tuple((head, tuple(new[v] for v in bindings)) for head, bindings in term.patterns)
        new[term] = table.make(term.op, tuple(new[a] for a in term.args), term.sort, variables, patterns)
    return new[root]
