"""Operators and values as z3's calls make them, by the rows of ``calls.toml``.

Most can be said in several ways: a call of z3core, an operator or function of z3's module, or z3's own parser
reading the operator over constants that are then substituted. The parser knows every operator that the theory
files ascribe to z3; some of them (``sin``, ``fp.min_i``...) have no call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3

from apifuzz.engines.rows import Route, Word, associativity, fold, words_of
from apifuzz.engines.z3.session import Session
from apifuzz.engines.z3.sorts import Sorts
from apifuzz.engines.z3.words import OPERATORS, VALUES, words_in
from apifuzz.interface import ApiSort, Head, operator_text
from apifuzz.values import read_value
from smtlib import Sort

Way = Callable[[], Any]
"""Makes the term: an ExprRef."""

_QUALIFIED = frozenset(("const", "seq.empty", "set.empty", "nil"))
"""Operators whose result sort does not follow from their arguments; ``result!`` stands for it."""


class Making:
    """Makes applications of the theories' operators, and values, in a session."""

    def __init__(self, session: Session, sorts: Sorts) -> None:
        self.session = session
        self.sorts = sorts

    def make(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> Any:
        """``(head args...)``, said in one of the ways there are."""
        return self._one_of(self.ways(head, sort, args, arg_sorts), 0.95)

    def make_value(self, sort: ApiSort, text: str) -> Any:
        return self.session.hold(self._one_of(self.value_ways(sort, text), 0.9))

    def _one_of(self, ways: list[Way], share: float) -> Any:
        # The parser is the slow way; every other way is as good as the next.
        if len(ways) > 1 and self.session.random.happens(share):
            ways = ways[:-1]
        return self.session.random.pick(ways)()

    def ways(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> list[Way]:
        """Every way to make the term; the last is the parser's, which is always there."""
        more = {"sort": self.sorts.of(sort), "is_set": sort.name == "Set"}
        more["array"] = (len(args), self.session.array_of(args))
        word = words_of(args, head.indices, words_in(self.session), more)
        # A word alone for two arguments does not take one.
        routes = OPERATORS.find(head.name, [s.name for s in arg_sorts])
        found = self._ways(
            head.name,
            [r for r in routes if not r.plain or len(args) > 1 or not associativity(head.name)],
            word,
            args,
        )
        return [*found, lambda: self._template(head, sort, args, arg_sorts)]

    def value_ways(self, sort: ApiSort, text: str) -> list[Way]:
        """Every way to make the value; the last is the parser's, which is always there."""
        try:
            name, words = read_value(sort.sort, text)
        except ValueError:
            return [lambda: self._parsed(sort, text)]
        word = words_of((), sort.sort.indices, words_in(self.session), {**words, "sort": sort.handle})
        routes = (VALUES if name in VALUES else OPERATORS).find(name)
        return [*self._ways(name, routes, word, ()), lambda: self._parsed(sort, text)]

    def _ways(self, name: str, routes: Sequence[Route], word: Word, args: Sequence[Any]) -> list[Way]:
        def way(route: Route) -> Way:
            if route.plain:
                return lambda: fold(associativity(name), args, word(route.plain), z3.And)
            return lambda: route.make(word)

        return [way(route) for route in routes if route.holds(word)]

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


def _text(head: Head) -> str:
    """The head as SMT-LIB writes it, with ``result!`` for the sort in ``(as head sort)``."""
    is_qualified = head.name in _QUALIFIED and not head.indices
    return f"(as {head.name} result!)" if is_qualified else operator_text(head.name, head.indices, False)
