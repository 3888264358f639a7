"""Formulas as text whose heads can be exchanged, for mutations that change operators and nothing else.

Such a mutation leaves every term its place and its sort. So a seed is printed once, as constant text
between heads; which heads fit where is looked up once, too; and a mutation draws a place and a head and
puts the head's text in.

Assertions that are written with at most :data:`LARGEST` terms are printed without ``let``: every occurrence
of a term is a place of its own. In others, and where the printer has to take care (annotations, ``match``),
a term that the printer binds by ``let`` is one place.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from generator.questions import node_with_head
from generator.refusals import constant_arguments
from generator.seeds.script import SeedScript, once_per_seed
from generator.strategies.mutation.chain import MutationLog
from generator.strategies.mutation.operators import Head, Operators, SeedFunctions
from generator.strategies.mutation.printing import LARGEST, is_special, written_size
from generator.targets import NO_TARGETS, Targets
from smtlib import Kind, Op, Term, TermTable, postorder, print_term
from smtlib.printer import PLAIN

_QUANTIFIERS = (Head("forall", "forall"), Head("exists", "exists"))
_MARK = "\0"
_SHOWN_ARGUMENTS = 6
_LONGEST_SHOWN = 60
_LONGEST_PLAIN = _LONGEST_SHOWN - len("()")
_LONG = 4096
"""Of longer texts a digest is kept, to know them again."""


@dataclass(slots=True)
class Site:
    """A head in the text: piece ``piece`` of line ``line``, and the term that has it in the seed.

    ``heads`` are those that fit, ``first`` the number of the one that the seed has (``len(heads)`` if it
    is none of them). ``args`` shows the arguments in the header: a template for the pieces ``heads_below``,
    or plain text if there are none.
    """

    line: int
    piece: int
    term: Term
    heads: Sequence[Head]
    first: int
    args: str = ""
    heads_below: tuple[int, ...] = ()


@dataclass(frozen=True)
class Sites:
    """A seed's assertions as pieces of text, every other one a head that may be exchanged.

    ``lines`` hold the pieces of each assertion's command.
    """

    lines: tuple[tuple[str, ...], ...]
    sites: tuple[Site, ...]

    @cached_property
    def changeable(self) -> tuple[int, ...]:
        """The numbers of the sites where another head fits."""
        return tuple(n for n, s in enumerate(self.sites) if len(s.heads) > (s.first < len(s.heads)))


@once_per_seed
def find_sites(script: SeedScript, operators: Operators) -> Sites:
    """The sites of a seed, with the heads that ``operators`` and its own functions have for them."""
    return _Finder(script, operators).run()


_ShownArgument = tuple[str, int | None]
"""How the header shows an argument: a template, and the piece that holds its head if that may change."""

_NOTHING: _ShownArgument = ("", None)


class _Finder:
    def __init__(self, script: SeedScript, operators: Operators) -> None:
        self.script = script
        self.operators = operators
        self.functions = SeedFunctions(script)
        names = {t.op.name for t in script.terms if t.op.kind is Kind.OPERATOR}
        self.guarded = operators.guarded_theories(names)
        self.sites: list[Site] = []
        self._heads: dict[Term, tuple[Sequence[Head], int] | None] = {}
        # With the lists themselves: while they are kept, none other has their identity.
        self._joined: dict[tuple[int, int], tuple[Sequence[Head], dict[str, int], object]] = {}

    def run(self) -> Sites:
        lines = []
        size = written_size(self.script.terms)
        special = _with_special(self.script.terms)
        for number, root in enumerate(self.script.assertions):
            is_plain = size[root] <= LARGEST and root not in special
            lines.append(self._plain(number, root) if is_plain else self._printed(number, root))
        return Sites(tuple(lines), tuple(self.sites))

    @cached_property
    def _table(self) -> TermTable:
        """Where marked terms are made: bound variables, among all that stays, are the same terms there."""
        return self.script.table.copy()

    def heads(self, term: Term) -> tuple[Sequence[Head], int] | None:
        """The heads that fit a term's place, and which of them it has; None where it is no site."""
        if term not in self._heads:
            self._heads[term] = self._find_heads(term) if _has_operator(term) else None
        return self._heads[term]

    def _find_heads(self, term: Term) -> tuple[Sequence[Head], int]:
        if term.op.kind is Kind.BINDER:
            return _QUANTIFIERS, 0 if term.op.name == "forall" else 1
        heads = self.operators.heads(term, self.guarded)
        own = self.functions.heads(term)
        # Many terms have the same heads; a seed may have thousands of functions.
        found = self._joined.get((id(heads), id(own)))
        if found is None:
            both = [*heads, *own] if own else heads
            numbers = {head.name: number for number, head in enumerate(both)}
            found = self._joined[id(heads), id(own)] = (both, numbers, (heads, own))
        both, numbers, _ = found
        name = term.op.name if term.op.kind is Kind.OPERATOR else term.op.text
        return both, numbers.get(name, len(both))

    def _plain(self, line: int, root: Term) -> tuple[str, ...]:
        """The pieces of an assertion that is written out."""
        pieces: list[str] = []
        text = ["(assert "]
        below: list[tuple[Site, list[_ShownArgument]]] = []
        # What is still to be written, the next one last: text; or a term, the list and index for showing it
        # as an argument of the term above it, and whether its head may change.
        stack: list[str | tuple[Term, list[_ShownArgument], int, bool]] = [
            ")\n",
            (root, [_NOTHING], 0, True),
        ]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                text.append(item)
                continue
            term, siblings, place, is_open = item
            args = term.args
            head = _head_text(term)
            if args:
                text.append("(")
            inside = [_NOTHING] * len(args)
            found = self.heads(term) if is_open else None
            if found is None:
                text.append(head)
                siblings[place] = _show_argument(head, args, None)
            else:
                pieces += ("".join(text), head)
                text = []
                piece = len(pieces) - 1
                siblings[place] = _show_argument(head, args, piece)
                self.sites.append(Site(line, piece, term, *found))
                below.append((self.sites[-1], inside))
            if not args:
                continue
            if term.variables:
                text.append(f" {PLAIN.variable_list(term.variables)}")
            kept = constant_arguments(term.op.name) if term.op.kind is Kind.OPERATOR else ()
            stack.append(")")
            for position in range(len(args) - 1, -1, -1):
                arg = args[position]
                if arg.args or arg.op.kind is Kind.OPERATOR:
                    stack += ((arg, inside, position, position not in kept), " ")
                else:
                    leaf = PLAIN.head(arg)
                    inside[position] = (leaf.replace("%", "%%"), None)
                    stack.append(f" {leaf}")
        for site, inside in below:
            _show_arguments(site, inside)
        pieces.append("".join(text))
        return tuple(pieces)

    def _printed(self, line: int, root: Term) -> tuple[str, ...]:
        """The pieces of an assertion that the printer has to print: it gets heads with marks behind them."""
        order = list(postorder([root]))
        closed = set(_closed(order))
        marked = [t for t in order if t not in closed and self.heads(t) is not None]
        numbers = {term: number for number, term in enumerate(marked)}
        table = self._table
        new: dict[Term, Term] = {}
        for term in order:
            op = term.op
            if term in numbers:
                text = f"{op.text}{_MARK}{numbers[term]}{_MARK}"
                op = Op(op.kind, op.name, text, op.indices, op.declaration, op.attributes)
            args = tuple([new[a] for a in term.args])
            new[term] = table.make(op, args, term.sort, term.variables, term.patterns)
        pieces = f"(assert {print_term(new[root])})\n".split(_MARK)
        places: dict[Term, int | None] = {}
        below: list[tuple[Site, Term]] = []
        for piece in range(1, len(pieces), 2):
            term = marked[int(pieces[piece])]
            pieces[piece] = term.op.text
            pieces[piece - 1] = pieces[piece - 1].removesuffix(term.op.text)
            # Where it stands more than once, which place is meant below a head is not known.
            places[term] = None if term in places else piece
            found = self.heads(term)
            assert found is not None
            self.sites.append(Site(line, piece, term, *found))
            below.append((self.sites[-1], term))
        for site, term in below:
            inside = [
                _show_argument(".." if a in places else _head_text(a), a.args, places.get(a))
                for a in term.args
            ]
            _show_arguments(site, inside)
        return tuple(pieces)


