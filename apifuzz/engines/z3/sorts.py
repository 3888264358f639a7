"""Sorts of z3: made from SMT-LIB sorts, declared, asked what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from apifuzz.engines.rows import choose, words_of
from apifuzz.engines.z3.session import Session
from apifuzz.engines.z3.words import SORTS, parsed_sort, preferred, words_in
from apifuzz.interface import ApiSort, DatatypeSpec, Head, HeadKind, Misbehaviour, Unsupported
from smtlib import Sort

MIN_SIGNIFICAND = 3
"""z3 takes no floating-point sort with fewer bits of significand, though SMT-LIB has them."""


class Sorts:
    """Makes sorts in a session and remembers them by what they are."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.datatypes: dict[str, DatatypeSpec] = {}
        self.arities: dict[str, int] = {}
        """The number of arguments of declared sort constructors, by name."""

    # From SMT-LIB sorts

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        handle = self.session.sorts[sort] = self.made_of(sort, [a.handle for a in args])
        return handle

    def of(self, sort: Sort) -> Any:
        """The handle of a sort, made now if need be."""
        found = self.session.sorts.get(sort)
        if found is None:
            found = self.session.sorts[sort] = self.made_of(sort, [self.of(a) for a in sort.args])
        return found

    def made_of(self, sort: Sort, args: Sequence[Any]) -> Any:
        """The head of the sort applied to handles."""
        session, name = self.session, sort.name
        if name in self.datatypes:
            return z3.DatatypeSort(name, list(args), session.context)
        if name in self.arities:
            # Only its parser makes such sorts. Each argument once: with a datatype the parser takes its
            # constructors, which must not be declared twice.
            names, quoted = {f"arg!{a.get_id()}": a for a in args}, f"|{name.strip('|')}|"
            applied = " ".join(f"arg!{a.get_id()}" for a in args)
            declaration = f"(declare-sort {quoted} {len(args)})"
            return parsed_sort(session, f"({quoted} {applied})", names, declaration)
        if name == "FloatingPoint" and sort.indices[1] < MIN_SIGNIFICAND:
            raise Unsupported(f"z3 requires significands of {MIN_SIGNIFICAND} bits or more")
        words = words_of(args, sort.indices, words_in(session))
        routes = SORTS.find(name, [""] * len(args))
        route = choose(routes, words, session.random)
        if route is None:
            raise Unsupported(f"z3 has no sort {name}")
        if session.plain:
            route = preferred([r for r in routes if r.holds(words)])
        return route.make(words)

    def member(self, head: Head) -> Any:
        """The declaration of the constructor, tester or selector that a head names."""
        assert head.datatype is not None, "members have their datatype"
        handle, is_tester = self.of(head.datatype), head.kind is HeadKind.TESTER
        for number in range(handle.num_constructors()):
            constructor = handle.constructor(number)
            if is_tester or head.kind is HeadKind.CONSTRUCTOR:
                if constructor.name() == head.name:
                    return handle.recognizer(number) if is_tester else constructor
                continue
            for position in range(constructor.arity()):
                accessor = handle.accessor(number, position)
                if accessor.name() == head.name:
                    return accessor
        raise Misbehaviour("sort", f"{head.datatype} has lost its {head.kind} {head.name}")
