"""Quantifiers and lambda terms: over constants that the call abstracts, or over de Bruijn indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.z3.session import Session
from apifuzz.engines.z3.terms import Terms
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
        if binder == "lambda":
            return self._lambda(variables, body)
        if binder not in ("forall", "exists"):
            raise Unsupported(f"z3 has no {binder}")
        made = self._quantifier(binder == "forall", variables, body)
        if self.session.chance(0.1):
            # The same by the other road; equal terms are one object.
            plain = self._plain(binder == "forall", variables, body)
            again = self._by_indices(binder == "forall", variables, body, 1, [])
            if not plain.eq(again):
                raise Misbehaviour(
                    "term", f"quantifiers made two ways differ: {plain.sexpr()} {again.sexpr()}"
                )
        return made

    # Quantifiers

    def _quantifier(self, universal: bool, variables: Sequence[Any], body: Any) -> Any:
        session = self.session
        if session.chance(0.3):
            return self._plain(universal, variables, body)
        weight = session.one_of((0, 1, 1, 5, 10))
        patterns = self._patterns(variables, body) if session.chance(0.5) else []
        if session.chance(0.5):
            return self._by_indices(universal, variables, body, weight, patterns)
        name = session.fresh_name("q") if session.chance(0.5) else ""
        skolem = session.fresh_name("sk") if session.chance(0.3) else ""
        # What must not be a pattern makes sense only where no pattern is given.
        refused = self._patterns(variables, body) if not patterns and session.chance(0.1) else []
        make = z3.ForAll if universal else z3.Exists
        return make(
            list(variables),
            body,
            weight=weight,
            qid=name,
            skid=skolem,
            patterns=patterns,
            no_patterns=[t for p in refused for t in p.children()],
        )

    def _plain(self, universal: bool, variables: Sequence[Any], body: Any) -> Any:
        """With weight 1 and no patterns, by one of the calls for that."""
        session = self.session
        bound = self._bound(variables)
        count, none = len(variables), (z3.Pattern * 0)()
        choice = session.one_of((0, 1, 2))
        if choice == 0:
            return (z3.ForAll if universal else z3.Exists)(list(variables), body)
        if choice == 1:
            call = z3core.Z3_mk_forall_const if universal else z3core.Z3_mk_exists_const
            return session.wrap(call(session.ref, 1, count, bound, 0, none, body.as_ast()))
        call = z3core.Z3_mk_quantifier_const
        return session.wrap(call(session.ref, universal, 1, count, bound, 0, none, body.as_ast()))

    def _by_indices(
        self, universal: bool, variables: Sequence[Any], body: Any, weight: int, patterns: Sequence[Any]
    ) -> Any:
        """Over de Bruijn indices: the last variable has index 0."""
        session = self.session
        indexed = self._indexed(variables)
        inner = z3.substitute(body, *indexed)
        inside = [z3.MultiPattern(*[z3.substitute(t, *indexed) for t in p.children()]) for p in patterns]
        count, sorts, names = len(variables), self._sorts(variables), self._names(variables)
        array = (z3.Pattern * len(inside))(*[p.ast for p in inside])
        if session.chance(0.3):
            empty = z3.z3.to_symbol("", session.context)
            refused = (z3.Ast * 0)()
            made = z3core.Z3_mk_quantifier_ex(
                *(session.ref, universal, weight, empty, empty, len(inside), array, 0, refused),
                *(count, sorts, names, inner.as_ast()),
            )
        elif session.chance(0.5):
            call = z3core.Z3_mk_forall if universal else z3core.Z3_mk_exists
            made = call(session.ref, weight, len(inside), array, count, sorts, names, inner.as_ast())
        else:
            made = z3core.Z3_mk_quantifier(
                *(session.ref, universal, weight, len(inside), array, count, sorts, names, inner.as_ast())
            )
        return session.wrap(made)

    # Lambda terms

    def _lambda(self, variables: Sequence[Any], body: Any) -> Any:
        session = self.session
        choice = session.one_of((0, 1, 2))
        if choice == 0:
            return z3.Lambda(list(variables), body)
        if choice == 1:
            call = z3core.Z3_mk_lambda_const
            return session.wrap(call(session.ref, len(variables), self._bound(variables), body.as_ast()))
        inner = z3.substitute(body, *self._indexed(variables))
        made = z3core.Z3_mk_lambda(
            *(session.ref, len(variables), self._sorts(variables), self._names(variables), inner.as_ast())
        )
        return session.wrap(made)

    # What the calls want

    def _bound(self, variables: Sequence[Any]) -> Any:
        return (z3.Ast * len(variables))(*[v.as_ast() for v in variables])

    def _indexed(self, variables: Sequence[Any]) -> list[tuple[Any, Any]]:
        last = len(variables) - 1
        return [(v, z3.Var(last - i, v.sort())) for i, v in enumerate(variables)]

    def _sorts(self, variables: Sequence[Any]) -> Any:
        return (z3.Sort * len(variables))(*[v.sort().ast for v in variables])

    def _names(self, variables: Sequence[Any]) -> Any:
        context = self.session.context
        return (z3.Symbol * len(variables))(*[z3.z3.to_symbol(v.decl().name(), context) for v in variables])

    # Patterns

    def _patterns(self, variables: Sequence[Any], body: Any) -> list[Any]:
        """Patterns out of applications of functions in the body, each with all variables in it."""
        wanted = {v.get_id() for v in variables}
        found: list[tuple[Any, frozenset[int]]] = []
        for term in _subterms(body):
            if _can_be_pattern(term):
                inside = frozenset(t.get_id() for t in _subterms(term)) & wanted
                if inside:
                    found.append((term, inside))
        patterns = [z3.MultiPattern(t) for t, inside in found if inside == wanted]
        if not patterns and found and frozenset().union(*(i for _, i in found)) == wanted:
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