def _show_argument(head: str, args: Sequence[Term], piece: int | None) -> _ShownArgument:
    template = head.replace("%", "%%") if piece is None else "%s"
    return f"({template} ..)" if args else template, piece


def _show_arguments(site: Site, inside: Sequence[_ShownArgument]) -> None:
    shown = inside[:_SHOWN_ARGUMENTS]
    args = "".join([f" {template}" for template, _ in shown]) + (" .." if len(inside) > len(shown) else "")
    site.heads_below = tuple([piece for _, piece in shown if piece is not None])
    site.args = args if site.heads_below else args % ()


def _head_text(term: Term) -> str:
    return term.op.text if term.op.kind is Kind.BINDER else PLAIN.head(term)


def _has_operator(term: Term) -> bool:
    kind = term.op.kind
    if term.sort.is_function:
        return False
    return term.is_quantifier or kind is Kind.OPERATOR or (kind is Kind.SYMBOL and bool(term.args))


def _with_special(order: Sequence[Term]) -> set[Term]:
    """The terms that hold what only the printer can print."""
    found: set[Term] = set()
    for term in order:
        if is_special(term) or (found and not found.isdisjoint(term.args)):
            found.add(term)
    return found


def _closed(order: Sequence[Term]) -> Iterator[Term]:
    """Terms that stay: those of patterns, and what solvers want a value for."""
    for term in order:
        if term.op.kind is Kind.ANNOTATION:
            yield from postorder(term.args[1:])
        elif term.op.kind is Kind.OPERATOR:
            kept = constant_arguments(term.op.name)
            yield from postorder([term.args[position] for position in kept])


