"""Operators of the theory files as z3's calls make them.

Most operators can be said in several ways: a call of z3core, an operator or function of z3's module, or z3's
own parser reading the operator over constants that are then substituted. The parser knows every operator that
the theory files ascribe to z3; some of them (``bvcomp``, ``sin``, ``fp.min_i``...) have no call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.z3.calls import CALLS, MODULE, MODULE_MANY
from apifuzz.engines.z3.indexed import indexed_ways
from apifuzz.engines.z3.session import Session, context_of
from apifuzz.engines.z3.sorts import Sorts
from apifuzz.interface import Head
from smtlib import Sort

Way = Callable[[], Any]
"""Makes the term: an ExprRef."""


class Operators:
    """Makes applications of the theories' operators in a session."""

    def __init__(self, session: Session, sorts: Sorts) -> None:
        self.session = session
        self.sorts = sorts

    def make(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> Any:
        """``(head args...)``, said in one of the ways there are."""
        ways = self.ways(head, sort, args, arg_sorts)
        # The parser is the slow way; every other way is as good as the next.
        if len(ways) > 1 and self.session.chance(0.95):
            ways = ways[:-1]
        return self.session.one_of(ways)()

    def ways(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> list[Way]:
        """Every way to make the term; the last is the parser's, which is always there."""
        name, count = head.name, len(args)
        found: list[Way] = []
        for call in CALLS.get(name, "").split():
            shape, _, called = call.partition(":")
            found.extend(self._calls(shape, called, args))
        arity, function = MODULE.get(name, (0, None))
        if function is not None and arity == count:
            found.append(lambda: function(*args, **context_of(self.session, function)))
        many = MODULE_MANY.get(name)
        if many is not None and count > 1:
            found.append(lambda: many(*args))
        found.extend(indexed_ways(self.session, self.sorts, head, sort, args, arg_sorts))
        found.append(lambda: self._template(head, sort, args, arg_sorts))
        return found

    def _calls(self, shape: str, name: str, args: Sequence[Any]) -> list[Way]:
        """The calls of ``Z3_mk_name`` that take this many arguments."""
        session, count = self.session, len(args)
        function = f"Z3_mk_{name}"

        def call(*given: Any) -> Any:
            return session.wrap(getattr(z3core, function)(session.ref, *[g.as_ast() for g in given]))

        def call_array() -> Any:
            return session.wrap(getattr(z3core, function)(session.ref, count, session.array_of(args)))

        def fold_left() -> Any:
            made = args[0]
            for arg in args[1:]:
                made = call(made, arg)
            return made

        def fold_right() -> Any:
            made = args[-1]
            for arg in reversed(args[:-1]):
                made = call(arg, made)
            return made

        def chain() -> Any:
            links = [call(left, right) for left, right in itertools.pairwise(args)]
            return links[0] if len(links) == 1 else z3.And(*links)

        if shape.isdigit():
            return [lambda: call(*args)] if int(shape) == count else []
        if shape == "m":
            return [call_array]
        if count < 2:
            return []
        return [{"n": call_array, "l": fold_left, "r": fold_right, "c": chain}[shape]]

    def _template(self, head: Head, sort: Sort, args: Sequence[Any], arg_sorts: Sequence[Sort]) -> Any:
        """The operator read by z3's parser over constants, which the arguments then replace."""
        session = self.session
        key = (head.name, head.indices, tuple(arg_sorts), sort)
        found = session.templates.get(key)
        if found is None:
            names = [f"arg!{i}" for i in range(len(args))]
            constants = {n: z3.Const(n, self.sorts.of(s)) for n, s in zip(names, arg_sorts, strict=True)}
            text = operator_text(head, sort)
            term = f"({text} {' '.join(names)})" if names else text
            # The equality keeps the parser from converting the term to another sort.
            known = {"result!": self.sorts.of(sort)}
            parsed = z3.parse_smt2_string(f"(assert (= {term} {term}))", known, constants, session.context)
            found = session.templates[key] = (parsed[0].arg(0), tuple(constants.values()))
        term, variables = found
        return z3.substitute(term, *zip(variables, args, strict=True)) if variables else term


_QUALIFIED = frozenset(("const", "seq.empty", "set.empty", "nil"))
"""Operators whose result sort does not follow from their arguments; ``result!`` stands for it."""


def operator_text(head: Head, sort: Sort) -> str:
    """The head as SMT-LIB writes it, with ``result!`` for the sort in ``(as head sort)``."""
    if head.indices:
        shown = [hex(i).replace("0x", "#x") if head.name == "char" else str(i) for i in head.indices]
        return f"(_ {head.name} {' '.join(shown)})"
    return f"(as {head.name} result!)" if head.name in _QUALIFIED else head.name
