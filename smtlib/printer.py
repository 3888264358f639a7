"""The printer: terms as SMT-LIB 2.7 text that reads back to the same terms.

A subterm that occurs more than once is bound by ``let`` if that makes the text shorter, so the length of the
text is near the number of nodes. A ``let`` is placed at the top of the innermost binder whose variables its
value uses, or at the top of the term. If that binder has a ``:pattern``, it is placed inside the annotation,
because z3 accepts a pattern only directly below the quantifier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from smtlib.application import INDEXED_BY_FUNCTION
from smtlib.environment import is_parameter
from smtlib.sorts import REAL, Sort, indexed, make_sort
from smtlib.terms import Declaration, Kind, Term, free_in, postorder, without_annotations

LET_THRESHOLD = 28
"""A shared subterm shorter than this (in characters) is repeated rather than bound by ``let``."""


class Naming:
    """The spelling of heads and sorts. Override it to rename symbols while printing."""

    def head(self, term: Term) -> str:
        """The text of a term's head, without its arguments."""
        op = term.op
        if op.kind is Kind.LITERAL and term.sort is REAL:
            return _real_literal(op.text)
        return op.text

    def sort(self, sort: Sort) -> str:
        """The text of a sort."""
        return sort_text(sort)

    def variable_list(self, variables: Iterable[Term]) -> str:
        """The text of variables with their sorts: ``((x Int) (y Int))``."""
        return f"({' '.join([f'({self.head(v)} {self.sort(v.sort)})' for v in variables])})"

    def symbol(self, name: str) -> str:
        """The text of a symbol that the script declares."""
        return name

    def declared(self, declaration: Declaration) -> str:
        """The text of a function that the script declares."""
        return self.symbol(declaration.name)

    def renamed_head(self, term: Term) -> str:
        """The head of a term, spelled by ``declared``, ``symbol`` and ``sort`` throughout."""
        op = term.op
        if op.kind is Kind.VARIABLE:
            return self.symbol(op.text)
        if op.kind is Kind.SYMBOL and op.declaration is not None:
            name = self.declared(op.declaration)
            if op.name in ("is", "update") and op.indices:
                return f"(_ {op.name} {name})"
            return f"(as {name} {self.sort(term.sort)})" if op.text.startswith("(as ") else name
        if op.kind is not Kind.OPERATOR:
            return Naming.head(self, term)
        if op.name in INDEXED_BY_FUNCTION:
            name = str(op.indices[0]) if op.declaration is None else self.declared(op.declaration)
            if op.text.startswith("(_ map ("):
                inside = (INDEXED_BY_FUNCTION[op.name](t.sort) for t in (*term.args, term))
                *elements, result = (self.sort(sort) for sort in inside if sort is not None)
                name = f"({name} ({' '.join(elements)}) {result})"
            return f"(_ {op.name} {name})"
        if op.name == "fmf.card":
            return f"(_ fmf.card {self.sort(make_sort(str(op.indices[0])))} {op.indices[1]})"
        if op.text.startswith("(as "):
            return f"(as {indexed(op.name, op.indices)} {self.sort(term.sort)})"
        return op.text


PLAIN = Naming()
"""Leaves every name unchanged."""


def sort_text(sort: Sort) -> str:
    """``sort`` as SMT-LIB text, a datatype's sort parameters by their plain names."""
    if is_parameter(sort):
        return sort.name[1:]
    if not sort.args:
        return sort.text
    return f"({sort.name} {' '.join(map(sort_text, sort.args))})"


def _real_literal(text: str) -> str:
    if "." not in text:
        return text + ".0"
    return text + "0" if text[-1] == "." else text


_Item: TypeAlias = "str | Term | tuple[Term]"
"""Pending output: text, a term, or (in a tuple) a term to write out although it has a let name."""


def all_of(texts: Iterable[str]) -> str:
    """The conjunction of formulas given as text; true if there are none."""
    return f"({' '.join(('and', 'true', 'true', *texts))})"