class HeadChain:
    """The assertions of a seed as their heads change, one at a time."""

    def __init__(self, script: SeedScript, found: Sites, targets: Targets = NO_TARGETS) -> None:
        self._script = script
        self._targets = targets
        self.sites = found.sites
        self.log = MutationLog()
        self._changeable = found.changeable
        self._prelude = script.prelude_text
        self._pieces = [list(line) for line in found.lines]
        self._lines = ["".join(line) for line in found.lines]
        self._at = [site.first for site in found.sites]
        self._text = ""

    def some_changeable(self, chance: random.Random, count: int) -> Iterator[int]:
        """Numbers of sites where another head fits, drawn; none where there are none."""
        found = self._changeable
        for _ in range(count if found else 0):
            yield found[int(chance.random() * len(found))]

    def change(self, number: int, chance: random.Random) -> bool:
        """Give a site another head; False where none fits, or a target refuses the one drawn."""
        site = self.sites[number]
        heads = site.heads
        at = self._at[number]
        others = len(heads) - (at < len(heads))
        if not others:
            return False
        choice = int(chance.random() * others)
        if choice >= at:
            choice += 1
        new = heads[choice].text or heads[choice].draw(chance)
        if new is None or not self._is_accepted(site.term, heads[choice], new):
            return False
        line, piece = site.line, site.piece
        pieces = self._pieces[line]
        old = pieces[piece]
        pieces[piece] = new
        self._lines[line] = "".join(pieces)
        self._at[number] = choice
        self._text = ""
        below = site.heads_below
        args = site.args % tuple([pieces[p] for p in below]) if below else site.args
        if args and max(len(old), len(new)) + len(args) <= _LONGEST_PLAIN:
            shown = f"({old}{args}) -> ({new}{args})"
        else:
            shown = f"{_shown(old, args)} -> {_shown(new, args)}"
        self.log.add(f"(operator) in assertion {line + 1}: {shown}")
        return True

    def _is_accepted(self, term: Term, head: Head, text: str) -> bool:
        """Whether the targets accept a head, written ``text``, at the place of a term."""
        if not self._targets or head.is_own or term.op.kind is Kind.BINDER:
            return True
        node = node_with_head(term, text, head.name)
        return node is None or self._targets.accept_nodes([node], self._script.is_quantified)

    def text(self) -> str:
        """The commands as they stand."""
        if not self._text:
            self._text = f"{self._prelude}{''.join(self._lines)}(check-sat)\n"
        return self._text

    def state(self) -> Hashable:
        """Differs where the assertions do."""
        text = self.text()
        return text if len(text) < _LONG else blake2b(text.encode("utf-8", "surrogatepass")).digest()


def _shown(head: str, args: str) -> str:
    text = f"({head}{args})" if args else head
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
