"""The terms of a script: made with ``smtlib``'s tables, spelled as the solvers' parsers read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apifuzz.datatypes import sort_of_field
from apifuzz.engine import Engine
from apifuzz.heads import operator_text
from apifuzz.interface import ApiSort, ApiTerm, DatatypeSpec, Head, HeadKind, Unsupported
from smtlib import (
    REAL,
    Declaration,
    Kind,
    Sort,
    Term,
    TermTable,
    default_theories,
    make_sort,
    quote_symbol,
    read_sexps,
    rewrite,
)
from smtlib.elaborator import Elaborator
from smtlib.environment import Constructor, Datatype, Environment, determines, has_parameters, parameter


class TextTerms(Engine):
    """What an engine needs whose handles are terms of ``smtlib``; ``families``: whose parsers read them."""

    def __init__(self, families: Sequence[str]) -> None:
        super().__init__()
        self._families = tuple(families)
        self._theories = default_theories()
        self._forget_terms()

    def _forget_terms(self) -> None:
        self.table = TermTable()
        self._elaborator = Elaborator(Environment(self._theories), self.table)
        self._members: dict[str, Declaration] = {}
        self._logic = ""

    # Making

    def make_value(self, sort: ApiSort, text: str) -> Term:
        """The value that ``text`` writes."""
        if sort.sort.name == "FiniteField":
            value = text.split()[1].removeprefix("ff")
            return self.table.literal(f"#f{value}m{sort.sort.indices[0]}", sort.sort)
        self._elaborator.start(read_sexps("()")[0])
        term = self._elaborator.term(read_sexps(text)[0])
        return self._as_real(term) if sort.sort is REAL else term

    def _as_real(self, term: Term) -> Term:
        if term.sort is REAL:
            return term
        return self._elaborator.applications.to_real(term)

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Term:
        """``(head args...)``."""
        terms = tuple([a.handle for a in args])
        if head.kind is HeadKind.OPERATOR:
            return self._operator(head, sort.sort, terms)
        if head.kind is HeadKind.APPLY:
            declaration = terms[0].op.declaration
            if declaration is not None and declaration.params and not terms[0].args:
                return self.table.symbol(declaration, terms[1:])
            return self.table.make(self.table.op(Kind.OPERATOR, "@"), terms, sort.sort)
        return self._member(head, sort.sort, terms)

    def _operator(self, head: Head, sort: Sort, terms: tuple[Term, ...]) -> Term:
        indices: tuple[int | str, ...] = head.indices
        if head.name == "char":
            indices = tuple(f"#x{i:X}" for i in head.indices)
        self._refuse_unsayable(head.name, terms)
        text = operator_text(head.name, head.indices, False)
        found = self._theories.find(head.name, head.indices, tuple([t.sort for t in terms]), sort)
        if found is not None and found[1].needs_as:
            text = f"(as {text} {sort})"
        return self.table.make(self.table.op(Kind.OPERATOR, head.name, text, indices), terms, sort)

    def _refuse_unsayable(self, name: str, terms: tuple[Term, ...]) -> None:
        """Raise for what a solver's interface takes and its parser does not."""
        if name == "const" and "cvc5" in self._families and terms[0].op.name in ("-", "/"):
            raise Unsupported("a constant array of what cvc5's parser takes for no value")
        if name == "^" and "z3" in self._families and self._logic not in ("", "ALL"):
            raise Unsupported("^, which z3's parser knows without a logic only")

    def _member(self, head: Head, sort: Sort, terms: tuple[Term, ...]) -> Term:
        declaration = self._members[head.name]
        if head.kind in (HeadKind.TESTER, HeadKind.UPDATER):
            if terms[0].sort.args and "z3" in self._families:
                raise Unsupported(
                    "a tester or updater of a parametric datatype, which z3's parser does not find"
                )
            word = "is" if head.kind is HeadKind.TESTER else self._update_word()
            text = f"(_ {word} {declaration.name})"
            op = self.table.op(Kind.SYMBOL, word, text, (declaration.name,), declaration)
            return self.table.make(op, terms, sort)
        text_of_head = None
        if has_parameters(declaration.result) and not determines(declaration.params, declaration.result):
            text_of_head = f"(as {declaration.name} {sort})"
        op = self.table.op(Kind.SYMBOL, declaration.name, text_of_head, (), declaration)
        return self.table.make(op, terms, sort)

    def _update_word(self) -> str:
        if "z3" not in self._families:
            return "update"
        if len(self._families) > 1:
            raise Unsupported("updaters, which z3 spells otherwise")
        return "update-field"

    def make_binder(self, sort: ApiSort, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Term:
        """``(binder (variables) body)``."""
        if binder == "set.comprehension":
            raise Unsupported("set.comprehension")
        op = self.table.op(Kind.BINDER, binder)
        return self.table.make(op, (body.handle,), sort.sort, tuple([v.handle for v in variables]))

    def _function(self, declaration: Declaration) -> Term:
        sort = make_sort("->", (), (*declaration.params, declaration.result))
        op = self.table.op(Kind.SYMBOL, declaration.name, None, (), declaration)
        return self.table.make(op, (), sort)

    def _datatype(self, spec: DatatypeSpec, own: Mapping[str, Sort], group: tuple[str, ...]) -> Datatype:
        sort = own[spec.name]
        by_name = {**own, **{p: parameter(p) for p in spec.parameters}}
        constructors = []
        for name, fields in spec.constructors:
            selectors = []
            for field in fields:
                result = sort_of_field(field.sort, by_name)
                selectors.append(Declaration(quote_symbol(field.name), (sort,), result, "selector"))
                self._members[field.name] = selectors[-1]
            params = tuple(s.result for s in selectors)
            self._members[name] = Declaration(quote_symbol(name), params, sort, "constructor")
            constructors.append(Constructor(self._members[name], tuple(selectors)))
        return Datatype(quote_symbol(spec.name), sort.args, tuple(constructors), group)

    # Looking and changing

    def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
        """Whether the term is of the sort."""
        return term.handle.sort is sort.sort

    def inspect_sort(self, sort: ApiSort) -> None:
        """Nothing to ask: a sort is its text."""

    def inspect_term(self, term: ApiTerm) -> None:
        """Nothing to ask: a term is its text."""

    def read_back(self, term: ApiTerm) -> None:
        """Nothing to ask: what is printed is read by whoever gets the script."""

    def simplify(self, term: ApiTerm) -> Term:
        """The term itself, which is equivalent to what a solver would give: there is no such command."""
        handle: Term = term.handle
        return handle

    def substitute(self, term: ApiTerm, replaced: Sequence[ApiTerm], by: Sequence[ApiTerm]) -> Term:
        """The term with constants replaced at once."""
        new = {old.handle: new.handle for old, new in zip(replaced, by, strict=True)}
        return rewrite(self.table, term.handle, lambda old, args: new.get(old))
