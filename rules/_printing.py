"""Prints terms as canonical text, which is equal for terms that differ only in the names of their symbols.

Small terms are printed as trees, with bound variables numbered in reading order. Larger terms are copied to a
graph in which every bound variable is named by the height of its binder's body (so that terms that differ in
bound names become equal), and then printed with ``let``. The size as a tree decides, so sharing in the script
makes no difference.
"""

from __future__ import annotations

from itertools import islice
from typing import TypeAlias

from rules._names import AtomNames, SkipError
from smtlib import Declaration, Kind, Sort, Term, TermTable, postorder
from smtlib.printer import Naming, print_term
from smtlib.terms import without_annotations

MAX_TREE = 200
"""Terms with at most this many nodes as a tree are printed as trees."""

MAX_GRAPH = 10_000
"""Atoms with more distinct terms are skipped."""

MAX_BINDER_WORK = 100_000
"""Maximum number of terms visited while renaming nested binders; atoms beyond it are skipped."""

TOO_LARGE = "atom too large"

_Key: TypeAlias = "Declaration | Term"
_Enter: TypeAlias = "tuple[Term, int]"
_Leave: TypeAlias = "list[tuple[Term, str | None]]"


class CanonicalPrinter(Naming):
    """Prints one atom or the body of a definition. Symbols without a name in ``fixed`` become slots.

    In the text, a slot is its number between NUL characters, which SMT-LIB text cannot contain. After
    :meth:`text`, ``slots`` has the symbols in order of first occurrence.
    """

    def __init__(self, names: AtomNames, fixed: dict[_Key, str]) -> None:
        self.names = names
        self.fixed = fixed
        self.slots: dict[_Key, int] = {}
        self.operators: set[str] = set()
        self.sorts: set[Sort] = set()
        self.uses_datatypes = False
        self.size = 0

    def text(self, root: Term) -> str:
        """The canonical text of ``root``. Raises :class:`SkipError` if it is too large."""
        text = self._tree(root)
        if text is None:
            self.slots.clear()
            text = self._renumbered(_GraphPrinter(self).text(root))
        return text

    def _renumbered(self, text: str) -> str:
        parts = text.split("\0")
        numbers: dict[str, int] = {}
        for i in range(1, len(parts), 2):
            # Others are the placeholders of defined functions.
            if parts[i].isdecimal():
                parts[i] = str(numbers.setdefault(parts[i], len(numbers)))
        self.slots = {key: numbers[str(n)] for key, n in self.slots.items()}
        self.slots = dict(sorted(self.slots.items(), key=lambda entry: entry[1]))
        return "\0".join(parts)

    # Heads

    def slot(self, key: _Key) -> str:
        """The text of a symbol that is declared in the script or bound outside of the atom."""
        fixed = self.fixed.get(key)
        if fixed is not None:
            return fixed
        return f"\0{self.slots.setdefault(key, len(self.slots))}\0"

    def head(self, term: Term) -> str:
        """The text of a head that is not a bound variable. Also records its theories."""
        op = term.op
        if op.kind is Kind.OPERATOR:
            self.operators.add(op.name)
        elif op.declaration is not None:
            if op.declaration.is_of_datatype:
                return self._datatype_head(term, op.declaration)
            return self.slot(op.declaration)
        return self.renamed_head(term)

    def declared(self, declaration: Declaration) -> str:
        """The text of a function that is an argument of another one."""
        return self.slot(declaration)

    def sort(self, sort: Sort) -> str:
        """The text of a sort."""
        return self.names.sort(sort)

    def _datatype_head(self, term: Term, declaration: Declaration) -> str:
        """The head of a term of a datatype. For parametric datatypes it is written as ``is-c`` and
        ``(as c SORT)``, which all solvers accept even if several instances are in use.
        """
        self.uses_datatypes = True
        name = self.names.datatype_symbol(declaration)
        if term.op.name == "is" and term.op.indices and term.args[0].sort.args:
            return f"is-{name}"
        if term.op.name in ("is", "update") and term.op.indices:
            return f"(_ {term.op.name} {name})"
        if declaration.origin == "constructor" and term.sort.args:
            return f"(as {name} {self.names.sort(term.sort)})"
        return name

    # Trees

    def _tree(self, root: Term) -> str | None:
        """``root`` without ``let``, or None if it has more than MAX_TREE nodes."""
        pieces: list[str] = []
        bound: dict[Term, str] = {}
        count = 0
        binders = 0
        sorts = self.sorts
        stack: list[str | Term | _Enter | _Leave] = [root]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                pieces.append(item)
                continue
            if isinstance(item, list):
                for variable, name in item:
                    if name is None:
                        del bound[variable]
                    else:
                        bound[variable] = name
                continue
            if isinstance(item, tuple):
                binders = self._enter(item, pieces, stack, bound, binders)
                continue
            term = without_annotations(item)
            kind = term.op.kind
            count += 1
            if count > MAX_TREE:
                return None
            sorts.add(term.sort)
            if kind is Kind.VARIABLE:
                pieces.append(bound.get(term) or self.slot(term))
            elif kind is Kind.BINDER:
                stack.append((term, 0))
            elif kind is Kind.MATCH:
                stack.append("))")
                stack.extend((term, case) for case in range(len(term.patterns) - 1, -1, -1))
                stack += (" (", term.args[0], "(match ")
            elif not term.args:
                pieces.append(self.head(term))
            else:
                stack.append(")")
                for arg in reversed(term.args):
                    stack.append(arg)
                    stack.append(" ")
                if term.op.name == "@" and not term.args[0].args:
                    stack[-1] = "("
                else:
                    pieces.append("(" + self.head(term))
        self.size = count
        return "".join(pieces)

    def _enter(
        self,
        entry: _Enter,
        pieces: list[str],
        stack: list[str | Term | _Enter | _Leave],
        bound: dict[Term, str],
        binders: int,
    ) -> int:
        """Open a binder or a case of a match; returns the number of bound variables after it."""
        term, case = entry
        variables = term.variables or term.patterns[case][1]
        stack.append([(v, bound.get(v)) for v in dict.fromkeys(variables)])
        names = [f"b{binders + i}" for i in range(len(variables))]
        bound.update(zip(variables, names, strict=True))
        stack.append(")")
        if term.patterns:
            head = term.patterns[case][0]
            if head:
                self.uses_datatypes = True
                head = self.names.pattern_constructor(term.args[0].sort, head)
            pattern = " ".join([head, *names] if head else names)
            pieces.append(f" (({pattern}) " if head and names else f" ({pattern} ")
            stack.append(term.args[case + 1])
        else:
            typed = " ".join(
                f"({n} {self.names.sort(v.sort)})" for n, v in zip(names, variables, strict=True)
            )
            pieces.append(f"({term.op.text} ({typed})")
            for arg in reversed(term.args):
                stack += (arg, " ")
        return binders + len(names)