def any_of(texts: Iterable[str]) -> str:
    """The disjunction of formulas given as text; false if there are none."""
    return f"({' '.join(('or', 'false', 'false', *texts))})"


def quantified(quantifier: str, variables: Iterable[tuple[str, Sort]], formula: str) -> str:
    """A formula given as text for all or some values of ``variables``; as it is if there are none."""
    bound = " ".join(f"({name} {sort_text(sort)})" for name, sort in variables)
    return f"({quantifier} ({bound}) {formula})" if bound else formula


def print_term(term: Term, naming: Naming = PLAIN) -> str:
    """``term`` as text on one line."""
    return _TermPrinter(term, naming).run()


class _TermPrinter:
    def __init__(self, root: Term, naming: Naming) -> None:
        self.root = root
        self.naming = naming
        self.pieces: list[str] = []
        self.let_names: dict[Term, str] = {}
        self.homes: dict[Term, list[Term]] = {}
        self.free: dict[Term, frozenset[Term]] = {}

    def run(self) -> str:
        self._plan_lets()
        self._emit()
        return "".join(self.pieces)

    # Planning

    def _plan_lets(self) -> None:
        order = list(postorder([self.root]))
        used = [arg for term in order for arg in term.args if arg.args]
        if len(set(used)) == len(used):
            return
        shared = self._worth_binding(order, Counter(used))
        if not shared:
            return
        prefix = self._unused_prefix(order)
        self.let_names = {term: f"{prefix}{number}" for number, term in enumerate(shared)}
        self._find_homes(order, shared)

    def _worth_binding(self, order: list[Term], uses: Mapping[Term, int]) -> list[Term]:
        size: dict[Term, int] = {}
        shared = []
        # A let inside an annotation does not reach its patterns.
        in_patterns = set(postorder(a for t in order if t.op.kind is Kind.ANNOTATION for a in t.args[1:]))
        for term in order:
            length = len(self.naming.head(term)) + 1
            if term.args:
                length += 2 + sum(size[a] for a in term.args)
                if term.variables:
                    length += sum(len(v.op.text) + len(v.sort.text) + 4 for v in term.variables)
                worth = length > LET_THRESHOLD or _is_named(term)
                if worth and uses.get(term, 0) > 1 and term not in in_patterns:
                    shared.append(term)
                    length = 4
            size[term] = length
        return shared

    def _unused_prefix(self, order: list[Term]) -> str:
        """A prefix that no symbol of the term begins with."""
        prefix = "$"
        heads = {self.naming.head(term) for term in order}
        heads.update(self.naming.head(v) for term in order for v in term.bound)
        # The head of a qualified or indexed symbol, (as s S), begins with a parenthesis.
        heads.update(term.op.declaration.name for term in order if term.op.declaration is not None)
        while any(head.startswith(prefix) for head in heads):
            prefix += "$"
        return prefix

    def _find_homes(self, order: list[Term], shared: list[Term]) -> None:
        """Decide for every region which lets are at its top."""
        free = self.free
        for term in order:
            free[term] = free_in(term, free)
        open_terms = {t for t in shared if free[t]}
        bound_here = set(free[self.root])
        self.homes[self.root] = [t for t in shared if t is not self.root and free[t] <= bound_here]
        open_terms.difference_update(self.homes[self.root])
        if not open_terms:
            return
        for term in order:
            for position, arg in enumerate(term.args) if term.bound else ():
                variables = frozenset(term.bound_at(position))
                body = without_annotations(arg)
                if variables:
                    known = self.homes.setdefault(body, [])
                    found = self._lets_of_region(body, variables, free, open_terms)
                    known.extend(t for t in found if t not in known)
        for lets in self.homes.values():
            lets.sort(key=lambda t: t.id)

    @staticmethod
    def _lets_of_region(
        body: Term, variables: frozenset[Term], free: dict[Term, frozenset[Term]], candidates: set[Term]
    ) -> list[Term]:
        """The shared terms below ``body`` that use ``variables`` and no variable of an inner binder."""
        found = []
        seen = {body}
        # Each entry is a term and the inner variables in its scope.
        stack: list[tuple[Term, frozenset[Term]]] = [(body, frozenset())]
        while stack:
            term, inner = stack.pop()
            if term in candidates and term is not body and not free[term] & inner:
                found.append(term)
            for position, arg in enumerate(term.args):
                if arg not in seen and free[arg] & variables:
                    seen.add(arg)
                    bound = term.bound_at(position)
                    stack.append((arg, inner.union(bound) if bound else inner))
        return found

    # Output, with a stack of pending items

    def _emit(self) -> None:
        pieces = self.pieces
        stack: list[_Item] = []
        self._push_region(stack, self.root, ())
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                pieces.append(item)
            elif isinstance(item, tuple):
                self._push_definition(stack, item[0])
            elif item in self.let_names:
                pieces.append(self.let_names[item])
            else:
                self._push_definition(stack, item)

    def _push_region(self, stack: list[_Item], body: Term, variables: tuple[Term, ...]) -> None:
        """The body of a binder of ``variables`` with its lets before it."""
        lets = self.homes.get(body, ())
        stack.append(")" * len(lets))
        # A body shared with another binder has a let name, but no scope contains both uses.
        stack.append(
            (body,) if body in self.let_names and not self.free[body].isdisjoint(variables) else body
        )
        for term in reversed(lets):
            stack.append(")) ")
            stack.append((term,))
            stack.append(f"(let (({self.let_names[term]} ")

    def _push_definition(self, stack: list[_Item], term: Term) -> None:
        kind = term.op.kind
        if not term.args:
            stack.append(self.naming.head(term))
        elif kind is Kind.BINDER:
            self._push_binder(stack, term)
        elif kind is Kind.MATCH:
            self._push_match(stack, term)
        elif kind is Kind.ANNOTATION:
            self._push_annotation(stack, term)
        else:
            args = term.args
            head = self.naming.head
            stack.append(")")
            for arg in reversed(args):
                stack.append(arg if arg.args else head(arg))
                stack.append(" ")
            if term.op.name == "@" and (term.op.text == "()" or not args[0].args):
                stack.pop()
                stack.append("(")
            else:
                stack.append("(" + head(term))

    def _push_binder(self, stack: list[_Item], term: Term) -> None:
        stack.append(")")
        for body in reversed(term.args):
            self._push_region(stack, body, term.variables)
            stack.append(" ")
        stack.append(f"({term.op.text} {self.naming.variable_list(term.variables)}")

    def _push_match(self, stack: list[_Item], term: Term) -> None:
        stack.append("))")
        for (head, variables), body in reversed(list(zip(term.patterns, term.args[1:], strict=True))):
            stack.append(")")
            self._push_region(stack, body, variables)
            names = " ".join(self.naming.head(v) for v in variables)
            if not head:
                pattern = names
            elif names:
                pattern = f"({self.naming.symbol(head)} {names})"
            else:
                pattern = self.naming.symbol(head)
            stack.append(f"({pattern} ")
            stack.append(" ")
        stack.pop()
        stack.append(" (")
        stack.append(term.args[0])
        stack.append("(match ")

    def _push_annotation(self, stack: list[_Item], term: Term) -> None:
        stack.append(")")
        position = len(term.args)
        for key, value in reversed(term.op.attributes):
            if key == ":no-pattern":
                position -= 1
                stack.append(term.args[position])
                stack.append(f" {key} ")
            elif isinstance(value, int):
                stack.append(")")
                for arg in reversed(term.args[position - value : position]):
                    stack.append(arg)
                    stack.append(" ")
                if value:
                    stack.pop()
                stack.append(f" {key} (")
                position -= value
            else:
                stack.append(f" {key} {value}" if value else f" {key}")
        body = term.args[0]
        if body in self.homes and body.op.kind is not Kind.ANNOTATION:
            self._push_region(stack, body, tuple(self.free[body]))
        else:
            stack.append(body)
        stack.append("(! ")


def _is_named(term: Term) -> bool:
    return any(key == ":named" for key, _ in term.op.attributes)
