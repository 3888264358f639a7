"""Terms of z3, most of which can be made in several ways: by a call of z3core, by an operator or function of
z3's module, or by z3's own parser, which reads the operator over constants that are then substituted. The
parser knows every operator that the theory files ascribe to z3; some of them (``sin``, ``re.xor``...) have no
call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import z3

from apifuzz.chance import Chance
from apifuzz.engines.rows import Route, Words, associativity, fold, words_of
from apifuzz.engines.walking import walk
from apifuzz.engines.z3.session import Session
from apifuzz.engines.z3.sorts import Sorts
from apifuzz.engines.z3.words import OPERATORS, VALUES, WAYS, drawn, preferred, words_in
from apifuzz.interface import ApiSort, ApiTerm, Head, HeadKind, Misbehaviour, Unsupported, operator_text
from apifuzz.values import read_value
from smtlib import Sort

Way = Callable[[], Any]
"""Makes the term: an ExprRef."""

_QUALIFIED = frozenset(("const", "seq.empty", "set.empty", "nil"))
"""Operators whose result sort does not follow from their arguments; ``result!`` stands for it."""

_MAX_SEARCHED = 2_000


class Terms:
    """Makes terms in a session."""

    def __init__(self, session: Session, sorts: Sorts) -> None:
        self.session = session
        self.sorts = sorts
        self.recursive: dict[int, Any] = {}
        """Recursive functions, by the id of the declaration that was there before the definition."""
        self.defined_later: list[tuple[Any, Any]] = []
        """Those declarations, and what stands for their applications since."""
        self._ordered: Any = None
        """The sort of the run's special relations: z3's models mix up those of several sorts."""
        self.arrays: set[int] = set()
        """Declarations that some term has as an array, by id: their definition would not reach it."""

    def of(self, term: ApiTerm) -> Any:
        """The z3 term of a term; a declared function as the array that it is to operators."""
        handle = self._function_of(term)
        if isinstance(handle, z3.FuncDeclRef):
            self.arrays.add(handle.get_id())
            return drawn(self.session, WAYS, "array of a function", f=handle)
        plain = self.session.term(handle)
        return z3.substitute_funs(plain, *self.defined_later) if self.defined_later else plain

    def _function_of(self, term: ApiTerm) -> Any:
        handle = term.handle
        if isinstance(handle, z3.FuncDeclRef):
            return self.recursive.get(handle.get_id(), handle)
        return handle

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
            return self._one_of(self.ways(head, sort, terms, [a.sort.sort for a in args]), 0.95)
        if head.kind is HeadKind.APPLY:
            function, given = self._function_of(args[0]), [self.of(a) for a in args[1:]]
            if isinstance(function, z3.FuncDeclRef):
                return drawn(self.session, WAYS, "application", f=function, given=given)
            return drawn(self.session, WAYS, "selection", array=self.session.term(function), given=given)
        given, member = [self.of(a) for a in args], self.sorts.member(head)
        if head.kind is HeadKind.UPDATER:
            return drawn(self.session, WAYS, "update", f=member, term=given[0], value=given[1])
        return drawn(self.session, WAYS, "application", f=member, given=given)

    # Operators and values by their rows

    def make_value(self, sort: ApiSort, text: str) -> Any:
        return self.session.hold(self._one_of(self.value_ways(sort, text), 0.9))

    def _one_of(self, ways: list[Way], share: float) -> Any:
        # The parser is the slow way; every other way is as good as the next.
        if len(ways) > 1 and self.session.random.happens(share):
            ways = ways[:-1]
        drawn = self.session.random.pick(ways)
        return (ways[0] if self.session.plain else drawn)()

    def ways(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> list[Way]:
        """Every way to make the term; the last is the parser's, which is always there."""
        more = {"sort": self.sorts.of(sort), "is_set": sort.name == "Set"}
        more["array"] = (len(args), self.session.array_of(args))
        words = words_of(args, head.indices, words_in(self.session), more)
        # A word alone for two arguments does not take one.
        routes = OPERATORS.find(head.name, [s.name for s in arg_sorts])
        found = self._ways(
            head.name,
            [r for r in routes if not r.plain or len(args) > 1 or not associativity(head.name)],
            words,
            args,
        )
        return [*found, lambda: self._template(head, sort, args, arg_sorts)]

    def value_ways(self, sort: ApiSort, text: str) -> list[Way]:
        """Every way to make the value; the last is the parser's, which is always there."""
        try:
            name, known = read_value(sort.sort, text)
        except ValueError:
            return [lambda: self._parsed(sort, text)]
        words = words_of((), sort.sort.indices, words_in(self.session), {**known, "sort": sort.handle})
        routes = (VALUES if name in VALUES else OPERATORS).find(name)
        return [*self._ways(name, routes, words, ()), lambda: self._parsed(sort, text)]

    def _ways(self, name: str, routes: Sequence[Route], words: Words, args: Sequence[Any]) -> list[Way]:
        def way(route: Route) -> Way:
            if route.plain:
                return lambda: fold(associativity(name), args, words[route.plain], z3.And)
            return lambda: route.make(words)

        fitting = [route for route in routes if route.holds(words)]
        if self.session.plain and fitting:
            fitting = [preferred(fitting)]
        return [way(route) for route in fitting]

    def _template(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> Any:
        """The operator read by z3's parser over constants, which the arguments then replace."""
        session = self.session
        key = (head.name, head.indices, tuple(arg_sorts), sort)
        found = session.templates.get(key)
        if found is None:
            names = [f"arg!{i}" for i in range(len(args))]
            constants = {n: z3.Const(n, self.sorts.of(s)) for n, s in zip(names, arg_sorts, strict=True)}
            text = _text(head)
            term = f"({text} {' '.join(names)})" if names else text
            # The equality keeps the parser from converting the term to another sort.
            known = {"result!": self.sorts.of(sort)}
            parsed = z3.parse_smt2_string(f"(assert (= {term} {term}))", known, constants, session.context)
            found = session.templates[key] = (parsed[0].arg(0), tuple(constants.values()))
        term, variables = found
        return z3.substitute(term, *zip(variables, args, strict=True)) if variables else term

    def _parsed(self, sort: ApiSort, text: str) -> Any:
        """The value as z3's parser reads it; in an equality, lest it be converted to another sort."""
        session = self.session
        constant = z3.Const("value!", sort.handle)
        known = {**session.declared, "value!": constant}
        parsed = z3.parse_smt2_string(
            f"(assert (= value! {text}))", session.named_sorts, known, session.context
        )
        return parsed[0].arg(1)

    # Looking

    def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
        return bool(self.of(term).sort().eq(self.sorts.of(sort.sort)))

    def equation(self, term: Any, value: Any) -> Any:
        """``(= term value)`` for a value of a model. Raises :class:`Unsupported` where the value says nothing
        without the model.
        """
        inside = list(islice(parts([value]), _MAX_SEARCHED + 1))
        if len(inside) > _MAX_SEARCHED or any(map(z3.is_as_array, inside)):
            raise Unsupported("the value refers to functions of the model")
        return term == value


def _text(head: Head) -> str:
    """The head as SMT-LIB writes it, with ``result!`` for the sort in ``(as head sort)``."""
    is_qualified = head.name in _QUALIFIED and not head.indices
    return f"(as {head.name} result!)" if is_qualified else operator_text(head.name, head.indices, False)


def parts(terms: Sequence[Any]) -> Iterator[Any]:
    """These z3 terms and all that they are made of, each once, bodies of quantifiers included."""
    return walk(terms, lambda t: [t.body()] if z3.is_quantifier(t) else t.children(), z3.AstRef.get_id)


_CONNECTIVES = (z3.Z3_OP_ITE, z3.Z3_OP_AND, z3.Z3_OP_OR)
_MAX_BODY = 200
"""Subterms of a body looked at for patterns."""


def patterns_in(variables: Sequence[Any], body: Any, chance: Chance) -> list[Any]:
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
    return patterns[: chance.up_to(2)]


def _subterms(root: Any) -> list[Any]:
    """The term and what is below it, each once, not into binders, up to a bound."""
    below = walk([root], lambda t: t.children() if z3.is_app(t) else (), z3.AstRef.get_id, _MAX_BODY)
    return list(below)


def _can_be_pattern(term: Any) -> bool:
    """Whether z3 takes the term as a trigger: a function applied to terms without connectives and binders;
    ``ite`` is a connective at any sort, ``or`` also without arguments.
    """
    if not z3.is_app(term) or term.num_args() == 0 or term.decl().kind() != z3.Z3_OP_UNINTERPRETED:
        return False
    return not any(
        not z3.is_app(t) or (z3.is_bool(t) and t.num_args()) or t.decl().kind() in _CONNECTIVES
        for t in _subterms(term)[1:]
    )
