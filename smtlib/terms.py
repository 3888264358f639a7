"""Terms: an immutable, hash-consed graph. Every term knows its sort.

Equal terms of one :class:`TermTable` are one object; ``let`` never copies. All walks here are
iterative, so deep terms need no deep stack. A table lives as long as its terms, usually for one script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from smtlib.sorts import Sort, indexed


class Kind(IntEnum):
    """What the head of a term is."""

    LITERAL = 0
    """A numeral, decimal, binary, hexadecimal or string literal; no arguments."""
    VARIABLE = 1
    """A variable bound by an enclosing quantifier, lambda or match case; no arguments."""
    SYMBOL = 2
    """A symbol of the script (declared, defined, constructor, selector ...), applied or not."""
    OPERATOR = 3
    """A function of a theory, applied or not."""
    BINDER = 4
    """``forall``, ``exists``, ``lambda``, ``choice``, ``set.comprehension``: binds ``Term.variables``."""
    MATCH = 5
    """``match``: args are the scrutinee and the case bodies; ``Term.patterns`` the patterns."""
    ANNOTATION = 6
    """``(! t ...)``: args are t and the terms inside the attributes; ``Op.attributes`` the rest."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A symbol that a script introduces, and its rank.

    ``origin`` is one of ``declare``, ``define``, ``define-rec``, ``constructor`` and ``selector``. Compared
    by identity: a name declared again after ``pop`` is another declaration.
    """

    name: str
    params: tuple[Sort, ...]
    result: Sort
    origin: str = "declare"

    __hash__ = object.__hash__

    @property
    def is_of_datatype(self) -> bool:
        """Whether it is a constructor or a selector; a tester or updater is one of these, with an index."""
        return self.origin in ("constructor", "selector")

    def __eq__(self, other: object) -> bool:
        return self is other


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """The head of a term. ``text`` is its printed form, including indices and ``as``.

    ``attributes`` are those of an ANNOTATION: keyword and value as text; for ``:pattern`` and
    ``:no-pattern`` the number of arguments of the term that belong to it.
    """

    kind: Kind
    name: str
    text: str
    indices: tuple[int | str, ...] = ()
    declaration: Declaration | None = None
    attributes: tuple[tuple[str, int | str], ...] = ()


class Term:
    """A node of the graph; made by a :class:`TermTable` only and never changed.

    ``variables`` holds the bound variables of a BINDER (terms of kind VARIABLE); ``patterns``
    the patterns of a MATCH: per case a tuple of the constructor's head and its variables.
    ``id`` counts up in one table: arguments have smaller ids than what uses them.
    """

    __slots__ = ("args", "id", "op", "patterns", "sort", "variables")

    op: Final[Op]
    args: Final[tuple[Term, ...]]
    sort: Final[Sort]
    variables: Final[tuple[Term, ...]]
    patterns: Final[tuple[tuple[str, tuple[Term, ...]], ...]]
    id: Final[int]

    def __init__(
        self,
        op: Op,
        args: tuple[Term, ...],
        sort: Sort,
        variables: tuple[Term, ...],
        patterns: tuple[tuple[str, tuple[Term, ...]], ...],
        ident: int,
    ) -> None:
        self.op = op
        self.args = args
        self.sort = sort
        self.variables = variables
        self.patterns = patterns
        self.id = ident

    @property
    def kind(self) -> Kind:
        """What the head is."""
        return self.op.kind

    @property
    def name(self) -> str:
        """The head's symbol without indices: ``extract`` for ``((_ extract 7 0) x)``."""
        return self.op.name

    @property
    def is_quantifier(self) -> bool:
        """Whether this is a ``forall`` or an ``exists``."""
        return self.op.kind is Kind.BINDER and self.op.name in ("forall", "exists")

    def bound_at(self, position: int) -> tuple[Term, ...]:
        """The variables bound in argument number ``position`` (from 0)."""
        if self.patterns and position:
            return self.patterns[position - 1][1]
        return self.variables

    @property
    def bound(self) -> tuple[Term, ...]:
        """All variables that this term binds."""
        return self.variables or tuple(v for _, variables in self.patterns for v in variables)

    def __repr__(self) -> str:
        return f"<Term {self.op.text}/{len(self.args)} : {self.sort}>"