class _GraphPrinter:
    """Prints a large term with ``let``, from a copy whose structure does not depend on the script's names."""

    def __init__(self, printer: CanonicalPrinter) -> None:
        self.printer = printer
        self.original: dict[Term, Term] = {}
        self.height: dict[Term, int] = {}
        self.work = 0

    def text(self, root: Term) -> str:
        order = list(islice(postorder([root]), MAX_GRAPH + 1))
        if len(order) > MAX_GRAPH:
            raise SkipError(TOO_LARGE)
        renamed = self._with_canonical_binders(order)
        final = self._with_canonical_heads(renamed)
        return print_term(final, self.printer.names)

    def _with_canonical_binders(self, order: list[Term]) -> Term:
        table = TermTable()
        new: dict[Term, Term] = {}
        for term in order:
            args = tuple([new[a] for a in term.args])
            if term.op.kind is Kind.ANNOTATION:
                new[term] = args[0]
            elif term.variables:
                new[term] = self._binder(table, term, args)
            elif term.patterns:
                new[term] = self._match(table, term, args)
            else:
                made = new[term] = table.make(term.op, args, term.sort)
                self._set_height(made)
                if term.op.kind is Kind.VARIABLE:
                    self.original[made] = term
        return new[order[-1]]

    def _set_height(self, term: Term, bound: int = 0) -> None:
        self.height[term] = bound + max([self.height[a] for a in term.args], default=0)

    def _binder(self, table: TermTable, term: Term, args: tuple[Term, ...]) -> Term:
        base = max(self.height[a] for a in args)
        variables = self._variables(table, term.variables, base)
        mapping = dict(zip(term.variables, variables, strict=True))
        bodies = tuple([self._substitute(table, a, mapping) for a in args])
        made = table.make(term.op, bodies, term.sort, variables)
        self._set_height(made, len(variables))
        return made

    def _match(self, table: TermTable, term: Term, args: tuple[Term, ...]) -> Term:
        patterns = []
        bodies = [args[0]]
        for (head, bound), body in zip(term.patterns, args[1:], strict=True):
            variables = self._variables(table, bound, self.height[body])
            patterns.append((head, variables))
            bodies.append(self._substitute(table, body, dict(zip(bound, variables, strict=True))))
        made = table.make(term.op, tuple(bodies), term.sort, (), tuple(patterns))
        self._set_height(made, max(len(v) for _, v in patterns))
        return made

    @staticmethod
    def _variables(table: TermTable, bound: tuple[Term, ...], base: int) -> tuple[Term, ...]:
        return tuple(table.variable(f"\1{base + i}", v.sort) for i, v in enumerate(bound))

    def _substitute(self, table: TermTable, body: Term, mapping: dict[Term, Term]) -> Term:
        new: dict[Term, Term] = {}
        original = self.original
        for term in postorder([body]):
            self.work += 1
            if not term.args:
                known = original.get(term)
                new[term] = mapping.get(known, term) if known is not None else term
                self.height.setdefault(new[term], 0)
                continue
            made = new[term] = table.rebuild(term, tuple([new[a] for a in term.args]))
            self.height.setdefault(made, self.height[term])
        if self.work > MAX_BINDER_WORK:
            raise SkipError("binders nested too deep")
        return new[body]

    def _with_canonical_heads(self, root: Term) -> Term:
        table = TermTable()
        printer = self.printer
        new: dict[Term, Term] = {}
        for term in postorder([root]):
            printer.sorts.add(term.sort)
            args = tuple([new[a] for a in term.args])
            variables = tuple(self._final_variable(table, v) for v in term.variables)
            patterns = tuple(self._final_pattern(table, term, head, bound) for head, bound in term.patterns)
            if term.op.kind is Kind.VARIABLE:
                new[term] = self._final_variable(table, term)
                continue
            kind = term.op.kind
            head = term.op.text if kind in (Kind.BINDER, Kind.MATCH) else printer.head(term)
            name = "@" if term.op.name == "@" else head
            new[term] = table.make(table.op(kind, name, head), args, term.sort, variables, patterns)
        printer.size = len(new)
        return new[root]

    def _final_variable(self, table: TermTable, variable: Term) -> Term:
        name = variable.op.name
        if name[0] == "\1":
            return table.variable("b" + name[1:], variable.sort)
        return table.variable(self.printer.slot(self.original[variable]), variable.sort)

    def _final_pattern(
        self, table: TermTable, term: Term, head: str, bound: tuple[Term, ...]
    ) -> tuple[str, tuple[Term, ...]]:
        if head:
            self.printer.uses_datatypes = True
            head = self.printer.names.pattern_constructor(term.args[0].sort, head)
        return head, tuple(self._final_variable(table, v) for v in bound)
