"""Terms of z3: constants, functions, definitions, applications, binders, and terms made of terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.walking import walk
from apifuzz.engines.z3.calls import Making
from apifuzz.engines.z3.session import Session
from apifuzz.engines.z3.sorts import Sorts
from apifuzz.engines.z3.words import BINDERS, WAYS, drawn
from apifuzz.interface import ApiSort, ApiTerm, Head, HeadKind, Misbehaviour, Unsupported

_MAX_SEARCHED = 2_000


class Terms:
    """Makes terms in a session."""

    def __init__(self, session: Session, sorts: Sorts) -> None:
        self.session = session
        self.sorts = sorts
        self.making = Making(session, sorts)
        self._recursive: dict[int, Any] = {}
        """Recursive functions, by the id of the declaration that was there before the definition."""
        self._defined_later: list[tuple[Any, Any]] = []
        """Those declarations, and what stands for their applications since."""
        self._ordered: Any = None
        """The sort of the run's special relations: z3's models mix up those of several sorts."""
        self._arrays: set[int] = set()
        """Declarations that some term has as an array, by id: their definition would not reach it."""

    def of(self, term: ApiTerm) -> Any:
        """The z3 term of a term; a declared function as the array that it is to operators."""
        handle = self._function_of(term)
        if isinstance(handle, z3.FuncDeclRef):
            self._arrays.add(handle.get_id())
            return drawn(self.session, WAYS, "array of a function", f=handle)
        plain = self.session.term(handle)
        return z3.substitute_funs(plain, *self._defined_later) if self._defined_later else plain

    def _function_of(self, term: ApiTerm) -> Any:
        handle = term.handle
        if isinstance(handle, z3.FuncDeclRef):
            return self._recursive.get(handle.get_id(), handle)
        return handle

    # Symbols

    def make_value(self, sort: ApiSort, text: str) -> Any:
        return self.making.make_value(sort, text)

    def define(self, variables: Sequence[ApiTerm], body: ApiTerm, function: ApiTerm) -> None:
        """Give a declared function a body: from now on a recursive function stands for it.

        z3 defines only what was declared to be recursive, and calls cannot declare a function twice.
        """
        declared = function.handle
        if declared.get_id() in self._arrays:
            raise Unsupported("the function is an argument of some term already")
        name = f"{declared.name()}!rec"
        bound = [self.of(v) for v in variables]
        made = z3.RecFunction(name, *[b.sort() for b in bound], declared.range())
        self._recursive[declared.get_id()] = made
        self._defined_later.append((declared, made(*[z3.Var(i, b.sort()) for i, b in enumerate(bound)])))
        z3.RecAddDefinition(made, bound, self.of(body))
        self.session.declared[name] = made

    # Applications

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Any:
        """``(head args...)``; now and then made twice, let go of in between, and compared."""
        made = self._make(head, sort.sort, args)
        if self.session.random.happens(0.05):
            text = made.sexpr()
            again = self._make_as(head, args, made)
            if again is not None and not again.eq(made):
                raise Misbehaviour("term", f"{text} made twice is two terms")
            if self.session.random.happens(0.5):
                del made, again
                made = self._make(head, sort.sort, args)
        return self.session.hold(made)

    def _make_as(self, head: Head, args: Sequence[ApiTerm], made: Any) -> Any:
        """What ``made`` is, from its declaration and arguments."""
        # A division of one argument, say, has a declaration of two, which calls do not apply to one.
        if not z3.is_app(made) or not made.num_args() or made.num_args() < made.decl().arity():
            return None
        return drawn(self.session, WAYS, "again", f=made.decl(), given=made.children())

    def _make(self, head: Head, sort: Any, args: Sequence[ApiTerm]) -> Any:
        if head.kind is HeadKind.OPERATOR:
            if head.name.endswith("-order"):
                self._ordered = self._ordered or args[0].sort.sort
                if self._ordered is not args[0].sort.sort:
                    raise Unsupported("z3 makes no models with special relations over two sorts")
            terms = [self.of(a) for a in args]
            return self.making.make(head, sort, terms, [a.sort.sort for a in args])
        if head.kind is HeadKind.APPLY:
            return self._apply(self._function_of(args[0]), [self.of(a) for a in args[1:]])
        return self._member(head, [self.of(a) for a in args])

    def _apply(self, function: Any, args: Sequence[Any]) -> Any:
        if isinstance(function, z3.FuncDeclRef):
            return self._call(function, args)
        return drawn(self.session, WAYS, "selection", array=self.session.term(function), given=args)

    def _call(self, declaration: Any, args: Sequence[Any]) -> Any:
        return drawn(self.session, WAYS, "application", f=declaration, given=args)

    def _member(self, head: Head, args: Sequence[Any]) -> Any:
        assert head.datatype is not None, "members have their datatype"
        if head.kind in (HeadKind.CONSTRUCTOR, HeadKind.TESTER):
            number, handle = self.sorts.constructor(head.datatype, head.name)
            is_tester = head.kind is HeadKind.TESTER
            return self._call(handle.recognizer(number) if is_tester else handle.constructor(number), args)
        selector = self.sorts.selector(head.datatype, head.name)
        if head.kind is HeadKind.SELECTOR:
            return self._call(selector, args)
        return drawn(self.session, WAYS, "update", f=selector, term=args[0], value=args[1])

    def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
        return bool(self.of(term).sort().eq(self.sorts.of(sort.sort)))

    def equation(self, term: Any, value: Any) -> Any:
        """``(= term value)`` for a value of a model. Raises :class:`Unsupported` where the value says nothing
        without the model.
        """
        inside = list(islice(parts([value]), _MAX_SEARCHED + 1))
        if len(inside) > _MAX_SEARCHED or any(map(z3.is_as_array, inside)):
            raise Unsupported("the value refers to functions of the model")
        return self.session.wrap(z3core.Z3_mk_eq(self.session.ref, term.as_ast(), value.as_ast()))


def parts(terms: Sequence[Any]) -> Iterator[Any]:
    """These z3 terms and all that they are made of, each once, bodies of quantifiers included."""
    return walk(terms, lambda t: [t.body()] if z3.is_quantifier(t) else t.children(), z3.AstRef.get_id)


# Quantifiers and lambda terms: over constants that the call abstracts, or over de Bruijn indices


_MAX_BODY = 200
"""Subterms of a body looked at for patterns."""


class Binders:
    """Makes binders in a session. Variables are constants until something binds them."""

    def __init__(self, session: Session, terms: Terms) -> None:
        self.session = session
        self.terms = terms

    def make_binder(self, sort: ApiSort, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        bound = [self.terms.of(v) for v in variables]
        return self.session.hold(self._make(binder, bound, self.terms.of(body)))

    def _make(self, binder: str, variables: Sequence[Any], body: Any) -> Any:
        if binder not in BINDERS:
            raise Unsupported(f"z3 has no {binder}")
        if binder == "lambda":
            return self._drawn(binder, variables, body)
        made = self._quantifier(binder, variables, body)
        if self.session.random.happens(0.1):
            # The same by the other road; equal terms are one object.
            plain = self._drawn(binder, variables, body)
            again = self._by_indices(binder, variables, body, 1, [])
            if not plain.eq(again):
                both = f"{plain.sexpr()} {again.sexpr()}"
                raise Misbehaviour("term", f"quantifiers made two ways differ: {both}")
        return made

    def _quantifier(self, binder: str, variables: Sequence[Any], body: Any) -> Any:
        session = self.session
        if session.random.happens(0.3):
            return self._drawn(binder, variables, body)
        weight = session.random.pick((0, 1, 1, 5, 10))
        patterns = self._patterns(variables, body) if session.random.happens(0.5) else []
        if session.random.happens(0.5):
            return self._by_indices(binder, variables, body, weight, patterns)
        name = session.fresh_name("q") if session.random.happens(0.5) else ""
        skolem = session.fresh_name("sk") if session.random.happens(0.3) else ""
        # What must not be a pattern makes sense only where no pattern is given.
        refused = self._patterns(variables, body) if not patterns and session.random.happens(0.1) else []
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
        return drawn(self.session, BINDERS, name, **words)

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
    below = walk([root], lambda t: t.children() if z3.is_app(t) else (), z3.AstRef.get_id, _MAX_BODY)
    return list(below)


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