class TermTable:
    """Makes terms, each distinct one once."""

    def __init__(self) -> None:
        self._terms: dict[tuple[object, ...], Term] = {}
        self._ops: dict[tuple[object, ...], Op] = {}

    def __len__(self) -> int:
        return len(self._terms)

    def copy(self) -> TermTable:
        """A table with the same terms; terms made in it later are not added to this one."""
        copied = TermTable()
        copied._terms.update(self._terms)
        copied._ops.update(self._ops)
        return copied

    def op(
        self,
        kind: Kind,
        name: str,
        text: str | None = None,
        indices: tuple[int | str, ...] = (),
        declaration: Declaration | None = None,
        attributes: tuple[tuple[str, int | str], ...] = (),
    ) -> Op:
        """The one head object of this description; ``text`` defaults to ``name``."""
        text = text or name
        key = (kind, name, text, declaration, attributes)
        found = self._ops.get(key)
        if found is None:
            found = self._ops[key] = Op(kind, name, text, indices, declaration, attributes)
        return found

    def make(
        self,
        op: Op,
        args: tuple[Term, ...],
        sort: Sort,
        variables: tuple[Term, ...] = (),
        patterns: tuple[tuple[str, tuple[Term, ...]], ...] = (),
    ) -> Term:
        """The term with this head, arguments and sort."""
        key = (op, args, sort, variables, patterns) if variables or patterns else (op, args, sort)
        found = self._terms.get(key)
        if found is None:
            found = self._terms[key] = Term(op, args, sort, variables, patterns, len(self._terms))
        return found

    def literal(self, text: str, sort: Sort) -> Term:
        """A literal as written, of the given sort."""
        return self.make(self.op(Kind.LITERAL, text), (), sort)

    def variable(self, name: str, sort: Sort) -> Term:
        """A bound variable."""
        return self.make(self.op(Kind.VARIABLE, name), (), sort)

    def symbol(self, declaration: Declaration, args: tuple[Term, ...] = ()) -> Term:
        """A symbol of the script applied to ``args``; the caller has checked the sorts."""
        op = self.op(Kind.SYMBOL, declaration.name, None, (), declaration)
        return self.make(op, args, declaration.result)

    def operator(
        self,
        name: str,
        args: tuple[Term, ...],
        sort: Sort,
        indices: tuple[int | str, ...] = (),
        qualifier: Sort | None = None,
    ) -> Term:
        """A theory's function applied to ``args``; the caller has checked the sorts."""
        text = indexed(name, indices) if indices else name
        if qualifier is not None:
            text = f"(as {text} {qualifier})"
        return self.make(self.op(Kind.OPERATOR, name, text, indices), args, sort)

    def rebuild(self, term: Term, args: tuple[Term, ...]) -> Term:
        """``term`` with other arguments of the same sorts."""
        if args == term.args:
            return term
        return self.make(term.op, args, term.sort, term.variables, term.patterns)


def postorder(
    roots: Iterable[Term],
    done: set[Term] | None = None,
    below: Callable[[Term], Iterable[Term]] | None = None,
) -> Iterator[Term]:
    """Every term below ``roots``, each once, arguments before what uses them.

    Terms in ``done`` and their subterms are skipped; each yielded term is added to it. ``below`` gives the
    arguments of a term that the walk enters (default: all).
    """
    done = set() if done is None else done
    for root in roots:
        stack: list[Term] = [root]
        while stack:
            term = stack[-1]
            if term in done:
                stack.pop()
                continue
            args = term.args if below is None else below(term)
            pending = [a for a in args if a not in done] if args else ()
            if pending:
                stack.extend(reversed(pending))
                continue
            stack.pop()
            done.add(term)
            yield term


def without_annotations(term: Term) -> Term:
    """``t`` for ``(! t ...)``, however many annotations there are; other terms as they are."""
    while term.op.kind is Kind.ANNOTATION:
        term = term.args[0]
    return term


def rewrite(table: TermTable, root: Term, change: Callable[[Term, tuple[Term, ...]], Term | None]) -> Term:
    """Rebuild ``root`` bottom-up. ``change`` gets each term and its new arguments and
    returns its replacement, or None to keep the head with the new arguments."""
    new: dict[Term, Term] = {}
    for term in postorder([root]):
        args = tuple(new[a] for a in term.args)
        changed = change(term, args)
        new[term] = table.rebuild(term, args) if changed is None else changed
    return new[root]


def unannotated(table: TermTable, root: Term) -> Term:
    """``root`` without annotations, also inside it."""
    return rewrite(table, root, lambda term, args: args[0] if term.op.kind is Kind.ANNOTATION else None)


def substitute(table: TermTable, root: Term, known: Mapping[Term, Term]) -> Term:
    """``root`` with each term that ``known`` names replaced, all at once. No binder is looked at."""
    return rewrite(table, root, lambda term, _: known.get(term))


_NOTHING: Final[frozenset[Term]] = frozenset()


def free_in(term: Term, free: Mapping[Term, frozenset[Term]]) -> frozenset[Term]:
    """The VARIABLE terms that occur free in ``term``; ``free`` has those of its arguments."""
    if term.op.kind is Kind.VARIABLE:
        return frozenset((term,))
    found = _NOTHING
    for position, arg in enumerate(term.args):
        inside = free[arg]
        if inside:
            bound = term.bound_at(position)
            if bound:
                inside = inside.difference(bound)
            if not inside <= found:
                found = found | inside if found else inside
    return found


def free_variables(root: Term) -> list[Term]:
    """The VARIABLE terms that occur free in ``root``, in order of their ids."""
    free: dict[Term, frozenset[Term]] = {}
    for term in postorder([root]):
        free[term] = free_in(term, free)
    return sorted(free[root], key=lambda t: t.id)


def declarations_in(roots: Iterable[Term]) -> list[Declaration]:
    """The script symbols that occur below ``roots``, in order of first occurrence."""
    return list(dict.fromkeys(t.op.declaration for t in postorder(roots) if t.op.declaration is not None))
