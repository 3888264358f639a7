"""Quantifiers and lambda terms: over constants that the call abstracts, or over de Bruijn indices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import z3

from apifuzz.engines.rows import words_of
from apifuzz.engines.z3.session import Session
from apifuzz.engines.z3.terms import Terms
from apifuzz.engines.z3.words import BINDERS, words_in
from apifuzz.interface import ApiSort, ApiTerm, Misbehaviour, Unsupported

_MAX_SEARCHED = 200
"""Subterms of a body looked at for patterns."""


class Binders:
    """Makes binders in a session. Variables are constants until something binds them."""

    def __init__(self, session: Session, terms: Terms) -> None:
        self.session = session
        self.terms = terms

    def make_binder(self, sort: ApiSort, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        """``(binder (variables) body)``."""
        bound = [self.terms.of(v) for v in variables]
        return self.session.hold(self._make(binder, bound, self.terms.of(body)))

    def _make(self, binder: str, variables: Sequence[Any], body: Any) -> Any:
        if binder not in BINDERS:
            raise Unsupported(f"z3 has no {binder}")
        if binder == "lambda":
            return self._drawn(binder, variables, body)
        made = self._quantifier(binder, variables, body)
        if self.session.chance(0.1):
            # The same by the other road; equal terms are one object.
            plain = self._drawn(binder, variables, body)
            again = self._by_indices(binder, variables, body, 1, [])
            if not plain.eq(again):
                both = f"{plain.sexpr()} {again.sexpr()}"
                raise Misbehaviour("term", f"quantifiers made two ways differ: {both}")
        return made

    def _quantifier(self, binder: str, variables: Sequence[Any], body: Any) -> Any:
        session = self.session
        if session.chance(0.3):
            return self._drawn(binder, variables, body)
        weight = session.one_of((0, 1, 1, 5, 10))
        patterns = self._patterns(variables, body) if session.chance(0.5) else []
        if session.chance(0.5):
            return self._by_indices(binder, variables, body, weight, patterns)
        name = session.fresh_name("q") if session.chance(0.5) else ""
        skolem = session.fresh_name("sk") if session.chance(0.3) else ""
        # What must not be a pattern makes sense only where no pattern is given.
        refused = self._patterns(variables, body) if not patterns and session.chance(0.1) else []
        make = z3.ForAll if binder == "forall" else z3.Exists
        return make(
            list(variables),
            body,
            weight=weight,
            qid=name,
            skid=skolem,
            patterns=patterns,
            no_patterns=[t for p in refused for t in p.children()],
        )

    def _by_indices(
        self, binder: str, variables: Sequence[Any], body: Any, weight: int, patterns: Sequence[Any]
    ) -> Any:
        """Over de Bruijn indices: the last variable has index 0."""
        indexed = self._indexed(variables)
        inside = [z3.MultiPattern(*[z3.substitute(t, *indexed) for t in p.children()]) for p in patterns]
        array = (z3.Pattern * len(inside))(*[p.ast for p in inside])
        name = f"{binder} by indices"
        return self._drawn(name, variables, body, weight=weight, patterns=(len(inside), array))

    def _drawn(self, name: str, variables: Sequence[Any], body: Any, **words: Any) -> Any:
        """By one of the calls of a row."""
        count, symbol = len(variables), partial(z3.z3.to_symbol, ctx=self.session.context)
        words |= {"variables": list(variables), "body": body, "count": count, "unnamed": symbol("")}
        words |= {"none": (z3.Pattern * 0)(), "no_terms": (z3.Ast * 0)()}
        words["bound"] = lambda: self.session.array_of(variables)
        words["inner"] = lambda: z3.substitute(body, *self._indexed(variables))
        words["sorts_of_bound"] = lambda: (z3.Sort * count)(*[v.sort().ast for v in variables])
        words["names"] = lambda: (z3.Symbol * count)(*[symbol(v.decl().name()) for v in variables])
        route = self.session.one_of(BINDERS.find(name))
        return route.make(words_of((), (), words_in(self.session), words))

    def _indexed(self, variables: Sequence[Any]) -> list[tuple[Any, Any]]:
        last = len(variables) - 1
        return [(v, z3.Var(last - i, v.sort())) for i, v in enumerate(variables)]

    # Patterns

    def _patterns(self, variables: Sequence[Any], body: Any) -> list[Any]:
        """Patterns out of applications of functions in the body, each with all variables in it."""
        variable_ids = {v.get_id() for v in variables}
        found: list[tuple[Any, frozenset[int]]] = []
        for term in _subterms(body):
            if _can_be_pattern(term):
                inside = frozenset(t.get_id() for t in _subterms(term)) & variable_ids
                if inside:
                    found.append((term, inside))
        patterns = [z3.MultiPattern(t) for t, inside in found if inside == variable_ids]
        if not patterns and found and frozenset().union(*(i for _, i in found)) == variable_ids:
            patterns = [z3.MultiPattern(*[t for t, _ in found])]
        return patterns[: 1 + int(self.session.random.random() * 2)]


def _subterms(root: Any) -> list[Any]:
    """The term and what is below it, each once, not into binders, up to a bound."""
    seen = {root.get_id()}
    found = [root]
    for term in found:
        if z3.is_app(term) and len(found) < _MAX_SEARCHED:
            for child in term.children():
                if child.get_id() not in seen:
                    seen.add(child.get_id())
                    found.append(child)
    return found


def _can_be_pattern(term: Any) -> bool:
    """Whether z3 takes the term as a trigger: a function applied to terms without connectives and binders;
    ``ite`` is a connective at any sort.
    """
    if not z3.is_app(term) or term.num_args() == 0 or term.decl().kind() != z3.Z3_OP_UNINTERPRETED:
        return False
    return not any(
        not z3.is_app(t) or (z3.is_bool(t) and t.num_args()) or z3.is_app_of(t, z3.Z3_OP_ITE)
        for t in _subterms(term)[1:]
    )
